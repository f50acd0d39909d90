// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.hpp"
#include "base/random.hpp"
#include "measure/calibration.hpp"
#include "measure/environment.hpp"
#include "measure/states.hpp"
#include "measure/stopping.hpp"

namespace oplat::measure {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ChooseCopies, MakesTheDifferenceLongEnoughAndTheCallShortEnough) {
  for (double ns = 1; ns < 25e6; ns *= 1.37) {
    const std::int64_t k = choose_copies(ns, CacheState::Hot);
    ASSERT_GE(k, 2);
    ASSERT_LE(k, 256);
    EXPECT_LE(static_cast<double>(k) * ns, 50e6);
    EXPECT_TRUE(k == 256 || static_cast<double>(k - 1) * ns >= 200e3) << ns;
    // And no more than that: one copy less would be too few.
    EXPECT_TRUE(k == 2 || static_cast<double>(k - 2) * ns < 200e3) << ns;
  }
  EXPECT_EQ(choose_copies(2000, CacheState::Hot), 101);
  EXPECT_EQ(choose_copies(0, CacheState::Hot), 256);
  EXPECT_EQ(choose_copies(60e6, CacheState::Hot), 1);
}

TEST(ChooseCopies, ColdTakesFourToEight) {
  EXPECT_EQ(choose_copies(10e3, CacheState::Cold), 8);
  EXPECT_EQ(choose_copies(10e6, CacheState::Cold), 5);
  EXPECT_EQ(choose_copies(20e6, CacheState::Cold), 4);
  EXPECT_EQ(choose_copies(60e6, CacheState::Cold), 1);
}

TEST(States, HotReusesTheKernelsOwnBytes) {
  ir::Work work;
  work.bytes_in = 100;
  work.bytes_weights = 30;
  work.bytes_out = 7;
  EXPECT_EQ(hot_state(work).reuse_bytes, 137);
  EXPECT_EQ(hot_state(work).scrub_bytes, 0);
}

TEST(States, ColdScrubsThreeCaches) {
  table::Device device;
  device.llc_bytes = 32 << 20;
  EXPECT_EQ(cold_state(device).scrub_bytes, 96 << 20);
  EXPECT_EQ(cold_state(device).reuse_bytes, 96.0 * (1 << 20));
  device.llc_bytes = 0;
  EXPECT_GT(cold_state(device).scrub_bytes, 0);
  device.llc_bytes = std::int64_t{1} << 62;
  EXPECT_LE(cold_state(device).scrub_bytes, std::int64_t{1} << 30);
}

TEST(States, ColdIsMeasuredWhereWeightsMatter) {
  ir::Work work;
  work.bytes_weights = 65535;
  EXPECT_FALSE(needs(CacheState::Cold, work, 1)) << "below 64 KiB";
  // 1 MB at 10 GB/s is 100 us: 2 % of 5 ms.
  work.bytes_weights = 1e6;
  EXPECT_TRUE(needs(CacheState::Cold, work, 4.9e6));
  EXPECT_FALSE(needs(CacheState::Cold, work, 5.1e6));
}

TEST(States, LastLevelIsAPoolOfFourSecondLevels) {
  table::Device device;
  device.l2_bytes = 1 << 20;
  device.llc_bytes = 32 << 20;
  ir::Work work;
  work.bytes_weights = 100'000;
  const auto state = last_level_state(work, device);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->copies, 42) << "4 MiB by 100,000 bytes, rounded up";
  EXPECT_EQ(state->scrub_bytes, 0);
  EXPECT_EQ(state->reuse_bytes, 4.0 * (1 << 20));
  device.llc_bytes = 7 << 20;
  EXPECT_FALSE(last_level_state(work, device)) << "the pool would take more than half of it";
  device.llc_bytes = 32 << 20;
  device.l2_bytes = 0;
  EXPECT_FALSE(last_level_state(work, device));
}

TEST(States, MeasuredMemoryDecides) {
  constexpr double kMebi = 1 << 20;
  table::Device device;
  device.l2_bytes = 2 << 20;
  device.llc_bytes = 480 << 20;
  EXPECT_EQ(cold_state(device).scrub_bytes, std::int64_t{1} << 30);
  table::MemoryHierarchy memory;
  memory.levels = {{kMebi, 1, 5}, {15 * kMebi, 2, 40}, {std::nullopt, 4, 170}};
  memory.own = table::MemoryRamp{kMebi, 4 * kMebi};
  memory.last = table::Eviction{{11 * kMebi, 32 * kMebi}, {}, {11 * kMebi, 32 * kMebi}, {}};
  memory.scrub_bytes = 136 << 20;
  EXPECT_EQ(cold_state(device, memory).scrub_bytes, 136 << 20);
  EXPECT_EQ(cold_state(device, memory).reuse_bytes, 136.0 * (1 << 20));
  // A look while other tenants had most of the cache.
  table::MemoryHierarchy busy = memory;
  busy.scrub_bytes = 24 << 20;
  EXPECT_EQ(cold_state(device, busy).scrub_bytes, 128 << 20);
  table::Device small = device;
  small.llc_bytes = 32 << 20;
  EXPECT_EQ(cold_state(small, busy).scrub_bytes, 96 << 20) << "as by the reported size";
  EXPECT_EQ(cold_state(small, memory).scrub_bytes, 136 << 20) << "more than is reported";
  ir::Work work;
  work.bytes_weights = 100'000;
  const auto state = last_level_state(work, device, memory);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->reuse_bytes, 8 * kMebi) << "between 4 and 11 MiB, as by reported sizes";
  // The pool goes where the last level is.
  memory.own->hi_bytes = 9 * kMebi;
  memory.last->middle.lo_bytes = 16 * kMebi;
  EXPECT_NEAR(last_level_state(work, device, memory)->reuse_bytes, 12 * kMebi, 1);
  memory.last->middle.lo_bytes = 9 * kMebi;
  EXPECT_FALSE(last_level_state(work, device, memory));
  // None was found, whatever is reported.
  memory.levels.erase(memory.levels.begin() + 1);
  EXPECT_FALSE(last_level_state(work, device, memory));
  // A flat curve: as reported.
  EXPECT_TRUE(last_level_state(work, device, table::MemoryHierarchy()));
  memory.scrub_bytes.reset();
  EXPECT_EQ(cold_state(device, memory).scrub_bytes, std::int64_t{1} << 30);
}

TEST(States, FurtherStatesStandAboveTheKernelsOwnBytes) {
  table::Device device;
  device.l2_bytes = 1 << 20;
  device.llc_bytes = 32 << 20;
  const auto kinds = [&](double weights) {
    ir::Work work;
    work.bytes_weights = weights;
    std::vector<CacheState> found;
    for (const State& state : further_states(work, device)) found.push_back(state.kind);
    return found;
  };
  EXPECT_EQ(kinds(65535), std::vector<CacheState>{});
  EXPECT_EQ(kinds(65536), (std::vector{CacheState::LastLevel, CacheState::Cold}));
  EXPECT_EQ(kinds(2 << 20), std::vector{CacheState::Cold})
      << "twice the second level: hot is the last level";
  EXPECT_EQ(kinds(96 << 20), std::vector<CacheState>{}) << "as large as the scrub";
}

TEST(States, LastLevelIsMeasuredWhereWeightsMatter) {
  ir::Work work;
  // 1 MB at 40 GB/s is 25 us: 2 % of 1.25 ms.
  work.bytes_weights = 1e6;
  EXPECT_TRUE(needs(CacheState::LastLevel, work, 1.2e6));
  EXPECT_FALSE(needs(CacheState::LastLevel, work, 1.3e6));
}

std::vector<table::Block> blocks_of(const std::vector<double>& values) {
  std::vector<table::Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    table::Block block;
    block.process = static_cast<std::int64_t>(i);
    block.value_ns = values[i];
    block.rounds = 100;
    block.reference_compute_ns = 50e3;
    block.reference_memory_ns = 300e3;
    blocks.push_back(block);
  }
  return blocks;
}

const ReferenceMedians kUsual{50e3, 300e3};

TEST(Stopping, WantsFiveBlocksAndANarrowInterval) {
  const StopRule rule;
  const auto four = assess(blocks_of({1e6, 1e6, 1e6, 1e6}), rule, kUsual, 1);
  EXPECT_FALSE(four.done);
  EXPECT_THAT(four.flags, ElementsAre("ci_not_reached"));
  const auto five = assess(blocks_of({1e6, 1.001e6, 1e6, 0.999e6, 1e6}), rule, kUsual, 1);
  EXPECT_TRUE(five.done);
  EXPECT_THAT(five.flags, IsEmpty());
  const auto wide = assess(blocks_of({1e6, 1.1e6, 0.9e6, 1.05e6, 1e6}), rule, kUsual, 1);
  EXPECT_FALSE(wide.done);
}

TEST(Stopping, ShortKernelsMayBeLessPrecise) {
  // sd 3.2 % pooled with the prior is 3.3 %; half-width 1.05 t(0.975, 6) / sqrt(5) = 1.15 times
  // that, 3.8 %.
  const std::vector<double> shape{1, 1.04, 0.96, 1.02, 0.98};
  std::vector<double> few_us;
  std::vector<double> many_us;
  for (double s : shape) {
    few_us.push_back(s * 19e3);
    many_us.push_back(s * 21e3);
  }
  EXPECT_TRUE(assess(blocks_of(few_us), {}, kUsual, 1).precise);
  EXPECT_FALSE(assess(blocks_of(many_us), {}, kUsual, 1).precise);
}

TEST(Stopping, GivesUpAtFortyBlocksAndSaysSo) {
  base::Random random(3);
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(1e6 * std::exp(0.5 * random.normal()));
  const auto all = assess(blocks_of(values), {}, kUsual, 1);
  EXPECT_TRUE(all.done);
  EXPECT_FALSE(all.precise);
  EXPECT_THAT(all.flags, Contains("ci_not_reached"));
}

TEST(Stopping, ReachesItsTargetWithEnoughNoisyBlocks) {
  base::Random random(8);
  std::vector<double> values;
  bool done = false;
  while (!done && values.size() < 40) {
    values.push_back(1e6 * std::exp(0.03 * random.normal()));
    done = assess(blocks_of(values), {}, kUsual, 1).precise;
  }
  EXPECT_TRUE(done);
  EXPECT_GE(values.size(), 5U);
}

TEST(Stopping, ForecastsBlocksByTheSquareOfTheWidth) {
  EXPECT_EQ(assess(blocks_of({1e6}), {}, kUsual, 1).expected_blocks, 5);
  // Logarithms -s, 0, 0, 0, s: variance s^2 / 2 of 4 degrees, with the prior (4 s^2 / 2 + 2 *
  // 0.035^2) / 6 = 0.0019271; half-width 1.05 * 2.4469 * sqrt(0.0019271 / 5) = 0.0504: 5 * (0.0504
  // / 0.03)^2 = 14.2 blocks.
  const double s = 0.0675;
  EXPECT_EQ(assess(blocks_of({1e6 * std::exp(-s), 1e6, 1e6, 1e6, 1e6 * std::exp(s)}), {}, kUsual, 1)
                .expected_blocks,
            15);
  EXPECT_EQ(assess(blocks_of({1e6, 5e6, 2e6, 9e6, 3e6}), {}, kUsual, 1).expected_blocks, 40)
      << "never above the cap";
  EXPECT_EQ(assess(blocks_of({1e6, 1e6, 1e6, 1e6, 1e6}), {}, kUsual, 1).expected_blocks, 5);
}

TEST(Stopping, LeavesOutDisturbedBlocksForARecordedReasonOnly) {
  auto blocks = blocks_of({1e6, 1e6, 1e6, 1e6, 1e6, 9e6});
  const auto kept = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(kept.timing->blocks, 6) << "an outlier alone is no reason";

  blocks[5].switches = 6;
  EXPECT_EQ(disturbance(blocks[5], kUsual), "involuntary switches");
  const auto dropped = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(dropped.timing->blocks, 5);
  EXPECT_EQ(dropped.disturbed, 1);
  EXPECT_THAT(dropped.flags, ElementsAre("disturbed"));

  blocks[5].switches = 5;
  EXPECT_FALSE(disturbance(blocks[5], kUsual).has_value()) << "5 % is allowed";
  blocks[5].steal_ticks = 1;
  EXPECT_EQ(disturbance(blocks[5], kUsual), "stolen ticks");
  blocks[5].steal_ticks = 0;
  blocks[5].reference_memory_ns = 451e3;
  EXPECT_EQ(disturbance(blocks[5], kUsual), "slow memory reference");
  EXPECT_FALSE(disturbance(blocks[5], {}).has_value())
      << "without a median there is nothing to compare with";
}

TEST(Stopping, UsesEverythingOnAMachineThatIsNeverQuiet) {
  auto blocks = blocks_of({1e6, 1.01e6, 0.99e6, 1e6, 1e6});
  for (std::size_t i = 0; i < 3; ++i) blocks[i].steal_ticks = 2;
  const auto all = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(all.timing->blocks, 5);
  EXPECT_EQ(all.disturbed, 3);
  EXPECT_THAT(all.flags, Contains("disturbed"));
}

TEST(Stopping, UsesTheHalfThatWasDisturbedLeast) {
  auto blocks = blocks_of({1e6, 1.3e6, 1.01e6, 1.3e6, 0.99e6, 1e6, 1.3e6, 1.3e6});
  for (std::size_t i = 0; i < blocks.size(); ++i)
    blocks[i].steal_ticks = blocks[i].value_ns > 1.2e6 ? 90 : 1;
  blocks[7].steal_ticks = 0;
  blocks[7].switches = 50;
  const auto half = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(half.timing->blocks, 4);
  EXPECT_NEAR(half.timing->median_ns, 1e6, 5e3);
  EXPECT_EQ(half.disturbed, 8);
  // Neither is better than the other of those that cannot be ranked.
  for (table::Block& block : blocks) block.switches = 50;
  EXPECT_EQ(assess(blocks, {}, kUsual, 1).timing->blocks, 8);
}

// Three of five shared their core for as long as they lasted: their median would be theirs.
TEST(Stopping, FewQuietBlocksAreBetterThanManyLoudOnes) {
  auto blocks = blocks_of({1.5e6, 1e6, 1.6e6, 1.5e6, 1.01e6});
  for (const std::size_t i : {0U, 2U, 3U}) {
    blocks[i].steal_ticks = 20;
    blocks[i].other_load = 0.9;
  }
  blocks[1].steal_ticks = 1;
  const auto quiet = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(quiet.timing->blocks, 2);
  EXPECT_NEAR(quiet.timing->median_ns, 1.005e6, 1);
  EXPECT_FALSE(quiet.done) << "two are too few";
  EXPECT_THAT(quiet.flags, Not(Contains("never_quiet")));
  // Ticks of other CPUs, or of a long block.
  blocks[3].other_load = 0.1;
  EXPECT_NEAR(assess(blocks, {}, kUsual, 1).timing->median_ns, 1.01e6, 1);
  blocks[3].other_load = 0.9;
  // One alone may be wrong in other ways.
  blocks[1].steal_ticks = 20;
  blocks[1].other_load = 1.2;
  const auto never = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(never.timing->blocks, 5);
  EXPECT_THAT(never.flags, Contains("never_quiet"));
}

// On several threads there are switches in all blocks, which say less than that the cores of some
// were one, or far from each other.
TEST(Stopping, BlocksWhoseCoresWereNotApartAreLeftOutThoughAllHaveSwitches) {
  auto blocks = blocks_of({1e6, 2e6, 1.01e6, 2e6, 0.99e6, 2e6, 2e6});
  for (table::Block& block : blocks) {
    block.switches = block.rounds / 10;
    if (block.value_ns > 1.5e6) block.steal_ticks = table::kTicksNotApart;
  }
  const auto apart = assess(blocks, {}, kUsual, 1);
  EXPECT_EQ(apart.timing->blocks, 3);
  EXPECT_NEAR(apart.timing->median_ns, 1e6, 1);
  EXPECT_THAT(apart.flags, Not(Contains("never_quiet")));
}

// Rows of one block are as good as that block: one in its place is asked for, and decides.
TEST(Stopping, ASingleBlockWhoseCoresWereNotApartIsReplacedOnce) {
  StopRule brief;
  brief.min_blocks = brief.max_blocks = 1;
  auto blocks = blocks_of({2e6});
  EXPECT_TRUE(assess(blocks, brief, kUsual, 1).done);
  blocks[0].steal_ticks = table::kTicksNotApart;
  const auto first = assess(blocks, brief, kUsual, 1);
  EXPECT_FALSE(first.done);
  EXPECT_THAT(first.flags, Contains("never_quiet"));
  blocks.push_back(blocks_of({1e6}).front());
  const auto second = assess(blocks, brief, kUsual, 1);
  EXPECT_TRUE(second.done);
  EXPECT_EQ(second.timing->median_ns, 1e6);
  EXPECT_THAT(second.flags, Not(Contains("never_quiet")));
  // Cores that are never apart do not make a campaign longer than that.
  blocks[1].steal_ticks = table::kTicksNotApart;
  const auto never = assess(blocks, brief, kUsual, 1);
  EXPECT_TRUE(never.done);
  EXPECT_THAT(never.flags, Contains("never_quiet"));
}

// The neighbour may leave.
TEST(Stopping, ABlockThatTakesLongerThanItsClockExplainsDoesNotVote) {
  // Half of the blocks at a clock of 93 %, while a neighbour worked: they took 1.8 times as long.
  std::vector<table::Block> blocks = blocks_of({1e6, 1.8e6, 1.01e6, 1.8e6, 1.8e6, 1e6});
  for (table::Block& block : blocks)
    block.reference_compute_ns = block.value_ns > 1.5e6 ? 107 : 100;
  const auto shared = assess(blocks, {}, kUsual, 1);
  EXPECT_NEAR(shared.timing->median_ns, 1e6, 1);
  EXPECT_EQ(shared.timing->blocks, 3);
  EXPECT_EQ(shared.disturbed, 3);
  EXPECT_THAT(shared.flags, Contains("disturbed"));
  // One block at full clock says nothing of the others.
  blocks[2].value_ns = blocks[5].value_ns = 1.8e6;
  blocks[2].reference_compute_ns = blocks[5].reference_compute_ns = 107;
  EXPECT_EQ(assess(blocks, {}, kUsual, 1).timing->blocks, 6);
  // A processor that grew hot: the clock explains the times, and all count.
  std::vector<table::Block> hot = blocks_of({1e6, 1e6, 1.3e6, 1.3e6, 1.4e6, 1.3e6, 1.3e6});
  for (table::Block& block : hot) block.reference_compute_ns = block.value_ns > 1.1e6 ? 130 : 100;
  EXPECT_EQ(assess(hot, {}, kUsual, 1).timing->blocks, 7);
  EXPECT_EQ(assess(hot, {}, kUsual, 1).timing->median_ns, 1.3e6);
}

TEST(Stopping, ARowThatWasNeverQuietTakesTwiceAsManyBlocks) {
  std::vector<table::Block> blocks = blocks_of(std::vector<double>(9, 1e6));
  for (table::Block& block : blocks) {
    block.steal_ticks = 20;
    block.other_load = 0.9;
  }
  EXPECT_FALSE(assess(blocks, {}, kUsual, 1).precise);
  blocks.push_back(blocks.back());
  EXPECT_TRUE(assess(blocks, {}, kUsual, 1).precise);
}

TEST(Stopping, FlagsTrendsAndModes) {
  std::vector<double> rising;
  for (int i = 0; i < 12; ++i) rising.push_back(1e6 + 1e3 * i);
  EXPECT_THAT(assess(blocks_of(rising), {}, kUsual, 1).flags, Contains("nonstationary"));
  const auto modes =
      assess(blocks_of({100, 120, 100.1, 120.1, 99.9, 119.9, 100.05, 120.05, 99.95, 120.2}), {},
             kUsual, 1);
  EXPECT_THAT(modes.flags, Contains("bimodal"));
  EXPECT_THAT(modes.flags, Not(Contains("nonstationary")));
  EXPECT_THAT(assess(blocks_of({5}), {}, kUsual, 1).flags,
              ElementsAre("ci_not_reached", "single_block"));
}

TEST(Environment, ReadsWhatTheSystemSaysAndLeavesOutTheRest) {
  const auto folder = base::TemporaryFolder::create("oplat-environment");
  ASSERT_TRUE(folder.has_value());
  namespace fs = std::filesystem;
  const fs::path root = folder->path();
  fs::create_directories(root / "proc");
  fs::create_directories(root / "sys/kernel/mm/transparent_hugepage");
  fs::create_directories(root / "sys/devices/system/clocksource/clocksource0");
  std::ofstream(root / "proc/loadavg") << "1.25 0.50 0.10 2/100 4711\n";
  std::ofstream(root / "sys/kernel/mm/transparent_hugepage/enabled") << "always [madvise] never\n";
  std::ofstream(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
      << "tsc\n";
  const table::Environment environment = probe_environment(root);
  EXPECT_EQ(environment.load_average, 1.25);
  EXPECT_EQ(environment.facts.at("huge_pages"), "madvise");
  EXPECT_EQ(environment.facts.at("clock_source"), "tsc");
  EXPECT_FALSE(environment.facts.contains("governor"));
  EXPECT_EQ(environment.facts.at("harness_version").substr(0, 2), "0.");
  EXPECT_FALSE(environment.kernel.empty());
  EXPECT_EQ(environment.hostname_hash.size(), 32U);
}

TEST(Environment, WritesTimesInUtc) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1709210096), "2024-02-29T12:34:56Z");
}

}  // namespace
}  // namespace oplat::measure
