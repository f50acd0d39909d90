// SPDX-License-Identifier: Apache-2.0
/// How far one model's times at different moments of a machine are apart.
#include "predict/moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/stats.hpp"
#include "predict/composition_fit.hpp"

namespace oplat::predict {
namespace {

/// A neighbour leaves a quarter of the last level, or all of what it usually takes; a model that
/// comes from memory anyway still waits for those who read there.
constexpr double kCapacityFactor = 4;
constexpr double kFeltFromMemory = 0.5;
/// Bytes per ns beyond that are those of an untrusted table: no core reads a KiB in a ns.
constexpr double kMaxRate = 1024;

/// Models, and the largest reach over the smallest, from which two numbers can be told apart.
constexpr std::size_t kMinModels = 8;
constexpr double kMinReachRatio = 2;
/// The least that the largest reach has to be: beyond what was seen nobody knows.
constexpr double kMinLargestReach = 0.5;
/// Bytes beyond are those of an untrusted table, and their logarithm may have no value.
constexpr double kMaxTouched = 1e18;
/// Degrees of freedom of what models' own variances scatter by around the one that is expected.
constexpr double kFreedomOfModels = 6;
/// Spreads that are tried.
constexpr double kLeastSd = 5e-4, kMostSd = 0.5;
constexpr int kSpreads = 48;

/// Minus the logarithm of the likelihood of sd_log, but for a constant.
double disbelief(double sd_log, std::int64_t blocks, double variance) {
  const double freedom = static_cast<double>(blocks - 1) / 2;
  const double ratio = freedom * sd_log * sd_log / variance;
  constexpr double kHalf = kFreedomOfModels / 2;
  return freedom * std::log(variance) + (freedom + kHalf) * std::log1p(ratio / kHalf);
}

std::vector<double> spreads_tried() {
  std::vector<double> values;
  for (int i = 0; i < kSpreads; ++i)
    values.push_back(kLeastSd *
                     std::pow(kMostSd / kLeastSd, static_cast<double>(i) / (kSpreads - 1)));
  return values;
}

}  // namespace

double moment_reach(const Exposure& exposure, const estimate::Ramp& last) {
  if (!(exposure.ns > 0 && exposure.touched_bytes > 0 && exposure.reuse_bytes > 0)) return 0;
  const auto gone = [&](double bytes) {
    return std::min(last.gone(std::min(bytes, kMaxTouched)), 1.0);
  };
  const double place = gone(kCapacityFactor * exposure.reuse_bytes) -
                       kFeltFromMemory * gone(exposure.reuse_bytes / kCapacityFactor);
  return place * std::sqrt(std::min(exposure.touched_bytes / exposure.ns, kMaxRate));
}

double MomentSpread::sd_log_of(const Exposure& exposure) const {
  if (!last || !(per_reach > 0)) return sd_log;
  return std::min(std::hypot(sd_log, per_reach * moment_reach(exposure, *last)), kMaxSpread);
}

MomentSpread fit_moments(std::span<const ModelMoments> models,
                         const std::optional<estimate::Ramp>& last) {
  MomentSpread spread;
  std::vector<double> spreads;
  std::vector<double> reaches;
  for (const ModelMoments& model : models) {
    spreads.push_back(std::clamp(model.sd_log, 0.0, kMaxSpread));
    if (last) reaches.push_back(moment_reach(model.exposure, *last));
  }
  spread.sd_log = base::median(spreads).value_or(0);
  if (!last || models.size() < kMinModels) return spread;
  const auto [least, most] = std::minmax_element(reaches.begin(), reaches.end());
  if (!(*most > kMinReachRatio * *least && *most >= kMinLargestReach)) return spread;
  double lowest = std::numeric_limits<double>::infinity();
  const std::vector<double> tried = spreads_tried();
  std::vector<double> of_reach = tried;
  of_reach.push_back(0);
  for (const double own : tried) {
    for (const double farthest : of_reach) {
      double sum = 0;
      for (std::size_t i = 0; i < models.size(); ++i) {
        const double reached = farthest * reaches[i] / *most;
        sum += disbelief(spreads[i], models[i].blocks, own * own + reached * reached);
      }
      if (sum >= lowest) continue;
      lowest = sum;
      spread.sd_log = own;
      spread.per_reach = farthest / *most;
    }
  }
  spread.last = last;
  return spread;
}

}  // namespace oplat::predict
