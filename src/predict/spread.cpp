// SPDX-License-Identifier: Apache-2.0
/// Correlated spread of a sum, quantiles, intervals.
#include "predict/spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "estimate/estimate.hpp"

namespace oplat::predict {
namespace {

/// Continued fraction of the incomplete beta function by Lentz's method (Abramowitz and
/// Stegun 26.5.8).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxSteps = 500;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double value = d;
  for (int m = 1; m <= kMaxSteps; ++m) {
    for (const double step : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + step * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + step / c;
      if (std::abs(c) < kTiny) c = kTiny;
      value *= d * c;
    }
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// P(T > t), t >= 0.
double student_tail(double t, double freedom) {
  return 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
}
double normal_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

/// The z >= 0 whose tail is `tail`, by halving: quantiles are asked a few times per report.
template <class Tail>
double upper_quantile(Tail tail_of, double tail) {
  double low = 0, high = 1;
  while (tail_of(high) > tail && high < 1e150) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (tail_of(middle) > tail ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

template <class Tail>
double quantile(Tail tail_of, double p) {
  if (p == 0.5) return 0;
  return p > 0.5 ? upper_quantile(tail_of, 1 - p) : -upper_quantile(tail_of, p);
}

}  // namespace

double correlation(std::string_view group, double measured) {
  if (group == "measured") return measured;
  if (group == "interpolated" || group == "learned") return 0.5;
  return 0.9;
}

double total_spread(std::span<const Term> terms, double composition_sd, double measured) {
  struct Sums {
    double linear = 0;
    double squares = 0;
  };
  std::map<std::string_view, Sums> groups;
  for (const Term& term : terms) {
    Sums& sums = groups[term.group];
    const double part = term.share * term.sd_log;
    sums.linear += part;
    sums.squares += part * part;
  }
  double variance = composition_sd * composition_sd;
  for (const auto& [group, sums] : groups) {
    const double rho = correlation(group, measured);
    variance += rho * sums.linear * sums.linear + (1 - rho) * sums.squares;
  }
  return std::sqrt(variance);
}

double normal_quantile(double p) { return quantile(normal_tail, p); }

double student_quantile(double p, std::int64_t freedom) {
  const auto degrees = static_cast<double>(freedom);
  return quantile([degrees](double t) { return student_tail(t, degrees); }, p);
}

double interval_quantile(double level, const Calibration& calibration) {
  const double p = 0.5 + 0.5 * level;
  const double q =
      calibration.models < 2 ? normal_quantile(p) : student_quantile(p, calibration.models - 1);
  const auto n = static_cast<std::int64_t>(calibration.scores.size());
  if (n < kMinConformalModels) return q;
  // The k-th smallest of n scores holds k / (n + 1) of further models on average; between two of
  // them the level is between theirs.
  const double place = static_cast<double>(n + 1) * level;
  if (place > static_cast<double>(n)) return std::max(q, calibration.scores.back());
  if (place <= 1) return calibration.scores.front();
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  const double low = calibration.scores[below - 1];
  return share > 0 ? low + share * (calibration.scores[below] - low) : low;
}

Result<Interval> interval(double median_ns, double sd_log, double level,
                          const Calibration& calibration, double floor_ns) {
  if (!(level > 0 && level < 1))
    return fail(Code::Usage, "level {}: must lie between 0 and 1, such as --level 0.9", level);
  const estimate::Bounds bounds =
      estimate::bounds_around(median_ns, sd_log, interval_quantile(level, calibration), floor_ns);
  return Interval{bounds.low, bounds.high};
}

}  // namespace oplat::predict
