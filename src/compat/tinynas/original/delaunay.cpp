// SPDX-License-Identifier: Apache-2.0
/// Qhull's triangulation, and the walk through it to the triangle of a point.
#include "compat/tinynas/original/delaunay.hpp"

#include <libqhull_r/qhull_ra.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace oplat::compat::tinynas {
namespace {

/// scipy's tolerance of a barycentric coordinate: what rounding may add to a point on an edge.
constexpr double kTolerance = 100 * std::numeric_limits<double>::epsilon();
constexpr std::int32_t kOutside = -1;

/// What Qhull has to say goes here instead of to stderr.
class Messages {
 public:
  Messages() : file_(::open_memstream(&text_, &size_)) {}
  ~Messages() {
    if (file_ != nullptr) std::fclose(file_);
    std::free(text_);
  }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  [[nodiscard]] std::FILE* file() const { return file_ != nullptr ? file_ : stderr; }
  /// The first line, without Qhull's numbers of errors: "initial simplex is flat (facet 1 is
  /// coplanar ...)".
  std::string first_line() {
    if (file_ == nullptr || std::fflush(file_) != 0) return "no message";
    std::string_view text(text_, size_);
    text = text.substr(0, text.find('\n'));
    if (text.starts_with("QH")) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    return base::printable(text, 160);
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

/// One run of Qhull with all that it allocated.
class Run {
 public:
  explicit Run(std::FILE* messages) { qh_zero(&state_, messages); }
  ~Run() {
    qh_freeqhull(&state_, qh_ALL);
    int pieces = 0, bytes = 0;
    qh_memfreeshort(&state_, &pieces, &bytes);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  qhT* get() { return &state_; }

 private:
  qhT state_{};
};

template <class T>
T* element(const setT* set, int i) {
  return static_cast<T*>(set->e[i].p);
}

/// A facet of the lower half of the paraboloid is a triangle of the plane; the upper half and the
/// point at infinity that Qz adds belong to the way there.
bool is_triangle(qhT* qh, const facetT* facet) { return facet->upperdelaunay == qh->UPPERdelaunay; }

struct Corners {
  std::array<std::int32_t, 3> corners{};
  std::array<std::int32_t, 3> neighbours{};
};

/// `number` gives the place of a facet among the triangles by its id.
Corners corners_of(qhT* qh, const facetT* facet, std::span<const std::int32_t> number) {
  Corners found;
  // Counter-clockwise, as scipy has them: the order decides the last bits of an interpolated value.
  const bool swapped = facet->toporient == qh_ORIENTclock;
  for (int i = 0; i < 3; ++i) {
    const auto to = static_cast<std::size_t>(swapped && i < 2 ? 1 - i : i);
    found.corners[to] = qh_pointid(qh, element<vertexT>(facet->vertices, i)->point);
    found.neighbours[to] = number[element<facetT>(facet->neighbors, i)->id];
  }
  return found;
}

}  // namespace

std::array<double, 3> Delaunay::Triangle::weights(PlanePoint at) const {
  const double dx = at.x - last.x, dy = at.y - last.y;
  const double first = inverse[0] * dx + inverse[1] * dy;
  const double second = inverse[2] * dx + inverse[3] * dy;
  return {first, second, 1.0 - first - second};
}

Delaunay::Triangle Delaunay::triangle(std::span<const PlanePoint> points,
                                      std::array<std::int32_t, 3> corners,
                                      std::array<std::int32_t, 3> neighbours) {
  const auto at = [&](std::size_t k) { return points[static_cast<std::size_t>(corners[k])]; };
  const PlanePoint last = at(2);
  const double x0 = at(0).x - last.x, x1 = at(1).x - last.x;
  const double y0 = at(0).y - last.y, y1 = at(1).y - last.y;
  const double area = x0 * y1 - x1 * y0;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Triangle made{corners, neighbours, {kNone, kNone, kNone, kNone}, last};
  if (area != 0) made.inverse = {y1 / area, -x1 / area, -y0 / area, x0 / area};
  return made;
}

Result<Delaunay> Delaunay::build(std::span<const PlanePoint> points) {
  if (points.size() < 3)
    return fail(Code::Input, "{} points cannot form a triangle", points.size());
  if (points.size() > static_cast<std::size_t>(qh_POINTSmax))
    return fail(Code::Input, "{} points are more than Qhull supports", points.size());
  std::vector<coordT> coordinates;
  coordinates.reserve(2 * points.size());
  for (const PlanePoint& point : points) coordinates.insert(coordinates.end(), {point.x, point.y});

  Messages messages;
  const auto run = std::make_unique<Run>(messages.file());
  qhT* qh = run->get();
  // scipy's options of a plane Delaunay triangulation; Qt makes triangles of the cells.
  std::string command = "qhull d Qbb Qc Qz Q12 Qt";
  const int status = qh_new_qhull(qh, 2, static_cast<int>(points.size()), coordinates.data(), False,
                                  command.data(), nullptr, messages.file());
  if (status != 0)
    return fail(Code::Input, "Qhull finds no triangulation: {}", messages.first_line());

  std::vector<std::int32_t> number(qh->facet_id, kOutside);
  std::int32_t count = 0;
  for (const facetT* facet = qh->facet_list; facet != nullptr && facet->next != nullptr;
       facet = facet->next) {
    if (!is_triangle(qh, facet)) continue;
    if (qh_setsize(qh, facet->vertices) != 3 || qh_setsize(qh, facet->neighbors) != 3)
      return fail(Code::Input, "Qhull leaves a facet of {} corners",
                  qh_setsize(qh, facet->vertices));
    number[facet->id] = count++;
  }
  if (count == 0)
    return fail(Code::Input, "Qhull finds no triangle between {} points", points.size());

  Delaunay made;
  made.triangles_.reserve(static_cast<std::size_t>(count));
  for (const facetT* facet = qh->facet_list; facet != nullptr && facet->next != nullptr;
       facet = facet->next) {
    if (!is_triangle(qh, facet)) continue;
    const Corners found = corners_of(qh, facet, number);
    for (const std::int32_t corner : found.corners) {
      if (corner < 0 || static_cast<std::size_t>(corner) >= points.size())
        return fail(Code::Input, "Qhull takes the point at infinity into a triangle");
    }
    made.triangles_.push_back(triangle(points, found.corners, found.neighbours));
  }
  const auto [left, right] =
      std::minmax_element(points.begin(), points.end(),
                          [](const PlanePoint& a, const PlanePoint& b) { return a.x < b.x; });
  const auto [low, high] =
      std::minmax_element(points.begin(), points.end(),
                          [](const PlanePoint& a, const PlanePoint& b) { return a.y < b.y; });
  made.min_ = {left->x, low->y};
  made.max_ = {right->x, high->y};
  return made;
}

std::optional<Place> Delaunay::locate(PlanePoint at) const {
  if (at.x < min_.x - kTolerance || at.x > max_.x + kTolerance || at.y < min_.y - kTolerance ||
      at.y > max_.y + kTolerance)
    return std::nullopt;
  // Towards the point: through the edge opposite a corner whose weight is negative. Rounding might
  // lead in a circle, a triangle without area nowhere.
  std::size_t here = 0;
  for (std::size_t step = 0; step < triangles_.size(); ++step) {
    const Triangle& triangle = triangles_[here];
    const std::array<double, 3> weights = triangle.weights(at);
    bool inside = true, moved = false;
    for (std::size_t k = 0; k < 3 && !moved; ++k) {
      if (weights[k] < -kTolerance) {
        // The hull is convex: beyond its edge there is nothing.
        if (triangle.neighbours[k] == kOutside) return std::nullopt;
        here = static_cast<std::size_t>(triangle.neighbours[k]);
        moved = true;
      } else if (!(weights[k] <= 1 + kTolerance)) {
        inside = false;
      }
    }
    if (moved) continue;
    if (inside) return Place{triangle.corners, weights};
    break;
  }
  return search_all(at);
}

std::optional<Place> Delaunay::search_all(PlanePoint at) const {
  for (const Triangle& triangle : triangles_) {
    const std::array<double, 3> weights = triangle.weights(at);
    if (std::all_of(weights.begin(), weights.end(), [](double weight) {
          return weight >= -kTolerance && weight <= 1 + kTolerance;
        }))
      return Place{triangle.corners, weights};
  }
  return std::nullopt;
}

}  // namespace oplat::compat::tinynas
