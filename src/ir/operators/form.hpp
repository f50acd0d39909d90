// SPDX-License-Identifier: Apache-2.0
/// What descriptions by loops are put together from (see ir/operators/forms.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/description.hpp"
#include "ir/key.hpp"

namespace oplat::ir::ops {

using DimSizes = std::vector<double>;
using Names = std::initializer_list<std::string_view>;

/// Masks of operands fit a word.
inline constexpr std::size_t kMaxOperands = 16;

/// std::nullopt without a shape, with an unknown size, and of no elements: nothing is done with
/// such a tensor, which is another kind of call.
std::optional<DimSizes> sizes_of(const TensorEntry* tensor);

/// Of the sizes from one place to before another.
double product_of(const DimSizes& sizes, std::size_t from, std::size_t to);

/// Of a walk across rows that lie so many bytes apart, the lines of 64 bytes that share a set of a
/// cache of 64 sets, which most first-level caches have: all where the distance is a multiple of
/// 4,096, a 64th where it is an odd number of lines.
double lines_in_a_set(double stride_bytes, double rows);

/// The text of a value in a slice.
std::string said(const Value& value);

/// What tells a slice: operator, tags, attributes but for those that the loops say, types.
class Form {
 public:
  enum class Constants { Said, Unsaid };

  /// `key` must outlive it. Attributes and tags named in `unsaid` are left out.
  explicit Form(const Key& key, Names unsaid = {}, Constants constants = Constants::Unsaid);

  /// Types of the operands up to `count` and of the results.
  Form& types(std::size_t count = kMaxOperands);
  /// Type of one operand alone.
  Form& type_of(std::size_t operand) {
    add(key_.operands.at(operand));
    return *this;
  }
  Form& loop(std::string_view kind, double length) {
    description_.slice.append(" ").append(kind);
    description_.numbers.push_back(length);
    return *this;
  }
  Form& word(std::string_view text) {
    description_.slice.append(" ").append(text);
    return *this;
  }
  /// The length of a loop that other slices of the family have; 1 where this one lacks it.
  Form& number(double length) {
    description_.numbers.push_back(length);
    return *this;
  }
  /// The operand is walked across `rows` rows of so many elements.
  Form& stride(double elements, double rows);
  /// ir::Work::steps.
  Form& steps(double count) {
    description_.work.steps = count;
    return *this;
  }
  /// The numbers mean the same in every slice of the family.
  Form& aligned() {
    description_.aligned = true;
    return *this;
  }
  std::optional<Description> done() { return std::move(description_); }

 private:
  void add(const std::string& name, const Value& value);
  void add(const Entry& entry);

  const Key& key_;
  Constants constants_;
  Description description_;
};

/// Dimensions of more than one element, neighbours of one kind as one loop.
void add_loops(Form& form, const DimSizes& sizes,
               const std::function<std::string(std::size_t)>& kind_of);

/// Loops before, along and behind an axis.
struct Around {
  double before = 1;
  double along = 1;
  double behind = 1;
};

std::optional<Around> around(const TensorEntry* tensor, std::int64_t axis);

}  // namespace oplat::ir::ops
