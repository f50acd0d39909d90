// SPDX-License-Identifier: Apache-2.0
/// Means and deviations of columns.
#include "estimate/learned/scaler.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace oplat::estimate {
namespace {

/// Coordinates of numbers that are not positive stand below this (space.hpp).
constexpr float kNoLogarithm = -50;
/// Far beyond the rows everything is equally far.
constexpr float kFarthest = 50;
constexpr double kMinFeatureDeviation = 1e-6;

std::optional<Scaler::Column> learn_column(const Matrix& shapes, std::size_t feature) {
  std::optional<float> least;
  for (std::size_t i = 0; i < shapes.rows; ++i) {
    const float value = shapes.row(i)[feature];
    if (std::isfinite(value) && value > kNoLogarithm && (!least || value < *least)) least = value;
  }
  if (!least) return std::nullopt;
  Scaler::Column column;
  column.feature = static_cast<std::uint32_t>(feature);
  column.least = *least - 1;
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < shapes.rows; ++i) {
    if (!std::isfinite(shapes.row(i)[feature])) continue;
    const double value = std::max(shapes.row(i)[feature], column.least) - *least;
    sum += value;
    squares += value * value;
    count += 1;
  }
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  if (deviation < kMinFeatureDeviation) return std::nullopt;
  column.mean = static_cast<float>(mean + *least);
  column.scale = static_cast<float>(1 / deviation);
  return column;
}

}  // namespace

Scaler Scaler::learn(const Matrix& shapes) {
  std::vector<Column> columns;
  for (std::size_t feature = 1; feature < shapes.columns; ++feature) {
    if (const auto column = learn_column(shapes, feature)) columns.push_back(*column);
  }
  return Scaler(std::move(columns));
}

void Scaler::write(std::span<const float> shape, std::span<float> out) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const float value = shape[column.feature];
    out[i] = std::isfinite(value)
                 ? std::clamp((std::max(value, column.least) - column.mean) * column.scale,
                              -kFarthest, kFarthest)
                 : 0;
  }
}

Points Scaler::points(const Matrix& shapes) const {
  Points points;
  points.at.resize(static_cast<Eigen::Index>(shapes.rows),
                   static_cast<Eigen::Index>(columns_.size()));
  std::vector<float> row(columns_.size());
  for (std::size_t i = 0; i < shapes.rows; ++i) {
    write(shapes.row(i), row);
    for (std::size_t d = 0; d < row.size(); ++d) {
      points.at(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(d)) =
          static_cast<double>(row[d]);
    }
    points.slices.push_back(slice_of(shapes.row(i)));
  }
  return points;
}

}  // namespace oplat::estimate
