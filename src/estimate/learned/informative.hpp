// SPDX-License-Identifier: Apache-2.0
/// Candidates that a Gaussian process would learn most from. Values play no part in it, so many are
/// chosen at once. The same are chosen with any number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "estimate/learned/smooth_kernel.hpp"

namespace oplat::estimate {

/// `count` candidates, each the one whose value is least known given the rows known and those
/// chosen before it (a Cholesky decomposition, pivoted by what is left of the variance; D. MacKay,
/// "Information-based objective functions for active data selection", Neural Computation 4, 1992).
std::vector<std::size_t> choose_least_certain(const SmoothKernel& kernel, const Points& known,
                                              const Points& candidates, std::size_t count,
                                              int threads = 1);

/// `count` candidates, each the one that tells most about what will be asked: that takes most from
/// the sum of the variances of `asked`, each times its weight (D. Cohn, "Neural network exploration
/// using optimal experiment design", Neural Networks 9, 1996). It leaves the corners alone that
/// choose_least_certain() begins with, so that few rows do for more questions; but when as many are
/// chosen as are asked about, it serves these and no others. `costs`: of each candidate, by which
/// its gain is divided; empty: all cost the same. `go_on`: asked before every few choices; false
/// ends with those made by then.
std::vector<std::size_t> choose_most_informative(const SmoothKernel& kernel, const Points& known,
                                                 const Points& candidates, const Points& asked,
                                                 std::span<const float> weights, std::size_t count,
                                                 std::span<const float> costs = {}, int threads = 1,
                                                 const std::function<bool()>& go_on = {});

}  // namespace oplat::estimate
