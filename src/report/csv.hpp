// SPDX-License-Identifier: Apache-2.0
/// Lines of comma-separated values as in RFC 4180, with "\n" at their ends.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace oplat::report {

/// The text, in quotes where it holds a comma, a quote, a line end or a blank at either end.
std::string csv_field(std::string_view text);
std::string csv_number(double value);
std::string csv_number(std::int64_t value);
/// Empty where there is no number.
std::string csv_number(const std::optional<double>& value);
std::string csv_number(const std::optional<std::int64_t>& value);
/// Fields must be quoted already.
std::string csv_line(std::span<const std::string> fields);
inline std::string csv_line(std::initializer_list<std::string> fields) {
  return csv_line(std::span(fields.begin(), fields.size()));
}

}  // namespace oplat::report
