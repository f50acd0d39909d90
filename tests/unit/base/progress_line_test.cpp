// SPDX-License-Identifier: Apache-2.0
#include "base/progress_line.hpp"

#include <gtest/gtest.h>

namespace oplat::base {
namespace {

const ProgressLine kQuarter = {"measuring", 3, 12, 10, 30, "Conv/11{a=1}(f32[1,3,224,224])"};

TEST(ProgressLine, ALogSaysThePercentage) {
  EXPECT_EQ(plain_progress(kQuarter), "measuring: 3/12 (25 %), 0:10 elapsed, 0:30 left");
  EXPECT_EQ(plain_progress({"planning", 1, 0, 0, -1, ""}), "planning: 0:00 elapsed")
      << "neither the total nor the end is known";
  EXPECT_EQ(plain_progress({"fit", 0, 0, 2, -1, "reading rows"}),
            "fit: 0:02 elapsed, reading rows");
  EXPECT_EQ(plain_progress({"planning", 5, 4, 0, -1, ""}), "planning: 5/4 (100 %), 0:00 elapsed");
}

TEST(ProgressLine, ABarIsNoWiderThanTheTerminal) {
  const std::string whole = progress_bar(kQuarter, 200);
  EXPECT_EQ(whole,
            "measuring [######..................] 3/12, 0:10 elapsed, 0:30 left  " + kQuarter.item);
  const std::string shortened = progress_bar(kQuarter, 80);
  EXPECT_EQ(shortened.size(), 80U);
  EXPECT_NE(shortened.find("..."), std::string::npos);
  EXPECT_EQ(progress_bar(kQuarter, 70), whole.substr(0, whole.find("  ") + 2))
      << "there is no room for the item";
  EXPECT_EQ(progress_bar(kQuarter, 20), "measuring [######...");
  EXPECT_EQ(progress_bar({"fit", 0, 0, 2, -1, "reading rows"}, 80),
            "fit: 0:02 elapsed  reading rows")
      << "no bar of an unknown number of steps";
}

}  // namespace
}  // namespace oplat::base
