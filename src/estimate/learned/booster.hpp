// SPDX-License-Identifier: Apache-2.0
/// Training of forests, by XGBoost. Only training needs that library, so it is loaded when asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "estimate/learned/forest.hpp"

namespace oplat::estimate {

/// A matrix row by row; NaN is a missing value.
struct Matrix {
  std::vector<float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
  Matrix() = default;
  Matrix(std::size_t rows_, std::size_t columns_) : values(rows_ * columns_), rows(rows_), columns(columns_) {}
  [[nodiscard]] std::span<float> row(std::size_t i) { return {&values[i * columns], columns}; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const { return {&values[i * columns], columns}; }
};

struct BoostOptions {
  int trees = 500;
  double rate = 0.07;
  /// The first trees, which a quick answer stops after, learn faster.
  int quick_trees = 0;
  double quick_rate = 0.2;
  int leaves = 127;
  double least_weight = 5;      ///< rows of a leaf
  double column_share = 0.35;   ///< of each tree
  double row_share = 0.9;       ///< of each tree
  double l2 = 1;
  int threads = 2;
  std::uint64_t seed = 1;
  std::function<bool(int done)> progress;  ///< after each tree; false stops with Code::Interrupted
};

/// Least squares. Columns that never vary are left out of the training; the forest's features keep their numbers.
/// Code::Runtime where the library is absent, naming the package.
Result<Forest> boost(const Matrix& x, std::span<const float> y, const BoostOptions& options);

}  // namespace oplat::estimate
