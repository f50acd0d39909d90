// SPDX-License-Identifier: Apache-2.0
/// What the printer and the parser of keys must agree on: which names and words stand bare, and how
/// large a key may be.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace oplat::ir {

/// A key is one line of the worker protocol, which is at most this long.
inline constexpr std::size_t kMaxKeyBytes = 16U << 20;
/// Lists in lists: deeper than any operator's attributes, shallow enough for the stack.
inline constexpr int kMaxKeyDepth = 32;
/// Bounds on what a text of kMaxKeyBytes may make us hold; far above the largest Concat or embedded
/// constant.
inline constexpr std::size_t kMaxKeyValues = 1U << 20;
inline constexpr std::size_t kMaxKeyEntries = 1U << 16;
inline constexpr std::size_t kMaxKeyDims = 1U << 16;

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// Characters of domains, operators, attribute and tag names that stand without quotes.
constexpr bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; }
/// Characters of numbers and bare words.
constexpr bool is_token_char(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '+';
}

/// What is_name_char() says of each character: names are most of what a key is printed from.
inline constexpr auto kNameChars = [] {
  std::array<bool, 256> table = {};
  for (std::size_t c = 0; c < table.size(); ++c) table[c] = is_name_char(static_cast<char>(c));
  return table;
}();

/// Whether a name stands bare; any other (an operator called "aten::add" in an untrusted model) is
/// a JSON string.
inline bool is_bare_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return kNameChars[static_cast<unsigned char>(c)];
  });
}

/// Whether a string value stands bare.
inline bool is_bare_word(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && text != "inf" && text != "nan" &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace oplat::ir
