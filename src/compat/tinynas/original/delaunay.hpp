// SPDX-License-Identifier: Apache-2.0
/// Delaunay triangulation of points of the plane, the same triangles as scipy.spatial.Delaunay's.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace oplat::compat::tinynas {

struct PlanePoint {
  double x = 0;
  double y = 0;
};

/// Where a point lies: corners of a triangle, by index into the points, and its barycentric
/// coordinates, of sum 1.
struct Place {
  std::array<std::int32_t, 3> corners{};
  std::array<double, 3> weights{};
};

/// On a grid every cell has four corners on one circle, so either diagonal is Delaunay's; which one
/// Qhull takes depends on its rounding and on the order of the points. So Qhull itself is asked,
/// with scipy's options.
class Delaunay {
 public:
  /// Code::Input with Qhull's reason: fewer than three points, or all on one line.
  static Result<Delaunay> build(std::span<const PlanePoint> points);

  /// Nothing outside the hull. A point on an edge may be placed in either triangle, which gives the
  /// same interpolation.
  [[nodiscard]] std::optional<Place> locate(PlanePoint at) const;
  [[nodiscard]] std::size_t size() const { return triangles_.size(); }

 private:
  struct Triangle {
    std::array<std::int32_t, 3> corners{};
    std::array<std::int32_t, 3> neighbours{};  ///< each opposite the corner of the same place
    std::array<double, 4>
        inverse{};    ///< from the last corner's offset to the first two weights; NaN: no area
    PlanePoint last;  ///< the last corner
    [[nodiscard]] std::array<double, 3> weights(PlanePoint at) const;
  };
  static Triangle triangle(std::span<const PlanePoint> points, std::array<std::int32_t, 3> corners,
                           std::array<std::int32_t, 3> neighbours);
  [[nodiscard]] std::optional<Place> search_all(PlanePoint at) const;

  std::vector<Triangle> triangles_;
  PlanePoint min_;  ///< corners of the box around the points
  PlanePoint max_;
};

}  // namespace oplat::compat::tinynas
