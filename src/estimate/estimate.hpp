// SPDX-License-Identifier: Apache-2.0
/// Estimate: how long one kernel takes, how sure that is, and where the number came from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/interval.hpp"

namespace oplat::estimate {

/// Where an estimate came from, best first.
enum class Source : std::uint8_t {
  Measured,      ///< rows of this very kernel
  Interpolated,  ///< from measured neighbours, with or without a learned residual
  Learned,       ///< from features alone
  Roofline,      ///< a roofline scaled to the table's own rows
  Free,          ///< a view operator: the runtime moves nothing
  Missing,       ///< nothing answers
};
inline constexpr std::array kSources = {Source::Measured, Source::Interpolated, Source::Learned,
                                        Source::Roofline, Source::Free,         Source::Missing};

/// For people: "measured", "interpolated", "learned", "roofline", "free", "missing".
std::string_view name(Source source);
/// The word of JSON and CSV documents: the same, but "physics" for the roofline, since programs
/// read it (docs/adr/0065).
std::string_view document_name(Source source);

/// Estimate::group of rows that never had their core alone (table::kNeverQuiet): what they miss by
/// has one sign (predict::correlation).
inline constexpr const char* kNeverQuietGroup = "never-quiet";
/// Likewise of rows that were measured while other programs kept the machine busy
/// (table::kUnderLoad); load_spread.hpp has what they may miss by.
inline constexpr const char* kUnderLoadGroup = "under-load";

/// A log-normal belief about one execution of one kernel. Holds no bounds: the level is asked
/// later.
struct Estimate {
  double median_ns = 0;  ///< of a kernel without a row the mean, up to 16 % longer (docs/adr/0086)
  double sd_log = 0;     ///< standard deviation of the logarithm of the time
  std::string group;     ///< kernels of one group err together; see predict/spread.hpp
  Source source = Source::Measured;
  std::string tier;  ///< how far from what was measured: "exact", "state", "roofline"
  std::string why;   ///< for people: which rows, what was assumed
  bool under_load =
      false;  ///< a row of the kernel was measured while other programs kept the machine busy
  std::optional<double> floor_ns =
      std::nullopt;  ///< no interval reaches below: what the device needs at least, where the
                     ///< spread alone does not know
  /// What the kernel took inside a model that its row does not explain (table/in_model.hpp): the
  /// spread reaches as far.
  std::optional<base::Interval> in_model_ns = std::nullopt;
  /// In sd_log, in quadrature: how far the time moves if the curve between cache states lies
  /// elsewhere. All kernels of a model move together; below 0 where this one gets faster when
  /// others get slower.
  double common_sd_log = 0;
  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// median * exp(+- quantile * sd_log), from `floor` or the median on where it would begin lower.
/// All in the median's unit.
base::Interval bounds_around(double median, double sd_log, double quantile, double floor);

/// Group of estimates of kernels that are of another kind than every row.
inline constexpr std::string_view kExtrapolatedGroup = "extrapolated";
/// Tier of what a row of unknown batch answers.
inline constexpr std::string_view kOpenBatchTier = "twin";
/// Spread of a row of fewer than two blocks, which has none of its own: the standard deviation
/// between processes seen for cold kernels, the largest of the ordinary ones.
inline constexpr double kFewBlocksSd = 0.08;
/// No spread that a table claims is taken as larger: beyond a factor of 150 the number says nothing
/// anyway.
inline constexpr double kMaxSd = 5.0;

}  // namespace oplat::estimate
