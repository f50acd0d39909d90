// SPDX-License-Identifier: Apache-2.0
/// Straight lines between points of one axis, extended beyond the ends.
#pragma once

#include <span>

namespace oplat::compat::tinynas {

/// scipy's interp1d(kind="linear", fill_value="extrapolate"). `x` ascends and has no value twice;
/// it and `y` are of one length, at least 1. NaN from a single point, which is not a line.
double line_through(std::span<const double> x, std::span<const double> y, double at);

}  // namespace oplat::compat::tinynas
