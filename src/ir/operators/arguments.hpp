// SPDX-License-Identifier: Apache-2.0
/// What the operators' formulas ask of a key: known dimensions, element counts, attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"

namespace oplat::ir::ops {

/// Domains of ONNX Runtime's own operators.
inline constexpr std::string_view kContrib = "com.microsoft";
inline constexpr std::string_view kNchwc = "com.microsoft.nchwc";

/// Number of elements for counting work, which goes on where memory ends: any product that is a
/// finite double; std::nullopt if a dimension is unknown.
std::optional<double> extent(const Shape& shape);
/// Of a tensor; std::nullopt for an missing one or one of unknown size.
std::optional<double> elements(const TensorEntry* tensor);
/// Dimension `index`, counted from the end where negative; std::nullopt if missing or unknown.
std::optional<std::int64_t> dim(const TensorEntry* tensor, int index);
/// All dimensions; std::nullopt for no tensor, no rank and unknown ones.
std::optional<std::vector<std::int64_t>> dims_of(const TensorEntry* tensor);
/// The numbers of a constant of whole numbers, whose value may be one for all of them.
std::optional<std::vector<std::int64_t>> numbers_of(const TensorEntry* tensor);
/// The value of an operand, as far as the key holds it: of a constant, or what a run saw
/// (ir::values_tag). nullptr: it is not known.
const Value* value_of(const Key& key, std::size_t operand);
/// Whole numbers of such a value, as many as the operand has elements.
std::optional<std::vector<std::int64_t>> numbers_of(const Key& key, std::size_t operand);
/// Number of dimensions, if known.
std::optional<std::size_t> rank(const TensorEntry* tensor);

std::optional<std::int64_t> integer(const Key& key, std::string_view name);
std::optional<std::vector<std::int64_t>> integers(const Key& key, std::string_view name);
/// Whether the attribute is there and is this string.
bool is_word(const Key& key, std::string_view name, std::string_view word);

/// Whether a window leaves places out.
bool is_dilated(const Key& key);

/// Of a Resize or Upsample whether it copies the nearest element, as without a mode.
bool is_nearest(const Key& key);
/// How many input elements each of its results depends on: 1 (nearest), or two (linear) or four
/// (cubic) along every dimension that changes size. std::nullopt: another mode, or sizes unknown.
std::optional<double> neighbours_of_resize(const Key& key);

/// Sets or adds; the caller's caller sorts.
void set_attribute(Key& key, std::string_view name, Value value);
/// Adds if there is none of that name.
void fill_attribute(Key& key, std::string_view name, Value value);
void drop_attribute(Key& key, std::string_view name);

/// Operand of a product's second factor: quantised ones have scale and zero point of the first
/// before it.
std::size_t second_factor(const Key& key);

/// No floating-point operation at all: data are moved, or not even that.
std::optional<double> no_flops(const Key& key);
/// `kOperations` for every element of result 0.
template <int kOperations>
std::optional<double> flops_per_result(const Key& key) {
  const auto count = elements(key.result(0));
  if (!count) return std::nullopt;
  return kOperations * *count;
}
/// `kOperations` for every element of operand 0.
template <int kOperations>
std::optional<double> flops_per_operand(const Key& key) {
  const auto count = elements(key.operand(0));
  if (!count) return std::nullopt;
  return kOperations * *count;
}

}  // namespace oplat::ir::ops
