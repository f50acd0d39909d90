// SPDX-License-Identifier: Apache-2.0
/// How files of foreign formats begin, for the hint that one of them is no table yet.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "table/codec.hpp"
#include "table/codecs/text_rows.hpp"

namespace oplat::table {
namespace {

/// A pickled dict: its protocol's opcode, or how those of protocols 0 and 1 begin.
bool is_pickle(std::string_view bytes) {
  constexpr std::array<std::string_view, 5> kStarts = {"\x80", "(d", "}q", "}(", "}."};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return bytes.starts_with(start); });
}

/// "{Regular,1,16,5,5,8,1,1,0} 0.5"
bool is_library(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::size_t end = line.find("} ");
  return line.size() > 1 && line[0] == '{' && line[1] != '"' && end != std::string_view::npos &&
         ns_of_ms(trimmed(line.substr(end + 1)));
}

bool is_lut(std::string_view bytes) {
  return bytes.starts_with('{') && bytes.find("\"op_type\"") != std::string_view::npos;
}
bool is_lookup(std::string_view bytes) { return bytes.starts_with("dev_info"); }
bool is_profile(std::string_view bytes) {
  return bytes.find("Dispatch Profiler Summary") != std::string_view::npos;
}

/// Three fields in the first line, an operator and its time in the second.
bool is_evaluator(std::string_view bytes) {
  TextRows lines(bytes);
  if (!lines.next() || base::split(lines.line(), '\t').size() != 3 || !lines.next()) return false;
  const auto fields = base::split(lines.line(), '\t');
  return fields.size() == 2 && ns_of_ms(trimmed(fields[1]));
}

struct Look {
  std::string_view format;
  bool (*is)(std::string_view bytes);
};
constexpr std::array kLooks = {Look{"paddleslim", is_pickle},
                               Look{"lut", is_lut},
                               Look{"tinynas", is_library},
                               Look{"paddle-lookup", is_lookup},
                               Look{"paddle-lite-profile", is_profile},
                               Look{"paddle-evaluator", is_evaluator}};

}  // namespace

std::optional<std::string_view> likely_format(std::string_view bytes) {
  const auto* const found =
      std::find_if(kLooks.begin(), kLooks.end(), [&](const Look& look) { return look.is(bytes); });
  return found == kLooks.end() ? std::nullopt : std::optional(found->format);
}

}  // namespace oplat::table
