// SPDX-License-Identifier: Apache-2.0
/// Correlated spread of a sum, quantiles, intervals.
#include "predict/spread.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/bytes.hpp"
#include "base/interval.hpp"
#include "base/stats.hpp"
#include "estimate/estimate.hpp"

namespace oplat::predict {

double correlation(std::string_view group, const Correlations& known) {
  if (group == "measured") return known.measured;
  if (group == "interpolated" || group == "learned") return known.learned;
  return 0.9;
}

std::string encode_correlation(double correlation) {
  base::ByteWriter writer;
  writer.f64(correlation);
  return writer.take();
}

std::optional<double> decode_correlation(std::string_view blob) {
  base::ByteReader reader(blob);
  const double correlation = reader.f64();
  if (!reader.done() || !(correlation >= 0 && correlation <= 1)) return std::nullopt;
  return correlation;
}

double Term::own_sd_log() const {
  if (common_sd_log == 0 && values_sd_log == 0) return sd_log;
  return std::sqrt(std::max(
      0.0, sd_log * sd_log - common_sd_log * common_sd_log - values_sd_log * values_sd_log));
}

SumVariance sum_variance(std::span<const Term> terms, double composition_sd,
                         const Correlations& known) {
  struct Sums {
    double linear = 0;
    double squares = 0;
    bool measured = true;
  };
  std::map<std::string_view, Sums> groups;
  std::map<std::string_view, double> values;
  double common = 0;
  for (const Term& term : terms) {
    Sums& sums = groups[term.group];
    const double part = term.share * term.own_sd_log();
    common += term.share * term.common_sd_log;
    if (term.values_sd_log != 0) values[term.op] += term.share * term.values_sd_log;
    sums.linear += part;
    sums.squares += part * part;
    sums.measured = sums.measured && term.measured;
  }
  SumVariance variance{composition_sd * composition_sd + common * common, 0};
  for (const auto& [group, sums] : groups) {
    const double rho = correlation(group, known);
    (sums.measured ? variance.scored : variance.unscored) +=
        rho * sums.linear * sums.linear + (1 - rho) * sums.squares;
  }
  for (const auto& [op, sum] : values) variance.unscored += sum * sum;
  return variance;
}

double total_spread(std::span<const Term> terms, double composition_sd, const Correlations& known) {
  return std::sqrt(sum_variance(terms, composition_sd, known).all());
}

namespace {

/// Of the variance that is scored; `p` is where the normal quantile of the level is taken.
double quantile_of_scores(double level, double p, const Calibration& calibration) {
  const auto q = [&] {
    return calibration.models < 1
               ? base::normal_quantile(p)
               : base::student_quantile(p,
                                        static_cast<double>(calibration.models + kSpreadFreedom));
  };
  const auto n = static_cast<std::int64_t>(calibration.scores.size());
  if (n < kMinScoredModels) return q();
  if (n < kMinConformalModels) {
    const auto inside = static_cast<std::size_t>(std::ceil(static_cast<double>(n) * level));
    return std::max(q(), calibration.scores[std::max<std::size_t>(inside, 1) - 1]);
  }
  // The k-th smallest of n scores holds k / (n + 1) of further models on average; between two of
  // them the level is between theirs.
  const double place = static_cast<double>(n + 1) * level;
  if (place > static_cast<double>(n)) return std::max(q(), calibration.scores.back());
  const auto below = std::max<std::size_t>(static_cast<std::size_t>(place), 1);
  const double share = std::max(0.0, place - static_cast<double>(below));
  const double low = calibration.scores[below - 1];
  return share > 0 ? low + share * (calibration.scores[below] - low) : low;
}

}  // namespace

double interval_quantile(double level, const Calibration& calibration) {
  const double p = 0.5 + 0.5 * level;
  const double of_scores = quantile_of_scores(level, p, calibration);
  const double unscored = std::clamp(calibration.unscored, 0.0, 1.0);
  if (unscored == 0) return of_scores;
  const double normal = base::normal_quantile(p);
  return std::sqrt((1 - unscored) * of_scores * of_scores + unscored * normal * normal);
}

Result<base::Interval> interval(double median_ns, double sd_log, double level,
                                const Calibration& calibration, double floor_ns) {
  if (!(level > 0 && level < 1))
    return fail(Code::Usage, "level {}: expected a number between 0 and 1, such as --level 0.9",
                level);
  const base::Interval bounds =
      estimate::bounds_around(median_ns, sd_log, interval_quantile(level, calibration), floor_ns);
  return bounds;
}

}  // namespace oplat::predict
