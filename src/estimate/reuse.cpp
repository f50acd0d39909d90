// SPDX-License-Identifier: Apache-2.0
/// Interpolation between cache states, saturating at both ends.
#include "estimate/reuse.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace oplat::estimate {
namespace {

constexpr double kLowShareOfOwn = 0.5;
constexpr double kHighShareOfOwn = 2;
constexpr double kLowShareOfLast = 0.5;
constexpr double kHighShareOfLast = 1.25;
/// The curve's ends are uncertain, so a number read off between them is as unsure as this share of
/// the gap between the two states, most in the middle and not at all at the ends.
constexpr double kCurveDoubt = 0.25;

/// An untrusted table may hold 0 or less; the logarithm needs a byte.
double at_least_one(double bytes) { return std::max(bytes, 1.0); }

/// The ramps that count for one kernel's points.
struct Ramps {
  std::optional<Ramp> own;
  Ramp last;
  /// 0 hot, 1 in the last level, 2 cold; without the first ramp 0 hot, 1 cold.
  [[nodiscard]] double place(double reuse_bytes) const {
    return (own ? own->gone(reuse_bytes) : 0) + last.gone(reuse_bytes);
  }
};

Ramps ramps_of(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve) {
  if (!curve) {
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(),
        [](const auto& a, const auto& b) { return a.reuse_bytes < b.reuse_bytes; });
    return {std::nullopt, {at_least_one(low->reuse_bytes), at_least_one(high->reuse_bytes)}};
  }
  const bool between =
      curve->own && std::any_of(points.begin(), points.end(), [&](const StatePoint& point) {
        return curve->own->gone(point.reuse_bytes) >= 1 && curve->last.gone(point.reuse_bytes) <= 0;
      });
  return {between ? curve->own : std::nullopt, curve->last};
}

struct Placed {
  std::size_t index;
  double place;
};

}  // namespace

double Ramp::gone(double reuse_bytes) const {
  if (reuse_bytes <= lo_bytes) return 0;
  if (reuse_bytes >= hi_bytes) return 1;
  return std::log(reuse_bytes / lo_bytes) / std::log(hi_bytes / lo_bytes);
}

std::optional<ReuseCurve> default_curve(const table::Device& device) {
  if (device.llc_bytes <= 0) return std::nullopt;
  const auto last = static_cast<double>(device.llc_bytes);
  ReuseCurve curve{std::nullopt, {kLowShareOfLast * last, kHighShareOfLast * last}};
  const auto own = static_cast<double>(device.l2_bytes);
  // Ramps that overlap could not be told apart.
  if (own > 0 && kHighShareOfOwn * own <= curve.last.lo_bytes)
    curve.own = Ramp{kLowShareOfOwn * own, kHighShareOfOwn * own};
  return curve;
}

StateAnswer at_reuse(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve,
                     double reuse_bytes) {
  const Ramps ramps = ramps_of(points, curve);
  const double wanted_bytes = at_least_one(reuse_bytes);
  const double wanted = ramps.place(wanted_bytes);

  // Points whose states the curve cannot tell apart: the one nearest to the footprint speaks for
  // them.
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return points[a].reuse_bytes < points[b].reuse_bytes;
  });
  const auto distance = [&](std::size_t i) {
    return std::abs(std::log(at_least_one(points[i].reuse_bytes) / wanted_bytes));
  };
  std::vector<Placed> placed;
  for (const std::size_t i : order) {
    const double place = ramps.place(at_least_one(points[i].reuse_bytes));
    if (!placed.empty() && placed.back().place == place) {
      if (distance(i) < distance(placed.back().index)) placed.back().index = i;
    } else {
      placed.push_back({i, place});
    }
  }

  const auto verbatim = [&](std::size_t i) {
    return StateAnswer{points[i].median_ns, points[i].sd_log, i, i, 0};
  };
  if (wanted <= placed.front().place) return verbatim(placed.front().index);
  if (wanted >= placed.back().place) return verbatim(placed.back().index);
  const auto above = std::find_if(placed.begin(), placed.end(),
                                  [&](const Placed& p) { return p.place >= wanted; });
  if (above->place == wanted) return verbatim(above->index);
  const auto below = above - 1;

  const double share = (wanted - below->place) / (above->place - below->place);
  const StatePoint& a = points[below->index];
  const StatePoint& b = points[above->index];
  const double gap = std::log(b.median_ns) - std::log(a.median_ns);
  const double doubt = 4 * share * (1 - share) * kCurveDoubt * std::abs(gap);
  return {std::exp(std::log(a.median_ns) + share * gap),
          std::hypot((1 - share) * a.sd_log, share * b.sd_log, doubt), below->index, above->index,
          share};
}

}  // namespace oplat::estimate
