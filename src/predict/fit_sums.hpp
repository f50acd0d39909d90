// SPDX-License-Identifier: Apache-2.0
/// Sums of kernels, fitted to measured times: the arithmetic of `oplat fit` without tables.
#pragma once

#include <cstddef>
#include <span>

#include "predict/coefficients.hpp"
#include "predict/spread.hpp"

namespace oplat::predict {

/// One model under one curve: the sum of its kernels with what the spread of that sum is made of.
struct KernelSum {
  SumParts parts;
  double linear = 0;          ///< sum of w sd of measured kernels, in ns
  double squares = 0;         ///< sum of (w sd)^2 of measured kernels, in ns^2
  double other_variance = 0;  ///< of everything else, in ns^2
  double unscored_ns2 = 0;    ///< in it, SumVariance::unscored
  /// Of the sum, in ns^2, if errors of measured kernels have this correlation.
  [[nodiscard]] double variance_ns2(double rho) const {
    return rho * linear * linear + (1 - rho) * squares + other_variance;
  }
};

/// A whole model's time: ns, and the standard deviation of its logarithm.
struct MeasuredTime {
  double ns = 0;
  double sd_log = 0;
};

struct FittedSums {
  Coefficients coefficients;
  CoefficientCovariance covariance;
  double sd_log = 0;    ///< spread of a single model around the composition
  double evidence = 0;  ///< ln of the times' probability, up to a constant; for comparing curves
};

/// Coefficients of the largest posterior probability, c0 and c2 not below 0. The priors and each
/// model's relative error, (predicted - measured) / measured, are Student's t with 4 degrees of
/// freedom, so that a model that no sum explains hardly bends the others, and a machine unlike all
/// others is believed. The scale of an error is made of the model's own uncertainty, that of its
/// kernels, and a spread of compositions that is fitted too. The spans have one length, 0 included
/// (then the prior comes back); measured times are > 0.
FittedSums fit_sums(std::span<const KernelSum> sums, std::span<const MeasuredTime> measured,
                    const CoefficientPrior& prior);

/// Error of one prediction, and its variance apart from what fit_spread() finds.
struct ErrorTerm {
  double log_error = 0;       ///< ln(measured / predicted)
  double linear = 0;          ///< sum of w sd of measured kernels, relative to the prediction
  double squares = 0;         ///< sum of (w sd)^2 of them, relative
  double fixed_variance = 0;  ///< of other kernels, the coefficients and the curve, relative
  double unscored = 0;        ///< in it, SumVariance::unscored
  double noise_variance = 0;  ///< of the measured time: in the error, not in the prediction
  [[nodiscard]] double variance(double rho, double sd) const {
    return rho * linear * linear + (1 - rho) * squares + fixed_variance + sd * sd;
  }
  /// The error in units of what it should be.
  [[nodiscard]] double score(double rho, double sd) const;
};

struct SpreadFit {
  double measured_correlation = kMeasuredCorrelation;
  double sd_log = 0;
};
/// The pair of a grid of the largest posterior probability, of equals the first: errors that are
/// normal but for one in twenty, which are five times as large, and priors that count for a few
/// models (of the spread as in `prior`, of the correlation around kMeasuredCorrelation). Without
/// errors the prior's own.
SpreadFit fit_spread(std::span<const ErrorTerm> errors, const CoefficientPrior& prior);

}  // namespace oplat::predict
