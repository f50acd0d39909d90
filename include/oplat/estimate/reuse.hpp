// SPDX-License-Identifier: Apache-2.0
/// Cache state: from rows measured hot and cold to the time at a model's own footprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "oplat/table/records.hpp"

namespace oplat::estimate {

/// Between two uses of a weight byte `reuse_bytes` other bytes are touched: below `lo_bytes` it is still in the
/// last-level cache, above `hi_bytes` it is gone. 0 < lo_bytes < hi_bytes.
struct ReuseCurve {
  double lo_bytes = 0;
  double hi_bytes = 0;
  friend bool operator==(const ReuseCurve&, const ReuseCurve&) = default;
};

/// Start values until a fit on whole models replaces them: a quarter of the last-level cache is safely kept beside
/// activations and other users, and a quarter more than all of it safely is not. Nothing where the size is unknown.
std::optional<ReuseCurve> default_curve(const table::Device& device);

/// 0 fully hot, 1 fully cold, linear in log(reuse_bytes) between.
double cold_share(const ReuseCurve& curve, double reuse_bytes);

/// A row of known cache state.
struct StatePoint {
  double reuse_bytes = 0;
  double median_ns = 0;
  double sd_log = 0;
};

/// The time at one footprint: log time is linear in the share between the two points that enclose it, and constant
/// beyond the outermost ones. Where `above == below` the point's own numbers are returned, bit for bit.
struct StateAnswer {
  double median_ns = 0;
  double sd_log = 0;
  std::size_t below = 0;  ///< index into the points
  std::size_t above = 0;
  double share = 0;  ///< how far from below to above, 0 to 1
};

/// `points` is not empty. Without a curve the outermost points are its ends.
StateAnswer at_reuse(std::span<const StatePoint> points, const std::optional<ReuseCurve>& curve, double reuse_bytes);

}  // namespace oplat::estimate
