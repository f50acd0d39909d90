// SPDX-License-Identifier: Apache-2.0
/// Runtimes of which nobody has shown yet that a network takes what its kernels take by themselves.
#pragma once

#include <string_view>

namespace oplat::predict {

/// Standard deviation of the logarithm by which networks miss the sum of their kernels in a runtime
/// that was not compared on a quiet machine; 0 for runtimes that were, and for unknown ones.
double unproven_sd_log(std::string_view runtime);

}  // namespace oplat::predict
