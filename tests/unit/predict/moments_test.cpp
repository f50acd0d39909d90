// SPDX-License-Identifier: Apache-2.0
#include "predict/moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace oplat::predict {
namespace {

constexpr double kMibOfMoments = 1024.0 * 1024.0;
const estimate::Ramp kLast{16 * kMibOfMoments, 64 * kMibOfMoments, 0.2};

Exposure whole(double bytes, double ns) { return {bytes, bytes, ns}; }

TEST(MomentReach, IsOfWhatLivesInTheLastLevelAndOfTheBytesANanosecond) {
  EXPECT_EQ(moment_reach(whole(4 * kMibOfMoments, 1e6), kLast), 0)
      << "four times as much would stay";
  // A quarter of the last level would hold none of it, four times as much all.
  EXPECT_NEAR(moment_reach(whole(16 * kMibOfMoments, 16 * kMibOfMoments), kLast), 1, 1e-12);
  EXPECT_NEAR(moment_reach(whole(16 * kMibOfMoments, 4 * kMibOfMoments), kLast), 2, 1e-12);
  // It comes from memory in any case, and half of that is felt.
  EXPECT_NEAR(moment_reach(whole(1024 * kMibOfMoments, 1024 * kMibOfMoments), kLast), 0.5, 1e-12);
  // A block of a large network, by its own bytes a nanosecond.
  EXPECT_NEAR(moment_reach({16 * kMibOfMoments, kMibOfMoments, 4 * kMibOfMoments}, kLast), 0.5,
              1e-12);
  // Nothing that a table says makes it no number.
  for (const double odd : {0.0, -1.0, 1e300, std::nan("")}) {
    EXPECT_TRUE(std::isfinite(moment_reach({16 * kMibOfMoments, kMibOfMoments, odd}, kLast)))
        << odd;
    EXPECT_TRUE(std::isfinite(moment_reach({16 * kMibOfMoments, odd, 1e6}, kLast))) << odd;
    EXPECT_TRUE(std::isfinite(moment_reach({odd, 1e6, 1e6}, estimate::Ramp{8e6, 3e7}))) << odd;
  }
}

/// Models of 0.1 to 100 MiB whose blocks are apart by hypot(own, per_reach * reach), as seven
/// blocks show it.
std::vector<ModelMoments> models_of(double own, double per_reach, int count) {
  std::mt19937_64 random(1);
  std::vector<ModelMoments> models;
  for (int i = 0; i < count; ++i) {
    const double bytes = 0.1 * kMibOfMoments * std::pow(1000, i / (count - 1.0));
    ModelMoments model;
    model.exposure = whole(bytes, bytes / (i % 3 == 0 ? 2 : 8));
    model.blocks = 7;
    std::chi_squared_distribution<double> squares(6);
    model.sd_log = std::hypot(own, per_reach * moment_reach(model.exposure, kLast)) *
                   std::sqrt(squares(random) / 6);
    models.push_back(model);
  }
  return models;
}

TEST(FitMoments, TellsModelsThatFeelTheLastLevelFromThoseThatDoNot) {
  const auto models = models_of(0.01, 0.04, 200);
  const MomentSpread spread = fit_moments(models, kLast);
  EXPECT_NEAR(spread.sd_log, 0.01, 0.001);
  EXPECT_NEAR(spread.per_reach, 0.04, 0.006);
  EXPECT_NEAR(spread.sd_log_of(whole(kMibOfMoments, 1e6)), spread.sd_log, 1e-12);
  EXPECT_NEAR(spread.sd_log_of(whole(16 * kMibOfMoments, 2 * kMibOfMoments)),
              std::hypot(spread.sd_log, spread.per_reach * std::sqrt(8)), 1e-12);
}

TEST(FitMoments, AFewModelsThatWereDisturbedDoNotDecide) {
  auto models = models_of(0.01, 0.04, 24);
  const MomentSpread before = fit_moments(models, kLast);
  models[2].sd_log = 0.6;
  models[9].sd_log = 1e300;
  const MomentSpread after = fit_moments(models, kLast);
  EXPECT_LT(after.sd_log, 2 * before.sd_log);
  EXPECT_LT(after.per_reach, 2 * before.per_reach);
}

TEST(FitMoments, OneSpreadForAllWhereNothingTellsThemApart) {
  const auto median_alone = [](const MomentSpread& spread) {
    return spread.per_reach == 0 && !spread.last;
  };
  const auto models = models_of(0.01, 0.04, 9);
  EXPECT_TRUE(median_alone(fit_moments(models, std::nullopt))) << "nobody knows the caches";
  const MomentSpread few = fit_moments(std::span(models).first(3), kLast);
  EXPECT_TRUE(median_alone(few));
  EXPECT_GT(few.sd_log, 0);
  std::vector<ModelMoments> alike(20, models.back());
  EXPECT_TRUE(median_alone(fit_moments(alike, kLast)));
  EXPECT_EQ(fit_moments(alike, kLast).sd_log, models.back().sd_log);
  EXPECT_EQ(fit_moments({}, kLast), MomentSpread());
  // Models far smaller than the last level, of which one hardly feels it: what it differs by says
  // nothing of those that do.
  std::vector<ModelMoments> small(9, models.front());
  for (ModelMoments& model : small) model.exposure = whole(kMibOfMoments, 1e6);
  small.back().exposure = whole(4.05 * kMibOfMoments, 1.4e6);
  small.back().sd_log = 0.08;
  EXPECT_TRUE(median_alone(fit_moments(small, kLast)));
  // Where all are as far apart, whatever they touch, reach has no part in it.
  for (ModelMoments& model : alike) model.sd_log = 0.02;
  for (std::size_t i = 0; i < alike.size(); ++i)
    alike[i].exposure = whole(static_cast<double>(i + 1) * 2 * kMibOfMoments, 1e6);
  const MomentSpread same = fit_moments(alike, kLast);
  EXPECT_NEAR(same.sd_log, 0.02, 0.003);
  EXPECT_LT(same.sd_log_of(alike[10].exposure), 0.024);
}

}  // namespace
}  // namespace oplat::predict
