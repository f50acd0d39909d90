// SPDX-License-Identifier: Apache-2.0
/// Rows of noisy bands count less.
#include "estimate/learned/row_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

TEST(RowWeightsTest, ARowWeighsOneOverTheSquaredDeviationOfItsBand) {
  base::Random random(5);
  std::vector<float> log_ns;
  std::vector<float> deviations;
  for (int i = 0; i < 4000; ++i) {
    const bool is_short = i % 2 == 0;
    log_ns.push_back(static_cast<float>((is_short ? 8 : 14) + random.uniform()));
    deviations.push_back(static_cast<float>(random.normal()) * (is_short ? 0.06F : 0.02F));
  }
  const auto weights = row_weights(log_ns, deviations);
  ASSERT_EQ(weights.size(), log_ns.size());
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 4000, 0.5);
  double by_kind[2] = {0, 0};
  for (std::size_t i = 0; i < weights.size(); ++i)
    by_kind[i % 2] += static_cast<double>(weights[i]) / 2000;
  EXPECT_NEAR(std::sqrt(by_kind[1] / by_kind[0]), 3, 0.2);
}

TEST(RowWeightsTest, AFewWildRowsChangeNothing) {
  std::vector<float> log_ns(1000);
  std::iota(log_ns.begin(), log_ns.end(), 0.0F);
  std::vector<float> deviations(1000, 0.02F);
  for (std::size_t i = 0; i < 1000; i += 10) deviations[i] = -50;
  for (const float weight : row_weights(log_ns, deviations)) EXPECT_FLOAT_EQ(weight, 1);
}

TEST(RowWeightsTest, PerfectRowsAreNotTrustedWithoutEnd) {
  std::vector<float> log_ns(1000);
  std::iota(log_ns.begin(), log_ns.end(), 0.0F);
  std::vector<float> deviations(1000, 0.0F);
  std::fill_n(deviations.begin(), 500, 0.006F);
  const auto weights = row_weights(log_ns, deviations);
  ASSERT_FALSE(weights.empty());
  EXPECT_LE(weights.back() / weights.front(), 4.01F);
}

TEST(RowWeightsTest, FewRowsTellNothing) {
  EXPECT_TRUE(row_weights({}, {}).empty());
  const std::vector<float> some(399, 1.0F);
  EXPECT_TRUE(row_weights(some, some).empty());
}

}  // namespace
}  // namespace oplat::estimate
