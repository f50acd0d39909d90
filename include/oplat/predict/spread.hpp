// SPDX-License-Identifier: Apache-2.0
/// Spread of a sum of correlated log-normal parts, and the interval that follows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "oplat/base/result.hpp"

namespace oplat::predict {

/// Spread of the composition itself on a table without a fit: sums of well-measured kernels were within about 3 % of
/// whole models. Replaced by a fit on whole models.
inline constexpr double kCompositionSd = 0.03;

/// Correlation of errors inside a group (start values): measured 0.3, interpolated and learned 0.5, physics,
/// extrapolated and what is not known 0.9.
double correlation(std::string_view group);

/// A part of a sum.
struct Term {
  double share = 0;  ///< of the total
  double sd_log = 0;
  std::string group;
};

/// s, where s^2 = sum over groups of [rho (sum w sd)^2 + (1 - rho) sum w^2 sd^2] + composition_sd^2.
double total_spread(std::span<const Term> terms, double composition_sd);

struct Interval {
  double lo_ns = 0;
  double hi_ns = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// z with P(Z <= z) = p of the standard normal distribution; 0 < p < 1.
double normal_quantile(double p);
/// t with P(T <= t) = p of Student's distribution with `freedom` >= 1 degrees of freedom; 0 < p < 1.
double student_quantile(double p, std::int64_t freedom);

/// median * exp(+- q s). q is the t-quantile with calibration_models - 1 degrees of freedom, or the normal one where
/// fewer than two models calibrated the table. Code::Usage unless 0 < level < 1.
Result<Interval> interval(double median_ns, double sd_log, double level, std::int64_t calibration_models);

}  // namespace oplat::predict
