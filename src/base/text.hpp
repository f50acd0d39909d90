// SPDX-License-Identifier: Apache-2.0
/// Numbers to text and back, whatever the locale; small string helpers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oplat::base {

/// Shortest text that reads back to the same double; always holds "." or "e" (or is inf, -inf,
/// nan).
std::string float_text(double value);
/// The whole of `text` as a double ("inf", "-inf", "nan" too), or nothing.
std::optional<double> parse_double(std::string_view text);
/// The whole of `text` as a decimal integer, or nothing.
std::optional<std::int64_t> parse_int(std::string_view text);
std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
/// A to Z as a to z, every other byte as it is.
std::string lower(std::string_view text);
/// What some editors put before the first character of a UTF-8 text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// `text` as a JSON string with quotes, every non-ASCII character escaped as \uXXXX; invalid UTF-8
/// becomes U+FFFD.
std::string json_quote(std::string_view text);
/// The entry of `known` nearest to `word` by edit distance, if it is near enough to be a slip of
/// the finger.
std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);
/// `text` with control characters shown as \xNN and cut to `most` bytes, for messages that quote an
/// untrusted file.
std::string printable(std::string_view text, std::size_t most = 80);

}  // namespace oplat::base
