// SPDX-License-Identifier: Apache-2.0
/// Triangulation, nearest point and line, each against what must hold of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "compat/tinynas/original/delaunay.hpp"
#include "compat/tinynas/original/line.hpp"
#include "compat/tinynas/original/nearest.hpp"

namespace oplat::compat::tinynas {
namespace {

using ::testing::HasSubstr;

std::vector<PlanePoint> grid(int columns, int rows) {
  std::vector<PlanePoint> points;
  for (int x = 0; x < columns; ++x)
    for (int y = 0; y < rows; ++y) points.push_back({10.0 * x * x, 3.0 * y});
  return points;
}

std::vector<PlanePoint> scattered(std::size_t count) {
  base::Random random(7);
  std::vector<PlanePoint> points(count);
  for (PlanePoint& point : points)
    point = {std::floor(1000 * random.uniform()), std::floor(100 * random.uniform())};
  return points;
}

Delaunay triangulated(const std::vector<PlanePoint>& points) {
  auto made = Delaunay::build(points);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

/// Where the interpolation of the coordinates themselves puts `at`.
PlanePoint interpolated(const Place& place, const std::vector<PlanePoint>& points) {
  PlanePoint sum;
  for (std::size_t k = 0; k < 3; ++k) {
    const PlanePoint& corner = points[static_cast<std::size_t>(place.corners[k])];
    sum.x += place.weights[k] * corner.x;
    sum.y += place.weights[k] * corner.y;
  }
  return sum;
}

TEST(Delaunay, AGridHasTwoTrianglesACell) {
  EXPECT_EQ(triangulated(grid(6, 5)).size(), 2U * 5 * 4);
}

TEST(Delaunay, EveryPointInsideIsPlacedWhereItIs) {
  for (const auto& points : {grid(8, 9), scattered(300)}) {
    const Delaunay triangles = triangulated(points);
    for (const PlanePoint& corner : points) ASSERT_TRUE(triangles.locate(corner));
    base::Random random(3);
    int inside = 0;
    for (int i = 0; i < 500; ++i) {
      const PlanePoint at{490 * random.uniform(), 24 * random.uniform()};
      const auto place = triangles.locate(at);
      if (!place) continue;
      ++inside;
      const PlanePoint found = interpolated(*place, points);
      EXPECT_NEAR(found.x, at.x, 1e-9);
      EXPECT_NEAR(found.y, at.y, 1e-9);
      for (const double weight : place->weights) EXPECT_GE(weight, -1e-12);
    }
    EXPECT_GT(inside, 400);
  }
}

TEST(Delaunay, NothingIsOutside) {
  const Delaunay triangles = triangulated({{0, 0}, {10, 0}, {0, 10}});
  EXPECT_TRUE(triangles.locate({5, 5}));
  EXPECT_FALSE(triangles.locate({5.001, 5.001}));
  EXPECT_FALSE(triangles.locate({-1, 5}));
  EXPECT_FALSE(triangles.locate({std::nan(""), 5}));
}

TEST(Delaunay, OfPointsOnOnePlaceOneIsTaken) {
  auto points = grid(4, 4);
  points.insert(points.end(), points.begin(), points.begin() + 8);
  const Delaunay triangles = triangulated(points);
  for (const PlanePoint& point : grid(4, 4)) {
    const auto place = triangles.locate(point);
    ASSERT_TRUE(place);
    EXPECT_NEAR(interpolated(*place, points).x, point.x, 1e-9);
  }
}

TEST(Delaunay, PointsOnOneLineHaveNoTriangle) {
  const auto line = Delaunay::build(std::vector<PlanePoint>{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::Input);
  EXPECT_THAT(line.error().message, HasSubstr("Qhull"));
  EXPECT_FALSE(Delaunay::build(std::vector<PlanePoint>{{0, 0}, {1, 1}}));
  EXPECT_FALSE(Delaunay::build(std::vector<PlanePoint>(20, PlanePoint{4, 4})));
}

/// Distance with each axis in units of its range.
double scaled_distance(const PlanePoint& a, const PlanePoint& b,
                       const std::vector<PlanePoint>& points) {
  const auto range = [&](auto coordinate) {
    double least = coordinate(points.front()), most = least;
    for (const PlanePoint& point : points) {
      least = std::min(least, coordinate(point));
      most = std::max(most, coordinate(point));
    }
    return most > least ? most - least : 1.0;
  };
  return std::hypot((a.x - b.x) / range([](const PlanePoint& p) { return p.x; }),
                    (a.y - b.y) / range([](const PlanePoint& p) { return p.y; }));
}

TEST(NearestPoint, NoPointIsNearer) {
  for (const auto& points :
       {grid(8, 9), scattered(300), scattered(5), std::vector<PlanePoint>(40, PlanePoint{1, 1})}) {
    const NearestPoint nearest(points);
    base::Random random(11);
    for (int i = 0; i < 300; ++i) {
      const PlanePoint at{2000 * random.uniform() - 500, 200 * random.uniform() - 50};
      double least = scaled_distance(at, points.front(), points);
      for (const PlanePoint& point : points)
        least = std::min(least, scaled_distance(at, point, points));
      const std::size_t found = nearest.find(at);
      ASSERT_LT(found, points.size());
      EXPECT_NEAR(scaled_distance(at, points[found], points), least, 1e-12);
    }
  }
}

TEST(NearestPoint, OfEqualsInOneLeafTheFirstWins) {
  const std::vector<PlanePoint> points = {{0, 0}, {4, 0}, {0, 4}, {4, 4}};
  EXPECT_EQ(NearestPoint(points).find({2, 2}), 0U);
  EXPECT_EQ(NearestPoint(points).find({4, 2}), 1U);
}

TEST(LineThrough, BetweenAndBeyond) {
  const std::vector<double> x = {1, 2, 4}, y = {10, 20, 0};
  EXPECT_DOUBLE_EQ(line_through(x, y, 1), 10);
  EXPECT_DOUBLE_EQ(line_through(x, y, 1.5), 15);
  EXPECT_DOUBLE_EQ(line_through(x, y, 2), 20);
  EXPECT_DOUBLE_EQ(line_through(x, y, 3), 10);
  EXPECT_DOUBLE_EQ(line_through(x, y, 0), 0);
  EXPECT_DOUBLE_EQ(line_through(x, y, 6), -20);
  EXPECT_TRUE(std::isnan(line_through({x.data(), 1}, {y.data(), 1}, 1)));
}

}  // namespace
}  // namespace oplat::compat::tinynas
