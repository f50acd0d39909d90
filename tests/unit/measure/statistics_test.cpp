// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"
#include "base/interval.hpp"
#include "base/stats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/random.hpp"

namespace oplat::measure {
namespace {

using Values = std::vector<double>;

std::vector<table::Block> blocks_with(const Values& values) {
  std::vector<table::Block> blocks;
  for (std::size_t i = 0; i < values.size(); ++i) {
    table::Block block;
    block.process = static_cast<std::int64_t>(i);
    block.value_ns = values[i];
    blocks.push_back(block);
  }
  return blocks;
}

Values log_normal(base::Random& random, std::size_t n, double centre, double sd) {
  Values values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(centre * std::exp(sd * random.normal()));
  return values;
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(*base::median(Values{3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(*base::median(Values{4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(*base::quantile(Values{10, 20, 30, 40, 50}, 0.1), 14);
  EXPECT_DOUBLE_EQ(*base::quantile(Values{10, 20}, 1), 20);
  EXPECT_FALSE(base::median(Values{}).has_value());
}

TEST(Slope, CancelsTheCallCost) {
  // 1 us per call, 5 us per copy: 6 us for one, 51 us for ten.
  EXPECT_DOUBLE_EQ(slope(6000, 51000, 10), 5000);
  EXPECT_LT(slope(10, 9, 2), 0) << "a negative slope is not hidden";
}

TEST(StudentT, AgreesWithTabulatedQuantiles) {
  // Two-sided 95 % and 99 %, one-sided 95 %, from printed tables.
  EXPECT_NEAR(base::student_quantile(0.975, 1), 12.7062, 5e-5);
  EXPECT_NEAR(base::student_quantile(0.975, 2), 4.30265, 5e-6);
  EXPECT_NEAR(base::student_quantile(0.975, 4), 2.77645, 5e-6);
  EXPECT_NEAR(base::student_quantile(0.975, 10), 2.22814, 5e-6);
  EXPECT_NEAR(base::student_quantile(0.995, 5), 4.03214, 5e-6);
  EXPECT_NEAR(base::student_quantile(0.95, 30), 1.69726, 5e-6);
  EXPECT_NEAR(base::student_quantile(0.995, 120), 2.61742, 5e-6);
  EXPECT_NEAR(base::student_quantile(0.975, 1e6), 1.95996, 1e-5);
  EXPECT_NEAR(base::student_quantile(0.025, 4), -2.77645, 5e-6);
  EXPECT_EQ(base::student_quantile(0.5, 7), 0);
}

TEST(StudentT, HasTheClosedFormsOfOneAndTwoDegrees) {
  for (double t : {-8.0, -1.0, -0.1, 0.0, 0.3, 2.0, 50.0}) {
    EXPECT_NEAR(base::student_cdf(t, 1), 0.5 + std::atan(t) / M_PI, 1e-12) << t;
    EXPECT_NEAR(base::student_cdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-12) << t;
  }
}

TEST(StudentT, QuantileInvertsTheDistribution) {
  for (double dof : {1.0, 3.0, 6.5, 40.0}) {
    for (double p : {0.001, 0.2, 0.6, 0.9, 0.9999}) {
      EXPECT_NEAR(base::student_cdf(base::student_quantile(p, dof), dof), p, 1e-12)
          << dof << " " << p;
    }
  }
}

TEST(LogTInterval, IsTheTextbookIntervalOnLogarithms) {
  // Logarithms 1, 2, 3: mean 2, sd 1, t(0.975, 2) = 4.30265, half-width 4.30265 / sqrt(3).
  const Values values{std::exp(1.0), std::exp(2.0), std::exp(3.0)};
  const double reach = 4.30265 / std::sqrt(3.0);
  const auto interval = log_t_interval(values, 0.95);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(std::log(interval->low), 2 - reach, 1e-5);
  EXPECT_NEAR(std::log(interval->high), 2 + reach, 1e-5);
  EXPECT_FALSE(log_t_interval(Values{1}, 0.95).has_value());
  EXPECT_FALSE(log_t_interval(Values{1, -1, 2}, 0.95).has_value());
}

TEST(LogTInterval, CoversTheTruthAboutAsOftenAsItSays) {
  // 400 trials at 95 %: the count is binomial with sd 4.36, so 380 +- 13 holds three standard
  // deviations.
  base::Random random(20240601);
  int covered = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto interval = log_t_interval(log_normal(random, 5, 1000, 0.1), 0.95);
    if (interval->low <= 1000 && 1000 <= interval->high) ++covered;
  }
  EXPECT_NEAR(covered, 380, 13);
}

TEST(Bootstrap, CoversTheTruthNearlyAsOftenAsItSays) {
  // The percentile interval of a median of 12 values is a little narrow: its ends are near the 3rd
  // and 10th value, which hold the median in 96.1 % (binomial), the 4th and 9th in 85.4 %. Below 88
  // % something would be wrong.
  base::Random random(7);
  int covered = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<BlockValue> blocks;
    for (double v : log_normal(random, 12, 1000, 0.1))
      blocks.push_back({static_cast<std::int64_t>(blocks.size()), v});
    const auto interval =
        bootstrap_median_interval(blocks, 0.95, static_cast<std::uint64_t>(trial), 400);
    if (interval->low <= 1000 && 1000 <= interval->high) ++covered;
  }
  EXPECT_GE(covered, 352);
  EXPECT_LE(covered, 396);
}

/// How many of all n^n draws of the values 1..n have each median. Draws of the same values in
/// another order are counted together: n! / (c1! c2! ...) of them, where a value occurs c times.
std::map<double, double> counted_medians(int n) {
  std::map<double, double> counts;
  std::vector<double> draw(static_cast<std::size_t>(n), 1);  // in rising order
  while (true) {
    double orders = std::tgamma(n + 1);
    for (int value = 1; value <= n; ++value) {
      const auto times = std::count(draw.begin(), draw.end(), value);
      orders /= std::tgamma(static_cast<double>(times) + 1);
    }
    counts[*base::median(draw)] += std::round(orders);
    auto last = std::find_if(draw.rbegin(), draw.rend(), [n](double value) { return value < n; });
    if (last == draw.rend()) return counts;
    std::fill(draw.rbegin(), last + 1, *last + 1);
  }
}

base::Interval interval_of(const std::map<double, double>& counts, int n, double level) {
  const double tail = std::ceil((1 - level) / 2 * std::pow(n, n));  // the tail-th from either end
  base::Interval interval;
  double below = 0;
  for (auto at = counts.begin(); below < tail; ++at) {
    below += at->second;
    interval.low = at->first;
  }
  double above = 0;
  for (auto at = counts.rbegin(); above < tail; ++at) {
    above += at->second;
    interval.high = at->first;
  }
  return interval;
}

TEST(Bootstrap, OfOneBlockAProcessIsTheLimitOfAllResamples) {
  for (const int n : {2, 3, 4, 5, 6, 7}) {
    const std::map<double, double> counts = counted_medians(n);
    double draws = 0;
    for (const auto& [median, count] : counts) draws += count;
    ASSERT_EQ(draws, std::pow(n, n));
    for (const double level : {0.5, 0.8, 0.9, 0.95, 0.99}) {
      std::vector<BlockValue> blocks;
      for (int i = n; i >= 1; --i) blocks.push_back({i, static_cast<double>(i)});
      const base::Interval counted = interval_of(counts, n, level);
      const auto interval = bootstrap_median_interval(blocks, level, 1);
      EXPECT_EQ(interval->low, counted.low) << n << " values at " << level;
      EXPECT_EQ(interval->high, counted.high) << n << " values at " << level;
    }
  }
}

TEST(LogTInterval, PoolsTheSpreadWithAPrior) {
  // Logarithms 1, 2, 3: sd 1 of 2 degrees; with a prior of sd 2 of 3 degrees the variance is (2 * 1
  // + 3 * 4) / 5 = 2.8.
  const Values values = {std::exp(1.0), std::exp(2.0), std::exp(3.0)};
  const double reach = 2.570582 * std::sqrt(2.8 / 3);  // t(0.975, 5) = 2.570582
  const auto interval = log_t_interval(values, 0.95, {2, 3});
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(std::log(interval->low), 2 - reach, 1e-5);
  EXPECT_NEAR(std::log(interval->high), 2 + reach, 1e-5);
}

TEST(Bootstrap, IsReproducibleAndDrawsWholeProcesses) {
  // Two processes with a luck of their own: resampling blocks alone would nearly always mix both
  // and hide that.
  std::vector<BlockValue> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back({i / 5, i < 5 ? 100.0 : 120.0});
  const auto first = bootstrap_median_interval(blocks, 0.95, 3);
  const auto again = bootstrap_median_interval(blocks, 0.95, 3);
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
  EXPECT_EQ(first->low, 100);
  EXPECT_EQ(first->high, 120);
}

TEST(MannKendall, IsExactForFewValues) {
  // A strictly rising order of 5 is one of 120; two-sided 2 / 120.
  EXPECT_NEAR(mann_kendall_p(Values{1, 2, 3, 4, 5}), 2.0 / 120, 1e-12);
  EXPECT_NEAR(mann_kendall_p(Values{5, 4, 3, 2, 1}), 2.0 / 120, 1e-12);
  // One inversion or none: (1 + 3) of 24 orders of 4.
  EXPECT_NEAR(mann_kendall_p(Values{1, 2, 4, 3}), 8.0 / 24, 1e-12);
  EXPECT_EQ(mann_kendall_p(Values{1, 2}), 1);
  EXPECT_EQ(mann_kendall_p(Values{4, 4, 4, 4, 4}), 1);
}

TEST(MannKendall, HandlesTiesByTheNormalApproximation) {
  // S = 9 rising pairs and 1 tied; variance (5 * 4 * 15 - 18) / 18 = 15.667; z = 8 / 3.958 = 2.021;
  // p = 0.0433.
  EXPECT_NEAR(mann_kendall_p(Values{1, 2, 2, 3, 4}), 0.0433, 5e-4);
}

TEST(MannKendall, RarelyFlagsNoise) {
  base::Random random(11);
  int flagged = 0;
  for (int trial = 0; trial < 1000; ++trial)
    flagged += mann_kendall_p(log_normal(random, 12, 1, 0.1)) < 0.01 ? 1 : 0;
  EXPECT_LE(flagged, 20);  // expected 10 at most, sd 3.2
}

TEST(Bimodal, SeesTwoModesAndSeldomOne) {
  base::Random random(5);
  int seen = 0;
  int false_alarms = 0;
  for (int trial = 0; trial < 500; ++trial) {
    false_alarms += is_bimodal(log_normal(random, 10, 1000, 0.05)) ? 1 : 0;
    Values two = log_normal(random, 6, 1000, 0.02);
    for (double v : log_normal(random, 6, 1150, 0.02)) two.push_back(v);
    seen += is_bimodal(two) ? 1 : 0;
  }
  EXPECT_GE(seen, 450);         // modes seven standard deviations apart: nine in ten are to be seen
  EXPECT_LE(false_alarms, 12);  // 1 % wanted: 5, sd 2.2
  EXPECT_FALSE(is_bimodal(Values{1, 1, 1, 2, 2, 2})) << "too few values to tell";
  EXPECT_FALSE(is_bimodal(Values{100, 100, 100, 100, 101, 101, 101, 101})) << "too near to matter";
}

TEST(Summarise, KeepsTheNumbersOfTheBlocks) {
  const auto timing = summarise(blocks_with({110, 100, 120, 90, 105}), 0.95, 1);
  ASSERT_TRUE(timing.has_value());
  EXPECT_DOUBLE_EQ(timing->median_ns, 105);
  EXPECT_DOUBLE_EQ(timing->min_ns, 90);
  EXPECT_DOUBLE_EQ(timing->p10_ns, 94);
  EXPECT_DOUBLE_EQ(timing->p90_ns, 116);
  EXPECT_EQ(timing->blocks, 5);
  EXPECT_EQ(timing->processes, 5);
  EXPECT_LT(timing->ci_low_ns, 105);
  EXPECT_GT(timing->ci_high_ns, 105);
}

TEST(Summarise, GivesASingleBlockTheAssumedSpread) {
  const auto timing = summarise(blocks_with({1000}), 0.95, 1);
  ASSERT_TRUE(timing.has_value());
  EXPECT_EQ(timing->sd_log, kAssumedSdLog);
  EXPECT_NEAR(timing->ci_high_ns, 1000 * std::exp(0.196), 0.01);
  EXPECT_FALSE(summarise({}, 0.95, 1).has_value());
  EXPECT_FALSE(summarise(blocks_with({10, 0}), 0.95, 1).has_value());
}

TEST(Summarise, GivesASingleBlockTheSpreadOfItsCampaign) {
  SpreadOfBlocks spread;
  const table::Block any = blocks_with({1000}).front();
  EXPECT_EQ(spread.sd_log(any), kAssumedSdLog) << "nothing known";
  for (int row = 0; row < 4; ++row) spread.add_row(blocks_with({1000, 1000 * std::exp(0.4)}));
  EXPECT_EQ(spread.sd_log(any), kAssumedSdLog) << "four degrees of freedom are too few";
  for (int row = 0; row < 4; ++row) spread.add_row(blocks_with({1000}));
  EXPECT_EQ(spread.sd_log(any), kAssumedSdLog) << "one block says nothing of its spread";
  spread.add_row(blocks_with({7, 7 * std::exp(0.4)}));
  EXPECT_NEAR(spread.sd_log(any), 0.4 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(summarise(blocks_with({1000}), 0.95, 1, spread.sd_log(any))->ci_high_ns,
              1000 * std::exp(1.96 * 0.4 / std::sqrt(2)), 0.1);
  for (int row = 0; row < 1000; ++row) spread.add_row(blocks_with({1000, 1000, 1000}));
  EXPECT_EQ(spread.sd_log(any), kAssumedSdLog) << "a quiet machine";
  for (int row = 0; row < 4000; ++row) spread.add_row(blocks_with({1, 100}));
  EXPECT_EQ(spread.sd_log(any), 0.5);
}

TEST(UsualFullClock, IsWhereTheFastestReadingsCrowd) {
  EXPECT_EQ(usual_full_clock_ns({}), std::nullopt);
  EXPECT_EQ(usual_full_clock_ns(std::vector{0.0, -1.0}), std::nullopt);
  EXPECT_NEAR(*usual_full_clock_ns(std::vector{107.0, 100.0, 101.0}), 101, 1e-9);
  // One lucky reading of five is none that others crowd about.
  EXPECT_NEAR(*usual_full_clock_ns(std::vector{41.2, 42.9, 43.1, 43.2, 43.4}), 43.1, 0.15);
  EXPECT_NEAR(*usual_full_clock_ns(std::vector{50.0}), 50, 1e-9);
  // As on a Zen 5: a clock that moves by itself, and a few readings in its best moments.
  std::vector<double> moving;
  for (int i = 0; i < 1000; ++i) {
    const double place = (i + 0.5) / 1000 * 2 - 1;
    moving.push_back(100 * (1 + 0.04 * place * place * place));  // 6 in 10 within 1 %
  }
  for (int i = 0; i < 40; ++i) moving.push_back(94 + 0.01 * i);
  EXPECT_NEAR(*usual_full_clock_ns(moving), 100, 0.5);
  // A neighbour for nine tenths of the time lowers the clock by 7 %.
  std::vector<double> shared;
  for (int i = 0; i < 1000; ++i) shared.push_back((i % 10 == 0 ? 100 : 107) + 0.5 * (i % 3));
  EXPECT_NEAR(*usual_full_clock_ns(shared), 100.5, 0.51);
}

TEST(Summarise, BlocksAtALowerClockHaveASpreadOfTheirOwn) {
  const auto clocked = [](double value_ns, double reference_ns) {
    table::Block block = blocks_with({value_ns}).front();
    block.reference_compute_ns = reference_ns;
    return block;
  };
  const double slow_by = std::exp(0.4);
  SpreadOfBlocks spread(100.0);
  for (int row = 0; row < 10; ++row)
    spread.add_row(std::vector{clocked(10, 100), clocked(10, 102), clocked(10 * slow_by, 107)});
  EXPECT_EQ(spread.sd_log(clocked(5, 101)), kAssumedSdLog);
  EXPECT_NEAR(spread.sd_log(clocked(5, 107)), 0.4, 1e-12) << "from the blocks at full clock";
  // Rows without such a block tell how far those at a lower clock lie apart.
  for (int row = 0; row < 1000; ++row)
    spread.add_row(std::vector{clocked(10, 110), clocked(10 * std::exp(0.2), 110)});
  EXPECT_NEAR(spread.sd_log(clocked(5, 107)), 0.2 / std::sqrt(2), 1e-2);
  EXPECT_EQ(spread.sd_log(clocked(5, 101)), kAssumedSdLog);
  // What nobody timed is at full clock, and too few of a kind take what both have in common.
  EXPECT_EQ(spread.sd_log(blocks_with({5}).front()), kAssumedSdLog);
  SpreadOfBlocks few(100.0);
  for (int row = 0; row < 10; ++row)
    few.add_row(std::vector{clocked(10, 110), clocked(10 * slow_by, 110)});
  EXPECT_NEAR(few.sd_log(clocked(5, 100)), 0.4 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(few.sd_log(clocked(5, 110)), 0.4 / std::sqrt(2), 1e-12);
}

TEST(Summarise, BlocksThatAreAllAtALowerClockShareAnError) {
  const auto clocked = [](double value_ns, double reference_ns) {
    table::Block block = blocks_with({value_ns}).front();
    block.reference_compute_ns = reference_ns;
    return block;
  };
  const std::vector slow = {clocked(10, 107), clocked(10.1, 108), clocked(9.9, 107)};
  const std::vector mixed = {clocked(10, 107), clocked(10, 101)};
  SpreadOfBlocks spread(100.0);
  EXPECT_EQ(spread.common_sd_log(slow), kAssumedLowerClockSdLog) << "nothing known";
  EXPECT_EQ(spread.common_sd_log(mixed), 0) << "half of them";
  EXPECT_NEAR(
      spread.common_sd_log(std::vector{clocked(9, 101), clocked(10, 107), clocked(10, 108)}),
      std::log(10 / 9.0), 1e-12);
  EXPECT_EQ(spread.common_sd_log(std::vector{clocked(10, 107), clocked(9, 108), clocked(10, 101)}),
            0)
      << "no longer than the one at full clock";
  EXPECT_EQ(spread.common_sd_log(blocks_with({10, 10})), 0) << "without a reference";
  EXPECT_EQ(spread.common_sd_log({}), 0);
  const double slow_by = std::exp(0.3);
  for (int row = 0; row < 5; ++row)
    spread.add_row(std::vector{clocked(10, 100), clocked(10 * slow_by, 107)});
  EXPECT_NEAR(spread.common_sd_log(slow), 0.3, 1e-12);
  EXPECT_EQ(spread.common_sd_log(mixed), 0);

  // As many such blocks as one likes do not make it smaller.
  std::vector<table::Block> many;
  for (int i = 0; i < 40; ++i) many.push_back(clocked(i % 2 == 0 ? 9.9 : 10.1, 107));
  const auto timing = summarise(many, 0.95, 1, kAssumedSdLog, spread.common_sd_log(many));
  EXPECT_NEAR(timing->ci_high_ns, 10 * std::exp(1.96 * 0.3), 0.05);
  EXPECT_NEAR(timing->ci_low_ns, 10 * std::exp(-1.96 * 0.3), 0.05);
  const auto alone = summarise(many, 0.95, 1);
  EXPECT_LT(alone->ci_high_ns, 10.2);
  EXPECT_EQ(summarise(many, 0.95, 1, kAssumedSdLog, 0)->ci_high_ns, alone->ci_high_ns);

  for (int row = 0; row < 1000; ++row)
    spread.add_row(std::vector{clocked(10, 100), clocked(10, 107)});
  EXPECT_LT(spread.common_sd_log(slow), 0.03) << "the clock alone";
}

TEST(Summarise, IntervalAlwaysHoldsTheMedian) {
  base::Random random(9);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t n = 1 + static_cast<std::size_t>(random.below(14));
    const auto timing = summarise(blocks_with(log_normal(random, n, 50, 1.0)), 0.95, 1);
    EXPECT_LE(timing->ci_low_ns, timing->median_ns);
    EXPECT_GE(timing->ci_high_ns, timing->median_ns);
  }
}

TEST(RandomNumbers, AreTheSameForOneSeedAndCoverTheRange) {
  base::Random a(42);
  base::Random b(42);
  std::vector<int> counts(6);
  for (int i = 0; i < 6000; ++i) {
    const auto drawn = a.below(6);
    EXPECT_EQ(drawn, b.below(6));
    ++counts[static_cast<std::size_t>(drawn)];
  }
  for (int count : counts) EXPECT_NEAR(count, 1000, 120);  // sd 29
  EXPECT_NE(base::mix_seed(1, 2), base::mix_seed(2, 1));
  // First output of SplitMix64 from state 0, as published with the generator.
  EXPECT_EQ(base::Random(0).next(), 0xe220a8397b1dcdafU);
}

}  // namespace
}  // namespace oplat::measure
