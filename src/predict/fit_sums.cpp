// SPDX-License-Identifier: Apache-2.0
/// Reweighted least squares, and a grid for the spread.
#include "fit_sums.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::predict {
namespace {

/// Relative errors beyond this are pulled at linearly: a network that a sum cannot explain must not bend the others.
constexpr double kHuber = 0.03;
constexpr int kSteps = 30;
/// How far c0 may be from the empty call, and c1 from 0, before the pull counts like one model that is 3 % off.
constexpr double kPriorShareOfC0 = 0.5;
constexpr double kLeastPriorNs = 200;
constexpr double kPriorC1Ns = 300;

double huber(double error) {
  const double size = std::abs(error);
  return size <= kHuber ? 0.5 * size * size : kHuber * (size - 0.5 * kHuber);
}

double huber_weight(double error) {
  const double size = std::abs(error);
  return size <= kHuber ? 1 : kHuber / size;
}

double loss_of(std::span<const KernelSum> sums, std::span<const double> measured_ns, const Coefficients& c) {
  double loss = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) loss += huber(c.predict(sums[i]) / measured_ns[i] - 1);
  return loss / static_cast<double>(sums.size());
}

/// Normal equations of two unknowns.
struct Equations {
  double a00 = 0, a01 = 0, a11 = 0, b0 = 0, b1 = 0;
  void add(double x0, double x1, double y, double weight) {
    a00 += weight * x0 * x0;
    a01 += weight * x0 * x1;
    a11 += weight * x1 * x1;
    b0 += weight * x0 * y;
    b1 += weight * x1 * y;
  }
  [[nodiscard]] Coefficients solve() const {
    const double determinant = a00 * a11 - a01 * a01;
    Coefficients c{(b0 * a11 - b1 * a01) / determinant, (b1 * a00 - b0 * a01) / determinant};
    // On the edge of what a call can cost: c1 alone remains.
    if (!(c.c0_ns >= 0)) c = {0, b1 / a11};
    return c;
  }
};

}  // namespace

FittedSums fit_sums(std::span<const KernelSum> sums, std::span<const double> measured_ns, const Coefficients& prior) {
  Coefficients c = prior;
  const double c0_scale = std::max(kPriorShareOfC0 * prior.c0_ns, kLeastPriorNs) / kHuber;
  const double c1_scale = kPriorC1Ns / kHuber;
  for (int step = 0; step < kSteps; ++step) {
    Equations equations;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double error = c.predict(sums[i]) / measured_ns[i] - 1;
      equations.add(1 / measured_ns[i], sums[i].n / measured_ns[i], 1 - sums[i].ns / measured_ns[i], huber_weight(error));
    }
    equations.add(1 / c0_scale, 0, prior.c0_ns / c0_scale, 1);
    equations.add(0, 1 / c1_scale, prior.c1_ns / c1_scale, 1);
    c = equations.solve();
  }
  return {c, loss_of(sums, measured_ns, c)};
}

SpreadFit fit_spread(std::span<const ErrorTerm> errors) {
  SpreadFit best{0.3, 0.03};
  double most = -1e300;
  for (const double rho : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9}) {
    for (double sd = 0.004; sd < 0.2; sd *= 1.15) {
      double likelihood = 0;
      for (const ErrorTerm& error : errors) {
        const double variance = error.variance(rho, sd) + error.measurement_sd * error.measurement_sd;
        likelihood -= 0.5 * (std::log(variance) + error.log_error * error.log_error / variance);
      }
      if (likelihood > most) {
        most = likelihood;
        best = {rho, sd};
      }
    }
  }
  return best;
}

}  // namespace oplat::predict
