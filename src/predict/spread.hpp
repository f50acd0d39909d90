// SPDX-License-Identifier: Apache-2.0
/// Spread of a sum of correlated log-normal parts, and the interval that follows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/interval.hpp"
#include "base/result.hpp"

namespace oplat::predict {

/// Spread of the composition itself on a table without a fit, besides the parts below. It is the
/// smallest, in steps of half a per cent, with which 85 % of the networks of each machine in
/// data/compositions are inside their 90 % interval (docs/results/machines.md): 86 to 100 % of 38
/// to 49 networks on five machines and settings. A machine's errors have one sign, so that a
/// further machine may do worse: chosen from the others it held 65 to 100 %. A fit on whole models
/// replaces all of it.
inline constexpr double kCompositionSd = 0.06;

/// What a table without a fit does not know of a composition, as spreads in ns. Of the call: the
/// empty call has one input and one output, and each further one takes some 0.1 us, a model without
/// inputs took 0.13 us less than an empty call (docs/adr/0046).
inline constexpr double kCallSdNs = 300;
/// Of a call that was never timed on a core of its own at full clock, relative to it: in five of 56
/// campaigns 2.2 to 3.2 us in place of 1.2 (docs/adr/0046).
inline constexpr double kSharedCallSd = 0.4;
/// Of each kernel, which follows itself in a row and others in a model: fits found -74 to 213 ns.
inline constexpr double kKernelSdNs = 60;
/// Of each byte of results: fits found 0 to 0.0075 ns (docs/adr/0025-bytes-of-results.md), and
/// models whose results do not fit into what other tenants leave of a last level miss up to 0.025
/// (docs/adr/0046-neighbours-that-stay.md).
inline constexpr double kResultByteSdNs = 0.02;

/// Correlation of the errors of measured kernels on a table without a fit.
inline constexpr double kMeasuredCorrelation = 0.3;

/// Correlation of errors inside a group: `measured` for measured ones; start values for the others:
/// interpolated and learned 0.5, physics, extrapolated and what is not known 0.9.
double correlation(std::string_view group, double measured = kMeasuredCorrelation);

/// A part of a sum.
struct Term {
  double share = 0;  ///< of the total
  double sd_log = 0;
  std::string group;
  /// In sd_log, in quadrature: what has one cause in all terms, whatever their group, so that it
  /// adds up with its sign (estimate::Estimate).
  double common_sd_log = 0;
  /// The rest of sd_log.
  [[nodiscard]] double own_sd_log() const;
};

/// s, where s^2 = sum over groups of [rho (sum w sd)^2 + (1 - rho) sum w^2 sd^2] +
/// (sum w common)^2 + composition_sd^2, sd being a term's own.
double total_spread(std::span<const Term> terms, double composition_sd,
                    double measured = kMeasuredCorrelation);

/// How an interval was calibrated: scores of models that were left out of the fit
/// (CompositionFit::scores).
struct Calibration {
  std::int64_t models = 0;
  std::span<const double> scores = {};  ///< ascending; empty: only their number is known
};
/// Models from which on their own scores give the quantile.
inline constexpr std::int64_t kMinConformalModels = 19;

/// Half-width of the interval in units of the spread. From 19 models on the conformal quantile: the
/// (models + 1) level-th smallest score, between two of them in proportion (rounded up, 47 models
/// would give 91.7 % for 90), beyond the largest the larger of that and the t-quantile. Below, the
/// t-quantile with models - 1 degrees of freedom, or the normal one for fewer than two models.
double interval_quantile(double level, const Calibration& calibration);

/// median * exp(+- q s) with q = interval_quantile(), from `floor_ns` or the median on where that
/// begins lower. Code::Usage unless 0 < level < 1.
Result<base::Interval> interval(double median_ns, double sd_log, double level,
                                const Calibration& calibration, double floor_ns = 0);

}  // namespace oplat::predict
