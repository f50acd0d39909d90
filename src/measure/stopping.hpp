// SPDX-License-Identifier: Apache-2.0
/// When a row has been measured well enough, and what its blocks say about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/statistics.hpp"
#include "table/records.hpp"

namespace oplat::measure {

struct StopRule {
  std::int64_t min_blocks = 5;  ///< each of a pass of its own, so in a process of its own
  /// Dropped ones included; one more where all were heavily disturbed.
  std::int64_t max_blocks = 40;
  double half_width = 0.03;        ///< of the confidence interval, relative to the median
  double short_half_width = 0.05;  ///< the same for short kernels
  double short_ns = 20e3;          ///< up to which a kernel is short
  double level = 0.95;
  double single_sd_log = kAssumedSdLog;  ///< spread of a row of one block; see SpreadOfBlocks
  double common_sd_log = 0;              ///< of an error that all blocks share; see SpreadOfBlocks
  [[nodiscard]] double target(double median_ns) const {
    return median_ns <= short_ns ? short_half_width : half_width;
  }
};

/// Medians of the reference kernels over a campaign; std::nullopt if they were not timed.
struct ReferenceMedians {
  std::optional<double> compute_ns;
  std::optional<double> memory_ns;
};

/// The recorded outside event for which a block is left out of its row's statistics where enough
/// others are better, or nothing: involuntary switches in more than 5 % of its rounds, stolen
/// ticks, or a reference above 1.5 times its median.
std::optional<std::string_view> disturbance(const table::Block& block,
                                            const ReferenceMedians& medians);

/// What the blocks of a row amount to.
struct Assessment {
  std::optional<table::Timing> timing;  ///< nothing for no usable block
  /// Of the blocks behind `timing`, as far as they hold them; std::nullopt for kernels.
  std::optional<table::InferenceTimes> inferences = std::nullopt;
  std::vector<std::string> flags;  ///< sorted
  std::int64_t disturbed = 0;      ///< blocks with a disturbance
  bool precise = false;  ///< enough blocks, and the interval is as narrow as the rule wants
  bool done = false;     ///< precise, or as many blocks as the rule allows
  std::int64_t expected_blocks =
      0;  ///< that it will take in all, for forecasts: a width shrinks with their root
};

/// Flags: "ci_not_reached" (interval wider than the target, or too few blocks), "disturbed" (blocks
/// were left out, or so many were disturbed that of those the least had to be used),
/// "never_quiet" (all blocks but one at most were heavily disturbed; such a row takes twice the
/// least number of blocks), "nonstationary" (trend, p < 0.01), "bimodal", "single_block" (the
/// spread is assumed). A block is never forgotten: leaving out is decided anew from what is stored.
/// `blocks` in the order of their measurement.
Assessment assess(std::span<const table::Block> blocks, const StopRule& rule,
                  const ReferenceMedians& medians, std::uint64_t seed);

}  // namespace oplat::measure
