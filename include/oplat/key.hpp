// SPDX-License-Identifier: Apache-2.0
/// Key: the text that names one kernel, for instance `Relu/14{}(f32[1,16])->(f32[1,16])`.
/// docs/reference/keys.md describes the text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oplat/result.hpp"

namespace oplat {

/// An operand or a result of a kernel.
struct Tensor {
  std::string dtype;      ///< "f32", "i64", "u8", as keys write it
  bool constant = false;  ///< a weight: its values are part of the model
  bool ranked = true;     ///< if false, not even the number of dimensions is known
  /// Sizes in elements, outermost first; std::nullopt where the size is unknown. A scalar has none.
  std::vector<std::optional<std::int64_t>> dims;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// An immutable value; copies are cheap. Thread-safe as a const int is.
class Key {
 public:
  /// Reads the text of a key. Code::Usage with the byte offset, what was found and what was
  /// expected. Time and memory are bounded by the length of the text.
  static Result<Key> parse(std::string_view text);

  /// The canonical text, one line. Keys are equal if and only if their texts are.
  [[nodiscard]] const std::string& text() const;
  /// "Conv"; of another domain "com.microsoft:FusedConv".
  [[nodiscard]] const std::string& op() const;
  /// Operands in order; std::nullopt where an optional one is left out. An operand that is another
  /// one again is given again.
  [[nodiscard]] const std::vector<std::optional<Tensor>>& operands() const;
  /// Results in order; std::nullopt where nobody uses one.
  [[nodiscard]] const std::vector<std::optional<Tensor>>& results() const;
  /// Floating-point or integer operations of one execution, a multiplication and an addition
  /// counted as two; std::nullopt if the operator or a size is unknown.
  [[nodiscard]] std::optional<double> flops() const;

  friend bool operator==(const Key& a, const Key& b) { return a.text() == b.text(); }

 private:
  struct Impl;
  explicit Key(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace oplat
