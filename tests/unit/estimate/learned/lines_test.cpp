// SPDX-License-Identifier: Apache-2.0
/// Lines against a search through all points; patterns of questions on a small grid.
#include "estimate/learned/lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/random.hpp"
#include "estimate/learned/patterns.hpp"

namespace oplat::estimate {
namespace {

Point point_at(std::uint32_t slice, double a, double b, double c) {
  Point point;
  point.slice = slice;
  point.at[0] = a;
  point.at[1] = b;
  point.at[2] = c;
  return point;
}

/// Some points of a grid of 6 x 5 x 2 in two slices.
std::vector<Point> some_points(std::uint64_t seed) {
  base::Random random(seed);
  std::vector<Point> points;
  for (const std::uint32_t slice : {0U, 1U}) {
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < 5; ++b) {
        for (int c = 0; c < 2; ++c) {
          if (random.below(3) > 0) points.push_back(point_at(slice, a, b, c));
        }
      }
    }
  }
  base::shuffle(points, random);
  return points;
}

/// Of the sites that differ from the point along one axis alone, by their coordinate.
std::map<double, Site> line_through(const std::vector<Point>& points, const Point& point,
                                    std::size_t axis) {
  std::map<double, Site> line;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Point moved = points[i];
    moved.at[axis] = point.at[axis];
    if (moved.slice == point.slice && moved.at == point.at && points[i].at[axis] != point.at[axis])
      line[points[i].at[axis]] = static_cast<Site>(i);
  }
  return line;
}

void expect_neighbours(const Lines& lines, const std::vector<Point>& points, const Point& point,
                       std::size_t axis) {
  const auto line = line_through(points, point, axis);
  auto at = line.lower_bound(point.at[axis]);
  const auto take = [&](int steps) {
    auto found = at;
    for (; steps < 0; ++steps) {
      if (found == line.begin()) return kNoSite;
      --found;
    }
    for (; steps > 0 && found != line.end(); --steps) ++found;
    return found == line.end() ? kNoSite : found->second;
  };
  const Neighbours n = lines.along(point, axis);
  EXPECT_EQ(n.low2.site, take(-2));
  EXPECT_EQ(n.low.site, take(-1));
  EXPECT_EQ(n.high.site, take(0));
  EXPECT_EQ(n.high2.site, take(1));
  for (const Neighbour& each : {n.low2, n.low, n.high, n.high2}) {
    if (each) {
      EXPECT_EQ(each.at, points[static_cast<std::size_t>(each.site)].at[axis]);
    }
  }
}

TEST(LinesTest, NeighboursAreThoseThatASearchFinds) {
  const std::vector<Point> points = some_points(11);
  const Lines lines(points, 3, 2);
  for (const std::uint32_t slice : {0U, 1U}) {
    for (const double a : {-1.0, 0.0, 2.0, 2.5, 5.0, 9.0}) {
      for (int b = 0; b < 5; ++b) {
        for (std::size_t axis = 0; axis < 3; ++axis)
          expect_neighbours(lines, points, point_at(slice, a, b, 1), axis);
      }
    }
  }
}

TEST(LinesTest, LevelsAreThoseOfTheSlice) {
  const std::vector<Point> points{point_at(0, 3, 1, 0), point_at(0, 1, 1, 0), point_at(1, 5, 1, 0),
                                  point_at(0, 3, 2, 0)};
  const Lines lines(points, 3, 2);
  EXPECT_TRUE(std::ranges::equal(lines.levels(0, 0), std::vector<double>{1, 3}));
  EXPECT_TRUE(std::ranges::equal(lines.levels(1, 0), std::vector<double>{5}));
  EXPECT_EQ(lines.max_levels(0), 2U);
  EXPECT_EQ(lines.max_levels(2), 1U);
}

/// A grid of 5 x 5 x 2 (a flag) without some points; a slice 1 that holds nothing.
struct Grid {
  explicit Grid(const std::function<bool(double a, double b, double c)>& measured)
      : lines(points_of(measured), 3, 2), features(lines, values()) {}

  static std::vector<Point> points_of(const std::function<bool(double, double, double)>& measured) {
    std::vector<Point> points;
    for (int a = 1; a <= 5; ++a) {
      for (int b = 1; b <= 5; ++b) {
        for (int c = 0; c < 2; ++c) {
          if (measured(a, b, c)) points.push_back(point_at(0, a, b, c));
        }
      }
    }
    return points;
  }
  /// A plane with a rough grain: what can be interpolated, but not without error.
  [[nodiscard]] SiteValues values() const {
    SiteValues values;
    for (const Point& p : lines.sites()) {
      values.u.push_back(static_cast<float>(0.1 * p.at[0] - 0.2 * p.at[1] + 0.01 * p.at[2] +
                                            0.02 * std::sin(7 * p.at[0] * p.at[1])));
      values.waves.insert(values.waves.end(), kTileCount, 0.0F);
    }
    return values;
  }
  [[nodiscard]] Pattern pattern(const Point& point) const {
    return pattern_at(lines, point, lines.around(point), patterns_of(lines, features));
  }

  Lines lines;
  NeighbourFeatures features;
};

TEST(PatternTest, AQuestionIsNamedByWhatWasMeasuredAroundIt) {
  const Grid hole([](double a, double b, double c) { return !(a == 3 && b == 3 && c == 0); });
  EXPECT_EQ(hole.pattern(point_at(0, 3, 3, 0)).kind, PatternKind::Grid);
  const Grid two_holes([](double a, double b, double) { return !(a == 3 && b == 3); });
  EXPECT_EQ(two_holes.pattern(point_at(0, 3, 3, 0)), (Pattern{PatternKind::FlagUnseen, 2}));
  const Grid no_row([](double a, double, double) { return a != 3; });
  EXPECT_EQ(no_row.pattern(point_at(0, 3, 3, 0)), (Pattern{PatternKind::Level, 0}));
  const Grid no_cross([](double a, double b, double) { return a != 3 && b != 3; });
  EXPECT_EQ(no_cross.pattern(point_at(0, 3, 3, 0)).kind, PatternKind::TwoAxes);
  const Grid no_corner([](double a, double b, double) { return !(a == 5 && b == 5); });
  EXPECT_EQ(no_corner.pattern(point_at(0, 5, 5, 0)).kind, PatternKind::Extrapolated);
  const Grid twin_at_corner(
      [](double a, double b, double c) { return !(a == 5 && b == 5 && c == 0); });
  EXPECT_EQ(twin_at_corner.pattern(point_at(0, 5, 5, 0)).kind, PatternKind::Grid)
      << "its twin was measured";
  EXPECT_EQ(hole.pattern(point_at(1, 3, 3, 0)).kind, PatternKind::Shape) << "a slice without rows";
}

TEST(PatternTest, ABlindfoldHidesWhatTheQuestionsOfThePatternCannotSee) {
  const Grid grid([](double, double, double) { return true; });
  const NeighbourLayout layout = grid.features.layout();
  const auto seen = [&](const Blindfold& blindfold) {
    std::vector<float> out(layout.count());
    grid.features.write(point_at(0, 3, 3, 0), grid.lines.around(point_at(0, 3, 3, 0)), {},
                        blindfold, out);
    std::set<std::size_t> axes;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!std::isnan(out[layout.around(axis) + NeighbourLayout::kEstimate])) axes.insert(axis);
    }
    // Learning leaves out the rows that see nothing, and knows them by this.
    const bool nothing =
        std::all_of(out.begin() + 1, out.end(), [](float value) { return std::isnan(value); });
    EXPECT_EQ(nothing, blindfold.levels == ~0U);
    return axes;
  };
  EXPECT_EQ(seen(blindfold_of({PatternKind::Grid, 0}, grid.lines, 0)),
            (std::set<std::size_t>{0, 1, 2}));
  EXPECT_EQ(seen(blindfold_of({PatternKind::FlagUnseen, 2}, grid.lines, 0)),
            (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(seen(blindfold_of({PatternKind::Level, 1}, grid.lines, 0)), (std::set<std::size_t>{1}));
  EXPECT_TRUE(seen(blindfold_of({PatternKind::TwoAxes, 0}, grid.lines, 0)).empty());
  EXPECT_TRUE(seen(blindfold_of({PatternKind::Shape, 0}, grid.lines, 0)).empty());
}

TEST(NeighbourFeaturesTest, APlaneIsInterpolatedExactly) {
  std::vector<Point> points;
  SiteValues values;
  for (int a = 1; a <= 5; ++a) {
    for (int b = 1; b <= 5; ++b) {
      if (a == 3 && b == 3) continue;
      points.push_back(point_at(0, a, b, 0));
      values.u.push_back(static_cast<float>(0.5 * a - 0.25 * b));
      values.waves.insert(values.waves.end(), kTileCount, 0.0F);
    }
  }
  const Lines lines(points, 2, 1);
  const NeighbourFeatures features(lines, std::move(values));
  const NeighbourLayout layout = features.layout();
  std::vector<float> out(layout.count());
  features.write(point_at(0, 3, 3, 0), lines.around(point_at(0, 3, 3, 0)), {}, {}, out);
  EXPECT_NEAR(out[layout.base()], 0.75, 1e-6);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    EXPECT_NEAR(out[layout.around(axis) + NeighbourLayout::kEstimate], 0, 1e-6)
        << "as a deviation from the base";
    EXPECT_NEAR(out[layout.around(axis) + NeighbourLayout::kFromLow], 0, 1e-6);
    EXPECT_NEAR(out[layout.around(axis) + NeighbourLayout::kFromHigh], 0, 1e-6);
  }
}

/// Ten by ten points of u(a, b), but for the one in the middle; what is known of that one.
std::vector<float> features_in_the_middle(const std::function<double(double, double)>& u,
                                          NeighbourLayout& layout) {
  std::vector<Point> points;
  SiteValues values;
  for (int a = 1; a <= 10; ++a) {
    for (int b = 1; b <= 10; ++b) {
      if (a == 5 && b == 5) continue;
      points.push_back(point_at(0, a, b, 0));
      values.u.push_back(static_cast<float>(u(a, b)));
      values.waves.insert(values.waves.end(), kTileCount, 0.0F);
    }
  }
  const Lines lines(points, 2, 1);
  const NeighbourFeatures features(lines, values);
  layout = features.layout();
  std::vector<float> out(layout.count());
  const Point middle = point_at(0, 5, 5, 0);
  features.write(middle, lines.around(middle), {}, {}, out);
  return out;
}

TEST(NeighbourFeaturesTest, WhatAnAxisDoesEverywhereIsReadOffTheLinesNextDoor) {
  // Both axes are bent as no line is, and the two add up.
  const auto u = [](double a, double b) { return 0.3 * std::sin(2 * a) + 0.2 * std::cos(3 * b); };
  NeighbourLayout layout{};
  const std::vector<float> out = features_in_the_middle(u, layout);
  EXPECT_NEAR(out[layout.base()], u(5, 5), 1e-5);
  EXPECT_GT(std::abs(out[layout.plain()]), 0.05) << "the interpolations themselves are off";
  EXPECT_NEAR(out[layout.corrected(0)], 0, 1e-5) << "as deviations from the base";
  EXPECT_NEAR(out[layout.corrected(1)], 0, 1e-5);
}

TEST(NeighbourFeaturesTest, WithoutLinesNextDoorTheInterpolationStandsAsItIs) {
  std::vector<Point> points;
  SiteValues values;
  for (const int a : {1, 2, 4, 5}) {
    points.push_back(point_at(0, a, 1, 0));
    values.u.push_back(static_cast<float>(a));
    values.waves.insert(values.waves.end(), kTileCount, 0.0F);
  }
  const Lines lines(points, 2, 1);
  const NeighbourFeatures features(lines, values);
  const NeighbourLayout layout = features.layout();
  std::vector<float> out(layout.count());
  features.write(point_at(0, 3, 1, 0), lines.around(point_at(0, 3, 1, 0)), {}, {}, out);
  EXPECT_NEAR(out[layout.base()], 3, 1e-6);
  EXPECT_NEAR(out[layout.plain()], 0, 1e-6);
  EXPECT_TRUE(std::isnan(out[layout.corrected(0)]));
}

}  // namespace
}  // namespace oplat::estimate
