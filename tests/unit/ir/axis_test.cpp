// SPDX-License-Identifier: Apache-2.0
#include "ir/axis.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace oplat::ir {
namespace {

TEST(Axis, CountsFromEitherEnd) {
  EXPECT_EQ(axis_index(0, 3), 0U);
  EXPECT_EQ(axis_index(2, 3), 2U);
  EXPECT_EQ(axis_index(-1, 3), 2U);
  EXPECT_EQ(axis_index(-3, 3), 0U);
}

TEST(Axis, OutsideIsNone) {
  EXPECT_EQ(axis_index(3, 3), std::nullopt);
  EXPECT_EQ(axis_index(-4, 3), std::nullopt);
  EXPECT_EQ(axis_index(0, 0), std::nullopt);
  EXPECT_EQ(axis_index(std::numeric_limits<std::int64_t>::min(), 3), std::nullopt);
  EXPECT_EQ(axis_index(std::numeric_limits<std::int64_t>::max(), 3), std::nullopt);
}

}  // namespace
}  // namespace oplat::ir
