// SPDX-License-Identifier: Apache-2.0
/// What errors of rows held out come to: the share of the shape model, and the factor of the
/// spread.
#include "estimate/learned/calibration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace oplat::estimate {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

/// A trial whose truth lies at `share` of the way from the pattern's answer to the shape model's.
Trial trial_at(float share, std::size_t hold_out, float gap = kUnknown) {
  Trial trial;
  trial.hold_out = hold_out;
  trial.accurate = {1, 2};
  trial.truth = 1 + share;
  trial.gap = gap;
  return trial;
}

ShapeShare share_of(const std::vector<Trial>& trials, float before) {
  std::vector<const Trial*> pointers;
  for (const Trial& trial : trials) pointers.push_back(&trial);
  return best_shape_share(pointers, before);
}

TEST(ShapeShareTest, IsTheBestOfTheTrialsDrawnToWhatWasThoughtBefore) {
  EXPECT_NEAR(share_of({trial_at(0.6F, 0), trial_at(0.6F, 0)}, 0).share, 0.3, 1e-6)
      << "one hold-out against the prior";
  EXPECT_NEAR(share_of({trial_at(0.6F, 0), trial_at(0.6F, 1), trial_at(0.6F, 2)}, 0.2F).share, 0.5,
              1e-6);
  EXPECT_EQ(share_of({trial_at(0.6F, 0)}, 0).gap, 0) << "no trial had two neighbours";
}

TEST(ShapeShareTest, GrowsWithTheGap) {
  // Twice as far apart the shape model counts twice as much: one share explains both.
  const ShapeShare share = share_of({trial_at(0.2F, 0, 1), trial_at(0.4F, 1, 2)}, 0.3F);
  EXPECT_NEAR(share.gap, 1.5, 1e-6);
  EXPECT_NEAR(share.share, 0.3, 1e-6);
  EXPECT_NEAR(share.across(1), 0.2, 1e-6);
  EXPECT_NEAR(share.across(2), 0.4, 1e-6);
  EXPECT_EQ(share.across(100), 1);
  EXPECT_NEAR(share.across(kUnknown), 0.3, 1e-6) << "one neighbour";
  EXPECT_NEAR((ShapeShare{0.4F, 0}.across(7)), 0.4, 1e-6) << "nothing is known of gaps";
}

TEST(SpreadFactorTest, NineInTenErrorsAreInside) {
  std::vector<float> errors;
  for (int i = 1; i <= 1000; ++i)
    errors.push_back(0.001F * static_cast<float>(i) * (i % 2 == 0 ? 1 : -1));
  const std::vector<float> scales(errors.size(), 2);
  const float factor = spread_factor(errors, scales);
  int inside = 0;
  for (const float error : errors) inside += std::abs(error) <= 1.645F * factor * 2 ? 1 : 0;
  EXPECT_NEAR(inside, 900, 2);
}

TEST(SpreadFactorTest, IsNoMoreThanAFitMayHold) {
  EXPECT_EQ(spread_factor(std::vector<float>{30, 30}, std::vector<float>{1e-9F, 1e-9F}),
            kMaxSpreadFactor);
}

TEST(SpreadFactorTest, TheWorstHoldOutCounts) {
  std::vector<float> errors(100, 0.01F);
  errors.resize(200, 0.03F);
  const std::vector<float> scales(errors.size(), 1);
  std::vector<std::size_t> hold_outs(100, 0);
  hold_outs.resize(200, 1);
  EXPECT_NEAR(worst_spread_factor(errors, scales, hold_outs), 0.03 / 1.645, 1e-4)
      << "nine tenths of all are 0.03 already";
  errors.assign(200, 0.01F);
  for (std::size_t i = 195; i < 200; ++i) errors[i] = 0.03F;
  hold_outs.assign(200, 0);
  for (std::size_t i = 190; i < 200; ++i) hold_outs[i] = 1;
  EXPECT_NEAR(spread_factor(errors, scales), 0.01 / 1.645, 1e-4);
  EXPECT_NEAR(worst_spread_factor(errors, scales, hold_outs), 0.03 / 1.645, 1e-4);
  EXPECT_NEAR(worst_spread_factor(errors, scales, hold_outs, 0.4), 0.01 / 1.645, 1e-4)
      << "six tenths may lie outside";
}

}  // namespace
}  // namespace oplat::estimate
