// SPDX-License-Identifier: Apache-2.0
#include "base/truncated_list.hpp"

#include <gtest/gtest.h>

namespace oplat::base {
namespace {

TEST(TruncatedList, TellsTheFirstAndCountsAll) {
  TruncatedList lines(2);
  EXPECT_EQ(lines.text(), "");
  lines.add("a");
  lines.add("b");
  EXPECT_EQ(lines.text(), "\n  a\n  b");
  lines.add("c");
  EXPECT_EQ(lines.count(), 3U);
  EXPECT_EQ(lines.text(), "\n  a\n  b\n  and 1 more");
}

}  // namespace
}  // namespace oplat::base
