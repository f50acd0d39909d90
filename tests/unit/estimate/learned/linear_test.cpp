// SPDX-License-Identifier: Apache-2.0
/// Linear combinations, the machine behind the rows, and the errors of trials.
#include "estimate/learned/linear.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "estimate/learned/calibration.hpp"
#include "estimate/learned/machine.hpp"
#include "oplat/base/random.hpp"
#include "unit/estimate/learned/synthetic.hpp"

namespace oplat::estimate {
namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

TEST(LinearTest, FindsTheWeightsOfASumAndLeavesOutWhatIsNeverSeen) {
  base::Random random(5);
  Matrix x(300, 4);
  std::vector<float> y;
  for (std::size_t i = 0; i < x.rows; ++i) {
    const auto row = x.row(i);
    row[0] = static_cast<float>(random.uniform() - 0.5);
    row[1] = kNone;
    row[2] = i % 3 == 0 ? kNone : static_cast<float>(random.uniform() - 0.5);
    row[3] = 100;
    y.push_back(0.25F * row[0] - 0.5F * (std::isnan(row[2]) ? 0 : row[2]));
  }
  const std::vector<std::uint32_t> asked{0, 1, 2};
  const Linear linear = fit_linear(x, y, asked);
  EXPECT_EQ(linear.features, (std::vector<std::uint32_t>{0, 2}));
  ASSERT_EQ(linear.weights.size(), 2U);
  EXPECT_NEAR(linear.weights[0], 0.25, 1e-2);
  EXPECT_NEAR(linear.weights[1], -0.5, 1e-2);
  EXPECT_NEAR(linear.value(std::vector<float>{0.4F, 9, kNone, 0}), 0.1, 1e-2) << "what is missing counts as 0";
  EXPECT_EQ(linear.value(std::vector<float>{1e6F, 0, 0, 0}), linear.value(std::vector<float>{1e5F, 0, 0, 0}))
      << "steps are no lines";
  EXPECT_TRUE(fit_linear(Matrix(0, 4), {}, asked).features.empty());
}

TEST(MachineTest, RatesAreThoseThatTheRowsReached) {
  std::vector<ir::Description> rows;
  std::vector<double> log_ns;
  for (const test::SyntheticRow& row : test::synthetic_rows()) {
    rows.push_back(row.description);
    // 4 operations in 1 ns, 2 bytes in 1 ns, 3000 ns of overhead.
    log_ns.push_back(std::log(3000 + std::max(*rows.back().work.flops / 4, rows.back().work.bytes() / 2)));
  }
  const Machine machine = learn_machine(rows, log_ns);
  EXPECT_NEAR(machine.flops_per_ns, 4, 0.2);
  EXPECT_GT(machine.overhead_ns, 0);
  EXPECT_LT(machine.overhead_ns, std::exp(*std::min_element(log_ns.begin(), log_ns.end())));
  ir::Work work = rows.front().work;
  work.flops = 4e6;
  Machine plain;
  plain.overhead_ns = 10;
  plain.flops_per_ns = 4;
  plain.bytes_per_ns = 1e9;
  EXPECT_NEAR(plain.bound_ns(work), 10 + 1e6, 1);
}

TEST(MachineTest, WavesAreSeenWhereTheyAre) {
  std::vector<ir::Description> rows;
  std::vector<double> log_ns;
  for (const test::SyntheticRow& row : test::synthetic_rows()) {
    rows.push_back(row.description);
    log_ns.push_back(row.log_ns);
  }
  EXPECT_GT(learn_machine(rows, log_ns).processors, 1);
  EXPECT_EQ(learn_machine({}, {}).processors, 1);
}

TEST(MachineTest, TilesCoverTheProductOfEveryGroup) {
  ir::Contraction product;
  product.groups = 2;
  product.batch = 1;
  product.out_h = product.out_w = 10;
  product.out_c = 65;
  EXPECT_EQ(tiles_of(product, {64, 64}), 2 * 2 * 2);
  const double one = log_wave_work(product, {64, 64}, 1);
  EXPECT_NEAR(log_wave_work(product, {64, 64}, 8), one - std::log(8), 1e-12);
  EXPECT_EQ(log_wave_work(product, {64, 64}, 9), log_wave_work(product, {64, 64}, 8))
      << "a unit too many has nothing to do";
}

std::vector<Point> grid_points() {
  std::vector<Point> points;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      for (int c = 0; c < 2; ++c) {
        Point point;
        point.at[0] = a;
        point.at[1] = b;
        point.at[2] = c;
        points.push_back(point);
      }
    }
  }
  return points;
}

TEST(CalibrationTest, HoldOutsMakeQuestionsOfEachPattern) {
  const Lines lines(grid_points(), 3, 1);
  SiteValues values;
  values.u.assign(lines.sites().size(), 0);
  values.waves.assign(lines.sites().size() * kTileCount, 0);
  const NeighbourFeatures features(lines, std::move(values));
  const std::vector<Pattern> patterns = patterns_of(lines, features);
  std::vector<double> work;
  for (const Point& point : lines.sites()) work.push_back(point.at[0] + point.at[1]);
  const std::vector<HoldOut> all = hold_outs(lines, patterns, work, 1);
  std::set<PatternKind> kinds;
  for (const HoldOut& held : all) {
    const std::set<std::uint32_t> rows(held.rows.begin(), held.rows.end());
    ASSERT_FALSE(held.asked.empty());
    for (const std::uint32_t asked : held.asked) EXPECT_TRUE(rows.contains(asked));
    EXPECT_LT(rows.size(), lines.sites().size());
    for (const Pattern& pattern : held.patterns) kinds.insert(pattern.kind);
    if (held.patterns.front().kind == PatternKind::Level) {
      // The whole level is gone, and nothing else.
      const std::size_t axis = held.patterns.front().axis;
      const double level = lines.sites()[held.rows.front()].at[axis];
      for (std::uint32_t i = 0; i < lines.sites().size(); ++i)
        EXPECT_EQ(rows.contains(i), lines.sites()[i].at[axis] == level);
    }
  }
  for (const Pattern& pattern : patterns) EXPECT_TRUE(kinds.contains(pattern.kind)) << name(pattern.kind);
  EXPECT_EQ(hold_outs(lines, patterns, work, 1).front().rows, all.front().rows) << "the same seed, the same rows";
  EXPECT_NE(hold_outs(lines, patterns, work, 2).front().rows, all.front().rows);
}

TEST(CalibrationTest, TheShareOfShapesIsTheOneThatErrsLeast) {
  const auto trials = [](float own, float shape) {
    std::vector<Trial> all(10);
    for (Trial& trial : all) {
      trial.own = own;
      trial.shape = shape;
      trial.truth = 1;
    }
    return all;
  };
  EXPECT_EQ(best_shape_share(trials(1, 2)), 0.0F);
  EXPECT_EQ(best_shape_share(trials(2, 1)), 1.0F);
  EXPECT_NEAR(best_shape_share(trials(0, 2)), 0.5F, 1e-6);
}

TEST(CalibrationTest, TheFactorCoversNineTenths) {
  base::Random random(9);
  std::vector<float> errors, scales;
  std::vector<std::size_t> one, several;
  for (std::size_t i = 0; i < 5000; ++i) {
    const double scale = 0.5 + random.uniform();
    // The last of five hold-outs errs three times as much.
    errors.push_back(static_cast<float>(0.1 * scale * random.normal() * (i % 5 == 4 ? 3 : 1)));
    scales.push_back(static_cast<float>(scale));
    one.push_back(0);
    several.push_back(i % 5);
  }
  const double pooled = spread_factor(errors, scales, one);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) inside += std::abs(errors[i]) <= 1.645 * pooled * scales[i] ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(inside), 4500, 25);
  EXPECT_GT(spread_factor(errors, scales, several), pooled) << "a hold-out that errs more counts more";
  EXPECT_EQ(spread_factor({}, {}, {}), 0.0F);
}

}  // namespace
}  // namespace oplat::estimate
