// SPDX-License-Identifier: Apache-2.0
/// Histograms, best splits, partitions.
#include "estimate/learned/grower.hpp"

#include <algorithm>

namespace oplat::estimate {
namespace {

/// A split that gains less is rounding.
constexpr float kMinSplitGain = 1e-9F;

}  // namespace

TrainedTree Grower::grow(std::span<const float> targets, std::span<const float> weights,
                         std::span<const std::uint32_t> rows,
                         std::span<const std::uint32_t> columns) {
  targets_ = targets;
  weights_ = weights;
  columns_ = columns;
  offsets_.clear();
  width_ = 0;
  for (const std::uint32_t column : columns) {
    offsets_.push_back(width_);
    width_ += data_.count(column);
  }
  rows_.assign(rows.begin(), rows.end());
  leaves_.clear();
  steps_.assign(1, {});
  histograms_ = 0;
  Leaf root;
  root.end = static_cast<std::uint32_t>(rows_.size());
  for (const std::uint32_t row : rows_) {
    root.sum += weights_[row] * targets_[row];
    root.weight += weights_[row];
  }
  root.histogram = take_histogram();
  fill(root);
  find_best(root);
  leaves_.push_back(root);
  while (leaves_.size() < options_.leaves) {
    const auto best =
        std::max_element(leaves_.begin(), leaves_.end(),
                         [](const Leaf& a, const Leaf& b) { return a.best.gain < b.best.gain; });
    if (best->best.gain <= kMinSplitGain) break;
    split(static_cast<std::size_t>(best - leaves_.begin()));
  }
  for (const Leaf& leaf : leaves_) {
    steps_[leaf.node].value = static_cast<float>(leaf.sum / (leaf.weight + options_.l2));
  }

  TrainedTree tree;
  for (const Step& step : steps_) {
    TrainedTree::Node node;
    node.value = step.value;
    if (step.bins != nullptr) {
      node.left = static_cast<std::int32_t>(step.left);
      node.right = static_cast<std::int32_t>(step.right);
      node.missing_left = step.missing_left;
      const auto column = static_cast<std::size_t>((step.bins - data_.bins(0)) /
                                                   static_cast<std::ptrdiff_t>(data_.rows()));
      node.feature = data_.source(column);
      node.value = data_.threshold(column, step.bin);
    }
    tree.nodes.push_back(node);
  }
  return tree;
}

void Grower::add_to(std::span<float> sums, float rate) const {
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const Step* step = steps_.data();
    while (step->bins != nullptr)
      step = &steps_[step->goes_left(step->bins[row]) ? step->left : step->right];
    sums[row] += rate * step->value;
  }
}

std::size_t Grower::take_histogram() {
  if (cells_.size() < (histograms_ + 1) * width_) cells_.resize((histograms_ + 1) * width_);
  return histograms_++;
}

void Grower::fill(const Leaf& leaf) {
  const std::size_t count = leaf.end - leaf.begin;
  const std::uint32_t* const rows = &rows_[leaf.begin];
  ordered_.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    ordered_[i] = {weights_[rows[i]] * targets_[rows[i]], weights_[rows[i]]};
  Cell* const cells = histogram(leaf.histogram);
  std::fill_n(cells, width_, Cell{});
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::uint8_t* const bins = data_.bins(columns_[column]);
    Cell* const own = cells + offsets_[column];
    for (std::size_t i = 0; i < count; ++i) {
      Cell& cell = own[bins[rows[i]]];
      cell.sum += ordered_[i].sum;
      cell.weight += ordered_[i].weight;
    }
  }
}

void Grower::find_best(Leaf& leaf) {
  leaf.best = {};
  const auto all = static_cast<float>(leaf.weight);
  const float least = options_.min_weight;
  if (all < 2 * least) return;
  const auto all_sum = static_cast<float>(leaf.sum);
  const float base = all_sum * all_sum / (all + options_.l2);
  const Cell* const cells = histogram(leaf.histogram);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const Cell* const own = cells + offsets_[column];
    const std::size_t bins = data_.count(columns_[column]);
    const Cell missing = own[0];
    Cell left;
    // To the right of the last bin there is only what is missing.
    for (std::size_t bin = 1; bin < bins; ++bin) {
      left.sum += own[bin].sum;
      left.weight += own[bin].weight;
      if (own[bin].weight == 0) continue;
      for (int with = 0; with < (missing.weight > 0 ? 2 : 1); ++with) {
        const float weight = left.weight + (with != 0 ? missing.weight : 0);
        const float rest = all - weight;
        if (weight < least || rest < least) continue;
        const float sum = left.sum + (with != 0 ? missing.sum : 0);
        const float other = all_sum - sum;
        const float gain =
            sum * sum / (weight + options_.l2) + other * other / (rest + options_.l2) - base;
        if (gain <= leaf.best.gain) continue;
        leaf.best = {gain, static_cast<std::uint32_t>(column), static_cast<std::uint8_t>(bin),
                     with != 0};
      }
    }
  }
}

void Grower::split(std::size_t number) {
  Leaf& parent = leaves_[number];
  Step step;
  step.bins = data_.bins(columns_[parent.best.column]);
  step.bin = parent.best.bin;
  step.missing_left = parent.best.missing_left;
  step.left = static_cast<std::uint32_t>(steps_.size());
  step.right = step.left + 1;

  right_.clear();
  Leaf left = parent;
  Leaf right = parent;
  left.node = step.left;
  right.node = step.right;
  left.sum = left.weight = 0;
  std::uint32_t end = parent.begin;
  for (std::uint32_t i = parent.begin; i < parent.end; ++i) {
    const std::uint32_t row = rows_[i];
    if (step.goes_left(step.bins[row])) {
      rows_[end++] = row;
      left.sum += weights_[row] * targets_[row];
      left.weight += weights_[row];
    } else {
      right_.push_back(row);
    }
  }
  std::copy(right_.begin(), right_.end(), rows_.begin() + end);
  left.end = right.begin = end;
  right.sum = parent.sum - left.sum;
  right.weight = parent.weight - left.weight;
  steps_[parent.node] = step;
  steps_.resize(steps_.size() + 2);

  // The smaller half is added up; the larger one is what is left of the parent.
  Leaf& small = left.end - left.begin < right.end - right.begin ? left : right;
  Leaf& large = &small == &left ? right : left;
  small.histogram = take_histogram();
  fill(small);
  Cell* const rest = histogram(large.histogram);
  const Cell* const taken = histogram(small.histogram);
  for (std::size_t i = 0; i < width_; ++i) {
    rest[i].sum -= taken[i].sum;
    rest[i].weight -= taken[i].weight;
  }
  find_best(left);
  find_best(right);
  leaves_[number] = left;
  leaves_.push_back(right);
}

}  // namespace oplat::estimate
