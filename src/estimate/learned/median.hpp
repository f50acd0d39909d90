// SPDX-License-Identifier: Apache-2.0
/// Median of what a model saw.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace oplat::estimate {

/// The upper of the two in the middle where the count is even. `values` is not empty.
template <class Number>
double upper_median(std::vector<Number> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

}  // namespace oplat::estimate
