// SPDX-License-Identifier: Apache-2.0
/// Ramps fitted to the logarithm of costs.
///
/// A curve of costs over pools has plateaus, the levels, and ramps between them. Ramps are as wide
/// as a cache's replacement makes them, from a step to a factor of four; a neighbour, other pages
/// and page tables bend the rest by some per cent. Looking for steep places finds too many of them,
/// and looking for plateaus misses a small last level. So the whole curve is fitted at once: flat,
/// a ramp out of the core's own cache, flat, a ramp out of the last level, flat. These are the
/// ramps of estimate/reuse.hpp, in logarithms of both, so that what is found here is what a
/// prediction uses. The ends of the ramps are tried at all points; given those, the three costs are
/// a linear least-squares problem.
///
/// The level between the two ramps must be flat over an octave. Else one ramp whose middle bends
/// would be taken for two. One ramp explains the curve unless two leave half of its squares; then
/// there is no last level behind the core's own cache.
///
/// Loads that wait for one another show the levels best. Reads in order are then fitted between
/// the levels that these found.
#include "measure/memory_levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace oplat::measure {
namespace {

using table::Eviction;
using table::MemoryHierarchy;
using table::MemoryLevel;
using table::MemoryPoint;
using table::MemoryRamp;

constexpr std::size_t kMinPoints = 5;
/// Of a level, in logarithms to base 2 of bytes.
constexpr double kMinPlateau = 1 - 1e-9;
/// Logarithm of the cost over an octave: what page tables add to a flat level.
constexpr double kMaxSlopeOfPlateau = 0.15;
/// Logarithm of the factor between two levels; reads in order differ by less.
constexpr double kMinRise = 0.2;
constexpr double kMinStreamRise = 0.1;
/// Share of the squares that a further ramp must leave at most.
constexpr double kMaxLeft = 0.5;
/// Place on a ramp, as a share of it, that stands for the capacity: a cache that replaces lines at
/// random loses a fifth of the lines where the pool is a tenth larger than it, and one that loses
/// everything at once does so between two points.
constexpr double kCapacityShare = 0.25;
/// A ramp through the places where a tenth and nine tenths are gone.
constexpr double kLowShare = 0.1, kHighShare = 0.9;
/// Pools of memory alone: the largest and those that are less smaller than this.
constexpr double kMemoryRange = 1.5;
/// Of the pool from which on nothing changes.
constexpr double kScrubShare = 1.5;
constexpr std::int64_t kMib = std::int64_t{1} << 20;

/// A curve in logarithms.
struct Curve {
  std::vector<double> x;  ///< base 2, of bytes
  std::vector<double> y;  ///< natural, of ns
};

/// A ramp between two points of a curve, with the sums that least squares take.
struct RampShape {
  std::size_t lo = 0, hi = 0;
  std::vector<double> share;  ///< of each point
  double sum = 0, squares = 0, with_y = 0;
};

/// One or two ramps and the levels around them.
struct RampFit {
  std::vector<RampShape> ramps;
  std::vector<double> levels;  ///< logarithms of ns, one more than there are ramps
  double left = 0;             ///< squares
};

std::vector<RampShape> ramp_shapes(const Curve& curve) {
  std::vector<RampShape> shapes;
  for (std::size_t lo = 0; lo + 1 < curve.x.size(); ++lo) {
    for (std::size_t hi = lo + 1; hi < curve.x.size(); ++hi) {
      RampShape shape;
      shape.lo = lo;
      shape.hi = hi;
      for (std::size_t i = 0; i < curve.x.size(); ++i) {
        const double share =
            std::clamp((curve.x[i] - curve.x[lo]) / (curve.x[hi] - curve.x[lo]), 0.0, 1.0);
        shape.share.push_back(share);
        shape.sum += share;
        shape.squares += share * share;
        shape.with_y += share * curve.y[i];
      }
      shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

/// What is constant about a curve in all its fits.
struct CurveSums {
  double n = 0, y = 0, yy = 0;
};

CurveSums sums_of(const Curve& curve) {
  CurveSums sums;
  for (const double y : curve.y) {
    sums.n += 1;
    sums.y += y;
    sums.yy += y * y;
  }
  return sums;
}

/// Squares that a constant leaves.
double left_by_constant(const CurveSums& sums) {
  return std::max(0.0, sums.yy - sums.y * sums.y / sums.n);
}

/// The best single ramp that rises by `min_rise` or more; nothing: there is none, or a constant is
/// nearly as good.
std::optional<RampFit> fit_one(const std::vector<RampShape>& shapes, const CurveSums& sums,
                               double min_rise) {
  std::optional<RampFit> best;
  for (const RampShape& shape : shapes) {
    const double determinant = sums.n * shape.squares - shape.sum * shape.sum;
    if (!(determinant > 0)) continue;
    const double rise = (sums.n * shape.with_y - shape.sum * sums.y) / determinant;
    const double low = (sums.y - rise * shape.sum) / sums.n;
    if (rise < min_rise) continue;
    const double left = std::max(0.0, sums.yy - low * sums.y - rise * shape.with_y);
    if (best && left >= best->left) continue;
    best = RampFit{{shape}, {low, low + rise}, left};
  }
  if (!best || best->left > kMaxLeft * left_by_constant(sums)) return std::nullopt;
  return best;
}

bool is_flat_between(const Curve& curve, std::size_t from, std::size_t to) {
  const double octaves = curve.x[to] - curve.x[from];
  return octaves >= kMinPlateau && curve.y[to] - curve.y[from] <= kMaxSlopeOfPlateau * octaves;
}

/// The best two ramps with a level between them.
std::optional<RampFit> fit_two(const Curve& curve, const std::vector<RampShape>& shapes,
                               const CurveSums& sums) {
  std::optional<RampFit> best;
  const RampShape* best_own = nullptr;
  const RampShape* best_last = nullptr;
  for (const RampShape& own : shapes) {
    for (const RampShape& last : shapes) {
      if (last.lo <= own.hi || !is_flat_between(curve, own.hi, last.lo)) continue;
      const double both =
          std::inner_product(own.share.begin(), own.share.end(), last.share.begin(), 0.0);
      // The mean taken out, two unknowns are left.
      const double oo = own.squares - own.sum * own.sum / sums.n;
      const double ll = last.squares - last.sum * last.sum / sums.n;
      const double ol = both - own.sum * last.sum / sums.n;
      const double oy = own.with_y - own.sum * sums.y / sums.n;
      const double ly = last.with_y - last.sum * sums.y / sums.n;
      const double determinant = oo * ll - ol * ol;
      if (!(determinant > 0)) continue;
      const double own_rise = (oy * ll - ly * ol) / determinant;
      const double last_rise = (ly * oo - oy * ol) / determinant;
      if (own_rise < kMinRise || last_rise < kMinRise) continue;
      const double left = std::max(0.0, left_by_constant(sums) - own_rise * oy - last_rise * ly);
      if (best && left >= best->left) continue;
      const double low = (sums.y - own_rise * own.sum - last_rise * last.sum) / sums.n;
      best = RampFit{{}, {low, low + own_rise, low + own_rise + last_rise}, left};
      best_own = &own;
      best_last = &last;
    }
  }
  if (best) best->ramps = {*best_own, *best_last};
  return best;
}

MemoryRamp ramp_of(const Curve& curve, const RampShape& shape) {
  return {std::exp2(curve.x[shape.lo]), std::exp2(curve.x[shape.hi])};
}

double capacity_of(const MemoryRamp& ramp) {
  return ramp.lo_bytes * std::pow(ramp.hi_bytes / ramp.lo_bytes, kCapacityShare);
}

/// Which of the four costs of a point.
using Cost = double MemoryPoint::*;

/// The points from `low` to `high` bytes.
Curve curve_of(std::span<const MemoryPoint> points, Cost cost, double low, double high) {
  Curve curve;
  for (const MemoryPoint& point : points) {
    const auto bytes = static_cast<double>(point.pool_bytes);
    if (bytes < low || bytes > high) continue;
    curve.x.push_back(std::log2(bytes));
    curve.y.push_back(std::log(point.*cost));
  }
  return curve;
}

/// The ramp of reads in order, or of loads, among the points from `low` to `high` bytes.
std::optional<MemoryRamp> ramp_between(std::span<const MemoryPoint> points, Cost cost, double low,
                                       double high, double min_rise) {
  const Curve curve = curve_of(points, cost, low, high);
  if (curve.x.size() < 3) return std::nullopt;
  const auto fit = fit_one(ramp_shapes(curve), sums_of(curve), min_rise);
  if (!fit) return std::nullopt;
  return ramp_of(curve, fit->ramps.front());
}

/// Where half of the two ramps together is `share`.
double place_of(const MemoryRamp& a, const MemoryRamp& b, double share) {
  double low = std::log(std::min(a.lo_bytes, b.lo_bytes));
  double high = std::log(std::max(a.hi_bytes, b.hi_bytes));
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const double gone = (a.gone(std::exp(middle)) + b.gone(std::exp(middle))) / 2;
    (gone < share ? low : high) = middle;
  }
  return std::exp(high);
}

/// The ramp through the places where the mean of both has a tenth and nine tenths.
MemoryRamp middle_of(const MemoryRamp& a, const std::optional<MemoryRamp>& b) {
  if (!b) return a;
  const double low = std::log(place_of(a, *b, kLowShare));
  const double high = std::log(place_of(a, *b, kHighShare));
  const double further = (high - low) * kLowShare / (kHighShare - kLowShare);
  return {std::exp(low - further), std::exp(high + further)};
}

/// Median cost of the points from `low` to `high`.
double cost_between(std::span<const MemoryPoint> points, Cost cost, double low, double high) {
  const Curve curve = curve_of(points, cost, low, high);
  if (curve.y.empty()) return 0;
  std::vector<double> logs = curve.y;
  const auto middle = logs.begin() + static_cast<std::ptrdiff_t>(logs.size() / 2);
  std::nth_element(logs.begin(), middle, logs.end());
  return std::exp(*middle);
}

/// The last level's curve, from the end of the own cache's ramp on.
Eviction eviction_of(std::span<const MemoryPoint> points, const MemoryRamp& chase, double from) {
  constexpr double kEnd = 1e30;
  Eviction eviction;
  eviction.chase = chase;
  eviction.stream = ramp_between(points, &MemoryPoint::stream_ns, from, kEnd, kMinStreamRise);
  eviction.middle = middle_of(chase, eviction.stream);
  const auto loud = ramp_between(points, &MemoryPoint::chase_high_ns, from, kEnd, kMinRise);
  if (loud) {
    const auto stream =
        ramp_between(points, &MemoryPoint::stream_high_ns, from, kEnd, kMinStreamRise);
    eviction.disturbed = middle_of(*loud, stream);
  }
  return eviction;
}

/// From where on both curves are flat; nothing: they rise to the last point.
std::optional<std::int64_t> scrub_of(std::span<const MemoryPoint> points, const Eviction& last) {
  const double flat =
      std::max(last.chase.hi_bytes, last.stream ? last.stream->hi_bytes : last.chase.hi_bytes);
  // Two points at least must lie behind it.
  if (flat >= static_cast<double>(points[points.size() - 2].pool_bytes)) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(kScrubShare * flat / static_cast<double>(kMib))) *
         kMib;
}

}  // namespace

MemoryHierarchy find_levels(std::span<const MemoryPoint> points) {
  MemoryHierarchy found;
  found.points.assign(points.begin(), points.end());
  if (points.empty()) return found;
  const auto largest = static_cast<double>(points.back().pool_bytes);
  const auto level = [&](std::optional<double> capacity, double low, double high) {
    return MemoryLevel{capacity, cost_between(points, &MemoryPoint::stream_ns, low, high),
                       cost_between(points, &MemoryPoint::chase_ns, low, high)};
  };
  // A cache that replaces lines at random keeps some of them long after the ramp.
  const auto memory_behind = [&](const MemoryRamp& last) {
    return level(std::nullopt, std::max(last.hi_bytes, largest / kMemoryRange), largest);
  };
  const auto flat = [&] {
    found.levels = {level(std::nullopt, 0, largest)};
    return found;
  };
  if (points.size() < kMinPoints) return flat();
  const Curve curve = curve_of(points, &MemoryPoint::chase_ns, 0, largest);
  const std::vector<RampShape> shapes = ramp_shapes(curve);
  const CurveSums sums = sums_of(curve);
  const auto one = fit_one(shapes, sums, kMinRise);
  if (!one) return flat();
  const auto two = fit_two(curve, shapes, sums);
  if (two && two->left <= kMaxLeft * one->left) {
    const MemoryRamp own = ramp_of(curve, two->ramps[0]);
    const MemoryRamp last = ramp_of(curve, two->ramps[1]);
    found.last = eviction_of(points, last, own.hi_bytes);
    const auto own_stream =
        ramp_between(points, &MemoryPoint::stream_ns, 0, last.lo_bytes, kMinStreamRise);
    found.own = middle_of(own, own_stream);
    found.levels = {level(capacity_of(own), 0, own.lo_bytes),
                    level(capacity_of(last), own.hi_bytes, last.lo_bytes), memory_behind(last)};
  } else {
    const MemoryRamp last = ramp_of(curve, one->ramps.front());
    found.last = eviction_of(points, last, 0);
    found.levels = {level(capacity_of(last), 0, last.lo_bytes), memory_behind(last)};
  }
  found.scrub_bytes = scrub_of(points, *found.last);
  return found;
}

}  // namespace oplat::measure
