// SPDX-License-Identifier: Apache-2.0
/// Units for people.
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/counted.hpp"
#include "base/text.hpp"

namespace oplat::base {
namespace {

/// Beyond it there are too many digits to read: only untrusted files hold such times.
constexpr double kMaxWritten = 1e9;

/// Three significant digits, so that a reader is not shown precision that was not measured.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude < 9.995) return fmt::format("{:.2f}", value);
  if (magnitude < 99.95) return fmt::format("{:.1f}", value);
  if (magnitude >= kMaxWritten) return fmt::format("{:.2e}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

std::string duration_text(double ns) {
  const double magnitude = std::fabs(ns);
  if (magnitude < 999.5) return three_digits(ns) + " ns";
  if (magnitude < 999.5e3) return three_digits(ns / 1e3) + " us";
  if (magnitude < 999.5e6) return three_digits(ns / 1e6) + " ms";
  return three_digits(ns / 1e9) + " s";
}

std::string bytes_text(double bytes) {
  if (bytes < 1024) return fmt::format("{:.0f} B", bytes);
  static constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  bytes /= 1024;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return three_digits(bytes) + ' ' + kUnits[unit];
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(seconds < 0 ? 0 : seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string more_time_text(double seconds) {
  if (seconds < 90) {
    const double rounded =
        seconds < 15 ? std::max(1.0, std::ceil(seconds)) : std::round(seconds / 10) * 10;
    return "about " + counted(std::llround(rounded), "more second");
  }
  if (seconds < 90 * 60) return fmt::format("about {:.0f} more minutes", std::round(seconds / 60));
  return fmt::format("about {:.1f} more hours", seconds / 3600);
}

Result<double> parse_duration_ns(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
  const std::size_t unit_at = text.find_first_not_of("0123456789.");
  if (unit_at != std::string_view::npos && unit_at > 0) {
    const std::optional<double> number = parse_double(text.substr(0, unit_at));
    for (const auto& [name, factor] : kUnits) {
      if (text.substr(unit_at) == name && number && *number > 0 && std::isfinite(*number * factor))
        return *number * factor;
    }
  }
  return fail(Code::Usage,
              "'{}' is not a duration; expected a positive number with a unit: 800ns, 250us, 10ms, "
              "90s, 30m or 1.5h",
              printable(text));
}

}  // namespace oplat::base
