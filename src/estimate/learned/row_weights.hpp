// SPDX-License-Identifier: Apache-2.0
/// How much each row counts in learning: the less, the more rows of its time deviate.
#pragma once

#include <span>
#include <vector>

namespace oplat::estimate {

/// Weights, in mean 1, of rows that take `log_ns` and lie `deviations` off a first estimate. Short
/// kernels are measured less well than long ones: rows are cut into bands of like time, and a row
/// weighs 1 / the square of the median deviation of its band, as in least squares of rows that
/// differ in their variance. Empty where rows are too few for two bands: all weigh the same.
std::vector<float> row_weights(std::span<const float> log_ns, std::span<const float> deviations);

}  // namespace oplat::estimate
