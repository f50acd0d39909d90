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
    EXPECT_NEAR(foreign_rate(shared_host(rate, 0.01), kLast) / rate, 1, 0.15) << rate;
}

TEST(ForeignRate, NobodyElseOrTooLittleToTell) {
  EXPECT_EQ(foreign_rate(shared_host(0, 0), kLast), 0);
  EXPECT_LT(foreign_rate(shared_host(0, 0.01), kLast), 0.3);
  EXPECT_EQ(foreign_rate(shared_host(6, 0, 20), kLast), 0) << "few kernels";
  EXPECT_EQ(foreign_rate({}, kLast), 0);
  auto without_cold = shared_host(6, 0);
  std::erase_if(without_cold, [](const Sample& sample) { return sample.state == 2; });
  EXPECT_EQ(foreign_rate(without_cold, kLast), 0);
  auto odd = shared_host(6, 0);
  for (Sample& sample : odd) sample.cycle_ns = 0;
  EXPECT_EQ(foreign_rate(odd, kLast), 0) << "rows that do not say how they were measured";
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
