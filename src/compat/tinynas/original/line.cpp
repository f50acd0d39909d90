// SPDX-License-Identifier: Apache-2.0
/// Interpolation along one axis.
#include "compat/tinynas/original/line.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace oplat::compat::tinynas {

double line_through(std::span<const double> x, std::span<const double> y, double at) {
  if (x.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto found = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), at) - x.begin());
  const std::size_t high = std::clamp<std::size_t>(found, 1, x.size() - 1);
  const std::size_t low = high - 1;
  const double slope = (y[high] - y[low]) / (x[high] - x[low]);
  return slope * (at - x[low]) + y[low];
}

}  // namespace oplat::compat::tinynas
