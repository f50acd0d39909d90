// SPDX-License-Identifier: Apache-2.0
/// Trees of the errors' sizes, and the factors that make intervals of them.
#include "estimate/learned/spread.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "estimate/learned/booster.hpp"
#include "estimate/learned/calibration.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kParts = 6;
/// Errors below this are luck.
constexpr float kLeastError = 0.003F;
/// A band of fewer answers says little of its own: the 90th percentile of so many is some 1 % off in rank.
constexpr std::size_t kLeastPerBand = 1000;
constexpr std::size_t kMostBands = 8;
constexpr std::size_t kErrorsPerLeaf = 100;
constexpr std::size_t kLeastLeaves = 4;
constexpr std::uint32_t kLeastErrors = 30;

/// Trees of ln|error|, from the answers but those of one of the parts.
Result<Forest> sizes_of_errors(std::span<const Judged> answers, std::optional<std::size_t> but, const SpreadOptions& options) {
  Matrix x(answers.size(), answers.front().features.size());
  std::vector<float> y;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (but && i % kParts == *but) continue;
    std::copy(answers[i].features.begin(), answers[i].features.end(), x.row(y.size()).begin());
    y.push_back(std::log(std::abs(answers[i].error) + kLeastError));
  }
  x.rows = y.size();
  x.values.resize(x.rows * x.columns);
  BoostOptions boosting;
  boosting.trees = options.trees;
  boosting.leaves = std::clamp<std::size_t>(y.size() / kErrorsPerLeaf, kLeastLeaves, options.most_leaves);
  boosting.least_rows = kLeastErrors;
  boosting.column_share = options.column_share;
  boosting.seed = options.seed;
  return boost(x, y, boosting);
}

/// A tree of one feature: what it adds up to each of the limits, and beyond the last.
TrainedTree steps_of(std::uint32_t feature, std::span<const float> limits, std::span<const float> values) {
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
TrainedTree even_out(std::span<const Judged> answers, std::uint32_t feature, std::span<float> scales) {
  const std::size_t bands = std::clamp<std::size_t>(answers.size() / kLeastPerBand, 1, kMostBands);
  const auto at = [&](std::size_t i) { return answers[i].features[feature]; };
  std::vector<std::size_t> order(answers.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return at(a) < at(b); });
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
  std::vector<float> scales(answers.size());
  for (std::size_t part = 0; part < kParts; ++part) {
    OPLAT_TRY(forest, sizes_of_errors(answers, part, options));
    for (std::size_t i = part; i < answers.size(); i += kParts) scales[i] = std::exp(forest.value(answers[i].features));
  }
  Spread spread;
  OPLAT_TRY(forest, sizes_of_errors(answers, std::nullopt, options));
  spread.forest = std::move(forest);
  if (options.banded) {
    OPLAT_CHECK(spread.forest.add(even_out(answers, *options.banded, scales)));
  }
  std::vector<float> errors;
  std::vector<float> quick_errors;
  std::vector<std::size_t> hold_outs;
  for (const Judged& answer : answers) {
    errors.push_back(answer.error);
    quick_errors.push_back(answer.quick_error);
    hold_outs.push_back(options.banded ? 0 : answer.hold_out);
  }
  spread.factor = spread_factor(errors, scales, hold_outs);
  spread.quick_factor = spread_factor(quick_errors, scales, hold_outs);
  return spread;
}

}  // namespace oplat::estimate
