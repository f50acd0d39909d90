// SPDX-License-Identifier: Apache-2.0
/// A linear combination of features, the sum that trees are bad at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "estimate/learned/booster.hpp"

namespace oplat::estimate {

struct Linear {
  std::vector<std::uint32_t> features;
  std::vector<float> weights;
  /// Features count as 0 where they are missing, and as no more than kMostFeature either way.
  [[nodiscard]] float value(std::span<const float> row) const;
};
/// A deviation of a factor of two is a step, which no line describes.
inline constexpr float kMostFeature = 0.7F;

/// Least squares with a weak pull to 0, over those of `features` that are ever seen.
Linear fit_linear(const Matrix& x, std::span<const float> y, std::span<const std::uint32_t> features);

}  // namespace oplat::estimate
