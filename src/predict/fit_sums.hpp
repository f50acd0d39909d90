// SPDX-License-Identifier: Apache-2.0
/// Sums of kernels, fitted to measured times: the arithmetic of `oplat fit` without tables.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace oplat::predict {

/// One model under one curve: the sum of its kernels with what the spread of that sum is made of.
struct KernelSum {
  double ns = 0;
  double int8_ns = 0;         ///< of it the kernels with 8-bit tensors
  double n = 0;               ///< executed kernels
  double result_bytes = 0;    ///< of executed kernels
  double linear = 0;          ///< sum of w sd of measured kernels, in ns
  double squares = 0;         ///< sum of (w sd)^2 of measured kernels, in ns^2
  double other_variance = 0;  ///< of everything else, in ns^2
};

/// Coefficients of latency = c0 + c1 n + c2 * bytes of results + scale * sum, with a scale of their
/// own for kernels with 8-bit tensors.
struct Coefficients {
  double c0_ns = 0;
  double c1_ns = 0;
  double c2_ns_per_byte = 0;
  double scale = 1;
  double scale_int8 = 1;
  [[nodiscard]] double kernels_ns(const KernelSum& sum) const {
    return scale * (sum.ns - sum.int8_ns) + scale_int8 * sum.int8_ns;
  }
  [[nodiscard]] double predict(const KernelSum& sum) const {
    return c0_ns + c1_ns * sum.n + c2_ns_per_byte * sum.result_bytes + kernels_ns(sum);
  }
};

struct FittedSums {
  Coefficients coefficients;
  double loss = 0;  ///< mean Huber loss of the relative errors, the pull left out
};

/// Least Huber loss of (predicted - measured) / measured over c0 >= 0, c1, c2 >= 0 and the scales.
/// `prior` pulls with the weight of about one model, scale_int8 to scale. The spans have one length
/// > 0; measured times are > 0.
FittedSums fit_sums(std::span<const KernelSum> sums, std::span<const double> measured_ns,
                    const Coefficients& prior);

/// Spread of one prediction, apart from what is fitted: rho and s_c.
struct ErrorTerm {
  double log_error = 0;       ///< ln(measured / predicted)
  double linear = 0;          ///< sum of w sd of measured kernels, relative to the prediction
  double squares = 0;         ///< sum of (w sd)^2 of them, relative
  double fixed_variance = 0;  ///< of other kernels, relative
  [[nodiscard]] double variance(double rho, double sd) const {
    return rho * linear * linear + (1 - rho) * squares + fixed_variance + sd * sd;
  }
};

struct SpreadFit {
  double measured_correlation = 0;
  double sd_log = 0;
};
/// The pair of a grid that gives the errors the largest normal likelihood; of equals the first. The
/// errors of measuring the models are part of them, since an interval is about what a measurement
/// would show.
SpreadFit fit_spread(std::span<const ErrorTerm> errors);

}  // namespace oplat::predict
