// SPDX-License-Identifier: Apache-2.0
#include "base/counted.hpp"

#include <gtest/gtest.h>

namespace oplat::base {
namespace {

TEST(Counted, OneIsNotMany) {
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(2, "row"), "2 rows");
}

TEST(Counted, SaysThePluralThatItIsGiven) {
  EXPECT_EQ(counted(1, "row was", "rows were"), "1 row was");
  EXPECT_EQ(counted(3, "process", "processes"), "3 processes");
  EXPECT_EQ(one_or_many(1, "it", "them"), "it");
  EXPECT_EQ(one_or_many(0, "it", "them"), "them");
}

}  // namespace
}  // namespace oplat::base
