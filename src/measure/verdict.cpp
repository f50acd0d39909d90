// SPDX-License-Identifier: Apache-2.0
/// Two rows, one ratio, one verdict.
#include "measure/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "base/stats.hpp"
#include "measure/statistics.hpp"

namespace oplat::measure {
namespace {

/// Student's distribution is the normal one here: of a single block the spread is assumed, not
/// estimated.
constexpr double kManyDegrees = 1e6;

struct LogError {
  double squared = 0;  ///< of the row's centre
  double degrees = kManyDegrees;
};

bool usable(double ns) { return ns > 0 && std::isfinite(ns); }

std::optional<LogError> log_error(const table::Timing& timing) {
  const bool in_order =
      timing.ci_low_ns <= timing.ci_high_ns && timing.ci_level > 0 && timing.ci_level < 1;
  if (!usable(timing.median_ns) || !usable(timing.ci_low_ns) || !usable(timing.ci_high_ns) ||
      !in_order) {
    return std::nullopt;
  }
  if (timing.blocks < 1 || !(timing.sd_log >= 0) || !std::isfinite(timing.sd_log))
    return std::nullopt;
  const auto blocks = static_cast<double>(timing.blocks);
  LogError error;
  if (timing.blocks > 1) error.degrees = blocks - 1;
  const double half_width = std::log(timing.ci_high_ns / timing.ci_low_ns) / 2;
  const double of_interval =
      half_width / base::student_quantile(0.5 + timing.ci_level / 2, error.degrees);
  // A bootstrap of a handful of nearly equal blocks can be narrower than they allow.
  const double of_spread = timing.sd_log / std::sqrt(blocks);
  error.squared = std::max(of_interval * of_interval, of_spread * of_spread);
  return error;
}

double welch_degrees(const LogError& a, const LogError& b) {
  const double sum = a.squared + b.squared;
  const double weight = a.squared * a.squared / a.degrees + b.squared * b.squared / b.degrees;
  return weight > 0 ? std::clamp(sum * sum / weight, 1.0, kManyDegrees) : kManyDegrees;
}

Verdict judge(double difference, double reach) {
  if (difference > reach) return Verdict::Slower;
  if (difference < -reach) return Verdict::Faster;
  return reach <= kWidestSame ? Verdict::Same : Verdict::Unclear;
}

}  // namespace

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Same:
      return "same";
    case Verdict::Slower:
      return "slower";
    case Verdict::Faster:
      return "faster";
    case Verdict::Unclear:
      return "unclear";
  }
  return "unclear";
}

std::optional<Comparison> compare(const table::Timing& before, const table::Timing& after,
                                  double level) {
  const std::optional<LogError> a = log_error(before);
  const std::optional<LogError> b = log_error(after);
  if (!a || !b || !(level > 0) || !(level < 1)) return std::nullopt;
  const double difference = std::log(after.median_ns / before.median_ns);
  const double reach = base::student_quantile(0.5 + level / 2, welch_degrees(*a, *b)) *
                       std::sqrt(a->squared + b->squared);
  return Comparison{std::exp(difference), std::exp(difference - reach),
                    std::exp(difference + reach), judge(difference, reach)};
}

}  // namespace oplat::measure
