// SPDX-License-Identifier: Apache-2.0
/// Rows of one point are one site.
#include "estimate/learned/sites.hpp"

#include <gtest/gtest.h>

#include "unit/estimate/learned/synthetic.hpp"

namespace oplat::estimate {
namespace {

TEST(SitesTest, RowsOfOnePointAreAveragedAndOthersLeftOut) {
  const auto first = test::synthetic_row(test::square(1, 32, 7, 32, 3, false)).description;
  const auto second = test::synthetic_row(test::square(1, 32, 14, 64, 1, false)).description;
  const std::vector<ir::Description> rows{first, second, first};
  const Space space = Space::learn(rows);
  const Sites sites = sites_of(rows, std::vector<double>{2, 7, 4}, space);
  ASSERT_EQ(sites.points.size(), 2U);
  ASSERT_EQ(sites.descriptions.size(), 2U);
  EXPECT_EQ(sites.log_ns, (std::vector<double>{3, 7}));
  EXPECT_EQ(sites.descriptions[1].numbers, second.numbers);
  EXPECT_EQ(sites.points[0].at, space.place(first)->at);
  ir::Description other = first;
  other.slice = "another operator";
  other.aligned = false;
  EXPECT_TRUE(sites_of(std::vector{other}, std::vector<double>{1}, space).points.empty());
}

}  // namespace
}  // namespace oplat::estimate
