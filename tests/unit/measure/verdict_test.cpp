// SPDX-License-Identifier: Apache-2.0
/// Verdicts on rows made by hand, and rows that say nothing.
#include "measure/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace oplat::measure {
namespace {

/// A row of many blocks, so that its 95 % interval is 1.96 standard errors to each side.
table::Timing row(double median_ns, double half_width, std::int64_t blocks = 1'000'000) {
  table::Timing timing;
  timing.median_ns = median_ns;
  timing.ci_low_ns = median_ns * std::exp(-half_width);
  timing.ci_high_ns = median_ns * std::exp(half_width);
  timing.blocks = blocks;
  timing.processes = blocks;
  return timing;
}

TEST(Verdict, QuadraturesTheTwoIntervals) {
  // 3 % and 4 % at 95 %: the ratio's own is 5 % at 95 %.
  const auto comparison = compare(row(1000, 0.03), row(1100, 0.04), 0.95);
  ASSERT_TRUE(comparison);
  EXPECT_DOUBLE_EQ(comparison->ratio, 1.1);
  EXPECT_NEAR(std::log(comparison->low), std::log(1.1) - 0.05, 1e-6);
  EXPECT_NEAR(std::log(comparison->high), std::log(1.1) + 0.05, 1e-6);
  EXPECT_EQ(comparison->verdict, Verdict::Slower);
}

TEST(Verdict, HasFourAnswers) {
  EXPECT_EQ(compare(row(1000, 0.03), row(1010, 0.03))->verdict, Verdict::Same);
  EXPECT_EQ(compare(row(1000, 0.03), row(1200, 0.03))->verdict, Verdict::Slower);
  EXPECT_EQ(compare(row(1200, 0.03), row(1000, 0.03))->verdict, Verdict::Faster);
  EXPECT_EQ(compare(row(1000, 0.3), row(1010, 0.3))->verdict, Verdict::Unclear);
  // A difference that exceeds even a wide interval is one.
  EXPECT_EQ(compare(row(1000, 0.3), row(3000, 0.3))->verdict, Verdict::Slower);
}

TEST(Verdict, FewBlocksNeedALargerDifference) {
  // The same standard error (1 %) from five blocks and from many: t(4, 97.5 %) = 2.7764.
  const auto few = compare(row(1000, 0.027764, 5), row(1000, 0.027764, 5), 0.95);
  const auto many = compare(row(1000, 0.0196), row(1000, 0.0196), 0.95);
  ASSERT_TRUE(few && many);
  // Welch: 8 degrees of freedom, t(8, 97.5 %) = 2.3060.
  EXPECT_NEAR(std::log(few->high), 2.3060 * std::sqrt(2.0) * 0.01, 1e-5);
  EXPECT_NEAR(std::log(many->high), 1.95996 * std::sqrt(2.0) * 0.01, 1e-5);
}

TEST(Verdict, SpreadCountsWhereTheIntervalIsNarrower) {
  table::Timing narrow = row(1000, 0.0, 16);
  narrow.sd_log = 0.04;
  const auto comparison = compare(narrow, row(1000, 0.0), 0.95);
  ASSERT_TRUE(comparison);
  // t(15, 97.5 %) = 2.13145
  EXPECT_NEAR(std::log(comparison->high), 2.13145 * 0.01, 1e-5);
}

TEST(Verdict, NoNoiseAtAllIsAllowed) {
  EXPECT_EQ(compare(row(1000, 0), row(1000, 0))->verdict, Verdict::Same);
  EXPECT_EQ(compare(row(1000, 0), row(1001, 0))->verdict, Verdict::Slower);
}

TEST(Verdict, NothingForRowsThatSayNothing) {
  const table::Timing good = row(1000, 0.03);
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [&](auto change) {
    table::Timing bad = good;
    change(bad);
    return !compare(good, bad) && !compare(bad, good);
  };
  EXPECT_TRUE(refused([](table::Timing& t) { t.median_ns = 0; }));
  EXPECT_TRUE(refused([&](table::Timing& t) { t.median_ns = not_a_number; }));
  EXPECT_TRUE(refused([](table::Timing& t) { t.ci_low_ns = -1; }));
  EXPECT_TRUE(refused([](table::Timing& t) { std::swap(t.ci_low_ns, t.ci_high_ns); }));
  EXPECT_TRUE(refused([](table::Timing& t) { t.blocks = 0; }));
  EXPECT_TRUE(refused([](table::Timing& t) { t.ci_level = 1; }));
  EXPECT_TRUE(refused([&](table::Timing& t) { t.sd_log = not_a_number; }));
  EXPECT_FALSE(compare(good, good, 1.0));
}

TEST(Verdict, Names) {
  EXPECT_STREQ(name(Verdict::Same), "same");
  EXPECT_STREQ(name(Verdict::Slower), "slower");
  EXPECT_STREQ(name(Verdict::Faster), "faster");
  EXPECT_STREQ(name(Verdict::Unclear), "unclear");
}

}  // namespace
}  // namespace oplat::measure
