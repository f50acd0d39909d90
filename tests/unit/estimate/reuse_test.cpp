// SPDX-License-Identifier: Apache-2.0
#include "estimate/reuse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace oplat::estimate {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
const ReuseCurve kCurve{std::nullopt, {2 * kMebibyte, 10 * kMebibyte}};
const ReuseCurve kBoth{Ramp{0.5 * kMebibyte, 2 * kMebibyte}, {8 * kMebibyte, 32 * kMebibyte}};
const std::vector<StatePoint> kThree = {
    {65536, 1000, 0.02}, {4 * kMebibyte, 1210, 0.03}, {96 * kMebibyte, 4000, 0.04}};
const std::vector<StatePoint> kHotCold = {{65536, 1000, 0.02}, {24 * kMebibyte, 4000, 0.04}};

TEST(ReuseCurve, StartsAtSharesOfTheCaches) {
  table::Device device;
  device.llc_bytes = 8 << 20;
  EXPECT_EQ(default_curve(device)->last, (Ramp{4 * kMebibyte, 10 * kMebibyte}));
  EXPECT_FALSE(default_curve(device)->own);
  device.l2_bytes = 1 << 20;
  EXPECT_EQ(default_curve(device)->last, (Ramp{4 * kMebibyte, 10 * kMebibyte}));
  EXPECT_EQ(default_curve(device)->own, (Ramp{0.5 * kMebibyte, 2 * kMebibyte}));
  device.l2_bytes = 4 << 20;
  EXPECT_FALSE(default_curve(device)->own) << "the ramps would overlap";
  device.llc_bytes = 0;
  EXPECT_FALSE(default_curve(device));
}

TEST(ReuseCurve, ReportedSizesAreAnAssumption) {
  table::Device device;
  device.llc_bytes = 480 << 20;
  const auto curve = default_curve(device);
  ASSERT_TRUE(curve && curve->earliest && curve->latest);
  // As on the processor that reports so much and loses data from 16 to 64 MiB on.
  EXPECT_EQ(*curve->earliest, (Ramp{16 * kMebibyte, 64 * kMebibyte}));
  EXPECT_EQ(*curve->latest, (Ramp{360 * kMebibyte, 960 * kMebibyte, 0.2}));
  device.llc_bytes = 32 << 20;
  EXPECT_EQ(*default_curve(device)->earliest, (Ramp{8 * kMebibyte, 24 * kMebibyte}));
  // What is within 480 MiB and beyond 64 is taken as hot, and the 90 % interval reaches cold.
  const std::vector<StatePoint> points = {{65536, 1000, 0.02}, {1024 * kMebibyte, 4000, 0.04}};
  const StateAnswer answer = at_reuse(points, curve, 100 * kMebibyte);
  EXPECT_EQ(answer.median_ns, 1000);
  EXPECT_NEAR(answer.common_sd_log, std::log(4) / 1.6448536, 1e-6);
  EXPECT_EQ(answer.sd_log, std::hypot(0.02, answer.common_sd_log));
  // A kernel that is faster when cold gets faster where the others get slower.
  const std::vector<StatePoint> odd = {{65536, 4000, 0.02}, {1024 * kMebibyte, 1000, 0.04}};
  EXPECT_NEAR(at_reuse(odd, curve, 100 * kMebibyte).common_sd_log, -answer.common_sd_log, 1e-12);
  // Beyond doubt, and with a curve that a fit found.
  EXPECT_EQ(at_reuse(points, curve, 65536).sd_log, 0.02);
  const ReuseCurve fitted{std::nullopt, curve->last};
  EXPECT_EQ(at_reuse(points, fitted, 100 * kMebibyte).sd_log, 0.02);
  EXPECT_EQ(at_reuse(points, fitted, 400 * kMebibyte).common_sd_log, 0);
}

TEST(ReuseCurve, IsAsFarFromOneFootprintToAnotherAsItMayBe) {
  table::Device device;
  device.llc_bytes = 480 << 20;
  const auto curve = default_curve(device);
  EXPECT_EQ(curve->last.gone(100 * kMebibyte), 0);
  EXPECT_EQ(curve->max_distance(65536, 100 * kMebibyte), 1);
  EXPECT_EQ(kCurve.max_distance(65536, 100 * kMebibyte), 1);
  EXPECT_EQ(kCurve.max_distance(65536, kMebibyte), 0);
}

TEST(ReuseCurve, MeasuredMemoryReplacesReportedSizes) {
  table::Device device;
  device.l2_bytes = 2 << 20;
  device.llc_bytes = 480 << 20;
  table::MemoryHierarchy memory;
  memory.levels = {{1e6, 1, 5}, {15e6, 2, 40}, {std::nullopt, 4, 170}};
  memory.last = table::Eviction{{11 * kMebibyte, 32 * kMebibyte},
                                table::MemoryRamp{64 * kMebibyte, 90 * kMebibyte},
                                {12 * kMebibyte, 88 * kMebibyte},
                                table::MemoryRamp{11 * kMebibyte, 80 * kMebibyte}};
  const auto curve = default_curve(device, memory);
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->last, (Ramp{12 * kMebibyte, 88 * kMebibyte}));
  EXPECT_EQ(curve->earliest, (Ramp{11 * kMebibyte, 32 * kMebibyte}));
  // Nobody saw how it goes on beyond.
  EXPECT_EQ(curve->latest, (Ramp{64 * kMebibyte, 90 * kMebibyte, 0.2}));
  EXPECT_EQ(curve->own, (Ramp{1 * kMebibyte, 4 * kMebibyte}));
  // Without a level behind the core's own cache there is one way out.
  memory.levels.erase(memory.levels.begin() + 1);
  EXPECT_FALSE(default_curve(device, memory)->own);
  // A flat curve says nothing.
  memory.last.reset();
  EXPECT_EQ(default_curve(device, memory), default_curve(device));
  device.llc_bytes = 0;
  EXPECT_FALSE(default_curve(device, memory));
}

/// A device whose last cache was seen to lose data so.
std::optional<ReuseCurve> curve_of(const table::Eviction& last) {
  table::MemoryHierarchy memory;
  memory.last = last;
  return default_curve({}, memory);
}

TEST(ReuseCurve, WhatTenantsDoInSecondsTheyDoInMinutesBothWays) {
  const auto mib = [](double lo, double hi) {
    return table::MemoryRamp{lo * kMebibyte, hi * kMebibyte};
  };
  // Loads and reads agree; a quarter of the moments lose data a third earlier.
  const auto busy = curve_of({mib(12, 48), mib(12, 48), mib(12, 48), mib(8, 32)});
  ASSERT_TRUE(busy && busy->earliest && busy->latest);
  EXPECT_NEAR(busy->earliest->lo_bytes / kMebibyte, 8 / 1.5, 1e-9);
  EXPECT_NEAR(busy->earliest->hi_bytes / kMebibyte, 32 / 1.5, 1e-9);
  EXPECT_NEAR(busy->latest->lo_bytes / kMebibyte, 12 * 1.5, 1e-9);
  EXPECT_NEAR(busy->latest->hi_bytes / kMebibyte, 48 * 1.5, 1e-9);
  // Alike in all moments: as far as loads and reads disagree, whichever is later.
  for (const bool loads_first : {true, false}) {
    const auto early = mib(10, 24);
    const auto late = mib(20, 48);
    const auto quiet = curve_of(
        {loads_first ? early : late, loads_first ? late : early, mib(14, 34), mib(14, 34)});
    ASSERT_TRUE(quiet && quiet->earliest && quiet->latest);
    EXPECT_EQ(*quiet->earliest, (Ramp{early.lo_bytes, early.hi_bytes}));
    EXPECT_EQ(*quiet->latest, (Ramp{late.lo_bytes, late.hi_bytes, 0.2}));
  }
  // Moments that differ by more than that are noise, and so are busy ones that keep more.
  EXPECT_EQ(curve_of({mib(12, 48), {}, mib(12, 48), mib(1, 4)})->latest,
            (Ramp{24 * kMebibyte, 96 * kMebibyte, 0.2}));
  EXPECT_EQ(curve_of({mib(12, 48), {}, mib(12, 48), mib(16, 64)})->latest,
            (Ramp{12 * kMebibyte, 48 * kMebibyte, 0.2}));
}

/// A curve of loads and reads that is flat up to 16 MiB, costs four times as much from 64 MiB on,
/// and beyond it doubles with every so many octaves.
table::MemoryHierarchy rising(double octaves_to_double, int pools_beyond = 4) {
  table::MemoryHierarchy memory;
  for (int i = -4; i <= 2 * 4 + pools_beyond; ++i) {
    const double octave = i / 4.0;  // beyond 16 MiB
    const double beyond = std::max(0.0, octave - 2) / octaves_to_double;
    const double ns = std::exp2(std::clamp(octave, 0.0, 2.0) + beyond);
    memory.points.push_back(
        {static_cast<std::int64_t>(16 * kMebibyte * std::exp2(octave)), ns, 10 * ns, ns, 10 * ns});
  }
  const table::MemoryRamp ramp{16 * kMebibyte, 64 * kMebibyte};
  memory.last = table::Eviction{ramp, ramp, ramp, std::nullopt};
  return memory;
}

TEST(ReuseCurve, GoesOnAsTheMeasuredOneDoes) {
  // Two octaves up along the ramp, and one more per two and a half beyond.
  const auto curve = default_curve({}, rising(2.5));
  ASSERT_TRUE(curve && curve->earliest && curve->latest);
  EXPECT_NEAR(curve->last.rise_per_octave, 0.2, 1e-6);
  EXPECT_EQ(curve->earliest->rise_per_octave, 0);
  EXPECT_NEAR(curve->latest->rise_per_octave, 0.4, 1e-6);
  EXPECT_NEAR(curve->last.gone(64 * kMebibyte), 1, 1e-12);
  EXPECT_NEAR(curve->last.gone(256 * kMebibyte), 1.4, 1e-6);
  EXPECT_EQ(curve->max_distance(64 * kMebibyte, 256 * kMebibyte), 0);
  // One that falls is noise; too few pools tell nothing, and the interval reaches a steep one.
  EXPECT_EQ(default_curve({}, rising(-2))->last.rise_per_octave, 0);
  const auto unknown = default_curve({}, rising(2.5, 1));
  EXPECT_EQ(unknown->last.rise_per_octave, 0);
  EXPECT_EQ(unknown->latest->rise_per_octave, 0.2);
  // A damaged table.
  table::MemoryHierarchy same = rising(2.5);
  for (table::MemoryPoint& point : same.points) point.pool_bytes = 128 << 20;
  EXPECT_EQ(default_curve({}, same)->last.rise_per_octave, 0);
}

TEST(ReuseCurve, WhatIsLeftBehindRisesFromTheEndOfTheOwnCacheToThatOfTheLastLevel) {
  const ReuseCurve curve{Ramp{kMebibyte / 2, 2 * kMebibyte}, {16 * kMebibyte, 32 * kMebibyte, 0.2}};
  EXPECT_EQ(curve.left_behind(0), 0);
  EXPECT_EQ(curve.left_behind(2 * kMebibyte), 0);
  EXPECT_NEAR(curve.left_behind(8 * kMebibyte), 0.5, 1e-12);
  EXPECT_EQ(curve.left_behind(32 * kMebibyte), 1);
  EXPECT_EQ(curve.left_behind(1e12), 1) << "whatever addresses cost beyond";
  EXPECT_EQ(curve.left_behind_sd(8 * kMebibyte), 0) << "its place is known";
  ReuseCurve moving = curve;
  moving.earliest = Ramp{4 * kMebibyte, 8 * kMebibyte};
  moving.latest = Ramp{16 * kMebibyte, 128 * kMebibyte};
  EXPECT_NEAR(moving.left_behind_sd(8 * kMebibyte), 0.5 / 1.6448536, 1e-6);
  EXPECT_EQ(moving.left_behind_sd(128 * kMebibyte), 0);
  // A row that touches 4 MiB by itself has gone a quarter of the way, one of 16 MiB all of it.
  EXPECT_NEAR(curve.left_behind(8 * kMebibyte, 4 * kMebibyte), 0.25, 1e-12);
  EXPECT_EQ(curve.left_behind(8 * kMebibyte, kMebibyte), curve.left_behind(8 * kMebibyte));
  EXPECT_EQ(curve.left_behind(8 * kMebibyte, 16 * kMebibyte), 0);
  // At the earliest both are gone, at the latest the row has gone a sixth of the way and the model
  // a third.
  EXPECT_NEAR(moving.left_behind_sd(8 * kMebibyte, 4 * kMebibyte), 1.0 / 4 / 1.6448536, 1e-6);
  // Without a core's own cache only the last level is known.
  EXPECT_EQ((ReuseCurve{std::nullopt, curve.last}.left_behind(16 * kMebibyte)), 0);
  // A record of a fit may hold any ramps.
  const ReuseCurve odd{Ramp{kMebibyte, 64 * kMebibyte}, {kMebibyte, 2 * kMebibyte}};
  EXPECT_EQ(odd.left_behind(32 * kMebibyte), 0);
  EXPECT_EQ(odd.left_behind(65 * kMebibyte), 1);
}

TEST(ReuseCurve, ShareIsLinearInTheLogarithm) {
  const Ramp ramp{2 * kMebibyte, 10 * kMebibyte};
  EXPECT_EQ(ramp.gone(1 * kMebibyte), 0);
  EXPECT_EQ(ramp.gone(2 * kMebibyte), 0);
  EXPECT_NEAR(ramp.gone(std::sqrt(20.0) * kMebibyte), 0.5, 1e-12);
  EXPECT_EQ(ramp.gone(10 * kMebibyte), 1);
  EXPECT_EQ(ramp.gone(1e18), 1);
}

TEST(AtReuse, ThreeStatesAreJoinedByTwoRamps) {
  EXPECT_EQ(at_reuse(kThree, kBoth, 0.4 * kMebibyte).median_ns, 1000);
  // Half of the first ramp: the geometric mean of 1000 and 1210.
  EXPECT_NEAR(at_reuse(kThree, kBoth, 1 * kMebibyte).median_ns, 1100, 1e-6);
  EXPECT_EQ(at_reuse(kThree, kBoth, 3 * kMebibyte).median_ns, 1210);
  EXPECT_EQ(at_reuse(kThree, kBoth, 8 * kMebibyte).median_ns, 1210);
  EXPECT_NEAR(at_reuse(kThree, kBoth, 16 * kMebibyte).median_ns, 2200, 1e-6);  // sqrt(1210 * 4000)
  EXPECT_EQ(at_reuse(kThree, kBoth, 40 * kMebibyte).median_ns, 4000);
}

TEST(AtReuse, OthersLoseWhatIsNoLongerInTheOwnCache) {
  const Ramp& last = kBoth.last;
  const double among = lost_among_others(last, 4 * kMebibyte, 8 * kMebibyte);
  // 2, 4, 8, 16 and 32 MiB at one moment or another.
  double expected = 0;
  for (const auto& [mib, often] : {std::pair(2.0, 0.1), std::pair(4.0, 0.2), std::pair(8.0, 0.4),
                                   std::pair(16.0, 0.2), std::pair(32.0, 0.1)})
    expected += often * std::min(1.0, last.gone((4 + mib) * kMebibyte));
  EXPECT_NEAR(among, expected, 1e-12);
  EXPECT_GT(among, 0);
  EXPECT_LT(among, 1);
  EXPECT_EQ(lost_among_others(last, 4 * kMebibyte, 0), 0);
  const auto at = [&](double mib, double foreign_mib) {
    return at_reuse(kThree, kBoth, mib * kMebibyte, {foreign_mib * kMebibyte, 0}).median_ns;
  };
  EXPECT_NEAR(std::log(at(4, 8) / 1210), among * std::log(4000.0 / 1210), 1e-9);
  EXPECT_EQ(at(0.4, 1000), 1000) << "they do not reach the core's own cache";
  EXPECT_EQ(at(4, 0), 1210);
  EXPECT_EQ(at(40, 8), at(40, 0)) << "it was lost anyway";
  EXPECT_NEAR(at(4, 1e6), 4000, 1e-6);
  // Half of the way out of the own cache, of which others lose all.
  EXPECT_NEAR(std::log(at(1, 1e6) / 1210), 0, 1e-9) << "0.5 of the way and 0.5 of the other";
  // Whatever a table says, it is a share.
  for (const double odd : {1e300, 1e308, std::numeric_limits<double>::infinity()})
    EXPECT_NEAR(lost_among_others(last, 4 * kMebibyte, odd), 1, 1e-12) << odd;
}

TEST(AtReuse, WhatIsNotKnownOfOthersMovesAllKernelsToOneSide) {
  const auto at = [&](double foreign_mib, double sd_mib) {
    return at_reuse(kThree, kBoth, 4 * kMebibyte, {foreign_mib * kMebibyte, sd_mib * kMebibyte});
  };
  const StateAnswer sure = at(8, 0);
  const StateAnswer unsure = at(8, 4);
  EXPECT_EQ(sure.common_sd_log, 0);
  EXPECT_EQ(unsure.median_ns, sure.median_ns);
  const double half = std::log(at(12, 0).median_ns / at(4, 0).median_ns) / 2;
  ASSERT_GT(half, 0.05);
  EXPECT_NEAR(unsure.common_sd_log, half, 1e-12);
  EXPECT_NEAR(unsure.sd_log, std::hypot(sure.sd_log, half), 1e-12);
  // None in the mean, and maybe some.
  EXPECT_NEAR(at(0, 4).common_sd_log, std::log(at(4, 0).median_ns / at(0, 0).median_ns) / 2, 1e-12);
  // With the place of the curve as a root of a sum of squares.
  ReuseCurve moving = kBoth;
  moving.earliest = Ramp{kBoth.last.lo_bytes / 2, kBoth.last.hi_bytes / 2};
  moving.latest = Ramp{2 * kBoth.last.lo_bytes, 2 * kBoth.last.hi_bytes};
  const auto on_moving = [&](double sd_mib) {
    return at_reuse(kThree, moving, 4 * kMebibyte, {8 * kMebibyte, sd_mib * kMebibyte})
        .common_sd_log;
  };
  EXPECT_NEAR(on_moving(4), std::hypot(on_moving(0), half), 1e-12);
  EXPECT_EQ(at_reuse(kThree, kBoth, 0.4 * kMebibyte, {0, 1000 * kMebibyte}).common_sd_log, 0)
      << "they do not reach the core's own cache";
}

TEST(AtReuse, AKernelNotMeasuredInTheLastLevelDoesNotFeelTheFirstRamp) {
  const std::vector<StatePoint> two = {kThree.front(), kThree.back()};
  EXPECT_EQ(at_reuse(two, kBoth, 4 * kMebibyte).median_ns, 1000);
  EXPECT_NEAR(at_reuse(two, kBoth, 16 * kMebibyte).median_ns, 2000, 1e-6);
}

TEST(AtReuse, MidpointOfLogarithmsIsTheGeometricMean) {
  const StateAnswer answer = at_reuse(kHotCold, kCurve, std::sqrt(20.0) * kMebibyte);
  EXPECT_NEAR(answer.median_ns, 2000, 1e-6);
  EXPECT_NEAR(answer.share, 0.5, 1e-12);
  // Half of each spread and a quarter of the gap ln 4 between the states, added in quadrature.
  EXPECT_NEAR(answer.sd_log,
              std::sqrt(0.01 * 0.01 + 0.02 * 0.02 + std::pow(0.25 * 1.3862943611, 2)), 1e-9);
}

TEST(AtReuse, SaturatesVerbatimBeyondTheCurve) {
  for (const double bytes : {0.0, 1.0, 65536.0, 2 * kMebibyte}) {
    const StateAnswer hot = at_reuse(kHotCold, kCurve, bytes);
    EXPECT_EQ(hot.median_ns, 1000) << bytes;
    EXPECT_NEAR(hot.sd_log, 0.02, 1e-9) << bytes;
  }
  for (const double bytes : {10 * kMebibyte, 24 * kMebibyte, 1e15}) {
    const StateAnswer cold = at_reuse(kHotCold, kCurve, bytes);
    EXPECT_EQ(cold.median_ns, 4000) << bytes;
    EXPECT_NEAR(cold.sd_log, 0.04, 1e-9) << bytes;
  }
}

TEST(AtReuse, WhatIsNoNumberIsNear) {
  const StateAnswer answer = at_reuse(kHotCold, kCurve, std::nan(""));
  EXPECT_EQ(answer.median_ns, 1000);
  EXPECT_LT(answer.above, kHotCold.size());
}

TEST(AtReuse, AColdRowLiesItsOwnBytesFartherBack) {
  // 64 MiB of its own, and 192 read before the cold call: two octaves from row to row.
  const ReuseCurve rising{std::nullopt, {16 * kMebibyte, 32 * kMebibyte, 0.25}};
  const std::vector<StatePoint> points = {{64 * kMebibyte, 1000, 0.02},
                                          {192 * kMebibyte, 4000, 0.04}};
  EXPECT_EQ(at_reuse(points, rising, 64 * kMebibyte).median_ns, 1000);
  const StateAnswer half = at_reuse(points, rising, 128 * kMebibyte);
  EXPECT_NEAR(half.share, 0.5, 1e-12);
  EXPECT_NEAR(half.median_ns, 2000, 1e-6);
  EXPECT_EQ(half.below_bytes, 64 * kMebibyte);
  EXPECT_EQ(half.above_bytes, 256 * kMebibyte);
  EXPECT_LT(at_reuse(points, rising, 192 * kMebibyte).median_ns, 4000);
  EXPECT_EQ(at_reuse(points, rising, 256 * kMebibyte).median_ns, 4000);
  EXPECT_EQ(at_reuse(points, rising, 1e12).median_ns, 4000);
}

TEST(AtReuse, HowTheCurveGoesOnIsADoubtOfAllKernels) {
  ReuseCurve rising{std::nullopt, {16 * kMebibyte, 32 * kMebibyte, 0.25}};
  rising.earliest = rising.latest = rising.last;
  rising.earliest->rise_per_octave = 0;
  rising.latest->rise_per_octave = 0.5;
  // Cold is 127 MiB and one of its own: 1.5 ways, of which 64 MiB is 1.25.
  const std::vector<StatePoint> points = {{kMebibyte, 1000, 0}, {127 * kMebibyte, 8000, 0}};
  const StateAnswer answer = at_reuse(points, rising, 64 * kMebibyte);
  EXPECT_NEAR(answer.share, 1.25 / 1.5, 1e-12);
  EXPECT_NEAR(answer.common_sd_log, std::log(8) * (1 - 1.25 / 1.5) / 1.6448536, 1e-6);
}

TEST(AtReuse, StaysBetweenTheStatesAndNeverFalls) {
  double last = 0;
  for (double bytes = 1; bytes < 1e9; bytes *= 1.3) {
    const double now = at_reuse(kHotCold, kCurve, bytes).median_ns;
    EXPECT_GE(now, 1000);
    EXPECT_LE(now, 4000);
    EXPECT_GE(now, last);
    last = now;
  }
}

TEST(AtReuse, WithoutACurveTheRowsAreTheEnds) {
  const std::vector<StatePoint> points = {{100, 1000, 0}, {10000, 9000, 0}};
  EXPECT_NEAR(at_reuse(points, std::nullopt, 1000).median_ns, 3000, 1e-6);
  EXPECT_EQ(at_reuse(points, std::nullopt, 50).median_ns, 1000);
  EXPECT_EQ(at_reuse(points, std::nullopt, 20000).median_ns, 9000);
  // Nobody knows where data are lost between them: half of the gap in the middle, of all kernels.
  EXPECT_NEAR(at_reuse(points, std::nullopt, 1000).common_sd_log, 0.5 * std::log(9), 1e-9);
  EXPECT_EQ(at_reuse(points, std::nullopt, 50).sd_log, 0);
}

TEST(AtReuse, OnePointAnswersEverywhere) {
  const std::vector<StatePoint> point = {{65536, 1000, 0.02}};
  for (const double bytes : {0.0, 65536.0, 1e12}) {
    EXPECT_EQ(at_reuse(point, kCurve, bytes).median_ns, 1000);
    EXPECT_EQ(at_reuse(point, std::nullopt, bytes).median_ns, 1000);
  }
}

TEST(AtReuse, OfRowsInOneStateTheNearestAnswers) {
  const std::vector<StatePoint> points = {
      {1000, 500, 0}, {kMebibyte, 700, 0}, {24 * kMebibyte, 4000, 0}};
  EXPECT_EQ(at_reuse(points, kCurve, 1.5 * kMebibyte).median_ns, 700);
  EXPECT_EQ(at_reuse(points, kCurve, 2000).median_ns, 500);
}

}  // namespace
}  // namespace oplat::estimate
