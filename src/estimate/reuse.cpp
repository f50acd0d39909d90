// SPDX-License-Identifier: Apache-2.0
/// Interpolation between cache states, saturating at both ends.
#include "oplat/estimate/reuse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace oplat::estimate {
namespace {

constexpr double kLowShareOfCache = 0.25;
constexpr double kHighShareOfCache = 1.25;
/// The curve's ends are a start value, so a number read off between them is as unsure as this share of the gap between
/// hot and cold, most in the middle and not at all at the ends.
constexpr double kCurveDoubt = 0.25;

/// A stranger's table may hold 0 or less; the logarithm needs a byte.
double at_least_one(double bytes) { return std::max(bytes, 1.0); }

struct Placed {
  std::size_t index;
  double share;
};

}  // namespace

std::optional<ReuseCurve> default_curve(const table::Device& device) {
  if (device.llc_bytes <= 0) return std::nullopt;
  const auto bytes = static_cast<double>(device.llc_bytes);
  return ReuseCurve{kLowShareOfCache * bytes, kHighShareOfCache * bytes};
}

double cold_share(const ReuseCurve& curve, double reuse_bytes) {
  if (reuse_bytes <= curve.lo_bytes) return 0;
  if (reuse_bytes >= curve.hi_bytes) return 1;
  return std::log(reuse_bytes / curve.lo_bytes) / std::log(curve.hi_bytes / curve.lo_bytes);
}

StateAnswer at_reuse(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve, double reuse_bytes) {
  ReuseCurve ends;
  if (curve) {
    ends = *curve;
  } else {
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(), [](const auto& a, const auto& b) { return a.reuse_bytes < b.reuse_bytes; });
    ends = {at_least_one(low->reuse_bytes), at_least_one(high->reuse_bytes)};
  }
  const double wanted_bytes = at_least_one(reuse_bytes);
  const double wanted = cold_share(ends, wanted_bytes);

  // Points whose states the curve cannot tell apart: the one nearest to the footprint speaks for them.
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].reuse_bytes < points[b].reuse_bytes; });
  const auto distance = [&](std::size_t i) {
    return std::abs(std::log(at_least_one(points[i].reuse_bytes) / wanted_bytes));
  };
  std::vector<Placed> placed;
  for (const std::size_t i : order) {
    const double share = cold_share(ends, at_least_one(points[i].reuse_bytes));
    if (!placed.empty() && placed.back().share == share) {
      if (distance(i) < distance(placed.back().index)) placed.back().index = i;
    } else {
      placed.push_back({i, share});
    }
  }

  const auto verbatim = [&](std::size_t i) { return StateAnswer{points[i].median_ns, points[i].sd_log, i, i, 0}; };
  if (wanted <= placed.front().share) return verbatim(placed.front().index);
  if (wanted >= placed.back().share) return verbatim(placed.back().index);
  const auto above = std::find_if(placed.begin(), placed.end(), [&](const Placed& p) { return p.share >= wanted; });
  if (above->share == wanted) return verbatim(above->index);
  const auto below = above - 1;

  const double share = (wanted - below->share) / (above->share - below->share);
  const StatePoint& a = points[below->index];
  const StatePoint& b = points[above->index];
  const double gap = std::log(b.median_ns) - std::log(a.median_ns);
  const double doubt = 4 * share * (1 - share) * kCurveDoubt * std::abs(gap);
  return {std::exp(std::log(a.median_ns) + share * gap), std::hypot((1 - share) * a.sd_log, share * b.sd_log, doubt),
          below->index, above->index, share};
}

}  // namespace oplat::estimate
