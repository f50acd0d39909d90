// SPDX-License-Identifier: Apache-2.0
/// The one median, quantile, normal and Student distribution. Pure functions: any thread may call
/// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace oplat::base {

/// Quantile `p` (clamped to 0..1) by linear interpolation between order statistics (Hyndman and
/// Fan's type 7, the default of R and NumPy). std::nullopt if `values` is empty.
std::optional<double> quantile(std::span<const double> values, double p);
/// quantile(values, 0.5).
std::optional<double> median(std::span<const double> values);
/// The order statistic at index `at` (0: the smallest) without interpolation; `at` < values.size().
template <class Number>
Number order_statistic(std::vector<Number> values, std::size_t at) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}
/// The upper of the two middle values if their count is even. `values` is not empty.
template <class Number>
double upper_median(std::vector<Number> values) {
  const std::size_t middle = values.size() / 2;
  return static_cast<double>(order_statistic(std::move(values), middle));
}

/// z with P(Z <= z) = p of the standard normal distribution; 0 < p < 1.
double normal_quantile(double p);
/// z with P(|Z| <= z) = level of the standard normal distribution; 0 < level < 1.
double two_sided_normal_quantile(double level);
/// P(T <= t) of Student's distribution with `degrees` > 0 degrees of freedom.
double student_cdf(double t, double degrees);
/// t with student_cdf(t, degrees) == p; 0 < p < 1, `degrees` > 0.
double student_quantile(double p, double degrees);

}  // namespace oplat::base
