// SPDX-License-Identifier: Apache-2.0
/// Symbolic dimensions of a model's inputs, and the sizes that follow from those that are given.
///
/// An exporter names a dimension after what it is ("batch", "past") or by an expression of such
/// names ("past + 1", "2*heads", "batch * beams"). A runtime takes any sizes and computes with
/// them: a mask of 5 next to a past of 8 gives a time of a model that nobody runs. So the sizes
/// that are given must agree with the expressions, and what they determine need not be given: of
/// "past + 1", either size gives the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace oplat::formats::onnx {

/// A sum of products of symbols: {"past"} -> 1 and {} -> 1 for "past + 1".
class DimensionSum {
 public:
  /// Integers, names, +, * and parentheses; - with a space before it, since names hold hyphens.
  /// Whatever else is one name, whole. Time and size are bounded.
  static DimensionSum parse(std::string_view text);
  /// Whether it is one name and nothing else.
  [[nodiscard]] bool is_name() const;
  [[nodiscard]] std::set<std::string> names() const;

  using Product = std::vector<std::string>;  ///< of names, sorted
  [[nodiscard]] const std::map<Product, std::int64_t>& terms() const { return terms_; }

 private:
  friend class SumParser;
  std::map<Product, std::int64_t> terms_;
};

/// What is known of the names of one model. Not thread-safe.
class Dimensions {
 public:
  /// `file`: for messages.
  explicit Dimensions(std::string file) : file_(std::move(file)) {}

  /// The dimension called `text` of `input` has this size. Derives what follows. Code::Usage if it
  /// contradicts what was said before.
  Status set(const std::string& text, std::int64_t size, const std::string& input);
  /// The size of the dimension called `text`, if what was said determines it. Code::Usage if it
  /// would be negative or too large.
  [[nodiscard]] Result<std::optional<std::int64_t>> size(const std::string& text) const;

 private:
  struct Fact {
    std::string text;
    DimensionSum sum;
    std::int64_t size = 0;
    std::string input;
  };
  /// Checks or solves one fact; a name that it determines is appended to `found`.
  Status use(const Fact& fact, std::vector<std::string>& found);

  std::string file_;
  std::map<std::string, std::int64_t> known_;
  std::vector<Fact> facts_;
  std::map<std::string, std::vector<std::size_t>> facts_of_;  ///< that a name is in
  std::set<std::pair<std::string, std::int64_t>> said_;
};

}  // namespace oplat::formats::onnx
