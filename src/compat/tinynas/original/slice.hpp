// SPDX-License-Identifier: Apache-2.0
/// The rows of one kind of convolution at one batch and one ratio of channels, over (Out_C, In_H).
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "compat/tinynas/original/delaunay.hpp"
#include "compat/tinynas/original/nearest.hpp"

namespace oplat::compat::tinynas {

class Slice {
 public:
  void add(PlanePoint at, double ms);
  /// Whether three of the rows are not in line, without which there is no triangulation.
  [[nodiscard]] bool has_triangle() const;
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  /// Linear between the rows; outside their hull, and where that is negative, the nearest row.
  /// Code::Input if the rows have no triangulation.
  [[nodiscard]] Result<double> at(PlanePoint point) const;

 private:
  struct Index {
    Delaunay triangles;
    NearestPoint nearest;
  };

  std::vector<PlanePoint> points_;
  std::vector<double> ms_;
  // A library has 400 slices and a network asks for a few: each is indexed when it is first asked.
  mutable std::once_flag indexed_;
  mutable Result<std::optional<Index>> index_;
};

}  // namespace oplat::compat::tinynas
