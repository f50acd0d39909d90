// SPDX-License-Identifier: Apache-2.0
/// Statistics of times on noisy machines (docs/guide/measuring.md): everything works on one value
/// of each of several time-separated blocks, a lower quartile or a slope of two, since calls
/// that follow one another are far from independent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/interval.hpp"
#include "table/records.hpp"

namespace oplat::measure {

/// The p-quantile (0 <= p <= 1), linear between order statistics; std::nullopt for no values.
/// What the calls of one block take where nothing else does: their lower quartile. Others only ever
/// make a call longer, within a block some of the time; from one process to the next a time also
/// varies by itself, and there the median counts (docs/adr/0017).
std::optional<double> lower_quartile_ns(std::span<const double> calls);
/// Sample standard deviation of the logarithms; std::nullopt for fewer than two values or values <=
/// 0.
std::optional<double> sd_of_log(std::span<const double> values);

/// Time of one copy from the times (lower_quartile_ns) of calls of one and of `copies` >= 2 copies:
/// (Tk - T1) / (k - 1), which cancels the cost of a call and of the timer. May be <= 0 where noise
/// is larger than the kernel.
double slope(double one_copy_ns, double k_copies_ns, std::int64_t copies);

/// What is known of a spread before it is measured: as much as `degrees` further values would tell.
struct SpreadPrior {
  double sd_log = 0;
  double degrees = 0;
};
/// base::Interval of the centre of log-normal values: Student's t on their logarithms, whose
/// variance is pooled with the prior's by degrees of freedom. Nothing for fewer than two values or
/// values <= 0.
std::optional<base::Interval> log_t_interval(std::span<const double> values, double level,
                                             const SpreadPrior& prior = {});

/// The value of one block and the process that it was measured in.
struct BlockValue {
  std::int64_t process = 0;
  double value = 0;
};
/// Percentile bootstrap of the median: processes are drawn, then blocks within them, since blocks
/// of one process share its luck of placement. Where every block has a process of its own the limit
/// of infinitely many resamples is computed instead of drawn (up to 100 blocks). Nothing for fewer
/// than two blocks.
std::optional<base::Interval> bootstrap_median_interval(std::span<const BlockValue> blocks,
                                                        double level, std::uint64_t seed,
                                                        int resamples = 2000);

/// (high - low) / 2 relative to the centre; nothing unless the centre is positive.
std::optional<double> relative_half_width(const base::Interval& interval, double centre);

/// Two-sided p-value of Mann-Kendall's test for a trend of `values` in their order; 1 for fewer
/// than three. Exact where no two values are equal (up to 100 values), else by the normal
/// approximation with the correction for ties.
double mann_kendall_p(std::span<const double> values);

/// How `values` fall into two groups, by the split of their logarithms that explains most of the
/// variance.
struct TwoModes {
  double explained = 0;  ///< share of the variance between the groups, 0..1
  double low = 0;        ///< centre of the lower group
  double high = 0;
};
/// Nothing for fewer than eight values; both groups hold a fifth of the values or more.
std::optional<TwoModes> split_in_two(std::span<const double> values);
/// Whether the values have two modes at least 2 % apart: the split explains more than it does in 99
/// of 100 samples of a normal distribution.
bool is_bimodal(std::span<const double> values);

/// Blocks from which the bootstrap joins the t-interval.
inline constexpr std::size_t kMinBootstrapBlocks = 8;
/// Spread (of the logarithm) assumed of a row that holds one block, at least: 6 % between blocks
/// and 8 % between processes.
inline constexpr double kAssumedSdLog = 0.10;

/// Of the compute reference in these blocks; std::nullopt if none was timed.
std::optional<double> fastest_compute_ns(std::span<const table::Block> blocks);
/// What the compute reference takes at full clock, from readings in ns of many blocks: the fastest
/// value about which they crowd (within 1.5 %; two at least, and a tenth as many as about any
/// other). A clock moves by itself, by 2 to 4 % within a minute on a Zen 5 (docs/adr/0070), and the
/// least of a thousand readings is one that hardly any block had. std::nullopt for none; readings
/// <= 0 do not count.
std::optional<double> usual_full_clock_ns(std::span<const double> readings);
/// Whether the compute reference took 3 % longer than `full_clock_ns`, which it takes at full clock
/// in the blocks that are compared: the clock was lower, since the core or another one had other
/// work. False where one is not known.
bool is_at_lower_clock(const std::optional<double>& reference_compute_ns,
                       const std::optional<double>& full_clock_ns);
bool is_at_lower_clock(const table::Block& block, const std::optional<double>& full_clock_ns);

/// How far single blocks of a campaign lie apart, pooled over its rows. A row of one block does not
/// show its own spread, and on a machine with neighbours one block in ten may take 1.6 times as
/// long.
///
/// Blocks are of two kinds. Those at a lower clock than the campaign's full one are
/// pooled by themselves, by their distance from the row's blocks at full clock where it has any.
/// On a virtual machine with neighbours their spread was 40 %, and 10 % of the others
/// (docs/adr/0046). Where the clock says nothing, both are alike.
class SpreadOfBlocks {
 public:
  /// `full_clock_ns`: usual_full_clock_ns() of all blocks of the campaign; std::nullopt if no
  /// reference was timed, and then there is one kind.
  explicit SpreadOfBlocks(std::optional<double> full_clock_ns = std::nullopt)
      : full_clock_ns_(full_clock_ns) {}
  /// A row of fewer than two blocks says nothing.
  void add_row(std::span<const table::Block> blocks);
  /// Of blocks of this kind: kAssumedSdLog to 0.5. Where fewer than five degrees of freedom tell,
  /// that of both kinds, then kAssumedSdLog.
  [[nodiscard]] double sd_log(const table::Block& block) const;
  /// What all blocks of a row may be too long by, as a spread of at most 0.5. It is 0 where two of
  /// them or half were at full clock. Where one was, it is how far the others lie above it. Else
  /// how far blocks at a lower clock lie from those at full clock in the rows that have both, and
  /// kAssumedLowerClockSdLog where fewer than five rows have. More blocks do not average it out: a
  /// neighbour slows one kernel by half and another by nothing.
  [[nodiscard]] double common_sd_log(std::span<const table::Block> blocks) const;

 private:
  struct Pool {
    double squares = 0;  ///< of deviations of logarithms
    double degrees = 0;
    void add(std::span<const double> logs, double centre, double degrees_of_them);
  };
  struct Kinds {
    std::vector<double> at_clock;  ///< logarithms of times
    std::vector<double> slow;
  };
  /// Both empty if a time is not positive.
  [[nodiscard]] Kinds kinds_of(std::span<const table::Block> blocks) const;

  std::optional<double> full_clock_ns_;
  Pool at_clock_;
  Pool slow_;
  Pool offsets_;  ///< of a row's blocks at a lower clock from its others, a degree of freedom each
};

/// Of 300 rows with blocks at both clocks on a virtual machine with neighbours (AMD EPYC,
/// 2026-11-26): half of them within 1 %, a quarter above 21 %.
inline constexpr double kAssumedLowerClockSdLog = 0.2;

/// Spread that a row of few blocks is pooled with. A row ends when its interval is narrow, so rows
/// whose first blocks happen to agree end early, and their own spread is too small: without the
/// prior intervals at 95 % held the truth in 88 to 92 % of simulated rows
/// (tests/unit/measure/harness_test.cpp), in 50 to 80 % of those that ended early.
inline constexpr SpreadPrior kRowPrior{0.035, 2};
/// Both sides of a row's interval are wider by this, for the many looks of the stop rule.
inline constexpr double kLookFactor = 1.05;

/// What a row stores about its blocks; std::nullopt for no blocks or a value <= 0. The same blocks
/// and seed give the same numbers. A single block has the spread `single_sd_log`. The interval is
/// the t-interval with kRowPrior, from kMinBootstrapBlocks on the hull of it and the bootstrap's,
/// times kLookFactor about the median; `sd_log` is that of the blocks alone. `common_sd_log` is the
/// spread of an error that all blocks share: the interval is as wide as both together.
std::optional<table::Timing> summarise(std::span<const table::Block> blocks, double level,
                                       std::uint64_t seed, double single_sd_log = kAssumedSdLog,
                                       double common_sd_log = 0);

}  // namespace oplat::measure
