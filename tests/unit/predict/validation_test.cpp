// SPDX-License-Identifier: Apache-2.0
#include "predict/validation.hpp"
#include "base/interval.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "unit/estimate/small_table.hpp"

namespace oplat::predict {
namespace {

ValidatedModel validated_model(std::optional<double> predicted, double measured,
                               std::optional<base::Interval> interval = std::nullopt) {
  return {"m", predicted, interval, test::timing(measured), {}};
}

TEST(Validation, SummaryByHand) {
  // Errors +4 %, -8 %, +20 %.
  const std::vector<ValidatedModel> models = {validated_model(104, 100, base::Interval{95, 110}),
                                              validated_model(184, 200, base::Interval{170, 198}),
                                              validated_model(360, 300, base::Interval{290, 400}),
                                              validated_model(std::nullopt, 50)};
  const ValidationSummary s = summarise(models);
  EXPECT_EQ(s.models, 4);
  EXPECT_EQ(s.predicted, 3);
  EXPECT_NEAR(s.mape.value(), 0.32 / 3, 1e-12);
  EXPECT_NEAR(s.bias.value(), 0.16 / 3, 1e-12);
  EXPECT_NEAR(s.within_5_percent.value(), 1.0 / 3, 1e-12);
  EXPECT_NEAR(s.within_10_percent.value(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(s.interval_coverage.value(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(s.rank_correlation.value(), 1.0, 1e-12);
}

TEST(Validation, NothingPredictedHasNoErrors) {
  const ValidationSummary s =
      summarise(std::vector<ValidatedModel>{validated_model(std::nullopt, 50)});
  EXPECT_EQ(s.predicted, 0);
  EXPECT_FALSE(s.mape);
  EXPECT_FALSE(s.interval_coverage);
  EXPECT_FALSE(s.rank_correlation);
}

TEST(Validation, InsideIncludesTheEnds) {
  EXPECT_TRUE(validated_model(100, 90, base::Interval{90, 110}).inside().value());
  EXPECT_FALSE(validated_model(100, 89.9, base::Interval{90, 110}).inside().value());
  EXPECT_FALSE(validated_model(100, 90).inside().has_value());
}

TEST(RankCorrelation, ByHand) {
  // Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 - 6 * 4 / (5 * 24).
  EXPECT_NEAR(
      rank_correlation(std::vector{1., 2., 3., 4., 5.}, std::vector{20., 10., 40., 30., 50.})
          .value(),
      0.8, 1e-12);
  EXPECT_NEAR(rank_correlation(std::vector{1., 2., 3.}, std::vector{9., 8., 7.}).value(), -1,
              1e-12);
  // A tie shares rank 1.5: (1.5, 1.5, 3) against (1, 2, 3) gives 1.5 / sqrt(1.5 * 2).
  EXPECT_NEAR(rank_correlation(std::vector{5., 5., 6.}, std::vector{1., 2., 3.}).value(),
              0.8660254038, 1e-9);
}

TEST(RankCorrelation, AbsentBelowThreeOrWhereConstant) {
  EXPECT_FALSE(rank_correlation(std::vector{1., 2.}, std::vector{1., 2.}));
  EXPECT_FALSE(rank_correlation(std::vector{1., 1., 1.}, std::vector{1., 2., 3.}));
}

}  // namespace
}  // namespace oplat::predict
