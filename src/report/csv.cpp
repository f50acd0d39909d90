// SPDX-License-Identifier: Apache-2.0
/// Quoting of comma-separated values.
#include "report/csv.hpp"

#include "base/text.hpp"

namespace oplat::report {

std::string csv_field(std::string_view text) {
  const bool blank_ends = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!blank_ends && text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string csv_number(double value) { return base::float_text(value); }
std::string csv_number(std::int64_t value) { return std::to_string(value); }
std::string csv_number(const std::optional<double>& value) {
  return value ? base::float_text(*value) : std::string();
}
std::string csv_number(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : std::string();
}

std::string csv_line(std::span<const std::string> fields) { return base::join(fields, ",") + "\n"; }

}  // namespace oplat::report
