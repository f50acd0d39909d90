// SPDX-License-Identifier: Apache-2.0
/// The nearest of a set of points, the same one as scipy's NearestNDInterpolator(rescale=True)
/// takes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compat/tinynas/original/delaunay.hpp"

namespace oplat::compat::tinynas {

/// Distances after each axis is brought to zero mean and unit range. On a grid several points are
/// often equally near; then the first that the search meets wins. So the tree is that of scipy's
/// cKDTree: the same splits, the same order in the leaves, the same order of visits.
class NearestPoint {
 public:
  /// `points` is not empty.
  explicit NearestPoint(std::span<const PlanePoint> points);
  /// Its index.
  [[nodiscard]] std::size_t find(PlanePoint at) const;

 private:
  struct Node {
    std::size_t begin = 0;  ///< of its points in order_
    std::size_t end = 0;
    std::size_t axis = kLeaf;
    double split = 0;
    std::size_t less = 0;  ///< child with coordinates below the split
    std::size_t greater = 0;
  };
  static constexpr std::size_t kLeaf = 2;  ///< in place of an axis

  [[nodiscard]] std::array<double, 2> scaled(PlanePoint at) const;
  std::size_t build(std::size_t begin, std::size_t end);
  /// Divides order_[begin, end) by a plane; the first place of the upper half, or `end` where all
  /// points are one.
  std::size_t divide(std::size_t begin, std::size_t end, Node& node);

  std::array<double, 2> mean_{};
  std::array<double, 2> range_{};
  std::array<double, 2> min_{};
  std::array<double, 2> max_{};
  std::vector<std::array<double, 2>> points_;  ///< scaled
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
};

}  // namespace oplat::compat::tinynas
