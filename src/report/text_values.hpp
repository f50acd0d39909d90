// SPDX-License-Identifier: Apache-2.0
/// Numbers as people read them, shared by the text reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/interval.hpp"
#include "report/report_model.hpp"

namespace oplat::report {

/// "-" where there is no number.
std::string time_text(const std::optional<double>& ns);
/// "11.9 to 12.8 ms", or "812 ns to 1.02 us" where the units differ.
std::string range_text(double lo_ns, double hi_ns);
/// "90 %", "99.5 %".
std::string level_text(double level);
/// "12.3 ms (11.9 to 12.8 ms, 90 %)".
std::string latency_text(double latency_ns, const std::optional<base::Interval>& interval,
                         double level);
/// "637", "1.23", "0.045": a rate, three significant digits where it is below 1000.
std::string rate_text(double per_second);
/// "97.6 %".
std::string share_text(double share);
/// "+3.1 %", "-" where there is no number.
std::string signed_text(const std::optional<double>& fraction);

/// Escape sequences, or nothing if colour was not asked for.
struct Paint {
  bool on = false;
  [[nodiscard]] std::string bold(std::string_view text) const;
  [[nodiscard]] std::string alarm(std::string_view text) const;
};

}  // namespace oplat::report
