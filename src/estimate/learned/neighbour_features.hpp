// SPDX-License-Identifier: Apache-2.0
/// What the measured points around a point say about it: interpolations along every axis, and how wrong the same
/// interpolations are next door.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "estimate/learned/lines.hpp"
#include "estimate/learned/machine.hpp"

namespace oplat::estimate {

/// What one may pretend not to see, so that a model for questions far from the rows can be learned from the rows.
struct Blindfold {
  std::uint32_t levels = 0;  ///< axes on which the point's own coordinate was never measured
  std::uint32_t lines = 0;   ///< axes along which nothing was measured
  bool beyond = false;       ///< nothing was measured above the point on any axis
};

/// Values of the sites that are interpolated: ln(time / bound), and the same less ln(wave work of each tile).
struct SiteValues {
  std::vector<float> u;
  std::vector<float> waves;     ///< ln(wave work) - ln(bound), kTileCount a site; NaN where no product is summed
  std::vector<float> residual;  ///< u less its interpolation along each axis, axes a site; NaN where there is none
};

/// Layout of the features of `axes` axes.
struct NeighbourLayout {
  std::size_t axes;
  [[nodiscard]] std::size_t base() const { return 0; }
  [[nodiscard]] std::size_t around(std::size_t axis) const { return 1 + axis * kAround; }
  [[nodiscard]] std::size_t crossed(std::size_t of, std::size_t along) const { return 1 + axes * kAround + of * axes + along; }
  [[nodiscard]] std::size_t tiled(std::size_t axis) const { return 1 + axes * (kAround + axes) + axis * kTileCount; }
  [[nodiscard]] std::size_t pair(std::size_t first, std::size_t second) const { return 1 + axes * (kAround + axes + kTileCount) + first * axes + second; }
  [[nodiscard]] std::size_t count() const { return 1 + axes * (kAround + axes + kTileCount + axes); }

  /// Per axis: interpolation, extrapolation from below, from above, values before and after, their distances, values
  /// beyond those, error of the axis's own interpolation at the two neighbours.
  enum Around : std::size_t { kEstimate, kFromLow, kFromHigh, kLow, kHigh, kLowDistance, kHighDistance, kLow2, kHigh2, kOwnError, kAround };
};

class NeighbourFeatures {
 public:
  NeighbourFeatures(const Lines& lines, SiteValues values);

  [[nodiscard]] NeighbourLayout layout() const { return {lines_.axes()}; }
  [[nodiscard]] const SiteValues& values() const { return values_; }
  /// How well each axis interpolates: mean square of the residuals of all sites; the weight of its estimate is 1 / it.
  [[nodiscard]] std::span<const double> errors() const { return errors_; }
  /// Median size of the residuals, which rare steps to other kinds of kernels leave alone.
  [[nodiscard]] std::span<const double> typical() const { return typical_; }
  /// Writes layout().count() numbers: the base (a weighted mean of the estimates along the axes) as it is, values and
  /// estimates as deviations from it, NaN for what cannot be seen. `waves`: kTileCount numbers of the point itself.
  void write(const Point& point, const Surroundings& around, std::span<const float> waves, const Blindfold& blindfold,
             std::span<float> out) const;

 private:
  /// Linear in the coordinate between the two neighbours; a copy where there is one.
  template <class Value>
  [[nodiscard]] float between(const Neighbours& n, double at, std::size_t axis, Value value) const;
  [[nodiscard]] float beyond(Site near, Site far, double at, std::size_t axis) const;
  [[nodiscard]] float own_error(const Neighbours& n, double at, std::size_t axis) const;
  [[nodiscard]] float bilinear(const Point& point, std::size_t first, std::size_t second) const;
  [[nodiscard]] double coordinate_of(Site site, std::size_t axis) const { return lines_.sites()[static_cast<std::size_t>(site)].at[axis]; }
  [[nodiscard]] float u(Site site) const { return values_.u[static_cast<std::size_t>(site)]; }

  const Lines& lines_;
  SiteValues values_;
  std::vector<double> errors_;
  std::vector<double> typical_;
};

}  // namespace oplat::estimate
