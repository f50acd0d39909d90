// SPDX-License-Identifier: Apache-2.0
/// The plain loops against values worked out by hand.
#include "runtimes/reference/loops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::runtimes::reference {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::Pointwise;

std::vector<float> zeros(std::size_t count) { return std::vector<float>(count); }

const std::vector<float> kNine{1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST(LoopsTest, ConvOfOnesWithPadsCountsNeighbours) {
  ConvShape shape;
  shape.size = {3, 3};
  shape.window.kernel = {3, 3};
  shape.window.pads_begin = {1, 1};
  shape.window.pads_end = {1, 1};
  auto y = zeros(9);
  conv(shape, kNine, std::vector<float>(9, 1.0F), {}, y);
  EXPECT_THAT(y, ElementsAre(12, 21, 16, 27, 45, 33, 24, 39, 28));
}

TEST(LoopsTest, ConvIsACorrelationWithBiasAndStride) {
  ConvShape shape;
  shape.size = {3, 3};
  shape.window.kernel = {2, 2};
  shape.window.strides = {1, 1};
  auto y = zeros(4);
  // 1*1 + 2*2 + 4*3 + 5*4 = 37, and so on one step right, one down; the kernel is not turned round.
  conv(shape, kNine, std::vector<float>{1, 2, 3, 4}, std::vector<float>{100}, y);
  EXPECT_THAT(y, ElementsAre(137, 147, 167, 177));
  shape.window.strides = {2, 2};
  auto one = zeros(1);
  conv(shape, kNine, std::vector<float>{1, 2, 3, 4}, {}, one);
  EXPECT_THAT(one, ElementsAre(37));
}

TEST(LoopsTest, ConvDilated) {
  ConvShape shape;
  shape.size = {3, 3};
  shape.window.kernel = {2, 2};
  shape.window.dilations = {2, 2};
  auto y = zeros(1);
  conv(shape, kNine, std::vector<float>{1, 10, 100, 1000}, {}, y);  // corners 1, 3, 7, 9
  EXPECT_THAT(y, ElementsAre(1 + 30 + 700 + 9000));
}

TEST(LoopsTest, ConvInGroupsReadsItsOwnChannels) {
  ConvShape shape;
  shape.channels = 4;
  shape.filters = 2;
  shape.group = 2;
  auto y = zeros(2);
  conv(shape, std::vector<float>{1, 2, 3, 4}, std::vector<float>{10, 100, 1000, 10000}, {}, y);
  EXPECT_THAT(y, ElementsAre(1 * 10 + 2 * 100, 3 * 1000 + 4 * 10000));
}

TEST(LoopsTest, ConvOverBatchAndChannels) {
  ConvShape shape;
  shape.batch = 2;
  shape.channels = 2;
  shape.filters = 2;
  auto y = zeros(4);
  conv(shape, std::vector<float>{1, 2, 3, 4}, std::vector<float>{1, 10, 100, 1000},
       std::vector<float>{0.5, 0.25}, y);
  EXPECT_THAT(y, ElementsAre(21.5F, 2100.25F, 43.5F, 4300.25F));
}

TEST(LoopsTest, ConvWithUnequalPads) {
  ConvShape shape;
  shape.size = {1, 3};
  shape.window.kernel = {1, 2};
  shape.window.pads_end = {0, 1};
  auto y = zeros(3);
  conv(shape, std::vector<float>{1, 2, 3}, std::vector<float>{1, 10}, {}, y);
  EXPECT_THAT(y, ElementsAre(21, 32, 3));
}

TEST(LoopsTest, WindowStepsRoundDownOrUp) {
  Window window;
  window.kernel = {1, 2};
  window.strides = {1, 2};
  EXPECT_EQ(window_steps(window, 1, 5), 2);
  window.ceil_mode = true;
  EXPECT_EQ(window_steps(window, 1, 5), 3);
  // A window that would begin in the padding behind the input is dropped: 4 + 1 pad, kernel 1,
  // stride 4.
  window.kernel = {1, 1};
  window.strides = {1, 4};
  window.pads_end = {0, 1};
  EXPECT_EQ(window_steps(window, 1, 4), 1);
  EXPECT_EQ(window_steps(window, 1, 5), 2);
  window.kernel = {1, 9};
  EXPECT_EQ(window_steps(window, 1, 5), 0);
}

TEST(LoopsTest, MaxPoolIgnoresPads) {
  PoolShape shape;
  shape.size = {3, 3};
  shape.window.kernel = {2, 2};
  shape.window.strides = {2, 2};
  shape.window.pads_begin = {1, 1};
  std::vector<float> negative;
  for (const float x : kNine) negative.push_back(-x);
  auto y = zeros(4);
  max_pool(shape, negative, y);
  EXPECT_THAT(y, ElementsAre(-1, -2, -4, -5));
}

TEST(LoopsTest, AveragePoolWithAndWithoutPads) {
  PoolShape shape;
  shape.size = {3, 3};
  shape.window.kernel = {2, 2};
  shape.window.strides = {2, 2};
  shape.window.pads_begin = {1, 1};
  auto y = zeros(4);
  average_pool(shape, false, kNine, y);
  EXPECT_THAT(y, ElementsAre(1, 2.5F, 5.5F, 7));
  average_pool(shape, true, kNine, y);
  EXPECT_THAT(y, ElementsAre(0.25F, 1.25F, 2.75F, 7));
}

TEST(LoopsTest, AveragePoolRoundedUpCountsNothingBeyondThePads) {
  PoolShape shape;
  shape.size = {1, 3};
  shape.window.kernel = {1, 2};
  shape.window.strides = {1, 2};
  shape.window.ceil_mode = true;
  auto y = zeros(2);
  average_pool(shape, true, std::vector<float>{1, 2, 5}, y);
  EXPECT_THAT(y, ElementsAre(1.5F, 5));
}

TEST(LoopsTest, GemmInAllTranspositions) {
  const std::vector<float> a{1, 2, 3, 4, 5, 6};         // 2x3
  const std::vector<float> a_turned{1, 4, 2, 5, 3, 6};  // 3x2
  const std::vector<float> b{1, 0, 2, 1, 0, 3};         // 3x2
  const std::vector<float> b_turned{1, 2, 0, 0, 1, 3};  // 2x3
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      GemmShape shape;
      shape.m = 2;
      shape.n = 2;
      shape.k = 3;
      shape.transpose_a = transpose_a;
      shape.transpose_b = transpose_b;
      auto y = zeros(4);
      gemm(shape, transpose_a ? a_turned : a, transpose_b ? b_turned : b, {}, y);
      EXPECT_THAT(y, ElementsAre(5, 11, 14, 23));
    }
  }
}

TEST(LoopsTest, GemmScalesAndBroadcastsC) {
  GemmShape shape;
  shape.m = 2;
  shape.n = 2;
  shape.k = 1;
  shape.alpha = 2;
  shape.beta = 0.5F;
  shape.c_column_stride = 1;  // one row for all
  auto y = zeros(4);
  gemm(shape, std::vector<float>{1, 2}, std::vector<float>{3, 4}, std::vector<float>{10, 20}, y);
  EXPECT_THAT(y, ElementsAre(11, 18, 17, 26));
}

TEST(LoopsTest, MatmulBroadcastsItsOuterDimensions) {
  // a: [2,1,1,2], b: [3,2,1] -> [2,3,1,1]
  auto y = zeros(6);
  matmul({2, 1, 1, 2}, {3, 2, 1}, std::vector<float>{1, 2, 3, 4},
         std::vector<float>{1, 0, 0, 1, 1, 1}, y);
  EXPECT_THAT(y, ElementsAre(1, 2, 3, 3, 4, 7));
}

TEST(LoopsTest, Unary) {
  auto y = zeros(3);
  relu(std::vector<float>{-1, 0, 2}, y);
  EXPECT_THAT(y, ElementsAre(0, 0, 2));
  clip(-0.5F, 1, std::vector<float>{-1, 0, 2}, y);
  EXPECT_THAT(y, ElementsAre(-0.5F, 0, 1));
  sigmoid(std::vector<float>{0, 1, -1}, y);
  EXPECT_THAT(y, Pointwise(FloatNear(1e-6F), std::vector<float>{0.5F, 0.7310586F, 0.2689414F}));
}

TEST(LoopsTest, AddAndMulBroadcast) {
  auto y = zeros(6);
  add({2, 3}, {3}, std::vector<float>{1, 2, 3, 4, 5, 6}, std::vector<float>{10, 20, 30}, y);
  EXPECT_THAT(y, ElementsAre(11, 22, 33, 14, 25, 36));
  mul({2, 1}, {1, 3}, std::vector<float>{2, 3}, std::vector<float>{1, 10, 100}, y);
  EXPECT_THAT(y, ElementsAre(2, 20, 200, 3, 30, 300));
  auto scalar = zeros(2);
  mul({}, {2}, std::vector<float>{3}, std::vector<float>{1, 2}, scalar);
  EXPECT_THAT(scalar, ElementsAre(3, 6));
}

TEST(LoopsTest, BroadcastRules) {
  Dims dims;
  EXPECT_TRUE(broadcast({2, 1, 3}, {4, 1}, dims));
  EXPECT_EQ(dims, (Dims{2, 4, 3}));
  EXPECT_FALSE(broadcast({2}, {3}, dims));
}

TEST(LoopsTest, SoftmaxAlongAnInnerAxis) {
  auto y = zeros(4);
  // Lanes (0, ln 3) and (1000, 1000): large values must not overflow.
  softmax(1, 2, 2, std::vector<float>{0, 1000, 1.0986123F, 1000}, y);
  EXPECT_THAT(y, Pointwise(FloatNear(1e-6F), std::vector<float>{0.25F, 0.5F, 0.75F, 0.5F}));
}

}  // namespace
}  // namespace oplat::runtimes::reference
