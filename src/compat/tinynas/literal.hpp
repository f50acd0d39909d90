// SPDX-License-Identifier: Apache-2.0
/// Python literals as ast.literal_eval takes them, bytes excepted, read from an untrusted file
/// without running anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace oplat::compat::tinynas {

struct Literal {
  struct None {};
  struct Sequence {
    char kind;  ///< '[' list, '(' tuple, '{' set
    std::vector<Literal> items;
  };
  struct Dictionary {
    std::vector<Literal> keys;
    std::vector<Literal> values;
    /// The value of a string key; the last one where a key is given twice, as in Python.
    [[nodiscard]] const Literal* find(std::string_view key) const;
  };

  std::variant<None, bool, std::int64_t, double, std::string, Sequence, Dictionary> value;
  std::size_t offset = 0;  ///< of its first byte in the text

  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&value); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value); }
  [[nodiscard]] const Sequence* sequence() const { return std::get_if<Sequence>(&value); }
  [[nodiscard]] const Dictionary* dictionary() const { return std::get_if<Dictionary>(&value); }
  /// As Python's bool().
  [[nodiscard]] bool truthy() const;
  /// For messages: "the list", "the string 'abc'", "1.5".
  [[nodiscard]] std::string shown() const;
};

/// "line:column" of a byte of `text`, both from 1, columns in bytes.
std::string place_of(std::string_view text, std::size_t offset);

/// The one literal that `text` is. Code::Input with "line:column" where it is none (code included)
/// or holds a string of bytes, nested deeper than 64, longer than 16 MiB or of more than a million
/// values.
Result<Literal> parse_literal(std::string_view text);

}  // namespace oplat::compat::tinynas
