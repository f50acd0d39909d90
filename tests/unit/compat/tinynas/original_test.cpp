// SPDX-License-Identifier: Apache-2.0
/// The original's predictor on libraries small enough to work out by hand.
#include "compat/tinynas/original/predictor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace oplat::compat::tinynas {
namespace {

using ::testing::HasSubstr;

constexpr double kRounding = 1e-9;

ConvTuple regular(std::int64_t batch, std::int64_t in_c, std::int64_t in_h, std::int64_t out_c) {
  ConvTuple conv;
  conv.batch = batch;
  conv.in_c = in_c;
  conv.in_h = conv.in_w = in_h;
  conv.out_c = out_c;
  conv.kernel = 3;
  return conv;
}

/// Rows of one ratio over Out_C 16, 32 and In_H 8, 16, 24. Times are scale * (Out_C + 10 In_H), a
/// plane, so that they do not depend on how the cells are cut.
void add_grid(std::vector<LibraryTime>& rows, std::int64_t batch, double ratio, double scale) {
  for (const std::int64_t out_c : {16, 32})
    for (const std::int64_t in_h : {8, 16, 24})
      rows.push_back({regular(batch, static_cast<std::int64_t>(ratio * static_cast<double>(out_c)),
                              in_h, out_c),
                      scale * static_cast<double>(out_c + 10 * in_h)});
}

OriginalPredictor predictor(const std::vector<LibraryTime>& rows) {
  auto made = OriginalPredictor::create(rows);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

double ms(const OriginalPredictor& predictor, const ConvTuple& conv) {
  const auto answer = predictor.predict(conv);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer.value_or(-1);
}

std::string error_of(const OriginalPredictor& predictor, const ConvTuple& conv) {
  const auto answer = predictor.predict(conv);
  return answer ? std::to_string(*answer) : answer.error().message;
}

TEST(Original, LinearInsideASlice) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  const auto original = predictor(rows);
  EXPECT_NEAR(ms(original, regular(1, 16, 8, 16)), 16 + 80, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 20, 13, 20)), 20 + 130, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 32, 20, 32)), 32 + 200, kRounding);
}

TEST(Original, ConstantOutsideTheGrid) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  const auto original = predictor(rows);
  EXPECT_NEAR(ms(original, regular(1, 64, 21, 64)), 32 + 240, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 9000, 15, 9000)), 32 + 160, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 16, 0, 16)), 16 + 80, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 8, 100, 8)), 16 + 240, kRounding);
}

TEST(Original, SaysWhichNumbersAreOutsideTheGrid) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  add_grid(rows, 8, 1, 1);
  const auto original = predictor(rows);
  EXPECT_EQ(original.beyond(regular(1, 20, 13, 20)), "");
  EXPECT_EQ(original.beyond(regular(4, 16, 8, 16)), "");
  EXPECT_EQ(original.beyond(regular(1, 20, 100, 20)), "In_H of 100 is outside 8 to 24");
  EXPECT_EQ(original.beyond(regular(16, 128, 8, 64)),
            "Batch of 16 is outside 1 to 8, Out_C of 64 is outside 16 to 32, In_C / Out_C of 2 is "
            "outside 1 to 1");
}

TEST(Original, FailedRowsAndSizeFourAreNotLoaded) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  rows.push_back({regular(1, 48, 8, 48), -1});
  rows.push_back({regular(1, 16, 4, 16), 1000});
  const auto original = predictor(rows);
  EXPECT_NEAR(ms(original, regular(1, 48, 8, 48)), 32 + 80, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 16, 4, 16)), 16 + 80, kRounding);
}

TEST(Original, RatiosAreJoinedByLinesThatGoOnBeyondTheEnds) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  add_grid(rows, 1, 2, 3);
  const auto original = predictor(rows);
  const double one = 16 + 160, two = 3 * (16 + 160);
  EXPECT_NEAR(ms(original, regular(1, 32, 16, 16)), two, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 24, 16, 16)), (one + two) / 2, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 64, 16, 16)), one + 3 * (two - one), kRounding);
  EXPECT_NEAR(ms(original, regular(1, 12, 16, 16)), one / 2, kRounding);
  // Below half the ratio the line is negative; the first ratio's time shrinks in proportion
  // instead.
  EXPECT_NEAR(ms(original, regular(1, 4, 16, 16)), one / 4, kRounding);
}

TEST(Original, TimesThatDoNotGrowWithTheRatioArePassedOverFromTheThirdOn) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 0.5, 2);
  add_grid(rows, 1, 1, 1);  // falls, and is kept: it is the second
  add_grid(rows, 1, 2, 1);  // does not grow
  add_grid(rows, 1, 4, 3);
  const auto original = predictor(rows);
  const double unit = 16 + 160;
  EXPECT_NEAR(ms(original, regular(1, 12, 16, 16)), 1.5 * unit, kRounding);
  EXPECT_NEAR(ms(original, regular(1, 40, 16, 16)), 2 * unit,
              kRounding);  // ratio 2.5, half way from 1 to 4
  EXPECT_NEAR(ms(original, regular(1, 32, 16, 16)), unit,
              kRounding);  // its own slice answers all the same
}

TEST(Original, ARatioIsCutToTwoDigitsInTheLibraryButNotInTheQuestion) {
  std::vector<LibraryTime> rows;
  for (const std::int64_t out_c : {24, 48})
    for (const std::int64_t in_h : {8, 16}) {
      rows.push_back({regular(1, out_c / 3, in_h, out_c), 1});
      rows.push_back({regular(1, out_c, in_h, out_c), 2});
    }
  const auto original = predictor(rows);
  // The row has 0.33, the question 1/3.
  EXPECT_NEAR(ms(original, regular(1, 8, 8, 24)), 1 + (1.0 / 3 - 0.33) / (1 - 0.33), kRounding);
}

TEST(Original, ConvolutionsOfImagesStandApart) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  const auto without = predictor(rows);
  EXPECT_THAT(error_of(without, regular(1, 3, 8, 16)), HasSubstr("no row with In_C = 3"));
  for (const std::int64_t out_c : {16, 32})
    for (const std::int64_t in_h : {8, 16}) rows.push_back({regular(1, 3, in_h, out_c), 7});
  const auto with = predictor(rows);
  EXPECT_NEAR(ms(with, regular(1, 3, 8, 16)), 7, kRounding);
  EXPECT_NEAR(ms(with, regular(1, 16, 8, 16)), 96, kRounding);
  // One more ratio would make a line; the image's is none.
  EXPECT_THAT(error_of(with, regular(1, 8, 8, 16)), HasSubstr("only one ratio of channels"));
}

TEST(Original, BatchesAreJoinedByLinesWhateverTheirOrderInTheFile) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 32, 1, 20);
  add_grid(rows, 1, 1, 1);
  add_grid(rows, 64, 1, 10);
  const auto original = predictor(rows);
  const double unit = 16 + 160;
  EXPECT_NEAR(ms(original, regular(32, 16, 16, 16)), 20 * unit, kRounding);
  EXPECT_NEAR(ms(original, regular(16, 16, 16, 16)), (1 + 19.0 * 15 / 31) * unit, kRounding);
  EXPECT_NEAR(ms(original, regular(80, 16, 16, 16)), 5 * unit, kRounding);
  EXPECT_THAT(error_of(original, regular(200, 16, 16, 16)), HasSubstr("AssertionError"));
}

TEST(Original, OneBatchMakesNoLine) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 32, 1, 1);
  EXPECT_THAT(error_of(predictor(rows), regular(1, 16, 16, 16)), HasSubstr("only one batch"));
}

TEST(Original, DepthwiseLooksAtOutputChannelsOnly) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  for (LibraryTime& row : rows) row.conv.type = ConvType::Depthwise;
  const auto original = predictor(rows);
  ConvTuple conv = regular(1, 999, 16, 16);
  conv.type = ConvType::Depthwise;
  EXPECT_NEAR(ms(original, conv), 16 + 160, kRounding);
  EXPECT_THAT(error_of(original, regular(1, 16, 16, 16)),
              HasSubstr("no row of Regular stride 1 fused 0 kernel 3"));
}

TEST(Original, GroupedConvolutionsAreUnknownToIt) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  ConvTuple conv = regular(1, 16, 16, 16);
  conv.group = 2;
  EXPECT_THAT(error_of(predictor(rows), conv), HasSubstr("grouped"));
}

/// Whatever is asked: the original raises while it loads such a library.
TEST(Original, ASliceWithoutATriangleIsNamed) {
  std::vector<LibraryTime> rows;
  add_grid(rows, 1, 1, 1);
  for (const std::int64_t in_h : {8, 16, 24, 32}) rows.push_back({regular(32, 32, in_h, 16), 1});
  const auto line = OriginalPredictor::create(rows);
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().code, Code::Input);
  EXPECT_THAT(
      line.error().message,
      HasSubstr("4 rows of Regular stride 1 fused 0 kernel 3, batch 32, In_C / Out_C 2: no three"));
  rows.resize(7);
  const auto point = OriginalPredictor::create(rows);
  ASSERT_FALSE(point);
  EXPECT_THAT(point.error().message, HasSubstr("1 row of Regular"));
  rows.push_back({regular(32, 32, 8, 16), 2});
  EXPECT_FALSE(OriginalPredictor::create(rows)) << "twice the same place";
  rows.push_back({regular(32, 64, 8, 32), 2});
  EXPECT_FALSE(OriginalPredictor::create(rows)) << "two places";
  rows.push_back({regular(32, 64, 16, 32), 2});
  EXPECT_TRUE(OriginalPredictor::create(rows));
}

TEST(Original, ALibraryWithoutATimeIsRefused) {
  const std::vector<LibraryTime> rows = {{regular(1, 16, 8, 16), -1}, {regular(1, 16, 4, 16), 2}};
  const auto made = OriginalPredictor::create(rows);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::Input);
}

}  // namespace
}  // namespace oplat::compat::tinynas
