// SPDX-License-Identifier: Apache-2.0
/// What a kernel's shape alone says about its time.
#pragma once

#include <cstddef>
#include <span>

#include "estimate/learned/machine.hpp"
#include "estimate/learned/space.hpp"

namespace oplat::estimate {

inline constexpr std::size_t kSizeFeatures = 12;
inline constexpr std::size_t kMemoryFeatures = 3;
inline constexpr std::size_t kProductFeatures = 11;
inline constexpr std::size_t kTileFeatures = 3 * kTileCount;
inline constexpr std::size_t kWinogradFeatures = 3;
inline constexpr std::size_t kDivisibilityFeatures = 3 + 8;
inline constexpr std::size_t kShapeFeatures = 1 + kMaxAxes + kSizeFeatures + kMemoryFeatures +
                                              kProductFeatures + kTileFeatures + kWinogradFeatures +
                                              kDivisibilityFeatures;

/// Numbers of two of them: ln of the reference in ns, ln(time of computing over time of moving
/// data).
inline constexpr std::size_t kLogReferenceFeature = 1 + kMaxAxes + 6;
inline constexpr std::size_t kComputeOverMemoryFeature = kLogReferenceFeature + 1;

/// Writes kShapeFeatures numbers; NaN where the operator sums no products. `axes` says how many
/// coordinates count, `log_reference` is ln of the time in ns that what is learned is relative to.
void shape_features(const ir::Description& description, const Point& point, std::size_t axes,
                    const Machine& machine, double log_reference, std::span<float> out);

}  // namespace oplat::estimate
