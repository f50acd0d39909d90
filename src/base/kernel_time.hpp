// SPDX-License-Identifier: Apache-2.0
/// The times that importers take: what no kernel can take would carry any fit of the rows away.
#pragma once

#include <string_view>

namespace oplat::base {

/// Light goes 0.3 mm in it.
inline constexpr double kMinKernelNs = 1e-3;
/// A year.
inline constexpr double kMaxKernelNs = 3.2e16;
/// Both in ms, for messages.
inline constexpr std::string_view kKernelTimesMs = "1e-9 to 3.2e10 ms";

/// False of NaN and the infinite, too.
constexpr bool is_kernel_time(double ns) { return ns >= kMinKernelNs && ns <= kMaxKernelNs; }

}  // namespace oplat::base
