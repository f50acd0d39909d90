// SPDX-License-Identifier: Apache-2.0
/// How well predictions agree with measurements.
#include "predict/validation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace oplat::predict {
namespace {

/// Ranks from 1, ties sharing their mean.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    const double shared = 0.5 * static_cast<double>(i + 1 + end);
    for (; i < end; ++i) rank[order[i]] = shared;
  }
  return rank;
}

}  // namespace

std::optional<double> ValidatedModel::signed_error() const {
  if (!predicted_ns || !(measured.median_ns > 0)) return std::nullopt;
  return *predicted_ns / measured.median_ns - 1;
}

std::optional<bool> ValidatedModel::inside() const {
  if (!interval) return std::nullopt;
  return interval->low <= measured.median_ns && measured.median_ns <= interval->high;
}

ValidatedModel beside(const Prediction& prediction, const table::Timing& measured) {
  return {prediction.model, prediction.latency_ns, prediction.interval, measured,
          prediction.missing};
}

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kFewest = 3;
  if (a.size() != b.size() || a.size() < kFewest) return std::nullopt;
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(a.size() + 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

ValidationSummary summarise(std::span<const ValidatedModel> models) {
  ValidationSummary summary;
  summary.models = static_cast<std::int64_t>(models.size());
  std::vector<double> predicted, measured;
  double absolute = 0, bias = 0, five = 0, ten = 0, covered = 0, with_interval = 0;
  for (const ValidatedModel& model : models) {
    const auto error = model.signed_error();
    if (!error) continue;
    predicted.push_back(*model.predicted_ns);
    measured.push_back(model.measured.median_ns);
    absolute += std::abs(*error);
    bias += *error;
    five += std::abs(*error) <= 0.05 ? 1 : 0;
    ten += std::abs(*error) <= 0.10 ? 1 : 0;
    if (const auto inside = model.inside()) {
      with_interval += 1;
      covered += *inside ? 1 : 0;
    }
  }
  summary.predicted = static_cast<std::int64_t>(predicted.size());
  if (predicted.empty()) return summary;
  const auto n = static_cast<double>(predicted.size());
  summary.mape = absolute / n;
  summary.bias = bias / n;
  summary.within_5_percent = five / n;
  summary.within_10_percent = ten / n;
  if (with_interval > 0) summary.interval_coverage = covered / with_interval;
  summary.rank_correlation = rank_correlation(predicted, measured);
  return summary;
}

}  // namespace oplat::predict
