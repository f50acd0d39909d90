// SPDX-License-Identifier: Apache-2.0
/// Losses of loops, by hand.
#include "estimate/learned/loop_features.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace oplat::estimate {
namespace {

std::array<float, kLoopFeatures> features_of(const ir::Contraction& contraction,
                                             double lanes = 16) {
  ir::Description description;
  description.contraction = contraction;
  description.lanes = lanes;
  std::array<float, kLoopFeatures> out{};
  loop_features(description, out);
  return out;
}

TEST(LoopFeatures, AProductOfWholeBlocksLosesNothing) {
  ir::Contraction product;
  product.in_c = 64;
  product.out_c = 64;
  product.out_h = 24;
  EXPECT_NEAR(features_of(product)[0], 0, 1e-6);
  EXPECT_NEAR(features_of(product)[4], 0, 1e-6);
  // 12 rows, then one that waits for its registers: 12 + 4 cycles for 13 rows of 32 columns.
  product.out_h = 13;
  EXPECT_NEAR(features_of(product)[0], std::log(16.0 / 13), 1e-6);
  // 12, 6 and 2 rows.
  product.out_h = 20;
  EXPECT_NEAR(features_of(product)[0], std::log(22.0 / 20), 1e-6);
  // 40 columns: a pair of registers, then one of which half is of use.
  product.out_h = 12;
  product.out_c = 40;
  EXPECT_NEAR(features_of(product)[0], std::log((12 + 6) / (12 * 40.0 / 32)), 1e-6);
  product.in_c = 3;
  EXPECT_NEAR(features_of(product)[4], std::log(4.0 / 3), 1e-6);
}

TEST(LoopFeatures, ABlockedConvolutionLosesAtTheEndsOfItsRows) {
  ir::Contraction conv;
  conv.in_c = 64;
  conv.out_c = 64;
  conv.out_h = 7;
  conv.out_w = 6;
  EXPECT_NEAR(features_of(conv)[1], 0, 1e-6);
  // The example of the header.
  conv.out_w = 7;
  conv.kernel_h = conv.kernel_w = 3;
  conv.share_at_edges = 2.0 / 7;
  EXPECT_NEAR(features_of(conv)[1], std::log(18.0 / 14), 1e-6);
  // Without padding 6 and 1 outputs; all 49 in a row, 8 times 6 and 1.
  conv.share_at_edges = 0;
  EXPECT_NEAR(features_of(conv)[1], std::log((12 + 4) / 14.0), 1e-6);
  EXPECT_NEAR(features_of(conv)[2], std::log((8 * 12 + 4) / 98.0), 1e-6);
  // In 8 bits 54 of 49.
  EXPECT_NEAR(features_of(conv)[3], std::log(54.0 / 49), 1e-6);
  // One block of channels has too few registers to keep two units busy.
  conv.out_c = 16;
  conv.out_w = 6;
  EXPECT_NEAR(features_of(conv)[1], std::log(4.0 / 3), 1e-6);
}

// 24 filters are two times 12 rows, whatever the number of places, which are the columns.
TEST(LoopFeatures, APlainConvolutionHasItsFiltersForRows) {
  ir::Contraction conv;
  conv.in_c = 64;
  conv.out_c = 24;
  conv.out_h = conv.out_w = 8;
  conv.places_are_columns = true;
  EXPECT_NEAR(features_of(conv)[0], 0, 1e-6);
  // One place is one column of the 16 of a register, which waits for itself.
  conv.out_h = conv.out_w = 1;
  EXPECT_NEAR(features_of(conv)[0], std::log(2 * 6 / (24.0 / 32)), 1e-6);
}

TEST(LoopFeatures, ADepthwiseConvolutionHasItsGroupsForChannels) {
  ir::Contraction conv;
  conv.groups = 24;
  conv.out_h = conv.out_w = 6;
  EXPECT_NEAR(features_of(conv)[1], std::log(2 * 4 / (6 * 24.0 / 32)), 1e-6)
      << "a block after the other, each with six registers";
}

// 16 registers of 8 numbers: 6 rows of 16 columns, or 3 outputs of 32 channels.
TEST(LoopFeatures, SmallerRegistersHoldFewerRowsAndOutputs) {
  constexpr double kAvx2 = 8;
  ir::Contraction product;
  product.in_c = 64;
  product.out_c = 64;
  product.out_h = 18;
  EXPECT_NEAR(features_of(product, kAvx2)[0], 0, 1e-6);
  // 6 rows, then one that waits for its two registers: 6 + 4 cycles for 7 rows of 16 columns.
  product.out_h = 7;
  EXPECT_NEAR(features_of(product, kAvx2)[0], std::log(10.0 / 7), 1e-6);
  ir::Contraction conv;
  conv.in_c = 64;
  conv.out_c = 32;
  conv.out_w = 6;
  EXPECT_NEAR(features_of(conv, kAvx2)[1], 0, 1e-6);
  // 3, 3 and 1: 6 + 6 + 4 cycles for 7 outputs of 2.
  conv.out_w = 7;
  EXPECT_NEAR(features_of(conv, kAvx2)[1], std::log(16.0 / 14), 1e-6);
  // In 8 bits 4 outputs and 4, since 3 are taken as 4; 5 as 6.
  EXPECT_NEAR(features_of(conv, kAvx2)[3], std::log(8.0 / 7), 1e-6);
  conv.out_w = 5;
  EXPECT_NEAR(features_of(conv, kAvx2)[3], std::log(6.0 / 5), 1e-6);
  // 36 channels: 16, 16 and 8.
  conv.out_c = 36;
  conv.out_w = 4;
  EXPECT_NEAR(features_of(conv, kAvx2)[3], std::log(40.0 / 36), 1e-6);
}

// Signed bytes: sums of 24 take longer than sums of 32.
TEST(LoopFeatures, ACompiledLoopTakesTheRestOfASumByFours) {
  const auto loss = [](double length) {
    ir::Contraction product;
    product.in_c = length;
    return features_of(product)[5];
  };
  EXPECT_NEAR(loss(32), std::log((2 + 2) / 2.0), 1e-6);
  EXPECT_NEAR(loss(24), std::log((2 + 1 + 2 * 1.6) / 1.5), 1e-6);
  EXPECT_NEAR(loss(18), std::log((2 + 1 + 1.6) / 1.25), 1e-6) << "as long as 20";
  EXPECT_NEAR(loss(1), std::log((2 + 1.6) / 0.25), 1e-6);
  EXPECT_LT(loss(64), loss(32));
}

TEST(LoopFeatures, AreMissingWhereNothingIsSummed) {
  std::array<float, kLoopFeatures> out{};
  loop_features({}, out);
  for (const float value : out) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace oplat::estimate
