// SPDX-License-Identifier: Apache-2.0
#include "estimate/foreign.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace oplat::estimate {
namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr double kPool = 4 * kMib;
const Ramp kLast{16 * kMib, 64 * kMib};

/// Kernels of 10 us to 1 ms, each hot, in the last level and cold, where others bring in so many
/// bytes a ns. The last level itself costs a twentieth of the way to memory.
std::vector<Sample> shared_host(double rate, double noise, int kernels = 200) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal(0, noise > 0 ? noise : 1);
  const auto measured = [&](double log_ns) { return noise > 0 ? log_ns + normal(random) : log_ns; };
  std::vector<Sample> samples;
  for (int i = 0; i < kernels; ++i) {
    const std::string key = fmt::format("kernel {}", i);
    const double hot = std::log(1e4 * std::pow(100, i / (kernels - 1.0)));
    const double gap = 0.1 + 0.3 * (i % 5) / 5;
    const double cycle_ns = std::exp(hot) * (4 + i % 13);
    const double lost = lost_among_others(kLast, kPool, rate * cycle_ns);
    samples.push_back({key, measured(hot), 1e5, 0, false, 0, std::exp(hot)});
    samples.push_back(
        {key, measured(hot + gap * (0.05 + 0.95 * lost)), kPool, 1, false, 0, cycle_ns});
    samples.push_back({key, measured(hot + gap), 96 * kMib, 2, false, 0, cycle_ns});
  }
  return samples;
}

TEST(ForeignRate, IsFoundFromHowLongRowsOfTheLastLevelWait) {
  for (const double rate : {1.0, 6.0, 25.0})
    EXPECT_NEAR(foreign_rate_by_rows(shared_host(rate, 0.01), kLast).value() / rate, 1, 0.15)
        << rate;
}

TEST(ForeignRate, NobodyElseOrTooLittleToTell) {
  EXPECT_EQ(foreign_rate_by_rows(shared_host(0, 0), kLast), 0);
  EXPECT_LT(foreign_rate_by_rows(shared_host(0, 0.01), kLast).value(), 0.3);
  EXPECT_FALSE(foreign_rate_by_rows(shared_host(6, 0, 20), kLast)) << "few kernels";
  EXPECT_FALSE(foreign_rate_by_rows({}, kLast));
  auto without_cold = shared_host(6, 0);
  std::erase_if(without_cold, [](const Sample& sample) { return sample.state == 2; });
  EXPECT_FALSE(foreign_rate_by_rows(without_cold, kLast));
  auto odd = shared_host(6, 0);
  for (Sample& sample : odd) sample.cycle_ns = 0;
  EXPECT_FALSE(foreign_rate_by_rows(odd, kLast)) << "rows that do not say how they were measured";
}

/// Looks at a pool of 4 MiB after waits, where others bring in so many bytes a ns.
table::MemoryHierarchy looked_at(double rate, double noise = 0) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, noise > 0 ? noise : 1);
  table::MemoryHierarchy memory;
  memory.levels = {{kMib, 1, 5}, {20 * kMib, 2, 20}, {std::nullopt, 4, 120}};
  for (const double ms : {0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    const double lost = lost_among_others(kLast, kPool, rate * ms * 1e6);
    const double error = noise > 0 ? std::exp(normal(random)) : 1;
    memory.waits.push_back(
        {static_cast<std::int64_t>(kPool), ms * 1e6, 20 * std::pow(6, lost) * error});
  }
  return memory;
}

TEST(ForeignRate, IsFoundFromLooksAfterWaits) {
  for (const double rate : {1.0, 4.0, 25.0}) {
    EXPECT_NEAR(foreign_rate_by_looks(looked_at(rate), kLast).value() / rate, 1, 0.07) << rate;
    EXPECT_NEAR(foreign_rate_by_looks(looked_at(rate, 0.05), kLast).value() / rate, 1, 0.25)
        << rate;
  }
  // Two visits, each with its own look without a wait: between the two.
  table::MemoryHierarchy twice = looked_at(2);
  const table::MemoryHierarchy later = looked_at(8);
  twice.waits.insert(twice.waits.end(), later.waits.begin(), later.waits.end());
  EXPECT_GT(foreign_rate_by_looks(twice, kLast).value(), 2.1);
  EXPECT_LT(foreign_rate_by_looks(twice, kLast).value(), 7.9);
}

TEST(ForeignRate, LooksWithoutLossesSayNobodyAndLooksThatShowNothingSayNothing) {
  EXPECT_EQ(foreign_rate_by_looks(looked_at(0), kLast), 0);
  table::MemoryHierarchy noisy = looked_at(0);
  // Up to 4 % of the way to memory.
  for (std::size_t i = 0; i < noisy.waits.size(); ++i)
    noisy.waits[i].chase_ns = i % 2 == 0 ? 18 : 21.5;
  EXPECT_EQ(foreign_rate_by_looks(noisy, kLast), 0);
  EXPECT_FALSE(foreign_rate_by_looks({}, kLast));
  table::MemoryHierarchy odd = looked_at(4);
  odd.waits.clear();
  EXPECT_FALSE(foreign_rate_by_looks(odd, kLast)) << "nobody looked";
  odd = looked_at(4);
  odd.levels = {{kMib, 1, 5}, {std::nullopt, 4, 120}};
  EXPECT_FALSE(foreign_rate_by_looks(odd, kLast)) << "there is no last level";
  odd = looked_at(4);
  odd.levels.back().chase_ns = 21;
  for (table::MemoryWait& wait : odd.waits) wait.chase_ns = 20 + wait.wait_ns / 32e6;
  EXPECT_FALSE(foreign_rate_by_looks(odd, kLast)) << "memory is as fast";
}

TEST(ForeignRate, APoolThatIsGoneAtOnceIsAHighRateNotNone) {
  table::MemoryHierarchy busy = looked_at(50);
  busy.waits.front().chase_ns = 110;
  EXPECT_GT(foreign_rate_by_looks(busy, kLast).value(), 25);
}

TEST(ForeignRate, RowsOfTheWholeTimeComeBeforeLooksOfAMoment) {
  EXPECT_NEAR(foreign_rate(shared_host(6, 0.01), looked_at(1), kLast), 6, 1);
  EXPECT_NEAR(foreign_rate(shared_host(6, 0, 20), looked_at(1), kLast), 1, 0.1) << "few kernels";
  EXPECT_EQ(foreign_rate(shared_host(0, 0), looked_at(4), kLast), 0) << "rows say nobody";
  EXPECT_EQ(foreign_rate(shared_host(6, 0, 20), table::MemoryHierarchy(), kLast), 0);
}

TEST(UndoLosses, LeavesWhatTheLastLevelItselfCosts) {
  std::vector<Sample> samples = shared_host(6, 0);
  const std::vector<Sample> quiet = shared_host(0, 0);
  const std::vector<Sample> before = samples;
  undo_losses(samples, kLast, 0);
  EXPECT_EQ(samples.size(), before.size());
  undo_losses(samples, kLast, 6);
  EXPECT_LT(samples.size(), before.size()) << "long kernels lost nearly all";
  std::size_t of_level = 0;
  for (const Sample& sample : samples) {
    const auto same = std::find_if(quiet.begin(), quiet.end(), [&](const Sample& other) {
      return other.key == sample.key && other.state == sample.state;
    });
    ASSERT_NE(same, quiet.end());
    EXPECT_NEAR(sample.log_ns, same->log_ns, 1e-9) << sample.key;
    if (sample.state != 1) continue;
    ++of_level;
    EXPECT_LE(lost_among_others(kLast, kPool, 6 * sample.cycle_ns), kMostLost);
  }
  EXPECT_GT(of_level, 50U);
}

TEST(UndoLosses, ARowIsNeverBelowItsHotOneNorAboveItself) {
  std::vector<Sample> samples = {{"a", 10, 1e5, 0, false, 0, 2e4},
                                 {"a", 10.01, kPool, 1, false, 0, 3e6},
                                 {"a", 10.5, 96 * kMib, 2, false, 0, 3e6},
                                 {"b", 10, 1e5, 0, false, 0, 2e4},
                                 {"b", 9.9, kPool, 1, false, 0, 3e6},
                                 {"b", 10.5, 96 * kMib, 2, false, 0, 3e6},
                                 {"no cold row", 9.9, kPool, 1, false, 0, 3e6}};
  undo_losses(samples, kLast, 6);
  ASSERT_EQ(samples.size(), 7U);
  EXPECT_EQ(samples[1].log_ns, 10);
  EXPECT_EQ(samples[4].log_ns, 9.9);
  EXPECT_EQ(samples[6].log_ns, 9.9);
}

}  // namespace
}  // namespace oplat::estimate
