// SPDX-License-Identifier: Apache-2.0
/// Spreads: intervals that hold as many truths as they say, in every band of a feature.
#include "estimate/learned/spread.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"

namespace oplat::estimate {
namespace {

/// Answers with one feature in [0, 1) and one that says nothing; `sd` of the feature is how far
/// they err.
struct Answers {
  std::vector<std::array<float, 2>> features;
  std::vector<Judged> judged;

  template <class Sd>
  Answers(std::size_t count, std::uint64_t seed, Sd sd) : features(count) {
    base::Random random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      features[i] = {static_cast<float>(random.uniform()), static_cast<float>(random.uniform())};
      const auto error = static_cast<float>(sd(features[i][0]) * random.normal());
      judged.push_back({features[i], error, 2 * error, i % 7});
    }
  }

  /// Share of the answers with a feature in [low, high) that lie inside their 90 % intervals.
  [[nodiscard]] double inside(const Spread& spread, float low, float high) const {
    double all = 0, in = 0;
    for (const Judged& each : judged) {
      if (each.features[0] < low || each.features[0] >= high) continue;
      all += 1;
      in += std::abs(each.error) <=
                    1.645F * spread.factor * std::exp(spread.forest.value(each.features))
                ? 1
                : 0;
    }
    return in / all;
  }
};

/// Trees that see one of two columns are a matter of luck.
SpreadOptions of_both_columns() {
  SpreadOptions options;
  options.trees = 80;
  options.feature_fraction = 1;
  return options;
}

TEST(SpreadTest, IntervalsHoldNineInTenOfNewAnswersWhereverErrorsAreLarge) {
  const auto sd = [](float at) { return at < 0.5F ? 0.1 : 1.0; };
  const Answers shown(6000, 1, sd);
  const Answers others(20000, 2, sd);
  const Spread spread = learn_spread(shown.judged, of_both_columns()).value();
  EXPECT_NEAR(others.inside(spread, 0, 0.5F), 0.9, 0.05) << "one scale for both would hold all";
  EXPECT_NEAR(others.inside(spread, 0.5F, 1), 0.9, 0.05);
  EXPECT_NEAR(spread.quick_factor, 2 * spread.factor, 0.02 * spread.factor)
      << "the fast answers err twice as much";
}

TEST(SpreadTest, BandsAreEvenedOutWhereErrorsDifferInKind) {
  // Half of the errors below 0.5 are nothing at all, so that their mean logarithm says little about
  // the largest tenth.
  const Answers shown(8000, 3, [number = 0](float at) mutable {
    return at < 0.5F && ++number % 2 == 0 ? 1e-6 : 0.1;
  });
  const Answers others(40000, 4, [number = 0](float at) mutable {
    return at < 0.5F && ++number % 2 == 0 ? 1e-6 : 0.1;
  });
  SpreadOptions options = of_both_columns();
  const Spread plain = learn_spread(shown.judged, options).value();
  EXPECT_GT(std::abs(others.inside(plain, 0, 0.5F) - 0.9), 0.03) << "or the test shows nothing";
  options.banded = 0;
  const Spread banded = learn_spread(shown.judged, options).value();
  EXPECT_EQ(banded.forest.trees(), plain.forest.trees() + 1);
  for (const float low : {0.0F, 0.25F, 0.5F, 0.75F})
    EXPECT_NEAR(others.inside(banded, low, low + 0.25F), 0.9, 0.02) << low;
}

TEST(SpreadTest, OfTwoHoldOutsTheWorstCountsUnlessBandsAreAlike) {
  Answers shown(4000, 5, [](float) { return 0.1; });
  for (std::size_t i = 0; i < shown.judged.size(); ++i) {
    shown.judged[i].hold_out = i % 4 == 0 ? 1 : 0;
    if (i % 4 == 0) shown.judged[i].error *= 3;
  }
  SpreadOptions options = of_both_columns();
  const Spread worst = learn_spread(shown.judged, options).value();
  options.banded = 1;
  const Spread banded = learn_spread(shown.judged, options).value();
  EXPECT_NEAR(banded.factor, 1, 0.05) << "the bands' tree has it all";
  EXPECT_NEAR(shown.inside(banded, 0, 1), 0.9, 0.02);
  EXPECT_GT(shown.inside(worst, 0, 1), 0.95)
      << "93 % of those that err three times as much, so hardly any other is outside";
}

TEST(SpreadTest, ANewHoldOutLiesInsideThoughTreesCouldTellTheOthersApart) {
  // Four hold-outs, told apart by the feature; one of them errs three times as much.
  const auto of_hold_out = [](Answers& answers, std::size_t i) {
    answers.features[i][0] = 0.2F * static_cast<float>(answers.judged[i].hold_out);
  };
  Answers shown(8000, 7, [](float) { return 0.1; });
  for (std::size_t i = 0; i < shown.judged.size(); ++i) {
    shown.judged[i].hold_out = i % 4;
    of_hold_out(shown, i);
    if (i % 4 == 3) shown.judged[i].error *= 3;
  }
  // The next one looks like the first, and errs twice as much.
  Answers next(4000, 8, [](float) { return 0.2; });
  for (std::size_t i = 0; i < next.judged.size(); ++i) {
    next.judged[i].hold_out = 0;
    of_hold_out(next, i);
  }
  const Spread spread = learn_spread(shown.judged, of_both_columns()).value();
  EXPECT_GT(next.inside(spread, 0, 1), 0.8)
      << "0.6 where each answer is judged by trees that were shown others of its hold-out";
}

TEST(SpreadTest, TheFewerHoldOutsTheMoreTheyMustHold) {
  const auto inside = [](std::size_t hold_outs) {
    Answers shown(6000, 9, [](float) { return 0.1; });
    for (std::size_t i = 0; i < shown.judged.size(); ++i) shown.judged[i].hold_out = i % hold_outs;
    return Answers(20000, 10, [](float) { return 0.1; })
        .inside(learn_spread(shown.judged, of_both_columns()).value(), 0, 1);
  };
  EXPECT_NEAR(inside(1), 0.95, 0.01);
  EXPECT_NEAR(inside(4), 0.92, 0.01);
  EXPECT_NEAR(inside(20), 0.905, 0.01);
}

TEST(SpreadTest, BandsOfEqualValuesStayWhole) {
  Answers shown(5000, 6, [](float) { return 0.1; });
  for (auto& each : shown.features) each[0] = 1;
  SpreadOptions options;
  options.banded = 0;
  const Spread spread = learn_spread(shown.judged, options).value();
  EXPECT_NEAR(shown.inside(spread, 0, 2), 0.9, 0.01);
}

}  // namespace
}  // namespace oplat::estimate
