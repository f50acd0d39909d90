// SPDX-License-Identifier: Apache-2.0
/// Normal equations.
#include "estimate/learned/linear.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace oplat::estimate {
namespace {

/// Pull to 0, as a share of the rows.
constexpr double kRidge = 1e-5;

double bounded(float value) { return std::isnan(value) ? 0.0 : static_cast<double>(std::clamp(value, -kMostFeature, kMostFeature)); }

}  // namespace

float Linear::value(std::span<const float> row) const {
  double sum = 0;
  for (std::size_t i = 0; i < features.size(); ++i) sum += weights[i] * bounded(row[features[i]]);
  return static_cast<float>(sum);
}

Linear fit_linear(const Matrix& x, std::span<const float> y, std::span<const std::uint32_t> features) {
  Linear linear;
  for (const std::uint32_t feature : features) {
    bool seen = false;
    for (std::size_t row = 0; row < x.rows && !seen; ++row) seen = bounded(x.row(row)[feature]) != 0;
    if (seen) linear.features.push_back(feature);
  }
  const auto size = static_cast<Eigen::Index>(linear.features.size());
  if (size == 0 || x.rows == 0) return linear;
  Eigen::MatrixXd normal = kRidge * static_cast<double>(x.rows) * Eigen::MatrixXd::Identity(size, size);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(size);
  Eigen::VectorXd row(size);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (Eigen::Index k = 0; k < size; ++k) row(k) = bounded(x.row(i)[linear.features[static_cast<std::size_t>(k)]]);
    normal.selfadjointView<Eigen::Lower>().rankUpdate(row);
    right += static_cast<double>(std::clamp(y[i], -kMostFeature, kMostFeature)) * row;
  }
  const Eigen::VectorXd solution = normal.selfadjointView<Eigen::Lower>().ldlt().solve(right);
  for (Eigen::Index k = 0; k < size; ++k) linear.weights.push_back(static_cast<float>(solution(k)));
  return linear;
}

}  // namespace oplat::estimate
