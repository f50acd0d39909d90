// SPDX-License-Identifier: Apache-2.0
/// The stop rule and the flags of a row.
///
/// The problem: machines are noisy, and time is limited. A fixed number of blocks wastes time on
/// quiet kernels and stops too early on others. So a row is done once the confidence interval of
/// its median is within a target (3 %; 5 % for kernels up to 20 us), after at least 5 and at most
/// 40 blocks. Looking at the interval after each block stops early by luck: rows whose first blocks
/// happen to agree. Against that, the variance is pooled with a prior, and the interval is widened
/// for the repeated looks (statistics.cpp).
///
/// Blocks with a recorded disturbance (steal, switches, a slow reference) are left out if enough
/// others are better, and stay in the table, so that the choice is made anew from all of them
/// (docs/adr/0016).
#include "measure/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/stats.hpp"
#include "measure/statistics.hpp"

namespace oplat::measure {
namespace {

constexpr double kMaxSwitchesPerRound = 0.05;
constexpr double kMaxReferenceRatio = 1.5;
constexpr double kTrendP = 0.01;
constexpr std::size_t kMinUsedBlocks = 3;
constexpr std::int64_t kMinLightBlocks = 2;
/// A block's value is the lower quartile of its rounds, which switches in a quarter of them leave
/// where it is; worse than none, and better than a tick.
constexpr double kFewSwitches = 0.25, kTicksOfFewSwitches = 0.5;
/// A row that may have no more blocks gets so many in place of those that were heavily disturbed.
constexpr std::int64_t kMaxReplaced = 1;
/// A row without such blocks goes on for so many times the least number of blocks: the neighbour
/// may leave.
constexpr std::int64_t kLoudFactor = 2;

bool far_above(const std::optional<double>& value, const std::optional<double>& usual) {
  return value && usual && *value > kMaxReferenceRatio * *usual;
}

/// Too few blocks say little about their spread, and Student's quantile of few is far too wide to
/// extrapolate from.
constexpr std::int64_t kMinExtrapolated = 4;

std::int64_t expected_blocks(std::int64_t blocks, const Assessment& assessment,
                             const std::optional<double>& width, const StopRule& rule) {
  if (assessment.done) return blocks;
  if (!width || blocks < kMinExtrapolated) return std::max(rule.min_blocks, blocks + 1);
  const double ratio = *width / rule.target(assessment.timing->median_ns);
  const double wanted = std::ceil(static_cast<double>(blocks) * ratio * ratio);
  const auto least = static_cast<double>(std::max(rule.min_blocks, blocks + 1));
  return static_cast<std::int64_t>(
      std::min(std::max(wanted, least), std::max(least, static_cast<double>(rule.max_blocks))));
}

/// How much a block was disturbed: not at all, by so many stolen ticks, a little by switches, or by
/// something that has no measure. On several threads hardly any block is without switches, and one
/// whose cores were not apart is worse than all of those.
double degree(const table::Block& block, const ReferenceMedians& medians) {
  if (!disturbance(block, medians)) return 0;
  const auto ticks = static_cast<double>(block.steal_ticks);
  table::Block without = block;
  without.steal_ticks = 0;
  if (!disturbance(without, medians)) return ticks;
  without.switches = 0;
  const bool only_switches = !disturbance(without, medians);
  const double share =
      static_cast<double>(block.switches) / std::max(1.0, static_cast<double>(block.rounds));
  return only_switches && share <= kFewSwitches ? ticks + kTicksOfFewSwitches
                                                : std::numeric_limits<double>::infinity();
}

/// The blocks that no neighbour on the core slowed, as far as the clock tells. It is lower while
/// one works, and the block takes longer by far more than the clock explains. That is told from two
/// blocks or more at full clock, and all are kept where there are fewer, or where all that takes
/// longer is the clock (docs/adr/0046).
std::vector<table::Block> without_neighbours(std::span<const table::Block> blocks) {
  constexpr double kUnexplained = 1.15;
  constexpr std::size_t kMinAtFullClock = 2;
  std::vector<table::Block> kept(blocks.begin(), blocks.end());
  const std::optional<double> fastest = fastest_compute_ns(blocks);
  if (!fastest || !(*fastest > 0)) return kept;
  std::vector<double> at_full_clock;
  for (const table::Block& block : blocks) {
    if (!is_at_lower_clock(block, fastest)) at_full_clock.push_back(block.value_ns);
  }
  if (at_full_clock.size() < kMinAtFullClock) return kept;
  const double usual = *base::median(at_full_clock);
  std::erase_if(kept, [&](const table::Block& block) {
    return is_at_lower_clock(block, fastest) &&
           block.value_ns > kUnexplained * *block.reference_compute_ns / *fastest * usual;
  });
  return kept;
}

/// What the runs of these blocks took, of those that hold it.
std::optional<table::InferenceTimes> pooled_inferences(std::span<const table::Block> blocks) {
  base::TimeSketch pooled;
  std::int64_t with_times = 0;
  for (const table::Block& block : blocks) {
    if (!block.inferences) continue;
    pooled.merge(*block.inferences);
    ++with_times;
  }
  return table::inference_times(pooled, with_times);
}

/// Of two blocks one decides.
std::int64_t min_light(std::size_t blocks) {
  return std::min(kMinLightBlocks,
                  std::max<std::int64_t>(static_cast<std::int64_t>(blocks) - 1, 1));
}

bool is_light(const table::Block& block) {
  return !table::is_heavily_disturbed(block.steal_ticks, block.other_load);
}

/// The undisturbed blocks where they are half of all or more, else the half that was disturbed
/// least: on a machine that is hardly ever quiet a tick is little, and a block that had its core
/// for itself is better than one that never had. All where that is too few. Heavily disturbed ones
/// do not even count as a half where there are others: their times are 1.3 to 2 times as long, and
/// a median over both kinds would be that of the majority. `light`: how many are not.
std::vector<table::Block> least_disturbed(std::span<const table::Block> blocks,
                                          const std::vector<double>& all_degrees,
                                          std::int64_t light) {
  std::vector<table::Block> candidates;
  std::vector<double> degrees;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (light >= min_light(blocks.size()) && !is_light(blocks[i])) continue;
    candidates.push_back(blocks[i]);
    degrees.push_back(all_degrees[i]);
  }
  std::vector<table::Block> used;
  if (!candidates.empty()) {
    std::vector<double> sorted = degrees;
    std::sort(sorted.begin(), sorted.end());
    const double most = sorted[(sorted.size() - 1) / 2];
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (degrees[i] <= most) used.push_back(candidates[i]);
    }
  }
  return used.size() < kMinUsedBlocks ? candidates : used;
}

}  // namespace

std::optional<std::string_view> disturbance(const table::Block& block,
                                            const ReferenceMedians& medians) {
  if (static_cast<double>(block.switches) >
      kMaxSwitchesPerRound * static_cast<double>(block.rounds)) {
    return "involuntary switches";
  }
  if (block.steal_ticks > 0) return "stolen ticks";
  if (far_above(block.reference_compute_ns, medians.compute_ns)) return "slow compute reference";
  if (far_above(block.reference_memory_ns, medians.memory_ns)) return "slow memory reference";
  return std::nullopt;
}

Assessment assess(std::span<const table::Block> blocks, const StopRule& rule,
                  const ReferenceMedians& medians, std::uint64_t seed) {
  Assessment result;
  const std::vector<table::Block> kept = without_neighbours(blocks);
  std::vector<double> degrees;
  for (const table::Block& block : kept) degrees.push_back(degree(block, medians));
  result.disturbed =
      std::count_if(degrees.begin(), degrees.end(), [](double degree) { return degree > 0; }) +
      static_cast<std::int64_t>(blocks.size() - kept.size());
  const std::int64_t light = std::count_if(kept.begin(), kept.end(), is_light);
  const std::vector<table::Block> used = least_disturbed(kept, degrees, light);
  result.timing = summarise(used, rule.level, seed, rule.single_sd_log, rule.common_sd_log);
  if (result.timing) result.inferences = pooled_inferences(used);
  const bool never_quiet =
      light < min_light(kept.size()) && light < static_cast<std::int64_t>(kept.size());
  if (never_quiet) result.flags.emplace_back(table::kNeverQuiet);
  std::optional<double> width;
  const auto taken = static_cast<std::int64_t>(blocks.size());
  const bool spent =
      taken >= rule.max_blocks && (light > 0 || taken >= rule.max_blocks + kMaxReplaced);
  if (result.timing) {
    const table::Timing& timing = *result.timing;
    width = relative_half_width({timing.ci_low_ns, timing.ci_high_ns}, timing.median_ns);
    // Where no more blocks are allowed, those that had to be left out are not asked for.
    const std::int64_t least = (never_quiet ? kLoudFactor : 1) * rule.min_blocks;
    const bool enough = spent || timing.blocks >= least;
    result.precise = enough && width && *width <= rule.target(timing.median_ns);
    std::vector<double> values;
    for (const table::Block& block : used) values.push_back(block.value_ns);
    if (is_bimodal(values)) result.flags.emplace_back("bimodal");
    if (mann_kendall_p(values) < kTrendP) result.flags.emplace_back("nonstationary");
    if (values.size() == 1) result.flags.emplace_back("single_block");
  }
  if (!result.precise) result.flags.emplace_back("ci_not_reached");
  if (result.disturbed > 0) result.flags.emplace_back("disturbed");
  std::sort(result.flags.begin(), result.flags.end());
  result.done = result.precise || spent;
  result.expected_blocks =
      expected_blocks(static_cast<std::int64_t>(blocks.size()), result, width, rule);
  return result;
}

}  // namespace oplat::measure
