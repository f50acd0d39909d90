// SPDX-License-Identifier: Apache-2.0
/// Locale-free numbers and string helpers.
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace oplat::base {
namespace {

/// Length of the valid UTF-8 sequence at `text`, 0 where it is none; the code point in `code`.
std::size_t utf8_length(std::string_view text, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  std::size_t length = 0;
  std::uint32_t least = 0;
  if (first < 0x80) {
    code = first;
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2, code = first & 0x1FU, least = 0x80;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3, code = first & 0x0FU, least = 0x800;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4, code = first & 0x07U, least = 0x10000;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3FU);
  }
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  return length;
}

void append_escape(std::string& out, std::uint32_t unit) {
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit);
}

/// What a terminal would obey, or what would change how the text around it is shown: control
/// characters of ASCII and Latin-1, separators of lines and paragraphs, direction marks.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code >= 0xFFF9 && code <= 0xFFFB);
}

/// Appends the first character of `text`, which is not empty, as a terminal may print it; gives the
/// number of bytes that it took.
std::size_t append_printable(std::string& out, std::string_view text) {
  std::uint32_t code = 0;
  const std::size_t length = utf8_length(text, code);
  if (length == 0 || (length == 1 && is_control(code))) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint8_t>(text[0]));
    return 1;
  }
  if (is_control(code)) {
    fmt::format_to(std::back_inserter(out), "\\u{{{:x}}}", code);
  } else {
    out += text.substr(0, length);
  }
  return length;
}

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Most are whole, and integers are written in less time; from here on the exponent is shorter.
  constexpr double kWithExponent = 1e5;
  const bool minus_zero = value == 0 && std::signbit(value);
  if (std::fabs(value) < kWithExponent && value == std::trunc(value) && !minus_zero)
    return std::to_string(static_cast<std::int64_t>(value)) + ".0";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<double> parse_double(std::string_view text) {
  if (text == "nan") return std::nan("");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t at = text.find(separator, start);
    parts.emplace_back(text.substr(start, at == std::string_view::npos ? at : at - start));
    if (at == std::string_view::npos) return parts;
    start = at + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts.begin(), parts.end(), separator));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = utf8_length(text.substr(i), code);
    if (length == 0) {
      append_escape(out, 0xFFFD);
      ++i;
      continue;
    }
    i += length;
    switch (code) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (code >= 0x20 && code < 0x7F) {
          out += static_cast<char>(code);
        } else if (code < 0x10000) {
          append_escape(out, code);
        } else {
          append_escape(out, 0xD800 + ((code - 0x10000) >> 10));
          append_escape(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
        }
    }
  }
  return out + '"';
}

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t substitution = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitution});
      }
    }
    // Words that differ in every letter are not typing errors, however short.
    if (row.back() < std::min(best_distance, std::max(word.size(), candidate.size()))) {
      best_distance = row.back();
      best = &candidate;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t i = 0;
  while (i < text.size() && i < most) i += append_printable(out, text.substr(i));
  if (i < text.size()) out += "...";
  return out;
}

}  // namespace oplat::base
