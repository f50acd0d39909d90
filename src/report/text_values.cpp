// SPDX-License-Identifier: Apache-2.0
/// Numbers as people read them.
#include "report/text_values.hpp"

#include <fmt/format.h>

#include "base/interval.hpp"
#include "base/units.hpp"

namespace oplat::report {

std::string time_text(const std::optional<double>& ns) {
  return ns ? base::duration_text(*ns) : "-";
}

std::string range_text(double lo_ns, double hi_ns) {
  std::string lo = base::duration_text(lo_ns);
  const std::string hi = base::duration_text(hi_ns);
  const auto unit = [](const std::string& text) { return text.substr(text.find(' ') + 1); };
  if (unit(lo) == unit(hi)) lo.erase(lo.find(' '));
  return fmt::format("{} to {}", lo, hi);
}

std::string level_text(double level) { return fmt::format("{:.4g} %", 100 * level); }

std::string latency_text(double latency_ns, const std::optional<base::Interval>& interval,
                         double level) {
  const std::string latency = base::duration_text(latency_ns);
  if (!interval) return latency;
  return fmt::format("{} ({}, {})", latency, range_text(interval->low, interval->high),
                     level_text(level));
}

std::string rate_text(double per_second) {
  return per_second >= 999.5 ? fmt::format("{:.0f}", per_second)
                             : fmt::format("{:.3g}", per_second);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string signed_text(const std::optional<double>& fraction) {
  return fraction ? fmt::format("{:+.1f} %", 100 * *fraction) : "-";
}

std::string Paint::bold(std::string_view text) const {
  return on ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}
std::string Paint::alarm(std::string_view text) const {
  return on ? fmt::format("\x1b[31m{}\x1b[0m", text) : std::string(text);
}

}  // namespace oplat::report
