// SPDX-License-Identifier: Apache-2.0
/// Times, sizes and shares as people read them and as people type them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::base {

/// "812 ns", "12.3 us", "4.56 ms", "1.23 s": three significant digits.
std::string duration_text(double ns);
/// "512 B", "12.3 KiB", "4.56 MiB".
std::string bytes_text(double bytes);
/// "1:02:03" or "4:05", for progress bars; `seconds` is rounded down.
std::string clock_text(double seconds);
/// "about 40 more seconds", "about 4 more minutes", "about 1.5 more hours": a forecast.
std::string more_time_text(double seconds);
/// Reads "10ms", "30m", "1.5h", "250us", "90s" or "800ns" into nanoseconds; a bare number is an
/// error that names the units.
Result<double> parse_duration_ns(std::string_view text);

}  // namespace oplat::base
