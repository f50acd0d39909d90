// SPDX-License-Identifier: Apache-2.0
/// Quantiles, and the distributions that intervals need.
///
/// Student's distribution comes from the regularised incomplete beta function by its continued
/// fraction (DLMF 8.17.22), and its quantile from Newton's steps. The normal quantile comes from
/// bisection. Both converge to the rounding of doubles, so that one implementation without a
/// library serves every interval of the program.
#include "base/stats.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace oplat::base {
namespace {

/// Continued fraction of DLMF 8.17.22, from its tail. It converges fast for x < (a + 1) / (a + b +
/// 2), in about sqrt(max(a, b)) terms.
double beta_fraction(double a, double b, double x) {
  const int terms = 100 + static_cast<int>(std::min(4.0 * std::sqrt(std::max(a, b)), 1e5));
  double value = 1;
  for (int n = terms; n >= 1; --n) {
    const double m = n / 2;
    const double d = n % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    value = 1 + d / value;
  }
  return 1 / value;
}

/// I_x(a, b), with 1 - x given apart so that it keeps its digits where x is nearly 1.
double incomplete_beta(double a, double b, double x, double one_minus_x) {
  if (x <= 0) return 0;
  if (one_minus_x <= 0) return 1;
  const double log_front = a * std::log(x) + b * std::log(one_minus_x) + std::lgamma(a + b) -
                           std::lgamma(a) - std::lgamma(b);
  if (x < (a + 1) / (a + b + 2)) return std::exp(log_front) / a * beta_fraction(a, b, x);
  return 1 - std::exp(log_front) / b * beta_fraction(b, a, one_minus_x);
}

/// P(T > t) for t >= 0.
double upper_tail(double t, double degrees) {
  const double square = t * t;
  return 0.5 * incomplete_beta(degrees / 2, 0.5, degrees / (degrees + square),
                               square / (degrees + square));
}

/// P(Z > z).
double normal_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

/// The z >= 0 whose tail is `tail` <= 0.5.
double upper_normal_quantile(double tail) {
  double low = 0, high = 1;
  while (normal_tail(high) > tail && high < 1e150) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (normal_tail(middle) > tail ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

std::optional<double> quantile(std::span<const double> values, double p) {
  if (values.empty()) return std::nullopt;
  std::vector<double> copy(values.begin(), values.end());
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(copy.size() - 1);
  const auto rank = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(rank);
  // Plain pointers: a debug build that links the unoptimised templates of another source sorts by
  // those of this one.
  double* const end = copy.data() + copy.size();
  double* const below = copy.data() + rank;
  std::nth_element(copy.data(), below, end);
  const double above = rank + 1 < copy.size() ? *std::min_element(below + 1, end) : *below;
  return *below + share * (above - *below);
}

std::optional<double> median(std::span<const double> values) { return quantile(values, 0.5); }
double normal_quantile(double p) {
  if (p == 0.5) return 0;
  return p > 0.5 ? upper_normal_quantile(1 - p) : -upper_normal_quantile(p);
}

// Rows mostly share one level, and the search for its quantile would take a third of a prediction.
double two_sided_normal_quantile(double level) {
  if (level == 0.95) return 1.959963984540054;
  return upper_normal_quantile((1 - level) / 2);
}

double student_cdf(double t, double degrees) {
  return t >= 0 ? 1 - upper_tail(t, degrees) : upper_tail(-t, degrees);
}

double student_quantile(double p, double degrees) {
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_quantile(1 - p, degrees);
  const double tail = 1 - p;
  double t = 0;
  for (double next = 1; upper_tail(next, degrees) > tail && next < 1e150; next *= 2) t = next;
  // The tail is convex, so that Newton's steps from its left end never pass the quantile; they stop
  // where rounding does.
  const double log_scale = std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2) -
                           0.5 * std::log(degrees * std::numbers::pi);
  for (int i = 0; i < 100; ++i) {
    const double density = std::exp(log_scale - (degrees + 1) / 2 * std::log1p(t * t / degrees));
    const double step = (upper_tail(t, degrees) - tail) / density;
    t += step;
    if (!(step > 1e-15 * t)) break;
  }
  return t;
}

}  // namespace oplat::base
