// SPDX-License-Identifier: Apache-2.0
/// Spread of a sum of correlated log-normal parts, and the interval that follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/interval.hpp"
#include "base/result.hpp"

namespace oplat::predict {

/// Spread of the composition itself on a table without a fit, besides the parts below. It is the
/// smallest, in steps of half a per cent, with which 85 % of the networks of each machine in
/// data/compositions were inside their 90 % interval (docs/results/machines.md): 38 to 49 networks
/// on six machines and settings. By the counts of docs/adr/0093 5 % would be enough; a machine's
/// errors have one sign, so that a further machine may do worse, and nearly all of these are of one
/// maker. Whole models of the machine replace it (fit_composition()).
inline constexpr double kCompositionSd = 0.07;

/// Correlation of the errors of measured kernels on a table without a fit.
inline constexpr double kMeasuredCorrelation = 0.3;
/// The same of kernels that were interpolated or learned: a start value.
inline constexpr double kLearnedCorrelation = 0.5;

/// What is known of a table's correlations.
struct Correlations {
  double measured = kMeasuredCorrelation;
  double learned = kLearnedCorrelation;
};
/// Correlation of errors inside a group; of the roofline, extrapolated and what is not known 0.9, a
/// start value.
double correlation(std::string_view group, const Correlations& known = {});

/// Of the fit record that says how learned kernels of this table err together
/// (estimate::learned_correlation()): an `f64`, little-endian.
inline constexpr std::string_view kLearnedCorrelationFormat = "oplat.learned-correlation/1";
/// std::nullopt for bytes that say no correlation.
std::optional<double> decode_correlation(std::string_view blob);
std::string encode_correlation(double correlation);

/// A part of a sum.
struct Term {
  double share = 0;  ///< of the total
  double sd_log = 0;
  std::string group;
  /// In sd_log, in quadrature: what has one cause in all terms, whatever their group, so that it
  /// adds up with its sign (estimate::Estimate).
  double common_sd_log = 0;
  /// In sd_log, in quadrature: what the values decide that a kernel computes with. A model gives
  /// kernels of one operator values of one kind, so that these add up for each operator.
  double values_sd_log = 0;
  std::string op = {};    ///< where values_sd_log is not 0
  bool measured = false;  ///< a row of the kernel itself says its time
  /// The rest of sd_log.
  [[nodiscard]] double own_sd_log() const;
};

/// Variance of a sum's logarithm. Models that calibrate a fit are sums of measured kernels: what
/// they were missed by says nothing of some of it.
struct SumVariance {
  double scored = 0;    ///< composition, and kernels with a row
  double unscored = 0;  ///< the rest
  /// What has a cause of its own.
  void add_unscored(double sd_log) { unscored += sd_log * sd_log; }
  [[nodiscard]] double all() const { return scored + unscored; }
  /// 0 to 1.
  [[nodiscard]] double unscored_share() const { return all() > 0 ? unscored / all() : 0; }
};

/// The sum over groups of [rho (sum w sd)^2 + (1 - rho) sum w^2 sd^2] + sum over operators of
/// (sum w values)^2 + (sum w common)^2 + composition_sd^2, sd being a term's own. Groups with terms
/// that are not measured, and values, are not scored.
SumVariance sum_variance(std::span<const Term> terms, double composition_sd,
                         const Correlations& known = {});
/// The root of all of it.
double total_spread(std::span<const Term> terms, double composition_sd,
                    const Correlations& known = {});

/// How an interval was calibrated: scores of models that were left out of the fit
/// (CompositionFit::scores).
struct Calibration {
  std::int64_t models = 0;
  std::span<const double> scores = {};  ///< ascending; empty: only their number is known
  double unscored = 0;                  ///< SumVariance::unscored_share() of what is predicted
};
/// Models from which on their own scores give the quantile.
inline constexpr std::int64_t kMinConformalModels = 19;
/// Models from which on their scores bound the quantile from below.
inline constexpr std::int64_t kMinScoredModels = 10;

/// What is known of a composition's spread before any model is worth so many models
/// (CoefficientPrior::sd_log_doubt).
inline constexpr std::int64_t kSpreadFreedom = 4;

/// Half-width of the interval in units of the spread. What is scored and what is not have
/// quantiles of their own, whose squares count by their shares of the variance (docs/adr/0096). Of
/// what is not it is the normal one. Of what is scored, from 19 models on, the conformal one: the
/// (models + 1) level-th smallest score, between two of them in proportion (rounded up, 47 models
/// would give 91.7 % for 90), beyond the largest the larger of that and the t-quantile. With fewer
/// the t-quantile with models + kSpreadFreedom degrees of freedom, or the normal one without a
/// model; from ten models on not less than holds `level` of their scores, since the spread does not
/// count outliers.
double interval_quantile(double level, const Calibration& calibration);

/// median * exp(+- q s) with q = interval_quantile(), from `floor_ns` or the median on where that
/// begins lower. Code::Usage unless 0 < level < 1.
Result<base::Interval> interval(double median_ns, double sd_log, double level,
                                const Calibration& calibration, double floor_ns = 0);

}  // namespace oplat::predict
