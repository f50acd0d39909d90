// SPDX-License-Identifier: Apache-2.0
/// Space: numbers that vary become axes.
#include "estimate/learned/space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace oplat::estimate {
namespace {

ir::Description described(std::string slice, std::vector<double> numbers, bool aligned = false) {
  ir::Description description;
  description.slice = std::move(slice);
  description.numbers = std::move(numbers);
  description.aligned = aligned;
  return description;
}

TEST(SpaceTest, ANumberThatVariesIsAnAxisUnlessItRepeatsAnother) {
  // The third number repeats the first, the second never varies.
  const std::vector<ir::Description> rows{
      described("s", {1, 5, 1, 3}), described("s", {2, 5, 2, 4}), described("s", {4, 5, 4, 3})};
  const Space space = Space::learn(rows);
  EXPECT_EQ(space.axes(), 2U);
  EXPECT_EQ(space.slices(), 1U);
  const Point point = space.place(rows[1]).value();
  EXPECT_DOUBLE_EQ(point.at[0], std::log(2));
  EXPECT_DOUBLE_EQ(point.at[1], std::log(4));
  EXPECT_EQ(point.at[2], 0.0);
}

TEST(SpaceTest, AlignedSlicesShareTheirAxes) {
  const std::vector<ir::Description> rows{
      described("a", {1, 5}, true), described("a", {2, 5}, true), described("b", {3, 5}, true),
      described("b", {3, 6}, true)};
  const Space space = Space::learn(rows);
  EXPECT_EQ(space.axes(), 2U) << "each varies in one of the slices";
  const Point a = space.place(rows[0]).value();
  const Point b = space.place(rows[3]).value();
  EXPECT_NE(a.slice, b.slice);
  EXPECT_DOUBLE_EQ(a.at[1], std::log(5));
  EXPECT_DOUBLE_EQ(b.at[1], std::log(6));
}

TEST(SpaceTest, WhatWasNeverSeenHasNoPlace) {
  const Space space = Space::learn(std::vector{described("s", {1, 2}), described("s", {2, 2})});
  EXPECT_FALSE(space.place(described("t", {1, 2})));
  EXPECT_FALSE(space.place(described("s", {1, 2, 3}))) << "another number of numbers";
  EXPECT_TRUE(space.place(described("s", {77, 2})));
}

TEST(SpaceTest, WhatBreaksWithAllRowsIsStrange) {
  const Space space =
      Space::learn(std::vector{described("s", {1, 5, 1}), described("s", {2, 5, 2})});
  EXPECT_FALSE(space.place(described("s", {4, 5, 4})).value().strange) << "new, but on the axis";
  EXPECT_TRUE(space.place(described("s", {1, 6, 1})).value().strange) << "all rows have 5 there";
  EXPECT_TRUE(space.place(described("s", {4, 5, 3})).value().strange)
      << "all rows repeat the first number";
  const auto again = Space::load(space.save());
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->place(described("s", {4, 5, 4})).value().strange);
  EXPECT_TRUE(again->place(described("s", {1, 6, 1})).value().strange);
}

TEST(SpaceTest, BeyondTheRowsTheSpreadGrowsByTheDoubling) {
  const Space space = Space::learn(
      std::vector{described("s", {8, 1}), described("s", {32, 3}), described("s", {16, 3})});
  const auto outside = [&](double first, double second) {
    return space.place(described("s", {first, second}))->outside;
  };
  EXPECT_EQ(outside(8, 1), 0);
  EXPECT_EQ(outside(20, 2), 0) << "between";
  EXPECT_NEAR(outside(64, 3), 1, 1e-12);
  EXPECT_NEAR(outside(2, 3), 2, 1e-12);
  EXPECT_NEAR(outside(128, 6), std::sqrt(5), 1e-12) << "the distance over both axes";
  const auto far = space.place(described("s", {64, 3})).value();
  EXPECT_NEAR(spread_at(far, 0.1), std::hypot(0.1, 0.35), 1e-12);
  EXPECT_EQ(spread_at(space.place(described("s", {20, 2})).value(), 0.1), 0.1);
  EXPECT_EQ(Space::load(space.save())->place(described("s", {128, 6}))->outside, outside(128, 6));
}

ir::Description aligned(const std::string& slice, std::vector<double> numbers) {
  ir::Description made = described(slice, std::move(numbers));
  made.aligned = true;
  return made;
}

TEST(SpaceTest, WhatIsFusedReachesAsFarAsItsKind) {
  const Space space = Space::learn(std::vector{
      aligned(":Conv direct Relu", {8, 1}), aligned(":Conv direct Relu", {64, 3}),
      aligned("com.microsoft:FusedConv direct HardSwish", {320, 3}),
      aligned(":Conv depthwise Relu", {512, 5}), aligned(":QLinearConv direct", {1024, 7})});
  const auto outside = [&](const std::string& slice, double first, double second) {
    return space.place(aligned(slice, {first, second}))->outside;
  };
  EXPECT_EQ(outside("com.microsoft:FusedConv direct HardSwish", 16, 1), 0)
      << "rows with Relu reach there";
  EXPECT_EQ(outside(":Conv direct Relu", 300, 2), 0);
  EXPECT_NEAR(outside("com.microsoft:FusedConv direct HardSwish", 640, 3), 1, 1e-12);
  EXPECT_NEAR(outside(":Conv depthwise Relu", 256, 5), 1, 1e-12) << "another kind";
  EXPECT_NEAR(outside(":QLinearConv direct", 512, 7), 1, 1e-12) << "another operator";
  EXPECT_NEAR(
      space.beyond(aligned("com.microsoft:FusedConv direct HardSwish", {640, 3})).at(0).high, 320,
      1e-9);
  const auto again = Space::load(space.save());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->place(aligned("com.microsoft:FusedConv direct HardSwish", {16, 1}))->outside, 0);
}

TEST(SpaceTest, SaysWhichNumbersLieBeyond) {
  const Space space = Space::learn(std::vector{
      described("s", {8, 1, 1, 0}), described("s", {32, 3, 1, 0}), described("s", {16, 3, 1, 0})});
  EXPECT_TRUE(space.beyond(described("s", {20, 2, 1, 0})).empty());
  EXPECT_TRUE(space.beyond(described("t", {20, 2, 1, 0})).empty());
  const auto beyond = space.beyond(described("s", {64, 2, 4, 0}));
  ASSERT_EQ(beyond.size(), 2U);
  EXPECT_EQ(beyond[0].number, 2U) << "the farthest first";
  EXPECT_EQ(beyond[0].low, beyond[0].high);
  EXPECT_NEAR(beyond[0].low, 1, 1e-12);
  EXPECT_NEAR(beyond[0].doublings, 2, 1e-12);
  EXPECT_EQ(beyond[1].number, 0U);
  EXPECT_EQ(beyond[1].value, 64);
  EXPECT_NEAR(beyond[1].high, 32, 1e-9);
  EXPECT_EQ(space.beyond(described("s", {8, 1, 1, 2})).at(0).high, 0)
      << "the number of a zero's coordinate";
}

TEST(SpaceTest, AwayFromWhatAllRowsHaveInCommonTheSpreadGrowsToo) {
  const Space space = Space::learn(std::vector{
      described("s", {1, 32, 1}), described("s", {2, 32, 2}), described("s", {4, 32, 4})});
  const auto outside = [&](std::vector<double> numbers) {
    return space.place(described("s", std::move(numbers)))->outside;
  };
  EXPECT_EQ(outside({3, 32, 3}), 0);
  EXPECT_NEAR(outside({2, 64, 2}), 1, 1e-12) << "all rows have 32";
  EXPECT_NEAR(outside({2, 8, 2}), 2, 1e-12);
  EXPECT_NEAR(outside({2, 32, 8}), 2, 1e-12) << "all rows repeat the first number";
  EXPECT_NEAR(outside({8, 64, 8}), std::sqrt(2), 1e-12) << "with the axes'";
}

TEST(SpaceTest, HoweverManyNumbersVaryTheLastIsAnAxis) {
  for (const bool aligned : {false, true}) {
    std::vector<double> numbers(kMaxAxes + 4, 1);
    std::vector<ir::Description> rows{described("s", numbers, aligned)};
    for (double& number : numbers) {
      number = 2;
      rows.push_back(described("s", numbers, aligned));
    }
    const Space space = Space::learn(rows);
    ASSERT_EQ(space.axes(), kMaxAxes) << aligned;
    numbers.back() = 3;
    const auto at = [&](const std::vector<double>& of) {
      return space.place(described("s", of, aligned)).value().at;
    };
    const auto before = at(rows.back().numbers);
    const auto after = at(numbers);
    EXPECT_DOUBLE_EQ(after.back(), std::log(3)) << aligned;
    EXPECT_TRUE(std::equal(before.begin(), before.end() - 1, after.begin())) << aligned;
  }
}

TEST(SpaceTest, AnotherSliceOfTheSameOperatorIsAStrangePlaceInTheRichest) {
  const std::vector<ir::Description> rows{described("op a", {1, 5}, true),
                                          described("op b", {2, 5}, true),
                                          described("op b", {3, 6}, true)};
  const Space space = Space::learn(rows);
  const Point point = space.place(described("op c", {2, 5}, true)).value();
  EXPECT_TRUE(point.strange);
  EXPECT_EQ(point.slice, space.place(rows[2]).value().slice);
  EXPECT_FALSE(space.place(described("other c", {2, 5}, true)));
  EXPECT_FALSE(space.place(described("op c", {2, 5}))) << "its numbers mean something else";
}

TEST(SpaceTest, TheOrderOfTheRowsDoesNotMatter) {
  std::vector<ir::Description> rows{described("b", {1, 5}), described("a", {2, 7}),
                                    described("a", {3, 7})};
  const std::string text = Space::learn(rows).save();
  std::swap(rows[0], rows[2]);
  EXPECT_EQ(Space::learn(rows).save(), text);
}

TEST(SpaceTest, ComesBackFromItsText) {
  const std::vector<ir::Description> rows{described(":Op a#b ~", {1, 5, 2}),
                                          described(":Op a#b ~", {2, 5, 1}),
                                          described("b", {3, -4}), described("b", {3, 0})};
  const Space space = Space::learn(rows);
  const auto again = Space::load(space.save());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->save(), space.save());
  for (const ir::Description& row : rows) {
    EXPECT_EQ(again->place(row).value().slice, space.place(row).value().slice);
    EXPECT_EQ(again->place(row).value().at, space.place(row).value().at);
  }
}

TEST(SpaceTest, TextThatIsNoneIsRefused) {
  EXPECT_TRUE(Space::load("4 7 own 0:0:1 1:-2.5:1e3 2=5 3@0\ts\n"));
  for (const char* text : {"2 7 own 0:0:1 1:0:1 s\n",               // no tab
                           "2 7 own x:0:1\ts\n",                    // no number
                           "2 7 own 0\ts\n",                        // no range
                           "2 7 own 0:1\ts\n",                      // half of one
                           "2 7 own 0:2:1\ts\n",                    // that falls
                           "2 7 own 0:nan:1\ts\n",                  // of no number
                           "2 7 own 2:0:1\ts\n",                    // an axis beyond the numbers
                           "2 7 own -1:0:1\ts\n",                   // a negative one
                           "2 7 own 0:0:1 2=5\ts\n",                // a constant beyond the numbers
                           "2 7 own 0:0:1 1=x\ts\n",                // of no value
                           "2 7 own 0:0:1 1@2\ts\n",                // like a number beyond
                           "2 7 own 0@1 0@1 0@1\ts\n",              // more words than numbers
                           "2 7 lost 0:0:1 1:0:1\ts\n",             // neither aligned nor not
                           "2\ts\n",                                // cut off
                           "99999999999 7 own\ts\n",                // more numbers than any key has
                           "1 7 own 0:0:1\ts\n1 7 own 0:0:1\ts\n",  // a slice twice
                           "2 7 own 0:0:1 1:0:1 0:0:1 1:0:1 0:0:1 1:0:1 0:0:1 1:0:1 0:0:1 1:0:1 "
                           "0:0:1 1:0:1 0:0:1 1:0:1\ts\n"}) {  // too many axes
    EXPECT_FALSE(Space::load(text)) << text;
  }
}

TEST(SpaceTest, CoordinatesKeepTheOrderOfNumbers) {
  EXPECT_LT(coordinate(-3), coordinate(0));
  EXPECT_LT(coordinate(0), coordinate(1e-30));
  EXPECT_DOUBLE_EQ(coordinate(8) - coordinate(4), coordinate(4) - coordinate(2));
}

TEST(Space, KnowsWhichElementTypesRowsHave) {
  const std::vector<ir::Description> rows{described(":MatMul f32 f32c", {4, 5}),
                                          described(":Gemm f32 f32", {5, 5})};
  const Space space = Space::learn(rows);
  const auto new_type = [&](const std::string& slice) {
    return space.new_type(described(slice, {4, 4}));
  };
  EXPECT_EQ(new_type(":MatMul f32 f32c"), std::nullopt);
  EXPECT_EQ(new_type("com.microsoft:FusedMatMul f32 f32"), std::nullopt);
  EXPECT_EQ(new_type(":MatMul i64 i64"), ir::Dtype::I64);
  EXPECT_EQ(new_type(":MatMul alpha=1 f64c=2 i64"), ir::Dtype::F64);
  EXPECT_EQ(new_type(":MatMul u8#[]=0"), ir::Dtype::U8);
  EXPECT_EQ(new_type(":Conv f32 f32c"), ir::Dtype::F32) << "another operator's rows";
  EXPECT_EQ(new_type("tinynas:Conv"), std::nullopt) << "names none";
}

}  // namespace
}  // namespace oplat::estimate
