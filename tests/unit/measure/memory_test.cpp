// SPDX-License-Identifier: Apache-2.0
/// Levels of simulated machines are found again, whatever they report; and those of a real one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "measure/memory_levels.hpp"
#include "measure/memory_probe.hpp"
#include "unit/measure/simulated_memory.hpp"

namespace oplat::measure {
namespace {

using table::MemoryHierarchy;
using table::MemoryPoint;
using testing::HasSubstr;

constexpr double kMib = 1024 * 1024;

MeasuredMemory measured(SimulatedMemory& machine, double l2 = kMib, double llc = 32 * kMib) {
  auto outcome = measure_memory(machine.request(l2, llc), machine.looker());
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  auto* found = std::get_if<MeasuredMemory>(&*outcome);
  if (found == nullptr) {
    ADD_FAILURE() << "nothing was measured";
    return {};
  }
  return std::move(*found);
}

/// Whether `found` is within a quarter of `real`.
testing::AssertionResult is_near(double found, double real) {
  if (found >= 0.75 * real && found <= 1.25 * real) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << found / kMib << " MiB, the machine has " << real / kMib << " MiB";
}

TEST(MemoryTest, CapacitiesAreFoundWhateverIsReported) {
  for (const Replacement replacement : {Replacement::Oldest, Replacement::Random}) {
    for (const double last : {4, 6, 11, 16, 23, 32, 52, 64, 96, 150, 260, 480}) {
      for (const double reported : {0, 8, 32, 480}) {
        SimulatedMemory machine;
        machine.own_bytes = 0.5 * kMib;
        machine.last_bytes = last * kMib;
        machine.replacement = replacement;
        if (reported < 480 && last > 64) continue;  // beyond the largest pool that is looked at
        const auto found = measured(machine, 0.5 * kMib, reported * kMib).hierarchy;
        SCOPED_TRACE(testing::Message() << last << " MiB, reported " << reported);
        ASSERT_TRUE(found.has_last_level());
        EXPECT_TRUE(is_near(*found.levels[1].capacity_bytes, last * kMib));
        EXPECT_TRUE(is_near(*found.levels[0].capacity_bytes, 0.5 * kMib));
        EXPECT_FALSE(found.levels[2].capacity_bytes);
        EXPECT_NEAR(found.levels[0].chase_ns, 4, 0.4);
        EXPECT_NEAR(found.levels[1].chase_ns, 20, 2);
        // A cache that replaces lines at random still holds 6 % of a pool four times its size.
        EXPECT_NEAR(found.levels[2].chase_ns, 90, 6);
        EXPECT_NEAR(found.levels[2].stream_ns, 9, 0.6);
      }
    }
  }
}

TEST(MemoryTest, NoiseAndATenantMoveNoCapacityByAQuarter) {
  std::mt19937_64 random(11);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int i = 0; i < 60; ++i) {
    SimulatedMemory machine;
    machine.random.seed(static_cast<std::uint64_t>(i));
    machine.own_bytes = std::exp2(uniform(-2, 1)) * kMib;
    // As far behind the own cache as a last level must be to hold a pool of weights (states.cpp).
    machine.last_bytes = machine.own_bytes * std::exp2(uniform(3, 7));
    machine.replacement = i % 2 == 0 ? Replacement::Random : Replacement::Oldest;
    machine.last_ns = uniform(12, 45);
    machine.memory_ns = machine.last_ns * uniform(2, 6);
    machine.noise = uniform(0, 0.06);
    machine.tenant_share = uniform(0, 0.5);
    const double reported = *machine.last_bytes * std::exp2(uniform(-1, 5));
    const auto found = measured(machine, machine.own_bytes, reported).hierarchy;
    SCOPED_TRACE(testing::Message() << "machine " << i << ": " << machine.own_bytes / kMib
                                    << " and " << *machine.last_bytes / kMib << " MiB, noise "
                                    << machine.noise << ", tenant " << machine.tenant_share);
    ASSERT_TRUE(found.has_last_level());
    EXPECT_TRUE(is_near(*found.levels[1].capacity_bytes, *machine.last_bytes));
    EXPECT_GT(found.levels[2].chase_ns, 1.5 * found.levels[1].chase_ns);
  }
}

/// The largest difference of three runs at one pool, relative.
double largest_difference(SimulatedMemory machine) {
  std::map<std::int64_t, std::vector<MemoryPoint>> pools;
  constexpr std::size_t kRuns = 3;
  for (std::size_t run = 0; run < kRuns; ++run) {
    machine.random.seed(run + 1);
    for (const MemoryPoint& point : measured(machine).hierarchy.points)
      pools[point.pool_bytes].push_back(point);
  }
  double largest = 0;
  std::size_t compared = 0;
  for (const auto& [bytes, points] : pools) {
    if (points.size() < kRuns) continue;  // only some runs looked closer there
    ++compared;
    for (const auto cost : {&MemoryPoint::chase_ns, &MemoryPoint::stream_ns}) {
      const auto [low, high] =
          std::minmax_element(points.begin(), points.end(), [&](const auto& a, const auto& b) {
            return std::invoke(cost, a) < std::invoke(cost, b);
          });
      largest = std::max(largest, std::invoke(cost, *high) / std::invoke(cost, *low) - 1);
    }
  }
  EXPECT_GE(compared, 18U);
  return largest;
}

SimulatedMemory shared_machine() {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.last_bytes = 20 * kMib;
  machine.look_seconds = 0.005;
  return machine;
}

TEST(MemoryTest, NoisyLooksMakeACurveThatRepeatsWithinATenth) {
  SimulatedMemory machine = shared_machine();
  machine.noise = 0.1;
  EXPECT_LE(largest_difference(machine), 0.1);
}

TEST(MemoryTest, PoolsOfTwoCostsRepeatWithinATenth) {
  for (const Replacement replacement : {Replacement::Random, Replacement::Oldest}) {
    for (const double tenant_share : {0.2, 0.5}) {
      SimulatedMemory machine = shared_machine();
      machine.replacement = replacement;
      machine.tenant_share = tenant_share;
      machine.noise = 0.02;
      EXPECT_LE(largest_difference(machine), 0.1) << "tenant " << tenant_share;
    }
  }
}

TEST(MemoryTest, WherePagesAreIsNotLeftToOnePlacement) {
  SimulatedMemory machine = shared_machine();
  machine.placement_sd = 0.02;
  EXPECT_LE(largest_difference(machine), 0.1);
}

TEST(MemoryTest, TenantsWhoStayForSecondsMakeNoCurveThatRepeatsButQuartilesThatSaySo) {
  SimulatedMemory machine = shared_machine();
  machine.mood_sd = 0.35;
  EXPECT_GT(largest_difference(machine), 0.1);
  machine.random.seed(1);
  double furthest = 0;
  for (const MemoryPoint& point : measured(machine).hierarchy.points)
    furthest = std::max(furthest, point.chase_high_ns / point.chase_ns);
  EXPECT_GT(furthest, 1.3);
}

TEST(MemoryTest, ATenantWidensTheDisturbedCurve) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.last_bytes = 32 * kMib;
  machine.replacement = Replacement::Oldest;
  machine.tenant_share = 0.45;
  const auto found = measured(machine).hierarchy;
  ASSERT_TRUE(found.last);
  ASSERT_TRUE(found.last->disturbed);
  EXPECT_TRUE(is_near(*found.levels[1].capacity_bytes, 32 * kMib));
  // Half of the cache is gone in the upper quartiles.
  EXPECT_NEAR(found.last->disturbed->lo_bytes / kMib, 16, 3);
}

TEST(MemoryTest, ReadsInOrderThatNoticeItLaterMoveTheCurve) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.last_bytes = 16 * kMib;
  machine.replacement = Replacement::Oldest;
  machine.prefetched = 4;
  const auto found = measured(machine).hierarchy;
  ASSERT_TRUE(found.last && found.last->stream);
  EXPECT_NEAR(found.last->chase.lo_bytes / kMib, 16, 3);
  EXPECT_NEAR(found.last->stream->lo_bytes / kMib, 64, 10);
  EXPECT_NEAR(found.last->middle.gone(32 * kMib), 0.5, 0.05);
  EXPECT_LT(found.last->middle.gone(8 * kMib), 0.01);
  EXPECT_GT(found.last->middle.gone(110 * kMib), 0.9);
  // What is read to throw everything out is enough for both, and no more than twice that.
  ASSERT_TRUE(found.scrub_bytes);
  EXPECT_GE(static_cast<double>(*found.scrub_bytes), found.last->stream->hi_bytes);
  EXPECT_LE(static_cast<double>(*found.scrub_bytes), 2 * found.last->stream->hi_bytes);
}

TEST(MemoryTest, WithoutALastLevelThereIsOneRamp) {
  SimulatedMemory machine;
  machine.own_bytes = 0.5 * kMib;
  machine.noise = 0.02;
  for (const Replacement replacement : {Replacement::Oldest, Replacement::Random}) {
    machine.replacement = replacement;
    // It reports one, as systems on chips do.
    const auto found = measured(machine, 0.5 * kMib, 8 * kMib).hierarchy;
    EXPECT_FALSE(found.has_last_level());
    ASSERT_EQ(found.levels.size(), 2U);
    EXPECT_TRUE(is_near(*found.levels[0].capacity_bytes, 0.5 * kMib));
    EXPECT_FALSE(found.own);
    ASSERT_TRUE(found.last);
    ASSERT_TRUE(found.scrub_bytes);
    EXPECT_LT(static_cast<double>(*found.scrub_bytes), 8 * kMib);
  }
}

TEST(MemoryTest, AFlatCurveTellsNothing) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.own_ns = machine.last_ns = machine.memory_ns = 60;
  machine.noise = 0.05;
  const auto found = measured(machine).hierarchy;
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_NEAR(found.levels[0].chase_ns, 60, 5);
  EXPECT_FALSE(found.has_last_level());
  EXPECT_FALSE(found.own);
  EXPECT_FALSE(found.last);
  EXPECT_FALSE(found.scrub_bytes);
  EXPECT_TRUE(find_levels({}).levels.empty());
  EXPECT_EQ(find_levels(std::vector<MemoryPoint>{{65'536, 1, 2, 1, 2}}).levels.size(), 1U);
}

TEST(MemoryTest, ACacheBeyondTheLargestPoolHasNoSufficientScrub) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.last_bytes = 200 * kMib;
  machine.max_pool_bytes = static_cast<std::int64_t>(280 * kMib);
  const auto found = measured(machine, kMib, 480 * kMib);
  EXPECT_EQ(found.wanted_pool_bytes, static_cast<std::int64_t>(1920 * kMib));
  EXPECT_LE(found.max_pool_bytes, machine.max_pool_bytes);
  EXPECT_FALSE(found.hierarchy.scrub_bytes);
}

TEST(MemoryTest, TheXeonOfTheLargeCache) {
  // Two cores of a virtual machine that reports 480 MiB: GB/s in order, ns of a load; lower
  // quartiles and medians, 2026-11-25.
  struct Line {
    double mib, stream, stream_median, chase, chase_median;
  };
  const std::vector<Line> lines{
      {0.25, 88.4, 88.3, 4.5, 4.5},       {0.35, 92.2, 88.4, 4.4, 4.5},
      {0.50, 91.7, 86.4, 4.8, 4.8},       {0.71, 85.0, 84.8, 5.2, 5.3},
      {1.00, 66.3, 66.1, 11.7, 12.0},     {1.41, 51.3, 51.1, 16.6, 16.9},
      {2.00, 50.3, 49.3, 20.0, 20.4},     {2.83, 38.0, 37.8, 32.3, 32.7},
      {4.00, 30.8, 30.7, 39.4, 39.5},     {5.66, 30.1, 30.1, 39.7, 40.0},
      {8.00, 30.1, 30.1, 41.1, 41.2},     {11.31, 30.1, 30.0, 43.8, 44.8},
      {16.00, 30.0, 29.8, 63.0, 81.9},    {22.63, 30.0, 29.9, 112.1, 123.7},
      {32.00, 29.9, 29.7, 145.3, 147.6},  {45.25, 29.4, 28.6, 156.3, 158.1},
      {64.00, 25.9, 24.7, 161.3, 161.8},  {90.51, 14.6, 14.2, 164.1, 164.1},
      {128.00, 17.8, 17.2, 166.0, 167.4}, {181.02, 17.1, 16.4, 169.9, 170.2},
      {256.00, 16.2, 15.9, 175.6, 175.8}, {362.04, 16.2, 16.0, 185.4, 185.5},
      {512.00, 15.9, 15.8, 197.8, 198.2}, {724.08, 15.7, 15.7, 209.7, 209.8},
      {1024.00, 15.7, 15.4, 220.7, 221.1}};
  std::vector<MemoryPoint> points;
  for (const Line& line : lines)
    points.push_back({static_cast<std::int64_t>(line.mib * kMib), 64 / line.stream, line.chase,
                      64 / line.stream_median, line.chase_median});
  const MemoryHierarchy found = find_levels(points);
  ASSERT_TRUE(found.has_last_level());
  EXPECT_NEAR(*found.levels[1].capacity_bytes / kMib, 14.5, 2);
  EXPECT_NEAR(found.levels[1].chase_ns, 41, 2);
  EXPECT_NEAR(64 / found.levels[1].stream_ns, 30, 0.5);
  EXPECT_NEAR(64 / found.levels[2].stream_ns, 15.8, 0.3);
  ASSERT_TRUE(found.own);
  EXPECT_LT(found.own->hi_bytes, 6 * kMib);
  ASSERT_TRUE(found.last);
  // Where its 38 networks lose their weights, 16 to 64 MiB.
  EXPECT_NEAR(found.last->middle.gone(16 * kMib), 0.15, 0.1);
  EXPECT_NEAR(found.last->middle.gone(64 * kMib), 0.75, 0.15);
  ASSERT_TRUE(found.scrub_bytes);
  EXPECT_LE(static_cast<double>(*found.scrub_bytes), 200 * kMib);
}

TEST(MemoryTest, TooLittleMemoryIsAReason) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.max_pool_bytes = static_cast<std::int64_t>(4 * kMib);
  const auto outcome = measure_memory(machine.request(kMib, 32 * kMib), machine.looker());
  ASSERT_TRUE(outcome);
  const auto* failed = std::get_if<table::Failed>(&*outcome);
  ASSERT_NE(failed, nullptr);
  EXPECT_THAT(failed->reason, HasSubstr("only 4.00 MiB of memory"));
}

TEST(MemoryTest, MemoryThatVanishesLeavesTheSmallerPools) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.last_bytes = 16 * kMib;
  int looks = 0;
  const MemoryLooker look = [&](const MemoryQuestion& question) -> Result<MemoryOutcome> {
    if (++looks == 40) machine.max_pool_bytes = static_cast<std::int64_t>(100 * kMib);
    return machine.look(question);
  };
  const auto outcome = measure_memory(machine.request(kMib, 32 * kMib), look);
  ASSERT_TRUE(outcome);
  const auto* found = std::get_if<MeasuredMemory>(&*outcome);
  ASSERT_NE(found, nullptr);
  EXPECT_LE(found->max_pool_bytes, machine.max_pool_bytes);
  EXPECT_LE(found->hierarchy.points.back().pool_bytes, machine.max_pool_bytes);
  EXPECT_TRUE(found->hierarchy.has_last_level());
}

TEST(MemoryTest, ItEndsInTimeAndWhenAsked) {
  SimulatedMemory machine;
  machine.own_bytes = kMib;
  machine.last_bytes = 16 * kMib;
  machine.look_seconds = 0.5;
  auto request = machine.request(kMib, 32 * kMib);
  const auto slow = measure_memory(request, machine.looker());
  ASSERT_TRUE(slow);
  EXPECT_GE(std::get<MeasuredMemory>(*slow).passes, 1);
  EXPECT_LE(machine.clock_seconds, 21.5);
  int asked = 0;
  request.stop_asked = [&] { return ++asked > 3; };
  const auto stopped = measure_memory(request, machine.looker());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
}

TEST(MemoryTest, WaitsShowWhatOthersTakeOfTheLastLevel) {
  SimulatedMemory machine = shared_machine();
  machine.others_bytes_per_ns = 4;
  machine.others_sd = 0.7;
  const MemoryHierarchy found = measured(machine).hierarchy;
  ASSERT_EQ(found.waits.size(), 7U);
  EXPECT_EQ(found.waits.front().wait_ns, 0);
  EXPECT_NEAR(found.waits.front().chase_ns, 20, 2) << "in the last level and nowhere else";
  EXPECT_NEAR(found.waits.back().chase_ns, 90, 9) << "nearly all is gone after 32 ms";
  for (std::size_t i = 0; i < found.waits.size(); ++i) {
    const auto pool = static_cast<double>(found.waits[i].pool_bytes);
    EXPECT_GT(pool, 1.5 * machine.own_bytes);
    EXPECT_LT(pool, 0.8 * *machine.last_bytes);
    if (i > 0) EXPECT_GE(found.waits[i].chase_ns, 0.95 * found.waits[i - 1].chase_ns);
  }
  // Nobody else.
  SimulatedMemory alone = shared_machine();
  for (const table::MemoryWait& wait : measured(alone).hierarchy.waits)
    EXPECT_NEAR(wait.chase_ns, 20, 2) << wait.wait_ns;
}

/// What is measured in so many seconds.
MeasuredMemory measured_within(SimulatedMemory& machine, double seconds) {
  auto request = machine.request(kMib, 32 * kMib);
  request.max_seconds = seconds;
  auto outcome = measure_memory(request, machine.looker());
  if (!outcome || !std::holds_alternative<MeasuredMemory>(*outcome)) {
    ADD_FAILURE() << "nothing was measured";
    return {};
  }
  return std::get<MeasuredMemory>(std::move(*outcome));
}

TEST(MemoryTest, WithoutWaitsPoolsHaveAllOfTheTime) {
  SimulatedMemory machine = shared_machine();
  machine.look_seconds = 0.05;
  const MeasuredMemory with = measured_within(machine, 20);
  EXPECT_FALSE(with.hierarchy.waits.empty());
  EXPECT_LE(machine.clock_seconds, 20.5);
  SimulatedMemory old = shared_machine();
  old.look_seconds = 0.05;
  old.knows_waits = false;
  const MeasuredMemory without = measured_within(old, 20);
  EXPECT_TRUE(without.hierarchy.waits.empty()) << "a worker of an earlier oplat";
  EXPECT_GT(without.passes, with.passes);
  EXPECT_GT(old.clock_seconds, 19);
  SimulatedMemory flat = shared_machine();
  flat.last_bytes.reset();
  flat.look_seconds = 0.05;
  EXPECT_TRUE(measured_within(flat, 20).hierarchy.waits.empty()) << "no last level";
  EXPECT_GT(flat.clock_seconds, 19);
  // A campaign of a minute has three seconds for memory: too few for waits.
  SimulatedMemory short_one = shared_machine();
  const MeasuredMemory found = measured_within(short_one, 3);
  EXPECT_TRUE(found.hierarchy.waits.empty());
  EXPECT_GT(short_one.clock_seconds, 2.9);
}

TEST(MemoryTest, ALookDuringWhichTheCoreWasTakenAwayIsNotTheCaches) {
  SimulatedMemory machine = shared_machine();
  int waits = 0;
  const MemoryLooker look = [&](const MemoryQuestion& question) -> Result<MemoryOutcome> {
    MemoryOutcome outcome = machine.look(question);
    auto& answer = std::get<MemoryAnswer>(outcome);
    if (answer.waited_chase_ns && ++waits % 14 == 0) *answer.waited_chase_ns += 2500;
    return outcome;
  };
  const auto outcome = measure_memory(machine.request(kMib, 32 * kMib), look);
  ASSERT_TRUE(outcome && std::holds_alternative<MeasuredMemory>(*outcome));
  for (const table::MemoryWait& wait : std::get<MeasuredMemory>(*outcome).hierarchy.waits)
    EXPECT_LT(wait.chase_ns, 95) << "no more than memory";
}

TEST(MemoryTest, AWorkerThatFailsLeavesTheWaitsOfBefore) {
  for (const int before : {3, 12}) {
    SimulatedMemory machine = shared_machine();
    int waits = 0;
    const MemoryLooker look = [&](const MemoryQuestion& question) -> Result<MemoryOutcome> {
      if (question.wait_ns && ++waits > 7 * before + 3)
        return MemoryOutcome(table::Failed{"no memory"});
      return machine.look(question);
    };
    const auto outcome = measure_memory(machine.request(kMib, 32 * kMib), look);
    ASSERT_TRUE(outcome && std::holds_alternative<MeasuredMemory>(*outcome));
    EXPECT_EQ(std::get<MeasuredMemory>(*outcome).hierarchy.waits.size(), before < 4 ? 0U : 7U);
  }
}

TEST(MemoryTest, WaitsEndWhenAsked) {
  SimulatedMemory machine = shared_machine();
  auto request = machine.request(kMib, 32 * kMib);
  bool waits = false;
  const MemoryLooker look = [&](const MemoryQuestion& question) -> Result<MemoryOutcome> {
    waits = waits || question.wait_ns.value_or(0) > 0;
    return machine.look(question);
  };
  request.stop_asked = [&] { return waits; };
  const auto stopped = measure_memory(request, look);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
}

TEST(MemoryTest, ItSaysHowLongItWillTake) {
  for (const double look_seconds : {0.004, 0.5}) {
    SimulatedMemory machine = shared_machine();
    machine.look_seconds = look_seconds;
    std::vector<std::pair<double, double>> told;  // when, and what was left
    auto request = machine.request(kMib, 32 * kMib);
    request.progress = [&](const MemoryProgress& progress) {
      EXPECT_GE(progress.share, 0);
      EXPECT_LE(progress.share, 1);
      if (progress.left_s) told.emplace_back(machine.clock_seconds, *progress.left_s);
    };
    const auto outcome = measure_memory(request, machine.looker());
    ASSERT_TRUE(outcome);
    ASSERT_GT(told.size(), 20U);
    // Finer pools come after some passes; from then on it is known.
    for (std::size_t i = told.size() / 5; i < told.size(); ++i)
      EXPECT_NEAR(told[i].first + told[i].second, machine.clock_seconds,
                  0.25 * machine.clock_seconds)
          << "at " << told[i].first << " s of " << machine.clock_seconds;
  }
}

TEST(MemoryTest, WhatAWorkerRefusesIsPassedOn) {
  const MemoryLooker none = [](const MemoryQuestion&) -> Result<MemoryOutcome> {
    return table::Unsupported{"its times are recorded"};
  };
  const auto outcome = measure_memory({}, none);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(std::holds_alternative<table::Unsupported>(*outcome));
}

}  // namespace
}  // namespace oplat::measure
