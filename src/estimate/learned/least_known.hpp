// SPDX-License-Identifier: Apache-2.0
/// What a Gaussian process would learn most from.
#pragma once

#include <vector>

#include "estimate/learned/smooth_kernel.hpp"

namespace oplat::estimate {

/// `count` candidates, each the one whose value is least known given the rows known and those chosen before it
/// (a Cholesky decomposition, pivoted by what is left of the variance). Values play no part in it.
std::vector<std::size_t> least_known(const SmoothKernel& kernel, const Points& known, const Points& candidates,
                                     std::size_t count);

}  // namespace oplat::estimate
