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
/// The same at the earliest and at the latest: a busy and a quiet host (docs/adr/0024), and a
/// processor whose 480 MiB lose data from 16 to 64 MiB on (docs/adr/0051).
constexpr double kEarliestLowShare = 0.25, kEarliestHighShare = 0.75;
constexpr double kEarliestLowBytes = 16.0 * (1 << 20), kEarliestHighBytes = 64.0 * (1 << 20);
constexpr double kLatestLowShare = 0.75, kLatestHighShare = 2;
/// Of pools beyond the ramp, so that it can be seen how the curve goes on there.
constexpr std::size_t kMinPoolsBeyond = 3;
/// What is beyond a ramp cannot be compared with one that rises by less, in logarithms of time.
constexpr double kMinRise = 0.05;
/// An untrusted table may hold any curve. Measured were up to 0.21.
constexpr double kMaxRisePerOctave = 0.5;
/// At the latest, where it was not seen how the curve goes on: as the steepest that was seen.
constexpr double kUnknownRisePerOctave = 0.2;
/// The same at the latest, of the measured one: looks at one machine differ as much.
constexpr double kLatestRises = 2;
/// The curve's ends are uncertain, so a number read off between them is as unsure as this share of
/// the gap between the two states, most in the middle and not at all at the ends.
constexpr double kCurveDoubt = 0.25;
/// The same where nobody knows the sizes of the caches, of all kernels together.
constexpr double kNoCurveDoubt = 0.5;
/// What moments of one look may differ by at most; more is taken for noise.
constexpr double kMaxMove = 2;
/// Quantile of the normal distribution, two-sided 90 %.
constexpr double kSdsToTheEnds = 1.6448536269514722;

/// An untrusted table may hold more than any machine has, whose logarithm has no value.
constexpr double kMaxBytes = 1e18;

/// An untrusted table may hold 0 or less; the logarithm needs a byte.
double at_least_one(double bytes) { return std::max(bytes, 1.0); }

/// What others bring in at a moment, over what they do on average, and how often.
constexpr std::array<std::pair<double, double>, 5> kForeignMoments = {
    {{0.25, 0.1}, {0.5, 0.2}, {1, 0.4}, {2, 0.2}, {4, 0.1}}};

/// The ramps that count for one kernel's points.
struct Ramps {
  std::optional<Ramp> own;  ///< nothing: no point stands behind it, so that nobody feels it
  Ramp last;
  std::optional<Ramp> own_cache;  ///< the same, felt or not
  /// 0 hot, 1 in the last level, 2 cold; without the first ramp 0 hot, 1 cold.
  [[nodiscard]] double place(double reuse_bytes, double foreign_bytes) const {
    const double left_own = own ? own->gone(reuse_bytes) : 0;
    const double lost = last.gone(reuse_bytes);
    if (!(foreign_bytes > 0)) return left_own + lost;
    const double exposed = own_cache ? own_cache->gone(reuse_bytes) : 1;
    const double among_others = lost_among_others(last, reuse_bytes, foreign_bytes);
    return left_own + lost + exposed * std::max(0.0, among_others - lost);
  }
};

Ramps ramps_of(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve) {
  if (!curve) {
    const auto [low, high] = std::minmax_element(
        points.begin(), points.end(),
        [](const auto& a, const auto& b) { return a.reuse_bytes < b.reuse_bytes; });
    return {std::nullopt,
            {at_least_one(low->reuse_bytes), at_least_one(high->reuse_bytes)},
            std::nullopt};
  }
  const bool between =
      curve->own && std::any_of(points.begin(), points.end(), [&](const StatePoint& point) {
        return curve->own->gone(point.reuse_bytes) >= 1 && curve->last.gone(point.reuse_bytes) <= 0;
      });
  return {between ? curve->own : std::nullopt, curve->last, curve->own};
}

struct Placed {
  std::size_t index;
  double place;
};

}  // namespace

double Ramp::gone(double reuse_bytes) const {
  if (reuse_bytes <= lo_bytes) return 0;
  if (reuse_bytes >= hi_bytes) return 1 + rise_per_octave * std::log2(reuse_bytes / hi_bytes);
  return std::log(reuse_bytes / lo_bytes) / std::log(hi_bytes / lo_bytes);
}

namespace {

Ramp as_ramp(const table::MemoryRamp& ramp) { return {ramp.lo_bytes, ramp.hi_bytes}; }

double log_time_at(std::span<const table::MemoryPoint> points, double table::MemoryPoint::*time,
                   double bytes) {
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const table::MemoryPoint& point) {
        return static_cast<double>(point.pool_bytes) >= bytes;
      });
  if (above == points.begin()) return std::log(points.front().*time);
  if (above == points.end()) return std::log(points.back().*time);
  const auto below = above - 1;
  const double from = std::log(static_cast<double>(below->pool_bytes));
  const double to = std::log(static_cast<double>(above->pool_bytes));
  const double share = (std::log(bytes) - from) / (to - from);
  return (1 - share) * std::log(*below.*time) + share * std::log(*above.*time);
}

/// Of the logarithm of time over the doublings of bytes, by least squares. Two points or more.
double slope_per_octave(std::span<const table::MemoryPoint> points,
                        double table::MemoryPoint::*time) {
  const auto count = static_cast<double>(points.size());
  double mean_octave = 0, mean_log = 0;
  for (const table::MemoryPoint& point : points) {
    mean_octave += std::log2(static_cast<double>(point.pool_bytes)) / count;
    mean_log += std::log(point.*time) / count;
  }
  double squares = 0, products = 0;
  for (const table::MemoryPoint& point : points) {
    const double octave = std::log2(static_cast<double>(point.pool_bytes)) - mean_octave;
    squares += octave * octave;
    products += octave * (std::log(point.*time) - mean_log);
  }
  return products / squares;
}

/// How the measured curve goes on beyond the ramp, the mean of loads that wait and reads in order;
/// nothing: too little of it was measured.
std::optional<double> rise_beyond(std::span<const table::MemoryPoint> points, const Ramp& ramp) {
  const auto first =
      std::find_if(points.begin(), points.end(), [&](const table::MemoryPoint& point) {
        return static_cast<double>(point.pool_bytes) >= ramp.hi_bytes;
      });
  const auto beyond = points.subspan(static_cast<std::size_t>(first - points.begin()));
  if (beyond.size() < kMinPoolsBeyond) return std::nullopt;
  double sum = 0, count = 0;
  for (const auto time : {&table::MemoryPoint::stream_ns, &table::MemoryPoint::chase_ns}) {
    const double rise =
        log_time_at(points, time, ramp.hi_bytes) - log_time_at(points, time, ramp.lo_bytes);
    if (!(rise >= kMinRise)) continue;
    sum += slope_per_octave(beyond, time) / rise;
    ++count;
  }
  // An untrusted table's pools may be equal, or not rise.
  if (count == 0 || !std::isfinite(sum)) return std::nullopt;
  return std::clamp(sum / count, 0.0, kMaxRisePerOctave);
}

/// Between nothing and twice as much. Where nobody knows it the curve stays flat, and is steep at
/// the latest.
void put_rise(std::optional<double> per_octave, ReuseCurve& curve) {
  curve.last.rise_per_octave = per_octave.value_or(0);
  if (curve.latest)
    curve.latest->rise_per_octave = per_octave ? kLatestRises * *per_octave : kUnknownRisePerOctave;
}

/// Loads that wait and reads in order disagree about the ramp's place, and other tenants move it.
/// In a quarter of the moments of a look it is at `disturbed` or earlier, in a quarter at `middle`
/// or later. Other minutes differ as much again, both ways
/// (docs/results/experiments-measuring.md#the-curve-that-does-not-repeat-adr-0051).
ReuseCurve measured_curve(const table::Eviction& last, std::span<const table::MemoryPoint> points) {
  const auto by_place = [](const table::MemoryRamp& a, const table::MemoryRamp& b) {
    return a.lo_bytes * a.hi_bytes < b.lo_bytes * b.hi_bytes;
  };
  const auto moved = [](const table::MemoryRamp& ramp, double factor) {
    return table::MemoryRamp{ramp.lo_bytes * factor, ramp.hi_bytes * factor};
  };
  const table::MemoryRamp stream = last.stream.value_or(last.chase);
  table::MemoryRamp earliest = std::min(last.chase, stream, by_place);
  table::MemoryRamp latest = std::max(last.chase, stream, by_place);
  if (last.disturbed && by_place(*last.disturbed, last.middle)) {
    const double factor =
        std::min(kMaxMove, std::sqrt(last.middle.lo_bytes / last.disturbed->lo_bytes *
                                     (last.middle.hi_bytes / last.disturbed->hi_bytes)));
    earliest = std::min(earliest, moved(*last.disturbed, 1 / factor), by_place);
    latest = std::max(latest, moved(last.middle, factor), by_place);
  }
  ReuseCurve curve{std::nullopt, as_ramp(last.middle), as_ramp(earliest), as_ramp(latest)};
  put_rise(rise_beyond(points, curve.last), curve);
  return curve;
}

/// By the size that the system reports: what other tenants leave of it is between a quarter and
/// twice (docs/adr/0024), and of a large one a share of that (docs/adr/0051).
ReuseCurve reported_curve(double last) {
  ReuseCurve curve{std::nullopt, {kLowShareOfLast * last, kHighShareOfLast * last}};
  const double lowest = std::min(kEarliestLowShare * last, kEarliestLowBytes);
  curve.earliest =
      Ramp{lowest, std::max(2 * lowest, std::min(kEarliestHighShare * last, kEarliestHighBytes))};
  curve.latest = Ramp{kLatestLowShare * last, kLatestHighShare * last};
  put_rise(std::nullopt, curve);
  return curve;
}

}  // namespace

std::optional<Ramp> measured_last_level(const std::optional<table::MemoryHierarchy>& memory) {
  if (!memory || !memory->last) return std::nullopt;
  const table::MemoryRamp& middle = memory->last->middle;
  return Ramp{middle.lo_bytes, middle.hi_bytes};
}

std::optional<ReuseCurve> default_curve(const table::Device& device,
                                        const std::optional<table::MemoryHierarchy>& memory) {
  const bool measured = memory && memory->last;
  if (!measured && device.llc_bytes <= 0) return std::nullopt;
  ReuseCurve curve = measured ? measured_curve(*memory->last, memory->points)
                              : reported_curve(static_cast<double>(device.llc_bytes));
  const auto own = static_cast<double>(device.l2_bytes);
  const bool is_behind = !measured || memory->has_last_level();
  // Ramps that overlap could not be told apart.
  if (own > 0 && is_behind && kHighShareOfOwn * own <= curve.last.lo_bytes)
    curve.own = Ramp{kLowShareOfOwn * own, kHighShareOfOwn * own};
  return curve;
}

namespace {

StateAnswer on_curve(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve,
                     double reuse_bytes, double foreign_bytes) {
  const Ramps ramps = ramps_of(points, curve);
  const double wanted_bytes = at_least_one(reuse_bytes);
  const double wanted = ramps.place(wanted_bytes, foreign_bytes);
  const auto own = std::min_element(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.reuse_bytes < b.reuse_bytes;
  });
  // Of a cold row what was read before the call is stored, and the kernel reads its own bytes, too.
  const auto far_back = [&](const StatePoint& point) {
    const double bytes = at_least_one(point.reuse_bytes);
    const bool cold = curve && point.reuse_bytes > own->reuse_bytes && ramps.last.gone(bytes) >= 1;
    return cold ? bytes + at_least_one(own->reuse_bytes) : bytes;
  };

  // Points whose states the curve cannot tell apart: the one nearest to the footprint speaks for
  // them.
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return points[a].reuse_bytes < points[b].reuse_bytes;
  });
  const auto distance = [&](std::size_t i) {
    return std::abs(std::log(far_back(points[i]) / wanted_bytes));
  };
  std::vector<Placed> placed;
  for (const std::size_t i : order) {
    const double place = ramps.place(far_back(points[i]), 0);
    if (!placed.empty() && placed.back().place == place) {
      if (distance(i) < distance(placed.back().index)) placed.back().index = i;
    } else {
      placed.push_back({i, place});
    }
  }

  const auto verbatim = [&](std::size_t i) {
    const double bytes = far_back(points[i]);
    return StateAnswer{points[i].median_ns, points[i].sd_log, 0, i, i, 0, bytes, bytes};
  };
  // In this form also for a NaN, which has no place.
  if (!(wanted > placed.front().place)) return verbatim(placed.front().index);
  if (wanted >= placed.back().place) return verbatim(placed.back().index);
  const auto above = std::find_if(placed.begin(), placed.end(),
                                  [&](const Placed& p) { return p.place >= wanted; });
  if (above->place == wanted) return verbatim(above->index);
  const auto below = above - 1;

  const double share = (wanted - below->place) / (above->place - below->place);
  const StatePoint& a = points[below->index];
  const StatePoint& b = points[above->index];
  const double gap = std::log(b.median_ns) - std::log(a.median_ns);
  const double gap_in_doubt = 4 * share * (1 - share) * gap;
  const double common = curve ? 0 : kNoCurveDoubt * gap_in_doubt;
  const double doubt = curve ? kCurveDoubt * gap_in_doubt : common;
  return {std::exp(std::log(a.median_ns) + share * gap),
          std::hypot((1 - share) * a.sd_log, share * b.sd_log, doubt),
          common,
          below->index,
          above->index,
          share,
          far_back(a),
          far_back(b)};
}

}  // namespace

double lost_among_others(const Ramp& last, double reuse_bytes, double foreign_bytes) {
  double share = 0;
  for (const auto& [factor, often] : kForeignMoments) {
    const double bytes = std::min(reuse_bytes + factor * foreign_bytes, kMaxBytes);
    share += often * std::min(last.gone(bytes), 1.0);
  }
  return share;
}

double ReuseCurve::max_distance(double bytes, double other_bytes) const {
  const auto along = [&](const Ramp& ramp) {
    return std::abs(std::min(ramp.gone(bytes), 1.0) - std::min(ramp.gone(other_bytes), 1.0));
  };
  return std::max({along(last), along(earliest.value_or(last)), along(latest.value_or(last))});
}

double ReuseCurve::left_behind(double reuse_bytes, double row_bytes) const {
  const Ramp all{own ? own->hi_bytes : last.lo_bytes, last.hi_bytes};
  const auto gone = [&](double bytes) { return std::min(all.gone(bytes), 1.0); };
  return std::max(0.0, gone(reuse_bytes) - gone(row_bytes));
}

double ReuseCurve::left_behind_sd(double reuse_bytes, double row_bytes) const {
  const double here = left_behind(reuse_bytes, row_bytes);
  const auto change = [&](const std::optional<Ramp>& instead) {
    return instead ? std::abs(ReuseCurve{own, *instead}.left_behind(reuse_bytes, row_bytes) - here)
                   : 0;
  };
  // The 90 % interval reaches both ends.
  return std::max(change(earliest), change(latest)) / kSdsToTheEnds;
}

StateAnswer at_reuse(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve,
                     double reuse_bytes, const ForeignBytes& foreign) {
  StateAnswer answer = on_curve(points, curve, reuse_bytes, foreign.mean);
  if (points.size() < 2 || !curve) return answer;
  const auto log_change = [&](const Ramp& last, double foreign_bytes) {
    const ReuseCurve moved{curve->own, last};
    const double ns = on_curve(points, moved, reuse_bytes, foreign_bytes).median_ns;
    return std::log(ns / answer.median_ns);
  };
  double of_place = 0;
  if (curve->earliest && curve->latest) {
    const double slower = log_change(*curve->earliest, foreign.mean);
    const double faster = log_change(*curve->latest, foreign.mean);
    // The 90 % interval reaches both ends.
    of_place = (std::abs(slower) > std::abs(faster) ? slower : -faster) / kSdsToTheEnds;
  }
  double of_others = 0;
  if (foreign.sd > 0)
    of_others = (log_change(curve->last, foreign.mean + foreign.sd) -
                 log_change(curve->last, std::max(0.0, foreign.mean - foreign.sd))) /
                2;
  // All kernels lie to the side on which the larger one of the two has them.
  const double sign = std::abs(of_others) > std::abs(of_place) ? of_others : of_place;
  const double sd = std::copysign(std::hypot(of_place, of_others), sign);
  if (!std::isfinite(sd)) return answer;
  answer.common_sd_log = sd;
  answer.sd_log = std::hypot(answer.sd_log, sd);
  return answer;
}

}  // namespace oplat::estimate
