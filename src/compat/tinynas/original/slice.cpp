// SPDX-License-Identifier: Apache-2.0
/// Linear, else nearest.
#include "compat/tinynas/original/slice.hpp"

namespace oplat::compat::tinynas {

void Slice::add(PlanePoint at, double ms) {
  points_.push_back(at);
  ms_.push_back(ms);
}

bool Slice::has_triangle() const {
  // Whole numbers below 2^31, so that no product of two differences is rounded to 0.
  const PlanePoint* second = nullptr;
  for (const PlanePoint& point : points_) {
    const PlanePoint& first = points_.front();
    if (second == nullptr) {
      if (point.x != first.x || point.y != first.y) second = &point;
    } else if ((second->x - first.x) * (point.y - first.y) !=
               (second->y - first.y) * (point.x - first.x)) {
      return true;
    }
  }
  return false;
}

Result<double> Slice::at(PlanePoint point) const {
  std::call_once(indexed_, [&] {
    auto triangles = Delaunay::build(points_);
    if (triangles)
      index_ = Index{std::move(*triangles), NearestPoint(points_)};
    else
      index_ = fail(triangles.error());
  });
  if (!index_) return fail(index_.error());
  const Index& index = **index_;
  if (const auto place = index.triangles.locate(point)) {
    double ms = 0;
    for (std::size_t k = 0; k < 3; ++k)
      ms += place->weights[k] * ms_[static_cast<std::size_t>(place->corners[k])];
    if (ms >= 0) return ms;
  }
  return ms_[index.nearest.find(point)];
}

}  // namespace oplat::compat::tinynas
