// SPDX-License-Identifier: Apache-2.0
/// A k-d tree that meets points in the order in which scipy's does.
#include "compat/tinynas/original/nearest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace oplat::compat::tinynas {
namespace {

constexpr std::size_t kLeafSize = 16;

/// A part of the tree that is still to be visited.
struct Visit {
  std::size_t node = 0;
  double distance = 0;           ///< squared, to the nearest side of its cell
  std::array<double, 2> side{};  ///< shares of the axes in it
};

/// A binary heap, nearest on top. Of equally near parts it gives the one that scipy's gives, which
/// the standard library's need not.
class Queue {
 public:
  [[nodiscard]] bool empty() const { return visits_.empty(); }
  void push(const Visit& visit) {
    visits_.push_back(visit);
    for (std::size_t i = visits_.size() - 1, up = 0; i > 0; i = up) {
      up = (i - 1) / 2;
      if (!(visits_[i].distance < visits_[up].distance)) break;
      std::swap(visits_[i], visits_[up]);
    }
  }
  Visit pop() {
    const Visit top = visits_.front();
    visits_.front() = visits_.back();
    visits_.pop_back();
    for (std::size_t i = 0;;) {
      const std::size_t left = 2 * i + 1, right = 2 * i + 2;
      if (left >= visits_.size()) break;
      const std::size_t child =
          right < visits_.size() && visits_[left].distance > visits_[right].distance ? right : left;
      if (!(visits_[i].distance > visits_[child].distance)) break;
      std::swap(visits_[i], visits_[child]);
      i = child;
    }
    return top;
  }

 private:
  std::vector<Visit> visits_;
};

double square(double value) { return value * value; }

}  // namespace

NearestPoint::NearestPoint(std::span<const PlanePoint> points)
    : points_(points.size()), order_(points.size()) {
  std::array<double, 2> sum{};
  for (const PlanePoint& point : points) {
    sum[0] += point.x;
    sum[1] += point.y;
  }
  for (std::size_t axis = 0; axis < 2; ++axis)
    mean_[axis] = sum[axis] / static_cast<double>(points.size());
  std::transform(points.begin(), points.end(), points_.begin(), [&](const PlanePoint& point) {
    return std::array{point.x - mean_[0], point.y - mean_[1]};
  });
  min_ = max_ = points_.front();
  for (const auto& point : points_) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      min_[axis] = std::min(min_[axis], point[axis]);
      max_[axis] = std::max(max_[axis], point[axis]);
    }
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    range_[axis] = max_[axis] > min_[axis] ? max_[axis] - min_[axis] : 1.0;
    for (auto& point : points_) point[axis] /= range_[axis];
    min_[axis] /= range_[axis];
    max_[axis] /= range_[axis];
  }
  std::iota(order_.begin(), order_.end(), 0U);
  nodes_.reserve(2 * points.size() / kLeafSize + 1);
  build(0, points.size());
}

std::array<double, 2> NearestPoint::scaled(PlanePoint at) const {
  return {(at.x - mean_[0]) / range_[0], (at.y - mean_[1]) / range_[1]};
}

std::size_t NearestPoint::divide(std::size_t begin, std::size_t end, Node& node) {
  std::array<double, 2> least = points_[order_[begin]], most = least;
  for (std::size_t i = begin + 1; i < end; ++i) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      least[axis] = std::min(least[axis], points_[order_[i]][axis]);
      most[axis] = std::max(most[axis], points_[order_[i]][axis]);
    }
  }
  const std::size_t axis = most[1] - least[1] > most[0] - least[0] ? 1 : 0;
  if (most[axis] == least[axis]) return end;

  using Iterator = std::vector<std::uint32_t>::iterator;
  const auto place = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto value = [&](std::uint32_t point) { return points_[point][axis]; };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return value(a) < value(b); };
  const auto below = [&](Iterator first, Iterator last, double split) {
    return static_cast<std::size_t>(
        std::partition(first, last, [&](std::uint32_t point) { return value(point) < split; }) -
        order_.begin());
  };

  const Iterator middle = place(begin + (end - begin) / 2);
  std::nth_element(place(begin), middle, place(end), before);
  node.split = value(*middle);
  std::size_t upper = below(place(begin), middle, node.split);
  if (upper == begin) {
    // The least value fills the lower half: it goes below, all else above.
    node.split = std::nextafter(value(*std::min_element(place(begin), place(end), before)),
                                std::numeric_limits<double>::infinity());
    upper = below(place(begin), place(end), node.split);
  }
  node.axis = axis;
  return upper;
}

std::size_t NearestPoint::build(std::size_t begin, std::size_t end) {
  const std::size_t index = nodes_.size();
  nodes_.push_back({begin, end});
  if (end - begin <= kLeafSize) return index;
  Node node = nodes_[index];
  const std::size_t upper = divide(begin, end, node);
  if (upper == end) return index;
  node.less = build(begin, upper);
  node.greater = build(upper, end);
  nodes_[index] = node;
  return index;
}

std::size_t NearestPoint::find(PlanePoint at) const {
  const std::array<double, 2> wanted = scaled(at);
  Visit here;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    here.side[axis] = square(std::max({0.0, wanted[axis] - max_[axis], min_[axis] - wanted[axis]}));
    here.distance += here.side[axis];
  }
  std::size_t best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  Queue queue;
  for (;;) {
    const Node& node = nodes_[here.node];
    if (node.axis == kLeaf) {
      for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::array<double, 2>& point = points_[order_[i]];
        const double distance = square(point[0] - wanted[0]) + square(point[1] - wanted[1]);
        if (distance < best_distance) {
          best_distance = distance;
          best = order_[i];
        }
      }
      if (queue.empty()) return best;
      here = queue.pop();
      continue;
    }
    // Whatever else is in the queue is not nearer.
    if (here.distance > best_distance) return best;
    Visit far = here;
    const bool less = wanted[node.axis] < node.split;
    here.node = less ? node.less : node.greater;
    far.node = less ? node.greater : node.less;
    const double side =
        square(less ? node.split - wanted[node.axis] : wanted[node.axis] - node.split);
    far.distance += side - far.side[node.axis];
    far.side[node.axis] = side;
    if (here.distance > far.distance) std::swap(here, far);
    if (far.distance <= best_distance) queue.push(far);
  }
}

}  // namespace oplat::compat::tinynas
