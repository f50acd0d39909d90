// SPDX-License-Identifier: Apache-2.0
#include "base/time_sketch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace oplat::base {
namespace {

std::vector<double> draw(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(5e6 * std::exp(0.3 * random.normal()));
  return times;
}

double nearest_rank(std::vector<double> times, double p) {
  std::sort(times.begin(), times.end());
  const auto rank = static_cast<std::size_t>(std::ceil(p * static_cast<double>(times.size())));
  return times[std::max<std::size_t>(rank, 1) - 1];
}

TEST(TimeSketch, QuantilesAreThoseOfAllTimesWithinATenthOfAPercent) {
  const std::vector<double> times = draw(7, 20'000);
  TimeSketch sketch;
  sketch.add(times);
  EXPECT_EQ(sketch.count(), 20'000);
  for (const double p : {0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = nearest_rank(times, p);
    EXPECT_NEAR(*sketch.quantile(p), exact, 0.00101 * exact) << p;
  }
  EXPECT_EQ(sketch.quantile(1), *std::max_element(times.begin(), times.end()));
  EXPECT_EQ(sketch.quantile(0), *std::min_element(times.begin(), times.end()));
  EXPECT_EQ(sketch.max(), sketch.quantile(1));
  double sum = 0;
  for (const double ns : times) sum += ns;
  EXPECT_NEAR(*sketch.mean(), sum / 20'000, 1e-6 * sum / 20'000);
}

TEST(TimeSketch, FewTimesAreExactAtBothEnds) {
  TimeSketch sketch;
  EXPECT_EQ(sketch.mean(), std::nullopt);
  EXPECT_EQ(sketch.max(), std::nullopt);
  EXPECT_EQ(sketch.quantile(0.5), std::nullopt);
  sketch.add(1234.5);
  EXPECT_EQ(sketch.quantile(0.5), 1234.5);
  EXPECT_EQ(sketch.mean(), 1234.5);
  sketch.add(0.0);
  EXPECT_EQ(sketch.quantile(0.5), 0.0) << "the first of two";
  EXPECT_EQ(sketch.quantile(0.51), 1234.5);
}

TEST(TimeSketch, MergedIsWhatAllTimesTogetherGive) {
  const std::vector<double> a = draw(1, 500), b = draw(2, 700);
  TimeSketch all, first, second;
  all.add(a);
  all.add(b);
  first.add(a);
  second.add(b);
  TimeSketch merged;
  merged.merge(TimeSketch());
  merged.merge(second);
  merged.merge(first);
  EXPECT_EQ(merged.count(), 1200);
  for (const double p : {0.0, 0.1, 0.5, 0.99, 1.0})
    EXPECT_EQ(merged.quantile(p), all.quantile(p)) << p;
  EXPECT_NEAR(*merged.mean(), *all.mean(), 1e-6 * *all.mean());
}

TEST(TimeSketch, TextReadsBack) {
  TimeSketch sketch;
  sketch.add(draw(3, 1000));
  sketch.add(0.25);
  const auto read = TimeSketch::parse(sketch.text());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, sketch);
  EXPECT_EQ(TimeSketch::parse("7 3 4 550:1 694:1")->count(), 2);
}

TEST(TimeSketch, SumsMayBeOffByWhatAddingRounds) {
  TimeSketch sketch;
  for (int i = 0; i < 1'000'000; ++i) sketch.add(0.1);
  EXPECT_TRUE(TimeSketch::parse(sketch.text())) << sketch.text();
  EXPECT_TRUE(TimeSketch::parse("8.000000001 4 4 694:2"));
}

TEST(TimeSketch, MergingTheLargestCountsDoesNotOverflow) {
  const auto most = TimeSketch::parse("18014398509481984 4 4 694:4503599627370496");
  ASSERT_TRUE(most) << most.error().message;
  TimeSketch merged;
  for (int i = 0; i < 5000; ++i) merged.merge(*most);
  EXPECT_EQ(merged.count(), std::int64_t{1} << 52);
  EXPECT_EQ(merged.mean(), 4);
  EXPECT_EQ(merged.quantile(0.5), 4);
}

TEST(TimeSketch, TextThatCannotBeIsRefused) {
  for (const char* text : {"",
                           "1",
                           "1 1 1",
                           "x 1 1 0:1",
                           "-1 1 1 0:1",
                           "inf 1 1 0:1",
                           "1 1 1 0",
                           "1 1 1 0:0",
                           "1 1 1 0:-1",
                           "1 1 1 0:x",
                           "1 1 1 -1:1",
                           "9 3 4 694:1 550:1",
                           "9 3 4 550:1 550:1",
                           "9 4 3 550:1 694:1",
                           "9 3 4 550:1 800:1",
                           "9 3 4 100:1 694:1",
                           "1 1 1 0:1 ",
                           "1 1 1 0:9007199254740992",
                           "1 1 1 40001:1",
                           "1 1 1  0:1",
                           "6.9 4 4 694:2",
                           "9 4 4 694:2",
                           "0 3 4 550:1 694:1",
                           "8.1 3 4 550:1 694:1",
                           "1e308 3 4 550:1 694:1",
                           "2e18 2e18 2e18 21091:1",
                           "1e308 1e308 1e308 40000:1"})
    EXPECT_FALSE(TimeSketch::parse(text)) << text;
}

}  // namespace
}  // namespace oplat::base
