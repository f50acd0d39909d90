// SPDX-License-Identifier: Apache-2.0
/// Cache state: from rows measured hot, out of the core's own cache, and cold, to the time at a
/// model's own footprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "table/memory_hierarchy.hpp"
#include "table/records.hpp"

namespace oplat::estimate {

/// How a cache loses a weight byte: with `lo_bytes` or less touched between two of its uses the
/// byte is still there, with `hi_bytes` or more it is gone. 0 < lo_bytes < hi_bytes.
struct Ramp {
  double lo_bytes = 0;
  double hi_bytes = 0;
  /// What a byte from memory costs more for each doubling of the bytes beyond hi_bytes (translation
  /// of addresses), as a share of the ramp's own rise, in logarithms of time; 0 or more.
  double rise_per_octave = 0;
  /// 0 up to lo_bytes, 1 at hi_bytes, linear in log(reuse_bytes) between; beyond it goes on by
  /// rise_per_octave, to more than 1.
  [[nodiscard]] double gone(double reuse_bytes) const;
  friend bool operator==(const Ramp&, const Ramp&) = default;
};

/// The two ways that matter: out of the core's own (second-level) cache, and out of the last level.
struct ReuseCurve {
  /// nothing: the size of that cache is unknown, only the last level counts
  std::optional<Ramp> own;
  Ramp last;
  /// Where the ramp out of the last level may be instead, at the earliest and at the latest;
  /// nothing: it is known as well as a fit knows it.
  std::optional<Ramp> earliest = std::nullopt, latest = std::nullopt;
  /// Share of the way out of the last level between two footprints, at most, wherever the ramp is;
  /// 1 from its end on.
  [[nodiscard]] double max_distance(double bytes, double other_bytes) const;
  /// Share of the way from where the core's own cache holds nothing to where the last level does
  /// not either, linear in log(reuse_bytes): 0 to 1. Where the own cache is not known, from where
  /// the last level begins to lose data. Of it only what lies beyond `row_bytes`, which is how far
  /// a row that touches so much has gone by itself; 0 if that is farther.
  [[nodiscard]] double left_behind(double reuse_bytes, double row_bytes = 0) const;
  /// Its standard deviation by where the ramp may be instead.
  [[nodiscard]] double left_behind_sd(double reuse_bytes, double row_bytes = 0) const;
  friend bool operator==(const ReuseCurve&, const ReuseCurve&) = default;
};

/// Start values until a fit on whole models replaces them, as shares of the cache's size: half to
/// twice the core's own cache; half to five quarters of the last level, in the middle of what
/// machines were found to have of theirs (docs/adr/0024). std::nullopt if the size of the last
/// level is unknown.
///
/// `memory`: what was measured of the device (docs/adr/0051), if anything. Then the ramp out of the
/// last level is the one that was seen, and lies between those of loads and of reads in order;
/// there is none out of the core's own cache where no level was found behind it. Beyond that ramp
/// the curve rises as the measured one does (docs/adr/0076), by nothing or twice as much at the
/// earliest and the latest. Sizes that were reported and not measured are an assumption: the last
/// level may be far smaller.
std::optional<ReuseCurve> default_curve(const table::Device& device,
                                        const std::optional<table::MemoryHierarchy>& memory = {});

/// The middle of the ramp out of the last level that was measured, without what lies beyond it;
/// std::nullopt if none was, and then nobody knows what others do to it.
std::optional<Ramp> measured_last_level(const std::optional<table::MemoryHierarchy>& memory);

/// A row of known cache state.
struct StatePoint {
  double reuse_bytes = 0;
  double median_ns = 0;
  double sd_log = 0;
};

/// What others bring into the last level during a run of a model, in bytes, and the standard
/// deviation of what is known of it.
struct ForeignBytes {
  double mean = 0, sd = 0;
};

/// Share of the way out of the last level after a use that lies `reuse_bytes` of the model and
/// `foreign_bytes` of others back, 0 to 1, on average over moments: others bring in a quarter to
/// four times as much at one moment as at another (docs/adr/0091).
double lost_among_others(const Ramp& last, double reuse_bytes, double foreign_bytes);

/// The time at one footprint: log time is linear in the share between the two points that enclose
/// it, and constant beyond the outermost ones. Where `above == below` it is the point's own time,
/// bit for bit, and so is the spread where the curve is not in doubt there.
struct StateAnswer {
  double median_ns = 0;
  double sd_log = 0;
  /// in it: the place of the curve, and what is not known of others (estimate.hpp)
  double common_sd_log = 0;
  std::size_t below = 0;  ///< index into the points
  std::size_t above = 0;
  double share = 0;                         ///< how far from below to above, 0 to 1
  double below_bytes = 0, above_bytes = 0;  ///< between two uses of a weight in those points
};

/// `points` is not empty. Without a curve the outermost points are the ends of one ramp. The first
/// ramp counts only where a point stands between the two: a kernel that was not measured there does
/// not feel it. A point beyond the last ramp is a kernel of which the last use lies as far back as
/// its reuse_bytes and what it touches itself, the smallest reuse_bytes of all points.
/// `foreign`: what others brought into the last level meanwhile; what the core's own cache still
/// holds, they do not reach.
StateAnswer at_reuse(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve,
                     double reuse_bytes, const ForeignBytes& foreign = {});

}  // namespace oplat::estimate
