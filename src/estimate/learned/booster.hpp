// SPDX-License-Identifier: Apache-2.0
/// Training of boosted regression trees: least squares, best leaf first, over binned columns.
///
/// The problem: a fit of a large library trains dozens of forests on 80,000 rows of about 250
/// columns, with the same bytes on any number of threads. XGBoost took 0.25 s a tree, since it
/// fills histograms of columns that a tree does not use, and its sums depend on the number of
/// threads. This trainer takes 0.04 s with equal errors (docs/adr/0008 has the figures and what
/// else was considered).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "estimate/finished_parts.hpp"
#include "estimate/learned/forest.hpp"

namespace oplat::estimate {

/// A matrix row by row; NaN is a missing value.
struct Matrix {
  std::vector<float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
  Matrix() = default;
  Matrix(std::size_t rows_, std::size_t columns_)
      : values(rows_ * columns_), rows(rows_), columns(columns_) {}
  [[nodiscard]] std::span<float> row(std::size_t i) { return {&values[i * columns], columns}; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return {&values[i * columns], columns};
  }
};

struct BoostOptions {
  int trees = 500;
  double learning_rate = 0.07;
  std::size_t leaves = 127;
  std::uint32_t min_rows = 5;      ///< of a leaf: the minimum sum of their weights
  double feature_fraction = 0.25;  ///< of each tree
  double bagging_fraction = 0.9;   ///< of each tree
  /// Share of the rows whose deviations count whole in each tree; larger ones count as the largest
  /// of these does, so that a few rows of another kind do not pull at the rest (Huber's loss with a
  /// threshold of each tree's own, as in Friedman 2001, 4.4).
  double huber_quantile = 0.95;
  double l2 = 5;  ///< rows of value 0 that every leaf is thought to have besides its own
  /// How much each row counts, in mean 1; empty: all the same.
  std::vector<float> weights;
  std::uint64_t seed = 1;
  std::function<bool(int done)> progress;  ///< after each tree; false stops with Code::Interrupted
  FinishedParts* finished = nullptr;       ///< where the forest is looked for, and kept
};

/// Boosted trees in the manner of J. Friedman, "Greedy function approximation: a gradient boosting
/// machine", Annals of Statistics 29 (2001), grown best leaf first over histograms as LightGBM does
/// (G. Ke et al., NeurIPS 2017). Missing values go where they fit better. One thread; the same data
/// and seed give the same forest.
/// One that is among the finished ones is not grown again; its trees count as done at once. One
/// that was stopped is grown on.
Result<Forest> boost(const Matrix& x, std::span<const float> y, const BoostOptions& options);

}  // namespace oplat::estimate
