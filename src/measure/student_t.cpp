// SPDX-License-Identifier: Apache-2.0
/// Student's t distribution through the regularised incomplete beta function.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "measure/statistics.hpp"

namespace oplat::measure {
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
double upper_tail(double t, double dof) {
  const double square = t * t;
  return 0.5 * incomplete_beta(dof / 2, 0.5, dof / (dof + square), square / (dof + square));
}

}  // namespace

double student_t_cdf(double t, double dof) {
  return t >= 0 ? 1 - upper_tail(t, dof) : upper_tail(-t, dof);
}

double student_t_quantile(double p, double dof) {
  if (p == 0.5) return 0;
  if (p < 0.5) return -student_t_quantile(1 - p, dof);
  const double tail = 1 - p;
  double t = 0;
  for (double next = 1; upper_tail(next, dof) > tail && next < 1e150; next *= 2) t = next;
  // The tail is convex, so that Newton's steps from its left end never pass the quantile; they stop
  // where rounding does.
  const double log_scale =
      std::lgamma((dof + 1) / 2) - std::lgamma(dof / 2) - 0.5 * std::log(dof * std::numbers::pi);
  for (int i = 0; i < 100; ++i) {
    const double density = std::exp(log_scale - (dof + 1) / 2 * std::log1p(t * t / dof));
    const double step = (upper_tail(t, dof) - tail) / density;
    t += step;
    if (!(step > 1e-15 * t)) break;
  }
  return t;
}

}  // namespace oplat::measure
