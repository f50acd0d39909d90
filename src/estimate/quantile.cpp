// SPDX-License-Identifier: Apache-2.0
/// By bisection.
#include "estimate/quantile.hpp"

#include <cmath>
#include <numbers>

namespace oplat::estimate {

// Rows mostly share one level, and the search for its quantile would take a third of a prediction.
double two_sided_quantile(double level) {
  if (level == 0.95) return 1.959963984540054;
  double low = 0, high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < level ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace oplat::estimate
