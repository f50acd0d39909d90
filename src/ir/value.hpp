// SPDX-License-Identifier: Apache-2.0
/// A value in a key: attribute, tag or constant operand.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace oplat::ir {

/// "?": the source does not say. Two keys that hold it are the same text, but a look-up never
/// matches it.
struct Unknown {
  friend bool operator==(const Unknown&, const Unknown&) = default;
};

struct Value;
using List = std::vector<Value>;

struct Value {
  std::variant<Unknown, std::int64_t, double, std::string, List> data;

  Value() = default;
  Value(Unknown u) : data(u) {}                   // NOLINT(google-explicit-constructor)
  Value(std::int64_t i) : data(i) {}              // NOLINT
  Value(int i) : data(std::int64_t{i}) {}         // NOLINT
  Value(double d) : data(d) {}                    // NOLINT
  Value(std::string s) : data(std::move(s)) {}    // NOLINT
  Value(const char* s) : data(std::string(s)) {}  // NOLINT
  Value(List l) : data(std::move(l)) {}           // NOLINT
  static Value ints(const std::vector<std::int64_t>& numbers);

  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  [[nodiscard]] const double* real() const { return std::get_if<double>(&data); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] const List* list() const { return std::get_if<List>(&data); }
  [[nodiscard]] bool unknown() const { return std::holds_alternative<Unknown>(data); }
  /// NaN equals NaN here: equality is that of the printed text.
  friend bool operator==(const Value& a, const Value& b);
};

}  // namespace oplat::ir
