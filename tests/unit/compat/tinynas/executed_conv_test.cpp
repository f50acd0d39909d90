// SPDX-License-Identifier: Apache-2.0
/// Tuples as kernels of ONNX Runtime's blocked layout.
#include "compat/tinynas/executed_conv.hpp"

#include <gtest/gtest.h>

namespace oplat::compat::tinynas {

using namespace ir;  // NOLINT: the file is about keys

namespace {

const ConvTuple kFirst{ConvType::Regular, 1, 3, 64, 64, 32, 7, 2, false, 1};
const ConvTuple kFusedConv{ConvType::Regular, 8, 64, 15, 15, 128, 3, 2, true, 1};
const ConvTuple kDepthwiseConv{ConvType::Depthwise, 1, 48, 14, 14, 48, 5, 1, false, 1};

std::string text_of(const ConvTuple& conv, std::int64_t block) {
  const auto key = executed_key_of(conv, block);
  return key ? print(*key) : key.error().message;
}

TEST(ExecutedConv, KeysAreThoseOfTheRuntimesPlans) {
  EXPECT_EQ(
      text_of(kFirst, 16),
      "com.microsoft.nchwc:Conv/"
      "1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[7,7],"
      "pads=[3,3,3,3],strides=[2,2]}(f32[1,3,64,64],f32c[32,3,7,7],f32c[32])->(f32[1,32,32,32])");
  // An odd size keeps its rest.
  EXPECT_EQ(text_of(kFusedConv, 8),
            "com.microsoft.nchwc:Conv/"
            "1@block=8{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,3],"
            "pads=[1,1,1,1],strides=[2,2]}(f32[8,64,15,15],f32c[128,64,3,3],f32c[128],f32[8,128,8,"
            "8])->(&3)");
  EXPECT_EQ(
      text_of(kDepthwiseConv, 16),
      "com.microsoft.nchwc:Conv/"
      "1@block=16{activation=Relu,dilations=[1,1],group=48,kernel_shape=[5,5],"
      "pads=[2,2,2,2],strides=[1,1]}(f32[1,48,14,14],f32c[48,1,5,5],f32c[48])->(f32[1,48,14,14])");
}

TEST(ExecutedConv, TheWayBack) {
  for (const ConvTuple& conv : {kFirst, kFusedConv, kDepthwiseConv}) {
    for (const std::int64_t block : {8, 16})
      EXPECT_EQ(executed_conv_tuple_of(*parse(text_of(conv, block))), conv);
  }
  // A projection has no activation.
  const auto bare = parse(
      "com.microsoft.nchwc:Conv/"
      "1@block=16{dilations=[1,1],group=1,kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]}"
      "(f32[1,96,28,28],f32c[32,96,1,1],f32c[32])->(f32[1,32,28,28])");
  EXPECT_EQ(executed_conv_tuple_of(*bare),
            (ConvTuple{ConvType::Regular, 1, 96, 28, 28, 32, 1, 1, false, 1}));
}

TEST(ExecutedConv, WhatNoTupleSays) {
  const std::string good = text_of(kFusedConv, 16);
  const std::pair<const char*, const char*> changes[] = {
      {"activation=Relu", "activation=Sigmoid"},
      {"dilations=[1,1]", "dilations=[2,2]"},
      {"group=1", "group=2"},
      {"kernel_shape=[3,3]", "kernel_shape=[3,1]"},
      {"pads=[1,1,1,1]", "pads=[0,0,0,0]"},
      {"strides=[2,2]", "strides=[2,1]"},
      {"strides=[2,2]", "strides=[0,0]"},
      {"f32[8,64,15,15]", "f32[8,?,15,15]"},
      {"f32[8,64,15,15]", "f32[0,64,15,15]"},
      {"f32c[128]", "-"},
      {"->(&3)", "->(f32[8,128,8,8])"},
      {"nchwc:Conv", "nchwc:MaxPool"}};
  ASSERT_TRUE(executed_conv_tuple_of(*parse(good)));
  for (const auto& [from, to] : changes) {
    std::string text = good;
    text.replace(text.find(from), std::string_view(from).size(), to);
    const auto key = parse(text);
    ASSERT_TRUE(key) << text;
    EXPECT_FALSE(executed_conv_tuple_of(*key)) << text;
  }
}

TEST(ExecutedConv, OtherKernelsAreRefused) {
  ConvTuple conv = kFusedConv;
  conv.in_c = 24;
  EXPECT_EQ(text_of(conv, 16), "24 to 128 channels, which are not multiples of the block of 16");
  EXPECT_TRUE(executed_key_of(conv, 8));
  conv = kFusedConv;
  conv.out_c = 3;
  EXPECT_FALSE(executed_key_of(conv, 8));
  conv = kFusedConv;
  conv.kernel = 2;
  EXPECT_FALSE(executed_key_of(conv, 8));
  conv = kFusedConv;
  conv.group = 4;
  EXPECT_FALSE(executed_key_of(conv, 8));
}

}  // namespace
}  // namespace oplat::compat::tinynas
