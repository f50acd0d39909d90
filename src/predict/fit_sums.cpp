// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of fit.cpp: iteratively reweighted least squares for the coefficients, and a grid
/// search for the spread and the correlation of errors.
#include "predict/fit_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "predict/composition_fit.hpp"

namespace oplat::predict {
namespace {

/// Relative errors beyond this are pulled at linearly: a network that a sum cannot explain must not
/// bend the others.
constexpr double kHuber = 0.03;
constexpr int kSteps = 30;
/// How far c0 may be from the empty call, c1 and c2 from 0 and scale from 1 or from scale_int8
/// before the pull counts like one model that is 3 % off.
constexpr double kPriorShareOfC0 = 0.5;
constexpr double kMinPriorNs = 200;
constexpr double kPriorC1Ns = 300;
/// A runtime whose empty call is long spends long on each kernel too: 1.2 us and next to nothing
/// with ONNX Runtime, 30 and some 20 us with another runtime.
constexpr double kPriorC1ShareOfC0 = 0.25;
/// As much as was found on processors whose last level is shared (docs/adr/0025).
constexpr double kPriorC2NsPerByte = 0.01;
constexpr double kPriorScale = 0.03;

double huber(double error) {
  const double size = std::abs(error);
  return size <= kHuber ? 0.5 * size * size : kHuber * (size - 0.5 * kHuber);
}

double huber_weight(double error) {
  const double size = std::abs(error);
  return size <= kHuber ? 1 : kHuber / size;
}

double loss_of(std::span<const KernelSum> sums, std::span<const double> measured_ns,
               const Coefficients& c) {
  double loss = 0;
  for (std::size_t i = 0; i < sums.size(); ++i)
    loss += huber(c.predict(sums[i]) / measured_ns[i] - 1);
  return loss / static_cast<double>(sums.size());
}

/// c0, c1, c2, what scale is above 1, and scale_int8 above scale.
enum Unknown : std::size_t { kC0, kC1, kC2, kScale, kScaleInt8, kUnknowns };
using Row = std::array<double, kUnknowns>;

/// Normal equations of the unknowns.
class Equations {
 public:
  void add(const Row& x, double y, double weight) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      for (std::size_t j = 0; j < kUnknowns; ++j) a_[i][j] += weight * x[i] * x[j];
      b_[i] += weight * x[i] * y;
    }
  }
  /// The unknown draws towards a value: as a model that is off by 3 % where it is `far` from it.
  void pull(Unknown unknown, double far, double towards) {
    Row x{};
    x[unknown] = kHuber / far;
    add(x, towards * x[unknown], 1);
  }
  [[nodiscard]] Coefficients solve() const {
    std::array<bool, kUnknowns> is_zero{};
    Row x = solve(is_zero);
    // On the edge of what a call or a byte can cost the others remain; without c2, c0 may reach its
    // edge after all.
    for (const Unknown edge : {kC0, kC2, kC0}) {
      if (x[edge] >= 0) continue;
      is_zero[edge] = true;
      x = solve(is_zero);
    }
    const double scale = 1 + x[kScale];
    return {x[kC0], x[kC1], x[kC2], std::clamp(scale, kMinScale, kMaxScale),
            std::clamp(scale + x[kScaleInt8], kMinScale, kMaxScale)};
  }

 private:
  /// The pull makes the matrix positive definite: no pivot is needed.
  [[nodiscard]] Row solve(const std::array<bool, kUnknowns>& is_zero) const {
    auto a = a_;
    Row x = b_;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      if (!is_zero[i]) continue;
      for (std::size_t j = 0; j < kUnknowns; ++j) a[i][j] = a[j][i] = 0;
      a[i][i] = 1;
      x[i] = 0;
    }
    for (std::size_t k = 0; k < kUnknowns; ++k) {
      for (std::size_t i = k + 1; i < kUnknowns; ++i) {
        const double part = a[i][k] / a[k][k];
        for (std::size_t j = k; j < kUnknowns; ++j) a[i][j] -= part * a[k][j];
        x[i] -= part * x[k];
      }
    }
    for (std::size_t i = kUnknowns; i-- > 0;) {
      for (std::size_t j = i + 1; j < kUnknowns; ++j) x[i] -= a[i][j] * x[j];
      x[i] /= a[i][i];
    }
    return x;
  }

  std::array<Row, kUnknowns> a_{};
  Row b_{};
};

}  // namespace

FittedSums fit_sums(std::span<const KernelSum> sums, std::span<const double> measured_ns,
                    const Coefficients& prior) {
  Coefficients c = prior;
  const double c0_far = std::max(kPriorShareOfC0 * prior.c0_ns, kMinPriorNs);
  const double c1_far = std::max(kPriorC1ShareOfC0 * prior.c0_ns, kPriorC1Ns);
  for (int step = 0; step < kSteps; ++step) {
    Equations equations;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double error = c.predict(sums[i]) / measured_ns[i] - 1;
      const double kernels = sums[i].ns / measured_ns[i];
      const double int8 = sums[i].int8_ns / measured_ns[i];
      equations.add({1 / measured_ns[i], sums[i].n / measured_ns[i],
                     sums[i].result_bytes / measured_ns[i], kernels, int8},
                    1 - kernels, huber_weight(error));
    }
    equations.pull(kC0, c0_far, prior.c0_ns);
    equations.pull(kC1, c1_far, prior.c1_ns);
    equations.pull(kC2, kPriorC2NsPerByte, prior.c2_ns_per_byte);
    equations.pull(kScale, kPriorScale, prior.scale - 1);
    equations.pull(kScaleInt8, kPriorScale, prior.scale_int8 - prior.scale);
    const Coefficients next = equations.solve();
    // Times of an untrusted table that run over: the step before stands.
    if (!std::isfinite(next.c0_ns + next.c1_ns + next.c2_ns_per_byte + next.scale +
                       next.scale_int8))
      break;
    c = next;
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
        const double variance = error.variance(rho, sd);
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
