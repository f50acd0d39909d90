// SPDX-License-Identifier: Apache-2.0
/// What the measured points around a point say about it: interpolations along every axis, and how
/// wrong the same interpolations are next door.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "estimate/learned/lines.hpp"
#include "estimate/learned/machine.hpp"

namespace oplat::estimate {

/// What one may pretend not to see, so that a model for questions far from the rows can be learned
/// from the rows.
struct Blindfold {
  std::uint32_t levels = 0;  ///< axes on which the point's own coordinate was never measured
  std::uint32_t lines = 0;   ///< axes along which nothing was measured
  bool beyond = false;       ///< nothing was measured above the point on any axis
};

/// What is known of the sites.
struct SiteValues {
  std::vector<float> u;  ///< ln(time / reference)
  std::vector<float>
      waves;  ///< ln(wave work) - ln(reference), kTileCount a site; NaN where no product is summed
};

/// Layout of the features of `axes` axes.
struct NeighbourLayout {
  std::size_t axes;
  [[nodiscard]] std::size_t base() const { return 0; }
  [[nodiscard]] std::size_t around(std::size_t axis) const { return 1 + axis * kAround; }
  [[nodiscard]] std::size_t crossed(std::size_t of, std::size_t along) const {
    return 1 + axes * kAround + of * axes + along;
  }
  [[nodiscard]] std::size_t tiled(std::size_t axis) const {
    return 1 + axes * (kAround + axes) + axis * kTileCount;
  }
  [[nodiscard]] std::size_t pair(std::size_t first, std::size_t second) const {
    return 1 + axes * (kAround + axes + kTileCount) + first * axes + second;
  }
  /// What corrected() makes of the interpolation along an axis, then the mean of the interpolations
  /// as they are.
  [[nodiscard]] std::size_t corrected(std::size_t axis) const {
    return 1 + axes * (kAround + axes + kTileCount + axes) + axis;
  }
  [[nodiscard]] std::size_t plain() const { return corrected(axes); }
  [[nodiscard]] std::size_t count() const { return plain() + 1; }

  /// Per axis: interpolation, extrapolation from below, from above, values before and after, their
  /// distances, values beyond those, error of the axis's own interpolation at the two neighbours.
  enum Around : std::size_t {
    kEstimate,
    kFromLow,
    kFromHigh,
    kLow,
    kHigh,
    kLowDistance,
    kHighDistance,
    kLow2,
    kHigh2,
    kOwnError,
    kAround
  };
};

class NeighbourFeatures {
 public:
  NeighbourFeatures(const Lines& lines, const SiteValues& values);

  [[nodiscard]] NeighbourLayout layout() const { return {lines_.axes()}; }
  [[nodiscard]] float u(Site site) const { return *record(site); }
  [[nodiscard]] std::span<const float> waves(Site site) const {
    return {record(site) + kWaves, kTileCount};
  }
  /// How well each axis interpolates: mean square of the residuals of all sites; the weight of its
  /// estimate is 1 / it.
  [[nodiscard]] std::span<const double> errors() const { return errors_; }
  /// Median size of the residuals, which rare steps to other kinds of kernels leave alone.
  [[nodiscard]] std::span<const double> typical() const { return typical_; }
  /// Writes layout().count() numbers: the base (a weighted mean of the corrected estimates along
  /// the axes, of the plain ones where none can be corrected) as it is, values and estimates as
  /// deviations from it, NaN for what cannot be seen. `waves`: kTileCount numbers of the point
  /// itself.
  void write(const Point& point, const Surroundings& around, std::span<const float> waves,
             const Blindfold& blindfold, std::span<float> out) const;

 private:
  /// Numbers of a record: u, waves, and u less its interpolation along each axis, NaN where there
  /// is none.
  static constexpr std::size_t kWaves = 1;
  static constexpr std::size_t kResidual = kWaves + kTileCount;
  struct alignas(64) CacheLine {
    float numbers[16];
  };
  [[nodiscard]] const float* record(Site site) const {
    return cache_lines_[static_cast<std::size_t>(site) * per_record_].numbers;
  }
  void prefetch(const Surroundings& around) const;
  [[nodiscard]] float interpolated(const Neighbours& n, double at) const;
  [[nodiscard]] float beyond(const Neighbour& near, const Neighbour& far, double at) const;
  [[nodiscard]] float own_error(const Neighbours& n, double at) const;
  /// Errors of the interpolation along `of` at the neighbours on `along`, interpolated.
  [[nodiscard]] float crossed(const Point& point, const Neighbours& on_along, std::size_t of,
                              std::size_t along) const;
  /// An interpolation plus how far the same interpolation is off on the parallel lines next door:
  /// exact where what its axis does is the same everywhere, however bent it is. `errors`: its
  /// crossed() along each axis, NaN where there is none; NaN if all are.
  [[nodiscard]] float corrected(float estimate, const Surroundings& around,
                                std::span<const float> errors) const;
  /// A copy from one side counts less than an interpolation, unless the axis is a flag.
  [[nodiscard]] double trust(const Neighbours& n, std::size_t axis) const {
    return surrounded(n, axis) ? 1.0 : 0.1;
  }
  [[nodiscard]] bool surrounded(const Neighbours& n, std::size_t axis) const {
    return n.both() || lines_.max_levels(axis) <= 2;
  }
  void learn_corrected_errors();
  [[nodiscard]] float bilinear(const Point& point, std::size_t first, std::size_t second) const;

  const Lines& lines_;
  /// What is known of a site lies together: a question looks at dozens of sites anywhere, and each
  /// waits for memory once.
  std::vector<CacheLine> cache_lines_;
  std::size_t per_record_;
  std::vector<double> errors_;
  std::vector<double> typical_;
  std::vector<double> corrected_errors_;  ///< square of the median size of what corrected() leaves
};

}  // namespace oplat::estimate
