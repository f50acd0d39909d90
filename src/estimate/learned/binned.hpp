// SPDX-License-Identifier: Apache-2.0
/// Binned: a matrix whose columns are cut into at most 127 intervals, so that a split is found by
/// adding up, not sorting. Twice as many take a quarter longer to learn and are no better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "estimate/learned/booster.hpp"

namespace oplat::estimate {

class Binned {
 public:
  /// Bin 0 holds what is missing (NaN).
  static constexpr std::size_t kBins = 128;

  /// Columns that never vary are left out.
  explicit Binned(const Matrix& x);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }
  /// The column of the matrix that the i-th one was.
  [[nodiscard]] std::uint32_t source(std::size_t i) const { return columns_[i].source; }
  /// A bin for each row.
  [[nodiscard]] const std::uint8_t* bins(std::size_t i) const { return &bins_[i * rows_]; }
  /// Bins in use, 0 counted.
  [[nodiscard]] std::size_t count(std::size_t i) const { return columns_[i].thresholds.size() + 2; }
  /// Values below it are in bin `bin` or an earlier one; bin >= 1. All values are below that of the
  /// last bin.
  [[nodiscard]] float threshold(std::size_t i, std::size_t bin) const {
    const auto& thresholds = columns_[i].thresholds;
    return bin <= thresholds.size() ? thresholds[bin - 1] : std::numeric_limits<float>::max();
  }

 private:
  struct Column {
    std::uint32_t source = 0;
    std::vector<float> thresholds;  ///< between bin k + 1 and k + 2
  };
  std::size_t rows_ = 0;
  std::vector<Column> columns_;
  std::vector<std::uint8_t> bins_;  ///< column by column
};

}  // namespace oplat::estimate
