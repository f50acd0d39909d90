// SPDX-License-Identifier: Apache-2.0
/// Quantile of the standard normal distribution.
#pragma once

namespace oplat::estimate {

/// z with P(|Z| <= z) = level.
double two_sided_quantile(double level);

}  // namespace oplat::estimate
