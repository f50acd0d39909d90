// SPDX-License-Identifier: Apache-2.0
/// Key: the canonical text of one kernel (docs/reference/keys.md). Everything else depends on this
/// text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "ir/dtype.hpp"
#include "ir/value.hpp"

namespace oplat::ir {

/// A dimension: a number >= 0, or std::nullopt if the source does not say ("?").
using Dim = std::optional<std::int64_t>;

/// Dimensions of a tensor; `ranked == false` is "[*]" and has no dims.
struct Shape {
  bool ranked = true;
  std::vector<Dim> dims;
  static Shape of(const std::vector<std::int64_t>& numbers);
  /// Number of elements, if every dimension is known and the product fits 63 bits.
  [[nodiscard]] std::optional<std::int64_t> elements() const;
  friend bool operator==(const Shape&, const Shape&) = default;
};
/// Their product, if all are known and it fits 63 bits.
std::optional<std::int64_t> elements_of(std::span<const Dim> dims);

/// An operand or result that is a tensor: "f32c[64,64,3,3]", "i64c[1]=[2]".
struct TensorEntry {
  Dtype dtype = Dtype::F32;
  bool constant = false;
  Shape shape;
  /// of a constant, where it decides shape or algorithm; one value if all are equal
  std::optional<Value> value;
  friend bool operator==(const TensorEntry&, const TensorEntry&) = default;
};
/// "-": an missing operand, or a result that nobody uses.
struct AbsentEntry {
  friend bool operator==(const AbsentEntry&, const AbsentEntry&) = default;
};
/// "&i": as operand, the same tensor as operand i; as result, may be written over operand i.
struct AliasEntry {
  std::size_t index = 0;
  friend bool operator==(const AliasEntry&, const AliasEntry&) = default;
};
using Entry = std::variant<AbsentEntry, AliasEntry, TensorEntry>;

using NamedValue = std::pair<std::string, Value>;

/// One kernel as a value. `tags` and `attributes` are kept sorted bytewise by name by parse() and
/// canonical().
struct Key {
  std::string domain;  ///< empty: the default ONNX domain
  std::string op;
  std::optional<std::int64_t> since;  ///< operator-set version that defined the operator
  std::vector<NamedValue> tags;
  std::vector<NamedValue> attributes;
  std::vector<Entry> operands;
  std::vector<Entry> results;

  [[nodiscard]] const Value* attribute(std::string_view name) const;
  [[nodiscard]] const Value* tag(std::string_view name) const;
  /// Operand i with "&j" followed; nullptr if missing or out of range.
  [[nodiscard]] const TensorEntry* operand(std::size_t i) const;
  /// Result i; "&j" gives operand j (same dtype and shape). nullptr if missing or out of range.
  [[nodiscard]] const TensorEntry* result(std::size_t i) const;
  /// Sorts tags and attributes, negative dimensions become unknown; the form that print() expects
  /// and parse() gives.
  void canonicalise();
  friend bool operator==(const Key&, const Key&) = default;
};

/// The one line of `key`; parse(print(k)) == k for every canonical k.
std::string print(const Key& key);
/// Code::Input with the byte offset, what was found and what was expected. Needs no schema; bounded
/// depth and size.
Result<Key> parse(std::string_view text);
/// Hash of the printed text: the identity used by tables.
base::Hash128 hash(const Key& key);
/// Whether the key contains a "?" or "*", which then matches nothing in a look-up.
bool has_unknown(const Key& key);

}  // namespace oplat::ir
