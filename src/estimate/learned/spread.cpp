// SPDX-License-Identifier: Apache-2.0
/// Trees of the errors' sizes, and the factors that make intervals of them.
#include "estimate/learned/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "estimate/learned/booster.hpp"
#include "estimate/learned/calibration.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kParts = 6;
/// Trees that were shown a single hold-out say nothing that holds for another.
constexpr std::size_t kMinHoldOutsLeftOut = 3;
constexpr double kShare = 0.9;
/// Errors below this are luck.
constexpr float kMinSpreadError = 0.003F;
/// A band of fewer answers says little of its own: the 90th percentile of so many is some 1 % off
/// in rank.
constexpr std::size_t kMinPerBand = 1000;
constexpr std::size_t kMaxSpreadBands = 8;
constexpr std::size_t kErrorsPerLeaf = 100;
constexpr std::size_t kMinLeaves = 4;
constexpr std::uint32_t kMinErrors = 30;

/// The share of the trials that intervals must hold so that 90 % of what is asked lies inside. What
/// is asked is of a hold-out more: the fewer were tried, the larger the odds that it is worse than
/// any. Of one 95 %, of two 93.3 %, of very many 90 %.
double share_to_hold(std::size_t hold_outs) {
  const auto count = static_cast<double>(hold_outs);
  return 1 - (1 - kShare) * count / (count + 1);
}

/// Trees of ln|error|, from the answers but those of one of the parts.
Result<Forest> sizes_of_errors(std::span<const Judged> answers, std::span<const std::size_t> parts,
                               std::optional<std::size_t> but, const SpreadOptions& options) {
  Matrix x(answers.size(), answers.front().features.size());
  std::vector<float> y;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (but && parts[i] == *but) continue;
    std::copy(answers[i].features.begin(), answers[i].features.end(), x.row(y.size()).begin());
    y.push_back(std::log(std::abs(answers[i].error) + kMinSpreadError));
  }
  x.rows = y.size();
  x.values.resize(x.rows * x.columns);
  BoostOptions boosting;
  boosting.trees = options.trees;
  boosting.leaves =
      std::clamp<std::size_t>(y.size() / kErrorsPerLeaf, kMinLeaves, options.max_leaves);
  boosting.min_rows = kMinErrors;
  boosting.feature_fraction = options.feature_fraction;
  boosting.seed = options.seed;
  return boost(x, y, boosting);
}

/// A tree of one feature: what it adds up to each of the limits, and beyond the last.
TrainedTree steps_of(std::uint32_t feature, std::span<const float> limits,
                     std::span<const float> values) {
  TrainedTree tree;
  const auto leaf = [](float value) {
    TrainedTree::Node node;
    node.value = value;
    return node;
  };
  for (std::size_t i = 0; i < limits.size(); ++i) {
    const auto at = static_cast<std::int32_t>(tree.nodes.size());
    TrainedTree::Node node;
    node.left = at + 1;
    node.right = at + 2;
    node.feature = feature;
    node.value = limits[i];
    tree.nodes.push_back(node);
    tree.nodes.push_back(leaf(values[i]));
  }
  tree.nodes.push_back(leaf(values.back()));
  return tree;
}

/// Makes the scales of all bands of a feature cover alike; gives the tree that does so.
TrainedTree even_out(std::span<const Judged> answers, std::uint32_t feature,
                     std::span<float> scales) {
  const std::size_t bands =
      std::clamp<std::size_t>(answers.size() / kMinPerBand, 1, kMaxSpreadBands);
  const auto at = [&](std::size_t i) { return answers[i].features[feature]; };
  std::vector<std::size_t> order(answers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return at(a) < at(b); });
  std::vector<float> limits;
  std::vector<float> values;
  for (std::size_t band = 0, begin = 0; band < bands; ++band) {
    std::size_t end = answers.size() * (band + 1) / bands;
    // Equal values are of one band.
    while (end > begin && end < answers.size() && at(order[end]) == at(order[end - 1])) ++end;
    if (end <= begin) continue;
    std::vector<float> errors;
    std::vector<float> own;
    for (std::size_t i = begin; i < end; ++i) {
      errors.push_back(answers[order[i]].error);
      own.push_back(scales[order[i]]);
    }
    const float factor = std::max(spread_factor(errors, own), std::numeric_limits<float>::min());
    for (std::size_t i = begin; i < end; ++i) scales[order[i]] *= factor;
    values.push_back(std::log(factor));
    if (end < answers.size()) limits.push_back(at(order[end]));
    begin = end;
  }
  return steps_of(feature, limits, values);
}

}  // namespace

Result<Spread> learn_spread(std::span<const Judged> answers, const SpreadOptions& options) {
  std::vector<std::size_t> hold_outs;
  for (const Judged& answer : answers) hold_outs.push_back(options.banded ? 0 : answer.hold_out);
  const std::set<std::size_t> different(hold_outs.begin(), hold_outs.end());
  const bool left_out_whole = different.size() >= kMinHoldOutsLeftOut;
  std::vector<std::size_t> parts(hold_outs);
  for (std::size_t i = 0; i < answers.size() && !left_out_whole; ++i) parts[i] = i % kParts;
  std::vector<float> scales(answers.size());
  for (const std::size_t part : std::set(parts.begin(), parts.end())) {
    OPLAT_TRY(forest, sizes_of_errors(answers, parts, part, options));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (parts[i] == part) scales[i] = std::exp(forest.value(answers[i].features));
    }
  }
  Spread spread;
  OPLAT_TRY(forest, sizes_of_errors(answers, parts, std::nullopt, options));
  spread.forest = std::move(forest);
  if (options.banded) {
    OPLAT_CHECK(spread.forest.add(even_out(answers, *options.banded, scales)));
  }
  std::vector<float> errors;
  std::vector<float> quick_errors;
  for (const Judged& answer : answers) {
    errors.push_back(answer.error);
    quick_errors.push_back(answer.quick_error);
  }
  // Trees that were shown a part of every hold-out know each of them too well: then the worst one
  // counts.
  const auto factor = [&](const std::vector<float>& of) {
    const double share = options.banded ? kShare : share_to_hold(different.size());
    return left_out_whole ? spread_factor(of, scales, share)
                          : worst_spread_factor(of, scales, hold_outs, share);
  };
  spread.factor = factor(errors);
  spread.quick_factor = factor(quick_errors);
  return spread;
}

}  // namespace oplat::estimate
