// SPDX-License-Identifier: Apache-2.0
/// Lines: the measured points next to a point along each axis, all other coordinates being equal.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "estimate/learned/space.hpp"

namespace oplat::estimate {

/// Number of a measured point.
using Site = std::int32_t;
inline constexpr Site kNoSite = -1;

/// A measured point on a line, or none.
struct Neighbour {
  Site site = kNoSite;
  double at = 0;  ///< its coordinate on the line
  explicit operator bool() const { return site != kNoSite; }
};

/// The two measured points before and after a coordinate on a line, that coordinate itself left
/// out.
struct Neighbours {
  Neighbour low2;
  Neighbour low;
  Neighbour high;
  Neighbour high2;
  [[nodiscard]] bool any() const { return low || high; }
  [[nodiscard]] bool both() const { return low && high; }
};

using Surroundings = std::array<Neighbours, kMaxAxes>;

class Lines {
 public:
  /// Points are distinct: rows of one point are one site.
  Lines(std::vector<Point> sites, std::size_t axes, std::size_t slices);

  [[nodiscard]] std::size_t axes() const { return axes_; }
  [[nodiscard]] std::span<const Point> sites() const { return sites_; }
  [[nodiscard]] Neighbours along(const Point& point, std::size_t axis) const;
  /// The same along every axis, several times faster than one after the other: nearly all of the
  /// time is waiting for memory, and here the axes wait together.
  [[nodiscard]] Surroundings around(const Point& point) const;
  /// Coordinates measured anywhere in the slice, ascending.
  [[nodiscard]] std::span<const double> levels(std::uint32_t slice, std::size_t axis) const;
  /// Most levels that any slice has on the axis: 2 for a flag.
  [[nodiscard]] std::size_t max_levels(std::size_t axis) const { return max_levels_[axis]; }

 private:
  struct Bucket {
    std::uint64_t line = 0;
    std::uint32_t begin = 0;
    std::uint32_t count = 0;  ///< 0: free
  };
  [[nodiscard]] const Bucket* find(std::uint64_t line) const;
  [[nodiscard]] Neighbours along(const Bucket& line, double at) const;

  std::vector<Point> sites_;
  std::size_t axes_ = 0;
  std::vector<Neighbour> entries_;           ///< by line, then by coordinate
  std::vector<Bucket> buckets_;              ///< open addressing, a power of two
  std::vector<std::vector<double>> levels_;  ///< slice * axes + axis
  std::vector<std::size_t> max_levels_;
};

/// Sum over axes of a hash of each coordinate: that of a line is the sum without its axis.
std::uint64_t hash_of(const Point& point, std::size_t axes);

}  // namespace oplat::estimate
