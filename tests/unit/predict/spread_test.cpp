// SPDX-License-Identifier: Apache-2.0
#include "predict/spread.hpp"
#include "base/stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace oplat::predict {
namespace {

TEST(Spread, TwoMeasuredKernels) {
  // Parts 0.06 and 0.08: 0.3 * 0.14^2 + 0.7 * (0.0036 + 0.0064) + 0.03^2 = 0.00588 + 0.007 +
  // 0.0009.
  const std::vector<Term> terms = {{0.6, 0.1, "measured"}, {0.4, 0.2, "measured"}};
  EXPECT_NEAR(total_spread(terms, 0.03), std::sqrt(0.01378), 1e-12);
}

TEST(Spread, GroupsAreIndependentOfEachOther) {
  // 0.06^2 and 0.08^2 whatever rho is, as each group holds one term.
  const std::vector<Term> terms = {{0.6, 0.1, "measured"}, {0.4, 0.2, "physics"}};
  EXPECT_NEAR(total_spread(terms, 0), 0.1, 1e-12);
}

TEST(Spread, WhatTermsHaveInCommonAddsUpWithItsSign) {
  // Own parts of 0.3 in one group of 0.3 and in another; 0.4 of each has one cause.
  const std::vector<Term> terms = {{0.5, 0.5, "measured", 0.4}, {0.5, 0.5, "physics", 0.4}};
  EXPECT_NEAR(terms[0].own_sd_log(), 0.3, 1e-12);
  EXPECT_NEAR(total_spread(terms, 0.1), std::sqrt(2 * 0.15 * 0.15 + 0.4 * 0.4 + 0.01), 1e-12);
  const std::vector<Term> opposed = {{0.5, 0.5, "measured", 0.4}, {0.5, 0.5, "physics", -0.4}};
  EXPECT_NEAR(total_spread(opposed, 0.1), std::sqrt(2 * 0.15 * 0.15 + 0.01), 1e-12);
}

TEST(Spread, ValuesAreOfOneKindForAllKernelsOfAnOperator) {
  const auto term = [](double share, std::string group, std::string op) {
    return Term{share, 0.5, std::move(group), 0, 0.4, std::move(op)};
  };
  const std::vector<Term> of_one = {term(0.5, "measured", "PRelu"), term(0.5, "physics", "PRelu")};
  EXPECT_NEAR(of_one[0].own_sd_log(), 0.3, 1e-12);
  EXPECT_NEAR(total_spread(of_one, 0), std::sqrt(2 * 0.15 * 0.15 + 0.4 * 0.4), 1e-12);
  const std::vector<Term> of_two = {term(0.5, "measured", "PRelu"), term(0.5, "physics", "Pow")};
  EXPECT_NEAR(total_spread(of_two, 0), std::sqrt(2 * 0.15 * 0.15 + 2 * 0.2 * 0.2), 1e-12);
}

TEST(Spread, ScoresSpeakOfMeasuredKernelsAndTheirSum) {
  // A composition of 5 %, 3 % of it moments; a group of rows, and one that holds an estimate.
  std::vector<Term> terms{
      {0.5, 0.04, "measured"}, {0.25, 0.08, "learned"}, {0.25, 0.08, "learned"}};
  terms[0].measured = terms[1].measured = true;
  terms[0].values_sd_log = 0.02;
  terms[0].op = "PRelu";
  SumVariance variance = sum_variance(terms, 0.04, {.measured = 0, .learned = 1});
  variance.add_unscored(0.03);
  // Of its own the row has 0.04^2 - 0.02^2.
  EXPECT_NEAR(variance.scored, 0.04 * 0.04 + 0.25 * (0.0016 - 0.0004), 1e-15);
  EXPECT_NEAR(variance.unscored, 0.03 * 0.03 + 0.04 * 0.04 + 0.01 * 0.01, 1e-15);
  EXPECT_NEAR(variance.all(), std::pow(total_spread(terms, 0.05, {0, 1}), 2), 1e-15);
  EXPECT_NEAR(variance.unscored_share(), 0.0026 / 0.0045, 1e-12);
  SumVariance more = variance;
  more.add_unscored(0.01);
  EXPECT_EQ(more.scored, variance.scored);
  EXPECT_NEAR(more.unscored, variance.unscored + 1e-4, 1e-15);
  EXPECT_EQ(SumVariance().unscored_share(), 0);
}

TEST(Spread, CorrelationPerGroup) {
  EXPECT_EQ(correlation("measured"), 0.3);
  EXPECT_EQ(correlation("interpolated"), 0.5);
  EXPECT_EQ(correlation("learned"), 0.5);
  EXPECT_EQ(correlation("physics"), 0.9);
  EXPECT_EQ(correlation("extrapolated"), 0.9);
}

// Quantiles from printed tables.
TEST(Quantile, Normal) {
  EXPECT_NEAR(base::normal_quantile(0.95), 1.6448536270, 1e-9);
  EXPECT_NEAR(base::normal_quantile(0.975), 1.9599639845, 1e-9);
  EXPECT_NEAR(base::normal_quantile(0.05), -1.6448536270, 1e-9);
  EXPECT_EQ(base::normal_quantile(0.5), 0);
}

TEST(Quantile, Student) {
  EXPECT_NEAR(base::student_quantile(0.975, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(base::student_quantile(0.95, 2), 2.9199856, 1e-6);
  EXPECT_NEAR(base::student_quantile(0.95, 10), 1.8124611, 1e-6);
  EXPECT_NEAR(base::student_quantile(0.05, 10), -1.8124611, 1e-6);
  EXPECT_NEAR(base::student_quantile(0.975, 1000000), 1.95997, 1e-4);
}

TEST(Interval, IsSymmetricInTheLogarithm) {
  const auto bounds = interval(1000, 0.1, 0.9, {});
  ASSERT_TRUE(bounds);
  EXPECT_NEAR(bounds->high, 1000 * std::exp(0.16448536270), 1e-6);
  EXPECT_NEAR(bounds->low, 1000 * std::exp(-0.16448536270), 1e-6);
}

TEST(Interval, BeginsAtTheFloorButNeverAboveTheMedian) {
  EXPECT_EQ(interval(1000, 1, 0.9, {}, 400)->low, 400);
  EXPECT_EQ(interval(1000, 1, 0.9, {}, 4000)->low, 1000);
  EXPECT_EQ(interval(1000, 0.1, 0.9, {}, 400)->low, interval(1000, 0.1, 0.9, {})->low);
  EXPECT_EQ(interval(1000, 1, 0.9, {}, 400)->high, interval(1000, 1, 0.9, {})->high);
}

TEST(Interval, FewCalibrationModelsWidenIt) {
  EXPECT_NEAR(interval(1000, 0.1, 0.9, {3, {}})->high, 1000 * std::exp(0.18945786), 1e-3);
  EXPECT_NEAR(interval(1000, 0.1, 0.9, {1, {}})->high, 1000 * std::exp(0.20150484), 1e-3);
}

TEST(Interval, LevelMustBeAShare) {
  for (const double level : {0.0, 1.0, -0.5, 90.0, std::nan("")}) {
    const auto bounds = interval(1000, 0.1, level, {});
    ASSERT_FALSE(bounds) << level;
    EXPECT_EQ(bounds.error().code, Code::Usage);
  }
}

}  // namespace
}  // namespace oplat::predict
