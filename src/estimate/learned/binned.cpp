// SPDX-License-Identifier: Apache-2.0
/// Intervals of about equally many rows.
#include "estimate/learned/binned.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::estimate {
namespace {

constexpr std::size_t kMaxValueBins = Binned::kBins - 1;

/// Between two neighbouring values, so that neither lies on it.
float between(float low, float high) {
  const float middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

/// Cuts between sorted values: at every change where there are few, else after about every n-th
/// row.
std::vector<float> cuts(const std::vector<float>& sorted) {
  std::vector<float> all;
  std::size_t distinct = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) distinct += sorted[i] != sorted[i - 1] ? 1 : 0;
  std::size_t rows_left = sorted.size();
  std::size_t bins_left = kMaxValueBins;
  std::size_t in_bin = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    ++in_bin;
    if (sorted[i] == sorted[i - 1]) continue;
    if (distinct > kMaxValueBins && in_bin * bins_left < rows_left) continue;
    if (all.size() + 1 == kMaxValueBins) break;
    all.push_back(between(sorted[i - 1], sorted[i]));
    rows_left -= in_bin;
    --bins_left;
    in_bin = 0;
  }
  return all;
}

}  // namespace

Binned::Binned(const Matrix& x) : rows_(x.rows) {
  std::vector<float> column(x.rows);
  for (std::size_t source = 0; source < x.columns; ++source) {
    std::vector<float> sorted;
    for (std::size_t row = 0; row < x.rows; ++row) {
      column[row] = x.values[row * x.columns + source];
      if (!std::isnan(column[row])) sorted.push_back(column[row]);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<float> thresholds = cuts(sorted);
    const bool some_missing = !sorted.empty() && sorted.size() < x.rows;
    if (thresholds.empty() && !some_missing) continue;
    const std::size_t begin = bins_.size();
    bins_.resize(begin + rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      if (std::isnan(column[row])) continue;
      const auto above = std::upper_bound(thresholds.begin(), thresholds.end(), column[row]);
      bins_[begin + row] = static_cast<std::uint8_t>(1 + (above - thresholds.begin()));
    }
    columns_.push_back({static_cast<std::uint32_t>(source), std::move(thresholds)});
  }
}

}  // namespace oplat::estimate
