// SPDX-License-Identifier: Apache-2.0
/// Cache state: from rows measured hot, out of the core's own cache, and cold, to the time at a
/// model's own footprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "table/records.hpp"

namespace oplat::estimate {

/// How a cache loses a weight byte: with `lo_bytes` or less touched between two of its uses the
/// byte is still there, with `hi_bytes` or more it is gone. 0 < lo_bytes < hi_bytes.
struct Ramp {
  double lo_bytes = 0;
  double hi_bytes = 0;
  /// 0 up to lo_bytes, 1 from hi_bytes, linear in log(reuse_bytes) between.
  [[nodiscard]] double gone(double reuse_bytes) const;
  friend bool operator==(const Ramp&, const Ramp&) = default;
};

/// The two ways that matter: out of the core's own (second-level) cache, and out of the last level.
struct ReuseCurve {
  /// nothing: the size of that cache is unknown, only the last level counts
  std::optional<Ramp> own;
  Ramp last;
  friend bool operator==(const ReuseCurve&, const ReuseCurve&) = default;
};

/// Start values until a fit on whole models replaces them, as shares of the cache's size: half to
/// twice the core's own cache; half to five quarters of the last level, in the middle of what
/// machines were found to have of theirs (docs/adr/0024). std::nullopt if the size of the last
/// level is unknown.
std::optional<ReuseCurve> default_curve(const table::Device& device);

/// A row of known cache state.
struct StatePoint {
  double reuse_bytes = 0;
  double median_ns = 0;
  double sd_log = 0;
};

/// The time at one footprint: log time is linear in the share between the two points that enclose
/// it, and constant beyond the outermost ones. Where `above == below` the point's own numbers are
/// returned, bit for bit.
struct StateAnswer {
  double median_ns = 0;
  double sd_log = 0;
  std::size_t below = 0;  ///< index into the points
  std::size_t above = 0;
  double share = 0;  ///< how far from below to above, 0 to 1
};

/// `points` is not empty. Without a curve the outermost points are the ends of one ramp. The first
/// ramp counts only where a point stands between the two: a kernel that was not measured there does
/// not feel it.
StateAnswer at_reuse(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve,
                     double reuse_bytes);

}  // namespace oplat::estimate
