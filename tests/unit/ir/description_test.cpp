// SPDX-License-Identifier: Apache-2.0
/// Keys as numbers: what an untrusted key must not do to the descriptions.
#include "ir/description.hpp"
#include "unit/compat/all_domains.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <tuple>

namespace oplat::ir {
namespace {

std::optional<Description> described(std::string_view text) {
  const auto key = parse(text);
  EXPECT_TRUE(key) << text;
  return key ? describe(*key) : std::nullopt;
}

TEST(Description, ASliceStandsOnOneLineWhateverTextTheKeyHolds) {
  const auto block =
      described(R"key(torch:module{repr="Block(\n  (conv)\n)"}(f32[1,8])->(f32[1,8]))key");
  ASSERT_TRUE(block);
  EXPECT_EQ(block->slice.find('\n'), std::string::npos) << block->slice;
  EXPECT_NE(block->slice.find(R"key(Block(\x0a  (conv)\x0a))key"), std::string::npos)
      << block->slice;
  EXPECT_NE(
      block->slice,
      described(R"key(torch:module{repr="Block(  (conv))"}(f32[1,8])->(f32[1,8]))key")->slice);
}

TEST(Description, TextsOfAConvolutionStandOnOneLineToo) {
  const auto conv = described(
      R"(Conv{activation="a\nb",dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}(f32[1,8,8,8],f32c[8,8,3,3])->(f32[1,8,8,8]))");
  ASSERT_TRUE(conv);
  EXPECT_TRUE(conv->aligned) << "else it tests the general case again";
  EXPECT_EQ(conv->slice.find('\n'), std::string::npos) << conv->slice;
}

/// Both are of one slice, with the same numbers.
void expect_alike(std::string_view a, std::string_view b) {
  const auto first = described(a);
  const auto second = described(b);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->slice, second->slice);
  EXPECT_EQ(first->numbers, second->numbers);
}

void expect_other_slices(std::string_view a, std::string_view b) {
  EXPECT_NE(described(a)->slice, described(b)->slice) << a << " and " << b;
}

using Numbers = std::vector<double>;

TEST(Description, ALoopHasNoRank) {
  expect_alike("Mul/13{}(f32[1,240,28,28],f32[1,240,1,1])->(f32[1,240,28,28])",
               "Mul/14{}(f32[240,784],f32c[240,1])->(f32[240,784])");
  EXPECT_EQ(described("Mul/13{}(f32[1,240,28,28],f32[1,240,1,1])->(f32[1,240,28,28])")->numbers,
            (Numbers{240, 784}));
  expect_alike("Add/13{}(f32[2,3,4],f32[2,3,4])->(f32[2,3,4])",
               "Add/13{}(f32[24],f32[24])->(f32[24])");
  expect_alike("Relu/13{}(f32[2,3,4])->(&0)", "Relu/13{}(f32[24])->(&0)");
  expect_other_slices("Relu/13{}(f32[24])->(&0)", "Relu/13{}(f32[24])->(f32[24])");
  expect_alike("Sub/13{}(f32[24],f32[24])->(f32[24])", "Mul/13{}(f32[24],f32[24])->(f32[24])");
  expect_other_slices("Div/13{}(f32[24],f32[24])->(f32[24])",
                      "Mul/13{}(f32[24],f32[24])->(f32[24])");
  expect_other_slices("Add/13{}(f32[24],f32[24])->(f32[24])",
                      "Add/13{}(f32[24],f32[1])->(f32[24])");
  expect_other_slices("Pow/13{}(f32[24],f32c[]=2.0)->(f32[24])",
                      "Pow/13{}(f32[24],f32c[]=3.0)->(f32[24])");
  // Per-axis scales are not broadcast as elementwise operands are; all numbers count then.
  const auto scales = described("QuantizeLinear/13{axis=0}(f32[8,4],f32c[8],u8c[8])->(u8[8,4])");
  ASSERT_TRUE(scales);
  EXPECT_EQ(scales->numbers.size(), 7U);
}

// A branch wrote the result, and has its own time for it.
TEST(Description, TheWorkOfAnIfIsNotThatOfItsBranch) {
  EXPECT_EQ(described("If/16{}(bool[])->(f32[400,400])")->work.bytes_out, 0);
  EXPECT_EQ(described("If/16{}(bool[])->(f32[400,400])")->work.bytes_in, 1);
  EXPECT_EQ(described("Scan/16{num_scan_inputs=1}(f32[4,8])->(f32[4,8])")->work.bytes_out, 128);
}

TEST(Description, AReductionIsItsKeptAndReducedLoops) {
  const auto middle =
      described("ReduceMean/13{axes=[1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])");
  EXPECT_EQ(middle->numbers, (Numbers{1, 64, 1024}));
  expect_alike(
      "ReduceMean/13{axes=[0,1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])",
      "ReduceMean/18{keepdims=0,noop_with_empty_axes=0}(f32[64,1024],i64c[1]=[0])->(f32[1024])");
  // An axis of one element that is kept is a loop to ONNX Runtime, and adds numbers far apart.
  expect_other_slices("ReduceMean/13{axes=[1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])",
                      "ReduceMean/13{axes=[0,1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])");
  expect_other_slices("ReduceMean/13{axes=[1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])",
                      "ReduceMean/13{axes=[1],keepdims=1}(f32[2,64,32,32])->(f32[2,1,32,32])");
  // 64 lines of a set, of which a first-level cache has fewer.
  EXPECT_NEAR(middle->work.steps, 0.26 * (1 + 0.09 * (64 - 12)) * 64 * 1024, 1e-3);
  EXPECT_NEAR(described("ReduceMean/13{axes=[1],keepdims=1}(f32[1,64,33,33])->(f32[1,1,33,33])")
                  ->work.steps,
              0.26 * 64 * 1089, 1e-3);
  expect_alike("ReduceL2/13{axes=[1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])",
               "ReduceL2/13{axes=[0],keepdims=0}(f32[64,1024])->(f32[1024])");
  expect_alike("ReduceMax/13{axes=[-1],keepdims=1}(f32[3,5,7])->(f32[3,5,1])",
               "ReduceMax/13{axes=[1],keepdims=0}(f32[15,7])->(f32[15])");
  expect_other_slices("ReduceMax/13{axes=[0],keepdims=1}(f32[15,7])->(f32[1,7])",
                      "ReduceMax/13{axes=[1],keepdims=1}(f32[15,7])->(f32[15,1])");
  EXPECT_EQ(
      described("ReduceSum/13{keepdims=1,noop_with_empty_axes=0}(f32[4,6])->(f32[1,1])")->numbers,
      (Numbers{1, 24, 1}));
  // A mean is a sum, a minimum a maximum; those two are slices of one family.
  expect_alike(
      "ReduceMean/13{axes=[1],keepdims=1}(f32[15,7])->(f32[15,1])",
      "ReduceSum/13{keepdims=1,noop_with_empty_axes=0}(f32[15,7],i64c[1]=[1])->(f32[15,1])");
  expect_alike("ReduceMin/13{axes=[1],keepdims=1}(f32[15,7])->(f32[15,1])",
               "ReduceMax/13{axes=[1],keepdims=1}(f32[15,7])->(f32[15,1])");
  expect_other_slices("ReduceMean/13{axes=[1],keepdims=1}(f32[15,7])->(f32[15,1])",
                      "ReduceMax/13{axes=[1],keepdims=1}(f32[15,7])->(f32[15,1])");
  const auto outer = described("ReduceMax/13{axes=[1],keepdims=1}(f32[2,8,9])->(f32[2,1,9])");
  EXPECT_EQ(outer->numbers, (Numbers{2, 8, 9}));
  EXPECT_TRUE(outer->aligned);
  EXPECT_EQ(family_of(outer->slice), family_of(middle->slice));
  // Two reduced loops are a slice of their own, with a number for each loop.
  EXPECT_EQ(described("ReduceMax/13{axes=[0,2],keepdims=1}(f32[2,8,9])->(f32[1,8,1])")->numbers,
            (Numbers{2, 8, 9}));
  EXPECT_FALSE(described("ReduceMax/13{axes=[0,2],keepdims=1}(f32[2,8,9])->(f32[1,8,1])")->aligned);
  // An axis that nobody knows, and one that is none.
  EXPECT_NE(
      described("ReduceSum/13{keepdims=1,noop_with_empty_axes=0}(f32[4,6],i64[1])->(f32[1,6])")
          ->numbers.size(),
      1U);
  EXPECT_TRUE(described("ReduceMax/13{axes=[9],keepdims=1}(f32[15,7])->(f32[15,7])"));
}

TEST(Description, ATransposeIsHowItIsComputed) {
  expect_alike("Transpose/13{perm=[0,2,1]}(f32[1,128,784])->(f32[1,784,128])",
               "Transpose/13{perm=[2,3,0,1]}(f32[8,16,28,28])->(f32[28,28,8,16])");
  // Before, the two that change places, and the bytes of what stays together.
  EXPECT_EQ(described("Transpose/13{perm=[0,2,1,3]}(f32[1,197,3,64])->(f32[1,3,197,64])")->numbers,
            (Numbers{1, 197, 3, 256}));
  EXPECT_EQ(described("Transpose/13{perm=[0,2,1,3]}(f32[1,7,1,64])->(f32[1,1,7,64])")->numbers,
            (Numbers{1792}))
      << "only a dimension of one moves";
  EXPECT_TRUE(described("Transpose/13{perm=[0,0]}(f32[3,4])->(f32[3,3])"));
  // What four bytes mean does not matter.
  expect_alike("Transpose/13{perm=[0,2,1]}(f32[1,128,784])->(f32[1,784,128])",
               "Transpose/13{perm=[0,2,1,3]}(u8[1,128,784,4])->(u8[1,784,128,4])");
  expect_other_slices("Transpose/13{perm=[0,2,1]}(f32[1,128,784])->(f32[1,784,128])",
                      "Transpose/13{perm=[0,2,1]}(u8[1,128,784])->(u8[1,784,128])");
}

TEST(Description, ATransposeOfBlocksThatEachMoveTakesAStepForEach) {
  const auto reversed =
      described("Transpose/13{perm=[0,4,3,1,2]}(u8[1,56,56,3,20])->(u8[1,20,3,56,56])");
  EXPECT_EQ(reversed->numbers, (Numbers{188160, 3, 1}));
  EXPECT_EQ(reversed->work.steps, 2 * 188160);
  // Numbers of any size, but not longer blocks.
  EXPECT_EQ(reversed->slice,
            described("Transpose/13{perm=[2,1,0]}(f32[4,5,6])->(f32[6,5,4])")->slice);
  const auto blocks = described("Transpose/13{perm=[2,1,0,3]}(f32[4,5,6,7])->(f32[6,5,4,7])");
  EXPECT_EQ(blocks->numbers, (Numbers{120, 3, 28}));
  EXPECT_NE(blocks->slice, reversed->slice);
  // Without the axis of one, 8 would pass over 7 * 35 at once; with it, nothing stays neighbours.
  const auto apart =
      described("Transpose/13{perm=[0,4,1,3,2]}(f32[7,35,1,8,16])->(f32[7,16,35,8,1])");
  EXPECT_EQ(apart->slice, reversed->slice);
  EXPECT_NE(described("Transpose/13{perm=[0,3,1,2]}(f32[7,35,8,16])->(f32[7,16,35,8])")->slice,
            reversed->slice);
  // In the middle of the axes, the first and the last stay.
  EXPECT_EQ(described("Transpose/13{perm=[0,3,2,1,4]}(f32[2,3,4,5,6])->(f32[2,5,4,3,6])")->numbers,
            (Numbers{120, 4, 24}));
}

TEST(Description, APoolIsItsPlanesAndItsWindow) {
  const auto pool = described(
      "MaxPool/12{ceil_mode=0,dilations=[1,1],kernel_shape=[3,2],pads=[1,0,1,0],storage_order=0,"
      "strides=[2,1]}(f32[2,24,56,30])->(f32[2,24,28,29])");
  EXPECT_EQ(pool->numbers, (Numbers{48, 28, 29, 3, 2, 2, 1, 2}));
  EXPECT_EQ(pool->work.steps, 0);
  const auto last = described(
      "com.microsoft:NhwcMaxPool/1{ceil_mode=0,dilations=[1,1],kernel_shape=[2,2],pads=[0,0,0,0],"
      "strides=[2,2]}(u8[1,16,16,8])->(u8[1,8,8,8])");
  EXPECT_EQ(last->numbers, (Numbers{8, 8, 8, 2, 2, 2, 2, 1}));
  EXPECT_EQ(last->work.steps, 0);
  // A signal is one row; bytes behind each other are compared one by one.
  const auto signal = described(
      "MaxPool/12{ceil_mode=0,dilations=[1],kernel_shape=[4],pads=[0,0],storage_order=0,"
      "strides=[4]}(u8[1,128,1000])->(u8[1,128,250])");
  EXPECT_EQ(signal->numbers, (Numbers{128, 1, 250, 1, 4, 1, 4, 1}));
  EXPECT_EQ(signal->work.steps, 128 * 250 * 4);
}

TEST(Description, AResizeOfTheLastAxisButOneHasTheChannelsLast) {
  const auto last = described(
      "Resize/13{coordinate_transformation_mode=half_pixel,exclude_outside=0,mode=linear}"
      "(f32[1,32,16,128],-,f32c[4]=[1.0,2.0,3.0,1.0])->(f32[1,64,48,128])");
  EXPECT_EQ(last->numbers, (Numbers{128, 64, 48, 1}));
  const auto nearest = [](const char* factor, const char* to) {
    return described(
               "Resize/13{coordinate_transformation_mode=asymmetric,exclude_outside=0,"
               "mode=nearest,nearest_mode=floor}(f32[1,8,10,10],-,f32c[4]=[1.0,1.0," +
               std::string(factor) + "])->(f32[1,8," + to + "])")
        ->slice;
  };
  EXPECT_NE(nearest("2.0,2.0", "20,20"), nearest("3.0,3.0", "30,30"));
  EXPECT_EQ(nearest("4.0,4.0", "40,40"), nearest("3.0,3.0", "30,30"));
}

TEST(Description, ASoftmaxOfAnotherAxisIsTransposed) {
  const auto softmax = [](const char* axis, const char* shape) {
    return described(std::string("Softmax/13{axis=") + axis + "}(f32[" + shape + "])->(&0)");
  };
  // The last axis but one changes places with the last; from the first of three, each number does.
  EXPECT_EQ(softmax("1", "1,154,16")->numbers, (Numbers{1, 154, 16, 1}));
  EXPECT_NE(softmax("1", "1,154,16")->slice, softmax("1", "1,154,16,16")->slice);
  EXPECT_EQ(softmax("1", "1,154,16,16")->work.steps,
            7 * 256 + 0.165 * 154 * 256 + 2 * 2 * 154 * 256);
  // Whether it is in place is not said.
  EXPECT_EQ(softmax("2", "1,8,32")->slice,
            described("Softmax/13{axis=2}(f32[1,8,32])->(f32[1,8,32])")->slice);
}

TEST(Description, RowsThatFillNoRegistersAreSteps) {
  const auto softmax = [](std::string_view shape, std::string_view result) {
    return described(fmt::format("Softmax/13{{axis=-1}}(f32[{}])->({})", shape, result));
  };
  // In place the next row waits for the rest of the one before.
  EXPECT_EQ(softmax("100,32", "&0")->work.steps, (7 + 0.165 * 32) * 100);
  EXPECT_EQ(softmax("100,21", "&0")->work.steps, (7 + 14 + 0.165 * 21) * 100);
  EXPECT_EQ(softmax("100,21", "f32[100,21]")->work.steps, (7 + 0.165 * 21) * 100);
  EXPECT_EQ(softmax("100,21", "&0")->numbers, (Numbers{100, 21, 1, 6}));
  EXPECT_EQ(softmax("100,21", "f32[100,21]")->numbers, (Numbers{100, 21, 1, 1}));
  const auto norm = [](int along) {
    return described(fmt::format("LayerNormalization/17{{axis=-1,stash_type=1}}(f32[100,{0}],"
                                 "f32c[{0}],f32c[{0}])->(f32[100,{0}])",
                                 along))
        ->work.steps;
  };
  EXPECT_NEAR(norm(32), (14 + 0.28 * 32) * 100, 1e-6);
  EXPECT_NEAR(norm(7), (14 + 14 + 0.28 * 7) * 100, 1e-6);
}

TEST(Description, LinesOfAWalkShareASet) {
  const auto lines = [](std::string_view text) { return described(text)->lines_in_a_set; };
  const auto transpose = [&](int rows, int columns) {
    return lines(
        fmt::format("Transpose/13{{perm=[1,0]}}(f32[{0},{1}])->(f32[{1},{0}])", rows, columns));
  };
  EXPECT_EQ(transpose(64, 1024), 64) << "4,096 bytes apart";
  EXPECT_EQ(transpose(64, 2048), 64);
  EXPECT_EQ(transpose(64, 512), 32);
  EXPECT_EQ(transpose(64, 2304), 16) << "9,216 bytes apart: every fourth";
  EXPECT_EQ(transpose(64, 1040), 1);
  EXPECT_EQ(transpose(64, 1023), 1) << "no whole number of lines apart";
  EXPECT_EQ(lines("com.microsoft.nchwc:ReorderOutput/1@block=16{channels=64,channels_last=0}"
                  "(f32[1,64,64,64])->(f32[1,64,64,64])"),
            16)
      << "a block of channels";
  EXPECT_EQ(lines("Relu/13{}(f32[64,1024])->(f32[64,1024])"), 0);
}

TEST(Description, BlockedConvolutionsAreRowsForEachBlock) {
  const auto windows = [](int group, int in_c, int out_c, int kernel, int stride, int block) {
    const int pad = kernel / 2;
    const int out = 9 / stride + 9 % stride;
    return described(fmt::format("com.microsoft.nchwc:Conv/1@block={}{{dilations=[1,1],group={},"
                                 "kernel_shape=[{},{}],pads=[{},{},{},{}],strides=[{},{}]}}"
                                 "(f32[2,{},9,9],f32c[{},{},{},{}])->(f32[2,{},{},{}])",
                                 block, group, kernel, kernel, pad, pad, pad, pad, stride, stride,
                                 in_c, out_c, in_c / group, kernel, kernel, out_c, out, out))
        ->windows;
  };
  // Two images of nine rows, 8 blocks of filters by four, 4 blocks of channels.
  EXPECT_EQ(windows(1, 64, 128, 3, 1, 16).row_calls, 2 * 9 * 2 * 4);
  EXPECT_EQ(windows(1, 64, 128, 3, 1, 16).written, 2 * 81 * 128 * 4);
  EXPECT_EQ(windows(1, 64, 128, 3, 1, 8).row_calls, 2 * 9 * 4 * 8);
  EXPECT_EQ(windows(1, 3, 32, 3, 1, 16).row_calls, 2 * 9 * 3) << "an image, channel by channel";
  EXPECT_EQ(windows(32, 32, 32, 3, 1, 16).row_calls, 2 * 9 * 2) << "depthwise";
  EXPECT_EQ(windows(32, 32, 32, 3, 1, 16).written, 2 * 81 * 32);
  EXPECT_EQ(windows(1, 256, 64, 1, 1, 16).row_calls, 2 * 2) << "all places at once";
  EXPECT_EQ(windows(1, 256, 64, 1, 1, 16).written, 2 * 81 * 64 * 2);
  EXPECT_EQ(windows(1, 256, 64, 1, 2, 16).row_calls, 2 * 5 * 16) << "strided ones go by rows";
  EXPECT_EQ(windows(2, 64, 64, 3, 1, 16).row_calls, 2 * 9 * 2 * 2) << "each group";
}

TEST(Description, ElementsThatNoVectorTakesAreSteps) {
  EXPECT_EQ(described("Elu/6{}(f32[10,10])->(f32[10,10])")->work.steps, 140);
  EXPECT_EQ(described("Relu/13{}(f32[10,10])->(f32[10,10])")->work.steps, 0);
  // Runs of 49 that meet another number each.
  EXPECT_EQ(described("Mul/13{}(f32[1,8,7,7],f32[1,8,1,1])->(f32[1,8,7,7])")->work.steps, 6 * 8);
}

TEST(Description, AResultScaledByColumnIsAnotherProduct) {
  const auto product = [](const char* transposed, const char* weights, const char* scale) {
    return described(std::string("com.microsoft:QGemm/1{alpha=1.0,transA=0,transB=") + transposed +
                     "}(u8[4,64],f32c[],u8c[],i8c[" + weights + "],f32c[" + scale + "],i8c[" +
                     scale + "]=0,i32c[32],f32c[],u8c[])->(u8[4,32])")
        ->slice;
  };
  EXPECT_NE(product("0", "64,32", ""), product("0", "64,32", "32"));
  // Constant weights are packed before.
  EXPECT_EQ(product("0", "64,32", ""), product("1", "32,64", ""));
  EXPECT_NE(described("Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=0}(f32[4,64],f32[64,32])->"
                      "(f32[4,32])")
                ->slice,
            described("Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=1}(f32[4,64],f32[32,64])->"
                      "(f32[4,32])")
                ->slice);
}

TEST(Description, SeveralFiltersOfOneChannelAreGroups) {
  const auto convolution = [](const char* filters) {
    return described(std::string("Conv/11{dilations=[1,1],group=8,kernel_shape=[3,3],pads=[1,1,1,1]"
                                 ",strides=[1,1]}(f32[1,8,14,14],f32c[") +
                     filters + ",1,3,3],f32c[" + filters + "])->(f32[1," + filters + ",14,14])");
  };
  EXPECT_NE(convolution("8")->slice.find("depthwise"), std::string::npos);
  EXPECT_NE(convolution("16")->slice.find("grouped"), std::string::npos);
  EXPECT_EQ(convolution("16")->numbers[kConvInChannels], 0.5);
}

TEST(Description, ABiasIsNoOtherSlice) {
  const auto slice = [](const char* bias) {
    return described(std::string("com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],"
                                 "group=1,kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]}("
                                 "u8[1,8,8,16],f32c[],u8c[],i8c[32,16,1,1],f32c[],i8c[]=0,f32c[],"
                                 "u8c[]") +
                     bias + ")->(u8[1,8,8,32])")
        ->slice;
  };
  EXPECT_EQ(slice(""), slice(",i32c[32]"));
}

TEST(Description, WhatPicksDoesNotReadTheRest) {
  const auto work = [](const char* text) { return described(text)->work; };
  for (const char* text : {"Gather/13{axis=0}(f32c[250000,64],i64[1,16])->(f32[1,16,64])",
                           "Gather/13{axis=0}(f32[250000,64],i64[1,16])->(f32[1,16,64])",
                           "GatherND/13{batch_dims=0}(f32[250000,64],i64[16,1])->(f32[16,64])",
                           "GatherElements/13{axis=0}(f32[250000,64],i64[16,64])->(f32[16,64])"}) {
    EXPECT_EQ(work(text).bytes_out, 4096) << text;
    EXPECT_LE(work(text).bytes(), 4 * 4096) << text;
  }
  for (const char* text :
       {"Shape/15{start=0}(f32[64,64,56,56])->(i64[4])", "Size/13{}(f32[64,64,56,56])->(i64[])"})
    EXPECT_LE(work(text).bytes(), 64) << text;
  // Of each result of a smaller image one element, or four; of an antialiased one all.
  const auto smaller = [&](const char* how) {
    return work(fmt::format("Resize/18{{{}}}(f32[1,1,4096,4096],-,-,i64c[4]=[1,1,64,64])->"
                            "(f32[1,1,64,64])",
                            how)
                    .c_str())
        .bytes_in;
  };
  EXPECT_EQ(smaller("antialias=0,mode=nearest"), 16'384);
  EXPECT_EQ(smaller("antialias=0,mode=linear"), 4 * 16'384);
  EXPECT_EQ(smaller("antialias=0,mode=cubic"), 16 * 16'384);
  EXPECT_EQ(smaller("antialias=1,mode=linear"), 4096 * 4096 * 4);
  // Of cosines and sines no more than of results.
  EXPECT_EQ(work("com.microsoft:RotaryEmbedding/1{interleaved=0}(f32[1,8,16,64],i64[1,16],"
                 "f32c[131072,32],f32c[131072,32])->(f32[1,8,16,64])")
                .bytes_weights,
            2 * 32'768);
  // Indices of 8 bytes, elements of 4.
  EXPECT_EQ(work("GatherElements/13{axis=0}(f32[250000,64],i64[16,64])->(f32[16,64])").bytes(),
            (8 + 4 + 4) * 16 * 64);
  const auto table = described("Gather/13{axis=0}(f32c[250000,64],i64[1,16])->(f32[1,16,64])");
  EXPECT_EQ(table->stored_weight_bytes, 64'000'000) << "where it lies before a call";
  EXPECT_EQ(table->stored_bytes, 64'000'000 + 128 + 4096);
}

TEST(Description, OfWhatIsUpdatedInPlaceOnlyTheUpdates) {
  const auto bytes = [](const char* text) { return described(text)->work.bytes(); };
  EXPECT_EQ(bytes("ScatterElements/18{axis=1,reduction=none}(f32[1,1000000],i64[1,100],f32[1,100])"
                  "->(&0)"),
            100 * (8 + 4 + 4));
  EXPECT_GT(bytes("ScatterElements/18{axis=1,reduction=none}(f32[1,1000000],i64[1,100],f32[1,100])"
                  "->(f32[1,1000000])"),
            8'000'000);
  EXPECT_EQ(bytes("TensorScatter/24{axis=-2,mode=linear}(f32[1,8,4096,128],f32[1,8,1,128],i64[1])"
                  "->(&0)"),
            2 * 4096 + 8);
  EXPECT_EQ(bytes("RandomNormalLike/1{mean=0.0,scale=1.0}(f32[500])->(f32[500])"), 2000);
}

// Times of ONNX Runtime 1.31.1 on a Zen 4, in ns (docs/adr/0102): the same order of magnitude.
TEST(Description, WhatTakesOneAfterTheOtherSaysHowMany) {
  for (const auto& [text, ns] : std::initializer_list<std::pair<const char*, double>>{
           {"RandomNormalLike/1{mean=0.0,scale=1.0}(f32[1,192,500])->(f32[1,192,500])", 989e3},
           {"RandomUniform/1{high=1.0,low=0.0,shape=[96000]}()->(f32[96000])", 369e3},
           {"Pow/15{}(f32[1,64,56,56],f32c[]=2.2)->(f32[1,64,56,56])", 877e3},
           {"Pow/15{}(f32[1,64,56,56],f32[1,64,56,56])->(f32[1,64,56,56])", 858e3},
           {"STFT/17{onesided=1}(f32[1,48000,1],i64c[]=160,f32c[400],i64c[]=400)->"
            "(f32[1,298,201,2])",
            11'409e3},
           {"STFT/17{onesided=1}(f32[1,48000,1],i64c[]=160,f32c[512],i64c[]=512)->"
            "(f32[1,297,257,2])",
            2366e3},
           {"DFT/17{axis=1,inverse=0,onesided=0}(f32[1,16000,1],-)->(f32[1,16000,2])", 5403e3},
           {"DFT/20{inverse=0,onesided=0}(f32[1,16384,1],-,i64c[]=1)->(f32[1,16384,2])", 736e3},
           {"ScatterElements/18{axis=1,reduction=none}(f32[1,100000],i64[1,100000],f32[1,100000])"
            "->(f32[1,100000])",
            329e3},
           {"ScatterND/16{reduction=none}(f32[1,256,256],i64[1,256,256,3],f32[1,256,256])->"
            "(f32[1,256,256])",
            440e3},
           {"GatherND/13{batch_dims=0}(f32[1,256,256],i64[65536,3])->(f32[65536])", 705e3},
           {"GatherElements/13{axis=1}(f32[16,4096],i64[16,4096])->(f32[16,4096])", 45e3},
           {"Tile/13{}(f32[1,512,64,1],i64c[4]=[1,1,1,64])->(f32[1,512,64,64])", 5871e3},
           {"Tile/13{}(f32[1,512,1,64],i64c[4]=[1,1,64,1])->(f32[1,512,64,64])", 106e3},
           {"com.microsoft:GatherBlockQuantized/1{bits=4,block_size=32,gather_axis=0,"
            "quantize_axis=1}(u8c[32000,1536],i64[1,128],f32c[32000,96])->(f32[1,128,3072])",
            347e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[1,100000],i64c[1]=[100000])->"
            "(f32[1,100000],i64[1,100000])",
            10'059e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[1,100000],i64c[1]=[50])->"
            "(f32[1,50],i64[1,50])",
            67e3},
           {"Compress/11{axis=0}(f32[8400,85],bool[8400])->(f32[10,85])", 14e3},
           {"CumSum/14{exclusive=0,reverse=0}(f32[64,4096],i64c[]=1)->(f32[64,4096])", 858e3},
           {"Unique/11{sorted=1}(i64[10000])->(i64[4000],i64[4000],i64[10000],i64[4000])", 1561e3},
           {"LpPool/22{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],p=2,pads=[0,0,0,0],"
            "strides=[1,1]}(f32[1,64,56,56])->(f32[1,64,54,54])",
            22'300e3},
           {"GlobalLpPool/2{p=2}(f32[1,64,56,56])->(f32[1,64,1,1])", 2307e3},
           {"com.microsoft:CDist/1{metric=sqeuclidean}(f32[500,256],f32c[1000,256])->"
            "(f32[500,1000])",
            2571e3},
           {"Einsum/12{equation=\"bqd,bkd,bqk->bqk\"}(f32[1,256,64],f32[1,256,64],f32[1,256,256])"
            "->(f32[1,256,256])",
            8649e3},
           {"com.microsoft:MatMulNBits/1{K=1024,N=1024,accuracy_level=0,bits=8,block_size=32}"
            "(f32[1,1,1024],u8c[1024,32,32],f32c[32768])->(f32[1,1,1024])",
            1413e3},
           {"com.microsoft:MatMulNBits/1{K=1024,N=1024,accuracy_level=0,bits=2,block_size=32}"
            "(f32[1,1,1024],u8c[1024,32,8],f32c[32768],u8c[8192])->(f32[1,1,1024])",
            3166e3},
           {"com.microsoft:MatMulNBits/1{K=1024,N=1024,accuracy_level=4,bits=4,block_size=32}"
            "(f32[1,1,1024],u8c[1024,32,16],f32c[32768],-,i32c[1024])->(f32[1,1,1024])",
            1580e3},
           {"com.microsoft:MatMulNBits/1{K=1024,N=1024,accuracy_level=4,bits=4,block_size=32}"
            "(f32[1,1,1024],u8c[1024,32,16],f32c[32768],f32c[32768])->(f32[1,1,1024])",
            1661e3},
           {"com.microsoft:MoE/1{activation_type=gelu,k=2}(f32[64,256],f32[64,8],"
            "f32c[8,512,256],-,f32c[8,256,512])->(f32[64,256])",
            1292e3},
           {"com.microsoft:QMoE/1{activation_type=gelu,expert_weight_bits=4,k=2}(f32[1,256],"
            "f32[1,8],u8c[8,512,128],f32c[8,512],-,u8c[8,256,256],f32c[8,256])->(f32[1,256])",
            105e3},
           {"Tile/13{}(f32[1,64,1,1],i64c[4]=[1,1,56,56])->(f32[1,64,56,56])", 23e3},
           {"Tile/13{}(f32[64,1,32,1],i64c[4]=[1,8,1,16])->(f32[64,8,32,16])", 97e3},
           {"TopK/11{axis=1,largest=1,sorted=0}(f32[64,1000],i64c[1]=[500])->"
            "(f32[64,500],i64[64,500])",
            833e3},
           {"Unique/11{sorted=1}(i64[2000,3])->(i64[100],i64[100],i64[6000],i64[100])", 103e3},
           {"Unique/11{axis=1,sorted=0}(f32[2000,3])->(f32[2000,3],i64[3],i64[3],i64[3])", 20e3},
           {"NonZero/13{}(f32[256,512])->(i64[2,6465])", 226e3},
           {"NonZero/13{}(u8[256,512])->(i64[2,124625])", 1820e3},
           {"MaxRoiPool/1{pooled_shape=[7,7],spatial_scale=0.25}(f32[1,256,50,50],f32[50,5])->"
            "(f32[50,256,7,7])",
            6414e3},
           {"com.microsoft:CropAndResize/1{extrapolation_value=0.0,mode=bilinear}(f32[1,256,50,50],"
            "f32[50,4],i32[50],i32c[2]=7)->(f32[50,256,7,7])",
            2857e3},
           {"DeformConv/19{group=1,offset_group=1,pads=[1,1,1,1]}(f32[1,16,28,28],"
            "f32c[16,16,3,3],f32[1,18,28,28])->(f32[1,16,28,28])",
            221e3},
           {"AveragePool/19{ceil_mode=0,count_include_pad=0,dilations=[1,1,1],kernel_shape=[3,3,3],"
            "pads=[0,0,0,0,0,0],strides=[1,1,1]}(f32[1,16,16,32,32])->(f32[1,16,14,30,30])",
            10'808e3},
           {"AveragePool/19{ceil_mode=0,count_include_pad=0,dilations=[1],kernel_shape=[3],"
            "pads=[0,0],strides=[1]}(f32[1,64,4000])->(f32[1,64,3998])",
            1456e3},
           {"MaxPool/12{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],pads=[0,0,0,0],"
            "storage_order=0,strides=[1,1]}(f32[1,64,56,56])->(f32[1,64,54,54],i64[1,64,54,54])",
            4005e3},
           {"MaxPool/12{ceil_mode=0,dilations=[4],kernel_shape=[3],pads=[0,0],storage_order=0,"
            "strides=[1]}(f32[1,64,4000])->(f32[1,64,3992])",
            1848e3},
           {"GridSample/20{align_corners=0,mode=cubic,padding_mode=zeros}(f32[1,16,64,64],"
            "f32[1,64,64,2])->(f32[1,16,64,64])",
            2246e3},
           {"GridSample/20{align_corners=0,mode=linear,padding_mode=reflection}(f32[1,16,64,64],"
            "f32[1,64,64,2])->(f32[1,16,64,64])",
            2062e3},
           {"ArgMin/13{axis=1,keepdims=0,select_last_index=0}(f32[64,2000])->(i64[64])", 106e3},
           {"ArgMax/13{axis=1,keepdims=0,select_last_index=0}(u8[50000,2])->(i64[50000])", 348e3},
           {"Hardmax/13{axis=1}(f32[16,2,4000])->(f32[16,2,4000])", 495e3},
           {"Hardmax/13{axis=-1}(f32[1,12,128,128])->(f32[1,12,128,128])", 86e3},
           {"ReduceSum/13{keepdims=0,noop_with_empty_axes=0}(f32[16,16,16,32],i64c[2]=[0,2])->"
            "(f32[16,32])",
            95e3},
           {"ReduceSum/13{keepdims=0,noop_with_empty_axes=0}(i64[16,16,16,32],i64c[2]=[1,3])->"
            "(i64[16,16])",
            420e3},
           {"MatMul/13{}(f32[4,256,256],f32[256])->(f32[4,256])", 691e3},
           {"MatMul/13{}(i64[500,512],i64[512,64])->(i64[500,64])", 6289e3},
           {"GridSample/20{align_corners=0,mode=linear,padding_mode=zeros}(f32[1,16,16,16,16],"
            "f32[1,16,16,16,3])->(f32[1,16,16,16,16])",
            2517e3},
           {"BitwiseAnd/18{}(u8[448,1],u8[1,448])->(u8[448,448])", 119e3},
           {"Div/14{}(i64[448,1],i64[1,448])->(i64[448,448])", 387e3},
           {"Mod/13{fmod=0}(u8[1,64,56,56],u8[1])->(u8[1,64,56,56])", 220e3},
           {"Pad/19{mode=constant}(u8[1,4096,16],i64c[6]=[0,0,1,0,0,1])->(u8[1,4096,18])", 43e3},
           {"DepthToSpace/13{blocksize=2,mode=CRD}(u8[1,64,56,56])->(u8[1,16,112,112])", 223e3},
           {"DepthToSpace/13{blocksize=2,mode=DCR}(f32[1,64,56,56])->(f32[1,16,112,112])", 362e3},
           {"ReduceMax/18{keepdims=0,noop_with_empty_axes=0}(f64[8,8,8,8,32],i64c[2]=[1,3])->"
            "(f64[8,8,32])",
            62e3},
           {"QuantizeLinear/21{axis=1,block_size=0,output_dtype=0,saturate=1}(f16[1,400000],f16c[],"
            "u8c[])->(u8[1,400000])",
            3930e3},
           {"Cast/19{saturate=1,to=16}(bool[1,400000])->(bf16[1,400000])", 1448e3},
           {"GridSample/20{align_corners=0,mode=nearest,padding_mode=reflection}(f32[1,16,64,64],"
            "f32[1,64,64,2])->(f32[1,16,64,64])",
            676e3},
           {"Sigmoid/13{}(f64[1,64,1500])->(f64[1,64,1500])", 884e3},
           {"Softmax/13{axis=0}(f64[1000,64])->(f64[1000,64])", 449e3},
           {"GreaterOrEqual/16{}(i64[448,1],i64[1,448])->(bool[448,448])", 69e3},
           {"Equal/13{}(f64[448,448],f64[1])->(bool[448,448])", 46e3},
           {"Less/13{}(f32[448,1],f32[1,448])->(bool[448,448])", 33e3},
           {"And/7{}(bool[448,1],bool[1,448])->(bool[448,448])", 12e3},
           {"Mean/13{}(f32[448,1],f32[1,448])->(f32[448,448])", 42e3},
           {"Sum/13{}(f32[1,64,28,28],f32[1,64,1,1],f32[1,64,1,1],f32[1,64,1,1])->"
            "(f32[1,64,28,28])",
            22e3},
           {"Min/13{}(f64[448,1],f64[1,448])->(f64[448,448])", 69e3},
           {"Sign/13{}(f32[1,64,1500])->(f32[1,64,1500])", 103e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[64,256],i64c[1]=[18])->(-,i64[64,18])", 146e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[16,128],i64[1])->(f32[16,62],-)", 61e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[80,64],i64[1])->(f32[80,20],i64[80,20])",
            112e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[256,8],i64[1])->(f32[256,3],-)", 21e3},
           {"TopK/11{axis=-1,largest=1,sorted=0}(f32[16,128],i64[1])->(f32[16,62],-)", 33e3},
           {"TopK/11{axis=1,largest=1,sorted=1}(f32[1,80,8400],i64[1])->(f32[1,10,8400],-)",
            7386e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[1,100000],i64[1])->(f32[1,50],-)", 61e3},
           {"TopK/11{axis=-1,largest=1,sorted=1}(f32[16,1000],i64[1])->(f32[16,1000],-)", 975e3},
           {"Dropout/13{}(f32[1,1,16,56,56])->(f32[1,1,16,56,56])", 28e3},
           {"Sub/14{}(f32[4096,1],f32[1])->(f32[4096,1])", 46e3},
           {"Add/14{}(f32[1,64,64,1],f32c[])->(f32[1,64,64,1])", 46e3},
           {"Equal/13{}(f32[64,64,1,1],f32[1,1])->(bool[64,64,1,1])", 43e3},
           {"Sign/13{}(i64[1,64,1500])->(i64[1,64,1500])", 56e3},
           {"OneHot/11{axis=-1}(i64[2000],i64c[]=64,f32c[2])->(f32[2000,64])", 237e3},
           {"OneHot/11{axis=0}(i64[2000],i64c[]=1000,i64c[2])->(i64[1000,2000])", 952e3},
           {"ReduceL2/18{keepdims=0,noop_with_empty_axes=0}(f32[256,512],i64c[1]=[1])->(f32[256])",
            102e3},
           {"Transpose/13{perm=[1,0]}(f64[512,700])->(f64[700,512])", 2010e3},
           {"Transpose/13{perm=[2,0,1]}(i64[64,64,100])->(i64[100,64,64])", 2477e3},
           {"Transpose/13{perm=[1,0]}(f64[256,256])->(f64[256,256])", 175e3},
           {"Transpose/13{perm=[0,2,3,1]}(f64[1,100,64,64])->(f64[1,64,64,100])", 1135e3},
           {"Transpose/13{perm=[0,2,3,1]}(i64[1,256,16,16])->(i64[1,16,16,256])", 147e3},
           {"ai.onnx.ml:Normalizer/1{norm=L1}(f32[50,2000])->(f32[50,2000])", 106e3},
           {"Unique/11{axis=0,sorted=0}(i64[2000,3])->(i64[2000,3],i64[2000],i64[2000],i64[2000])",
            614e3},
           {"ConvInteger/10{dilations=[1,1],group=64,kernel_shape=[3,3],pads=[1,1,1,1],"
            "strides=[1,1]}(u8[1,64,28,28],i8c[64,1,3,3],u8c[])->(i32[1,64,28,28])",
            586e3},
           {"com.microsoft:QLinearSoftmax/1{axis=1,opset=13}(u8[1,12,128,128],f32c[],u8c[],f32c[],"
            "u8c[])->(u8[1,12,128,128])",
            1758e3},
           {"Attention/23{is_causal=0,qk_matmul_output_mode=0,softcap=30.0}(f32[1,12,384,64],"
            "f32[1,12,384,64],f32[1,12,384,64])->(f32[1,12,384,64])",
            22'320e3},
           {"HannWindow/17{output_datatype=1,periodic=1}(i64[])->(f32[20000])", 189e3},
           {"ai.onnx.ml:Normalizer/1{norm=L2}(f32[50,2000])->(f32[50,2000])", 536e3},
           {"com.microsoft:MatMulIntegerToFloat/1{}(i8[1,512],i8c[512,1000],f32c[],f32c[],i8c[],"
            "i8c[]=5)->(f32[1,1000])",
            293e3},
           {"Shrink/9{}(f32[1,64,1500])->(f32[1,64,1500])", 607e3},
           {"Max/13{}(f16[1,64,56,56],f16[1,64,56,56])->(f16[1,64,56,56])", 963e3},
           {"Cast/19{saturate=1,to=19}(i8[1,64,2000])->(f8e5m2[1,64,2000])", 916e3},
           {"Cast/19{saturate=1,to=10}(i32[1,64,2000])->(f16[1,64,2000])", 245e3},
           {"QuantizeLinear/21{axis=3,block_size=0,output_dtype=0,saturate=1}(f32[1,64,56,56],"
            "f32c[56],u8c[56])->(u8[1,64,56,56])",
            4073e3},
           {"QuantizeLinear/21{axis=0,block_size=16,output_dtype=0,saturate=1}(f32[512,512],"
            "f32c[32,512],u8c[32,512])->(u8[512,512])",
            608e3},
           {"DequantizeLinear/21{axis=3,block_size=0}(u8[1,64,56,56],f32c[56],u8c[56])->"
            "(f32[1,64,56,56])",
            304e3},
           {"DequantizeLinear/21{axis=1,block_size=32}(u8[512,512],f32c[512,16],u8c[512,16])->"
            "(f32[512,512])",
            273e3},
           {"Resize/18{antialias=0,coordinate_transformation_mode=half_pixel,cubic_coeff_a=-0.75,"
            "exclude_outside=0,keep_aspect_ratio_policy=stretch,mode=cubic}(f32[1,64,64,16],-,-,"
            "i64c[4]=[1,128,128,16])->(f32[1,128,128,16])",
            649e3},
           {"ai.onnx.ml:SVMRegressor/1{coefficients=\"values:f32[500]\",kernel_type=RBF,"
            "n_supports=500,support_vectors=\"values:f32[15000]\"}(f32[100,30])->(f32[100,1])",
            794e3},
           {"ai.onnx.ml:SVMClassifier/1{coefficients=\"values:f32[500]\",kernel_type=RBF,"
            "support_vectors=\"values:f32[15000]\"}(f32[100,30])->(i64[100],f32[100,2])",
            828e3},
           {"ai.onnx.ml:TreeEnsembleRegressor/3{aggregate_function=SUM,forest_depth=10,"
            "forest_features=28,forest_ids=1,forest_modes=[BRANCH_LEQ],forest_nodes=204700,"
            "forest_trees=100,forest_weights=102400,n_targets=1,post_transform=NONE}"
            "(f32[1000,28])->(f32[1000,1])",
            6667e3},
           {"Loop/16@steps=500{}(i64c[]=500,boolc[]=1,f32[1,256])->(f32[1,256],f32[500,1,256])",
            200e3},
           {"Scan/16{num_scan_inputs=1}(f32[1,64],f32[500,1,64])->(f32[1,64],f32[500,1,64])",
            200e3}}) {
    const double steps = described(text)->work.steps;
    EXPECT_GT(steps, ns / 2) << text;
    EXPECT_LT(steps, ns * 2) << text;
  }
  // Weights of 4 bits have kernels of their own, and others where activations have 8 bits.
  EXPECT_LT(described("com.microsoft:MatMulNBits/1{K=1024,N=1024,accuracy_level=0,bits=4,"
                      "block_size=32}(f32[1,1,1024],u8c[1024,32,16],f32c[32768],u8c[16384])->"
                      "(f32[1,1,1024])")
                ->work.steps,
            78e3);
  EXPECT_EQ(described("com.microsoft:MatMulNBits/1{K=1024,N=1024,accuracy_level=4,bits=8,"
                      "block_size=32}(f32[1,1,1024],u8c[1024,32,32],f32c[32768])->(f32[1,1,1024])")
                ->work.steps,
            0);
  // Of 32 experts with two tokens to two each, four at most have their weights read.
  EXPECT_NEAR(described("com.microsoft:MoE/1{k=2}(f32[2,64],f32[2,32],f32c[32,128,64],-,"
                        "f32c[32,64,128])->(f32[2,64])")
                  ->work.bytes_weights,
              2.0 * 64 * 128 * 4 * 3.875, 1);
  // Vectors of the processor do these.
  for (const char* text :
       {"MaxPool/12{ceil_mode=0,dilations=[1,1],kernel_shape=[3,3],pads=[0,0,0,0],storage_order=0,"
        "strides=[1,1]}(f32[1,64,56,56])->(f32[1,64,54,54])",
        "AveragePool/11{ceil_mode=0,count_include_pad=0,kernel_shape=[3],pads=[0,0],strides=[1]}"
        "(f32[1,64,4000])->(f32[1,64,3998])",
        "com.microsoft.nchwc:MaxPool/1@block=16{ceil_mode=0,dilations=[2,2],kernel_shape=[3,3],"
        "pads=[0,0,0,0],storage_order=0,strides=[1,1]}(f32[1,64,56,56])->(f32[1,64,52,52])",
        "com.microsoft.nchwc:AveragePool/1@block=16{ceil_mode=0,count_include_pad=0,"
        "dilations=[1,1],kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]}(f32[1,64,56,56])->"
        "(f32[1,64,54,54])",
        "QuantizeLinear/13{axis=1}(f32[128,768],f32c[1],u8c[1])->(u8[128,768])",
        "DequantizeLinear/13{axis=1}(u8[128,768],f32c[1],u8c[1])->(f32[128,768])",
        "Cast/19{saturate=1,to=1}(f16[64])->(f32[64])",
        "ReduceSum/13{keepdims=0,noop_with_empty_axes=0}(f32[16,16,16,32],i64c[2]=[0,3])->"
        "(f32[16,16])",
        "com.microsoft:QLinearSoftmax/1{axis=1,opset=12}(u8[1,12,128,128],f32c[],u8c[],f32c[],"
        "u8c[])->(u8[1,12,128,128])",
        "ConvInteger/10{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}"
        "(u8[1,1,224,224],i8c[32,1,3,3],u8c[])->(i32[1,32,224,224])",
        "Range/11{}(i64c[]=0,i64[],i64c[]=1)->(i64[100000])",
        "Max/13{}(f32[64],f32[64])->(f32[64])",
        "GreaterOrEqual/16{}(i64[448,448],i64[448,448])->(bool[448,448])",
        "Sign/13{}(i8[1,64,1500])->(i8[1,64,1500])",
        "ReduceL2/18{keepdims=0,noop_with_empty_axes=0}(f32[64,64,32])->(f32[])",
        "Transpose/13{perm=[1,0]}(f64[700,512])->(f64[512,700])",
        "Transpose/13{perm=[0,2,3,1]}(i64[1,64,25,25])->(i64[1,25,25,64])",
        "Transpose/13{perm=[1,0]}(f32[512,700])->(f32[700,512])",
        "Cast/19{saturate=1,to=10}(f32[64])->(f16[64])",
        "QuantizeLinear/"
        "21{axis=1,block_size=0,output_dtype=0,saturate=1}(f32[512,512],f32c[],u8c[])"
        "->(u8[512,512])",
        "MatMul/13{}(f32[4,256,256],f32[256,1])->(f32[4,256,1])",
        "MatMul/13{}(f32[256],f32[256,64])->(f32[64])"})
    EXPECT_EQ(described(text)->work.steps, 0) << text;
  // A few calls, and numbers that the processor converts.
  EXPECT_LT(described("QuantizeLinear/21{axis=1,block_size=0,output_dtype=0,saturate=1}"
                      "(f32[1,64,56,56],f32c[64],u8c[64])->(u8[1,64,56,56])")
                ->work.steps,
            2e3);
  EXPECT_LT(described("Cast/19{saturate=1,to=1}(bf16[1,64,2000])->(f32[1,64,2000])")->work.steps,
            50e3);
  // One factor is repeated, not a batch.
  EXPECT_LT(described("Einsum/12{equation=\"...ij,...jk->...ik\"}(f32[64,2,3],f32[1,3,7])->"
                      "(f32[64,2,7])")
                ->work.steps,
            200);
  // Squares are products; a running sum over rows goes on with the next number of the row.
  EXPECT_EQ(described("Pow/15{}(f32[64],f32c[]=2.0)->(f32[64])")->work.steps, 0);
  EXPECT_LT(described("CumSum/14{exclusive=0,reverse=0}(f32[64,4096],i64c[]=0)->(f32[64,4096])")
                ->work.steps,
            1e3);
  // A forest reads no more nodes than rows visit.
  EXPECT_EQ(described("ai.onnx.ml:TreeEnsembleRegressor/3{aggregate_function=SUM,forest_depth=20,"
                      "forest_features=28,forest_ids=1,forest_modes=[BRANCH_LEQ],"
                      "forest_nodes=2000000,forest_trees=200,forest_weights=1000000,n_targets=1,"
                      "post_transform=NONE}(f32[1,28])->(f32[1,1])")
                ->work.bytes_weights,
            200 * 20 * 24);
}

TEST(Description, JoinsAndGathersAreLoopsAroundTheAxis) {
  EXPECT_EQ(described("Concat/13{axis=1}(f32[2,8,7,7],f32[2,24,7,7])->(f32[2,32,7,7])")->numbers,
            (Numbers{2, 2, 6272}));
  EXPECT_EQ(described("Split/13{axis=1}(f32[2,32,7,7],i64c[2]=16)->(f32[2,16,7,7],f32[2,16,7,7])")
                ->numbers,
            (Numbers{2, 2, 6272}));
  EXPECT_EQ(described("Gather/13{axis=0}(f32c[4096,300],i64[1,256])->(f32[1,256,300])")->numbers,
            (Numbers{1, 256, 300, 4096}));
  EXPECT_EQ(described("Softmax/13{axis=-1}(f32[1,6,128,64])->(&0)")->numbers,
            (Numbers{768, 64, 1, 1}));
  EXPECT_EQ(described("Softmax/11{axis=1}(f32[2,6,4])->(&0)")->numbers, (Numbers{2, 24, 1, 9}));
  EXPECT_EQ(described("LayerNormalization{axis=-1,stash_type=1}(f32[1,14,14,384],f32c[384],"
                      "f32c[384])->(f32[1,14,14,384])")
                ->numbers,
            (Numbers{196, 384, 1}));
}

TEST(Description, AProductIsItsRowsInnerLengthAndColumns) {
  expect_alike("MatMul/13{}(f32[1,14,14,768],f32c[768,384])->(f32[1,14,14,384])",
               "MatMul/13{}(f32[196,768],f32c[768,384])->(f32[196,384])");
  EXPECT_EQ(described("MatMul/13{}(f32[2,6,50,64],f32[2,6,64,70])->(f32[2,6,50,70])")->numbers,
            (Numbers{12, 50, 64, 70}));
}

TEST(Description, SizesOfPackedWeightsAreNumbers) {
  const auto product = described(
      "com.microsoft:MatMulNBits/1{K=2048,N=512,accuracy_level=4,bits=4,block_size=32}"
      "(f32[1,8,2048],u8c[512,64,16],f32c[32768])->(f32[1,8,512])");
  EXPECT_EQ(product->numbers, (Numbers{1, 8, 2048, 512}));
  EXPECT_EQ(product->slice.find("2048"), std::string::npos) << product->slice;
  ASSERT_TRUE(product->contraction);
  EXPECT_EQ(product->contraction->in_c, 2048);
  // Of two in a batch there are still only one's weights.
  EXPECT_EQ(
      described("com.microsoft:MatMulNBits/1{K=2048,N=512,accuracy_level=4,bits=4,block_size=32}"
                "(f32[2,8,2048],u8c[512,64,16],f32c[32768])->(f32[2,8,512])")
          ->numbers,
      (Numbers{1, 16, 2048, 512}));
}

TEST(Description, ZeroPointsAreZeroOrNot) {
  const auto product = [](std::string_view zero_point) {
    return described("QLinearMatMul/10{}(u8[64,32],f32c[],u8c[],u8c[32,48],f32c[],u8c[]=" +
                     std::string(zero_point) + ",f32c[],u8c[])->(u8[64,48])")
        ->slice;
  };
  EXPECT_EQ(product("116"), product("121"));
  EXPECT_NE(product("116"), product("0"));
}

TEST(Description, WhatIsJoinedOfOneScaleIsCopied) {
  const auto joined = [](const char* second) {
    return described(
        "com.microsoft:QLinearConcat/1{axis=1}(f32c[]=1.0,u8c[]=0,u8[1,8,7,7],"
        "f32c[]=1.0,u8c[]=0,u8[1,24,7,7],f32c[]=" +
        std::string(second) + ",u8c[]=0)->(u8[1,32,7,7])");
  };
  EXPECT_EQ(joined("1.0")->numbers, (Numbers{1, 2, 1568, 1}));
  EXPECT_EQ(joined("0.5")->numbers, (Numbers{1, 2, 1568, 1176}));
  EXPECT_NE(joined("1.0")->slice, joined("0.5")->slice);
  EXPECT_DOUBLE_EQ(joined("0.5")->work.steps - joined("1.0")->work.steps, 0.2 * 1176);
}

/// Of one axis of [1,14,28,192].
Description sliced(std::string_view to, int start, std::string_view end, int axis,
                   std::string_view step) {
  const std::string said = step.empty() ? "" : fmt::format(",i64c[1]=[{}]", step);
  return *described(
      fmt::format("Slice/13{{}}(f32[1,14,28,192],i64c[1]=[{}],i64c[1]=[{}],i64c[1]=[{}]{})"
                  "->(f32[{}])",
                  start, end, axis, said, to));
}

TEST(Description, ASliceIsTheRunsThatItCopies) {
  const Description stepped = sliced("1,14,14,192", 1, "9223372036854775807", 2, "2");
  EXPECT_EQ(stepped.numbers, (Numbers{196, 192, 2}));
  EXPECT_EQ(stepped.work.steps, 4 * 196);
  // Half of an axis without a step is one run a row.
  const Description half = sliced("1,14,14,192", 0, "14", 2, "1");
  EXPECT_EQ(half.numbers, (Numbers{14, 14 * 192, 2}));
  EXPECT_EQ(half.slice, stepped.slice);
  EXPECT_EQ(half.work.steps, 4 * 14);
  EXPECT_EQ(sliced("1,14,14,192", 0, "14", 2, "").numbers, half.numbers) << "no steps are said";
  EXPECT_EQ(sliced("1,1,28,192", 3, "4", 1, "1").numbers, (Numbers{1, 28 * 192, 1}))
      << "nothing lies between the runs of one";
  // From the end: each run is copied by itself, though all are.
  EXPECT_EQ(sliced("1,14,28,192", -1, "-9223372036854775807", 2, "-1").numbers,
            (Numbers{14 * 28, 192, 1}));
  expect_alike(
      "Slice/13{}(f32[197,1,576],i64c[1]=[384],i64c[1]=[576],i64c[1]=[-1])->"
      "(f32[197,1,192])",
      "Slice/13{}(f32[197,576],i64c[1]=[0],i64c[1]=[192],i64c[1]=[1],i64c[1]=[1])->(f32[197,192])");
}

TEST(Description, ASliceOfTheLastAxisWithAStepTakesEachElement) {
  const Description each = sliced("1,14,28,96", 0, "192", 3, "2");
  EXPECT_EQ(each.numbers, (Numbers{14 * 28, 96, 2}));
  EXPECT_DOUBLE_EQ(each.work.steps, 0.88 * 14 * 28 * 96 + 4 * 14 * 28);
  const Description flipped = sliced("1,14,28,192", -1, "-9223372036854775807", -1, "-1");
  EXPECT_EQ(flipped.numbers, (Numbers{14 * 28, 192, 1}));
  EXPECT_EQ(flipped.slice, each.slice);
  const Description half = sliced("1,14,28,96", 0, "96", 3, "1");
  EXPECT_NE(half.slice, each.slice) << "half of a row is a run";
  EXPECT_EQ(half.numbers, (Numbers{14 * 28, 96, 2}));
}

TEST(Description, ASliceOfSeveralAxesCopiesRunsOfTheLast) {
  const auto corner = [](std::string_view steps) {
    return *described(
        fmt::format("Slice/13{{}}(f32[3,640,640],i64c[2]=[0,0],i64c[2]=[640,640],i64c[2]=[1,2],"
                    "i64c[2]=[{}])->(f32[3,320,320])",
                    steps));
  };
  EXPECT_EQ(corner("1,1").numbers, (Numbers{960, 320, 2}));
  EXPECT_EQ(corner("2,1").numbers, (Numbers{960, 320, 2}));
  EXPECT_EQ(corner("2,1").slice, corner("1,1").slice);
  EXPECT_EQ(corner("1,2").slice, corner("2,2").slice);
  EXPECT_NE(corner("1,2").slice, corner("1,1").slice);
}

TEST(Description, StepsOfASliceAreThoseThatARunSaw) {
  const auto flip = [](std::string_view tag) {
    return *described(
        fmt::format("Slice/13{}{{}}(f32[64,500],i64[1],i64[1],i64c[1]=[1],i64[1])->"
                    "(f32[64,500])",
                    tag));
  };
  EXPECT_EQ(flip("@values4=-1").numbers, (Numbers{64, 500, 1}));
  EXPECT_EQ(flip("@values4=-1").slice,
            described("Slice/13{}(f32[64,500],i64c[1]=-1,i64c[1]=-9999,i64c[1]=1,i64c[1]=-1)->"
                      "(f32[64,500])")
                ->slice);
  EXPECT_EQ(flip("").numbers, (Numbers{1, 64 * 500, 1})) << "not known: as it is measured";
  // Keys that no runtime takes are described, too.
  for (const char* text :
       {"Slice/13{}(f32[64,500],i64[1],i64[1],i64c[1]=[9],i64c[1]=[2])->(f32[64,250])",
        "Slice/13{}(f32[64,500],i64[1],i64[1],i64c[1]=[1],i64c[1]=[0])->(f32[64,250])",
        "Slice/13{}(f32[64,500],i64[3],i64[3],-,i64c[3]=[1,2,3])->(f32[64,250])",
        "Slice/13{}(f32[64,500],i64[1],i64[1],i64c[1]=[-9223372036854775807],"
        "i64c[1]=[-9223372036854775807])->(f32[64,1])",
        "Slice/13{}(f32[64,500],i64[1],i64[1],i64c[1]=[1],i64c[1]=[-9223372036854775808])->"
        "(f32[64,1])",
        "Slice/13{}(f32[],i64[0],i64[0])->(f32[])"})
    EXPECT_TRUE(described(text)) << text;
}

TEST(Description, WhatIsRepeatedHasLoopsOfItsOwn) {
  EXPECT_EQ(described("Expand/13{}(f32[1,1024,1],i64c[3]=[1,1024,64])->(f32[1,1024,64])")->numbers,
            (Numbers{1024, 64}));
  expect_alike("Reshape/14@copied=1{allowzero=0}(f32[1,8,49],i64c[2]=[8,49])->(f32[8,49])",
               "Reshape/14@copied=1{allowzero=0}(f32[392],i64c[1]=[392])->(f32[392])");
}

// Aligned numbers are of one meaning in their family, not those of convolutions in each.
TEST(Description, OtherAlignedNumbersHaveNoNamesOfConvolutions) {
  for (const char* text : {"ReduceMean/13{axes=[1],keepdims=1}(f32[8,16,32])->(f32[8,1,32])",
                           "MatMul/13{}(f32[4,9,36],f32[4,36,9])->(f32[4,9,9])"}) {
    const auto other = described(text);
    EXPECT_TRUE(other->aligned) << text;
    EXPECT_FALSE(has_convolution_numbers(*other)) << text;
    EXPECT_EQ(number_name(*other, 0), "") << text;
  }
}

TEST(Description, ARecurrentLayerIsItsStepsAndSizes) {
  const auto layer = described(
      "LSTM/14{activations=[Sigmoid,Tanh,Tanh,Sigmoid,Tanh,Tanh],direction=bidirectional,"
      "hidden_size=512,input_forget=0,layout=0}(f32[20,4,64],f32c[2,2048,64],f32c[2,2048,512],"
      "f32c[2,4096],-,f32c[2,4,512],f32c[2,4,512])->(f32[20,2,4,512],-,-)");
  EXPECT_EQ(layer->numbers, (Numbers{2, 20, 4, 64, 512}));
  const auto plain = described(
      "LSTM/7{activations=[Sigmoid,Tanh,Tanh],direction=forward,hidden_size=512,"
      "input_forget=0}(f32[20,4,64],f32c[1,2048,64],f32c[1,2048,512])->"
      "(f32[20,1,4,512],-,-)");
  EXPECT_EQ(plain->slice, layer->slice);
  EXPECT_EQ(plain->numbers, (Numbers{1, 20, 4, 64, 512}));
  EXPECT_TRUE(plain->aligned);
  EXPECT_EQ(described("LSTM/7{activations=[Sigmoid,Tanh,Tanh],direction=forward,hidden_size=512,"
                      "input_forget=0}(f32[20,4,64],f32c[1,2048,64],f32c[1,2048,512])->"
                      "(-,f32[1,4,512],f32[1,4,512])")
                ->slice,
            plain->slice)
      << "which states are results";
  EXPECT_NE(described("LSTM/7{activations=[Sigmoid,Relu,Tanh],direction=forward,hidden_size=512,"
                      "input_forget=0}(f32[20,4,64],f32c[1,2048,64],f32c[1,2048,512])->"
                      "(f32[20,1,4,512],-,-)")
                ->slice,
            plain->slice);
}

// Each element of a sequence reads the weights of the hidden state anew; how many sequences there
// are and how long what comes in is, the products say.
TEST(Description, ARecurrentLayerReadsItsWeightsAtEachStep) {
  const auto steps = [](std::string_view x, std::string_view type, std::string_view directions) {
    return described(
               fmt::format("GRU/14{{activations=[Sigmoid,Tanh],direction=forward,"
                           "hidden_size=256,linear_before_reset=1}}({0}[{1}],{0}c[{2},768,{3}],"
                           "{0}c[{2},768,256])->({0}[100,{2},1,256],-)",
                           type, x, directions, x.substr(x.rfind(',') + 1)))
        ->work.steps;
  };
  constexpr double kOneDirection = 100.0 * 768 * 256 * 4 / 110;
  EXPECT_EQ(
      described("GRU/14{activations=[Sigmoid,Tanh],direction=forward,hidden_size=256,layout=1,"
                "linear_before_reset=1}(f32[1,100,512],f32c[1,768,512],f32c[1,768,256])->"
                "(f32[1,100,1,256],-)")
          ->work.steps,
      kOneDirection);
  EXPECT_EQ(steps("100,1,512", "f32", "1"), kOneDirection);
  EXPECT_EQ(steps("100,8,64", "f32", "1"), kOneDirection);
  EXPECT_EQ(steps("100,1,512", "f32", "2"), 2 * kOneDirection);
  EXPECT_EQ(steps("100,1,512", "f16", "1"), kOneDirection / 2);
}

/// A layer of four sequences of up to 100 steps.
Description layer_of(std::string_view op, std::string_view tag, std::string_view lengths) {
  const bool lstm = op == "LSTM";
  return *described(fmt::format(
      "{}/14{}{{activations=[{}],direction=forward,hidden_size=64,layout=0}}(f32[100,4,32],"
      "f32c[1,{},32],f32c[1,{},64],-{})->(f32[100,1,4,64],-)",
      op, tag, lstm ? "Sigmoid,Tanh,Tanh" : "Tanh", lstm ? 256 : 64, lstm ? 256 : 64, lengths));
}

TEST(Description, ARecurrentLayerEndsWithItsLongestSequence) {
  const Description whole = layer_of("LSTM", "", "");
  for (const auto& [tag, lengths, longest] :
       {std::tuple("", ",i32c[4]=5", 5.0), std::tuple("", ",i32c[4]=[5,1,20,3]", 20.0),
        std::tuple("", ",i32c[4]=[5,1,100,3]", 100.0), std::tuple("@values4=7", ",i32[4]", 7.0),
        std::tuple("@values4=[[3,3],[9,1]]", ",i32[4]", 9.0), std::tuple("", ",i32[4]", 100.0),
        std::tuple("", ",i32c[4]", 100.0), std::tuple("", ",i32c[4]=0", 1.0),
        std::tuple("", ",i32c[4]=9223372036854775807", 100.0),
        std::tuple("@values4=[[3],[9,1]]", ",i32[4]", 100.0)}) {
    const Description layer = layer_of("LSTM", tag, lengths);
    EXPECT_EQ(layer.numbers, (Numbers{1, longest, 4, 32, 64})) << tag << lengths;
    EXPECT_EQ(layer.slice, whole.slice) << tag << lengths;
    EXPECT_DOUBLE_EQ(layer.work.steps, whole.work.steps * longest / 100) << tag << lengths;
  }
  EXPECT_EQ(*layer_of("LSTM", "", ",i32c[4]=5").work.flops, *whole.work.flops / 20);
}

TEST(Description, APlainRecurrentLayerCallsItsFunctionForEachNumber) {
  const auto steps = [](std::string_view lengths) {
    return layer_of("RNN", "", lengths).work.steps;
  };
  constexpr double kWeights = 100.0 * 64 * 64 * 4 / 20;  // packed anew
  EXPECT_EQ(steps(""), kWeights + 8 * 100 * 4 * 64);
  // It multiplies all of the time axis, and calls no function behind a sequence.
  EXPECT_EQ(steps(",i32c[4]=[10,20,30,40]"), kWeights + 4 * 64 * (100 + 7 * 25));
  const Description short_ones = layer_of("RNN", "", ",i32c[4]=5");
  EXPECT_EQ(short_ones.numbers, (Numbers{1, 100, 4, 32, 64}));
  EXPECT_EQ(short_ones.work.flops, layer_of("RNN", "", "").work.flops);
}

TEST(Description, LoopsThatAnAttributeChoosesAreSlicesOfTheirOwn) {
  const auto pool = [](std::string_view op, std::string_view dilations, std::string_view results) {
    return fmt::format(
        "{}{{ceil_mode=0,dilations={},kernel_shape=[3],pads=[0,0],strides=[1]}}(f32[1,60,4000])->"
        "(f32[1,60,3998]{})",
        op, dilations, results);
  };
  expect_other_slices(pool("MaxPool/12", "[1]", ""), pool("MaxPool/12", "[2]", ""));
  expect_other_slices(pool("AveragePool/11", "[1]", ""), pool("AveragePool/19", "[1]", ""));
  expect_other_slices("ReduceL2/18{keepdims=0,noop_with_empty_axes=0}(f32[64,64])->(f32[])",
                      "ReduceL2/18{keepdims=0,noop_with_empty_axes=0}(f32[64,64],i64c[2]=[0,1])->"
                      "(f32[])");
  const auto quantised = [](int axis) {
    return fmt::format(
        "QuantizeLinear/21{{axis={},block_size=0,output_dtype=0,saturate=1}}(f32[8,64,56,56],"
        "f32c[{}],u8c[{}])->(u8[8,64,56,56])",
        axis, axis == 3 ? 56 : 64, axis == 3 ? 56 : 64);
  };
  EXPECT_NE(described(quantised(3).c_str())->work.steps, 0);
  expect_other_slices(
      "com.microsoft:QLinearSoftmax/1{axis=1,opset=13}(u8[1,12,128,128],f32c[],u8c[],f32c[],u8c[])"
      "->(u8[1,12,128,128])",
      "com.microsoft:QLinearSoftmax/1{axis=3,opset=13}(u8[1,12,128,128],f32c[],u8c[],f32c[],u8c[])"
      "->(u8[1,12,128,128])");
}

TEST(Description, EachResultOfASplitIsMadeAndEachRunIsCopied) {
  const auto steps = [](const char* text) { return described(text)->work.steps; };
  EXPECT_NEAR(steps("Split/13{axis=1}(f32[1,3],i64c[3]=1)->(f32[1,1],f32[1,1],f32[1,1])"), 3 * 140,
              1);
  EXPECT_LT(steps("Concat/13{axis=1}(f32[1,1],f32[1,1],f32[1,1])->(f32[1,3])"), 1);
  EXPECT_NEAR(steps("Concat/13{axis=2}(f32[256,128,2],f32[256,128,2])->(f32[256,128,4])"), 182e3,
              10e3);
  EXPECT_NEAR(steps("Concat/13{axis=1}(u8[100000,1],u8[100000,1])->(u8[100000,2])"), 57e3, 4e3);
}

TEST(Description, LabelsOfAnEinsumThatAreWalkedTogetherAreOne) {
  expect_alike(
      "Einsum/12{equation=\"bhnd,bhkd->bhnk\"}(f32[1,4,256,64],f32[1,4,128,64])->"
      "(f32[1,4,256,128])",
      "Einsum/12{equation=\"inp,imp->inm\"}(f32[4,256,64],f32[4,128,64])->(f32[4,256,128])");
  const auto product = described(
      "Einsum/12{equation=\"bhnd,bhkd->bhnk\"}(f32[1,4,256,64],f32[1,4,128,64])->"
      "(f32[1,4,256,128])");
  EXPECT_EQ(product->numbers, (Numbers{4, 256, 64, 128}));
  ASSERT_TRUE(product->contraction);
  EXPECT_EQ(product->contraction->groups, 4);
  EXPECT_EQ(product->contraction->in_c, 64);
  EXPECT_EQ(product->contraction->out_h, 256);
  EXPECT_EQ(product->contraction->out_c, 128);
  expect_other_slices("Einsum/12{equation=\"bnd,bkd->bnk\"}(f32[4,8,8],f32[4,8,8])->(f32[4,8,8])",
                      "Einsum/12{equation=\"bnk,bkd->bnd\"}(f32[4,8,8],f32[4,8,8])->(f32[4,8,8])");
  // A trace, one operand, a term that does not fit: all of the key is said.
  for (const char* text :
       {"Einsum/12{equation=\"ii,ij->j\"}(f32[4,4],f32[4,3])->(f32[3])",
        "Einsum/12{equation=\"ij->ji\"}(f32[4,3])->(f32[3,4])",
        "Einsum/12{equation=\"ijk,kl->ijl\"}(f32[4,3],f32[3,5])->(f32[4,5])",
        "Einsum/12{equation=\"...d,de->...e\"}(f32[4,3],f32[3,5])->(f32[4,5])",
        "Einsum/12{equation=\"ij,jk\"}(f32[4,3],f32[3,5])->(f32[4,5])",
        // More labels than there are letters to name them.
        "Einsum/12{equation=\"acegikmoqsuwy,bdfhjlnprtvxz->aybzcxdwevfugthsirjqkplomn\"}"
        "(f32[1,1,1,1,1,1,1,1,1,1,1,1,1],f32[1,1,1,1,1,1,1,1,1,1,1,1,1])->(f32[1])"}) {
    const auto odd = described(text);
    ASSERT_TRUE(odd) << text;
    EXPECT_FALSE(odd->contraction) << text;
  }
}

TEST(Description, ASignalIsAnImageOfOneRow) {
  const auto signal = described(
      "Conv/11{dilations=[1],group=1,kernel_shape=[17],pads=[8,8],strides=[2]}(f32[1,128,400],"
      "f32c[64,128,17],f32c[64])->(f32[1,64,200])");
  ASSERT_TRUE(signal && signal->contraction);
  EXPECT_TRUE(signal->aligned);
  EXPECT_EQ(signal->numbers[kConvHeight], 1);
  EXPECT_EQ(signal->numbers[kConvAspect], 400);
  EXPECT_EQ(signal->numbers[kConvKernel], 1);
  EXPECT_EQ(signal->numbers[kConvKernelAspect], 17);
  EXPECT_EQ(signal->numbers[kConvStride], 2);
  EXPECT_EQ(signal->numbers[kConvPad], 0) << "it keeps the size";
  EXPECT_EQ(signal->contraction->out_w, 200);
  EXPECT_EQ(signal->contraction->share_inside, 1) << "such convolutions compute with the padding";
}

TEST(Description, AVolumeIsAnImageOfAllItsRows) {
  const auto volume = described(
      "com.microsoft:FusedConv/1{activation=Relu,dilations=[1,1,1],group=1,kernel_shape=[3,3,3],"
      "pads=[1,1,1,1,1,1],strides=[1,2,2]}(f32[2,16,8,28,14],f32c[32,16,3,3,3],f32c[32])->"
      "(f32[2,32,8,14,7])");
  ASSERT_TRUE(volume && volume->contraction);
  EXPECT_TRUE(volume->aligned);
  EXPECT_NE(volume->slice.find(" volume Relu"), std::string::npos) << volume->slice;
  EXPECT_EQ(volume->numbers[kConvHeight], 8 * 28);
  EXPECT_EQ(volume->numbers[kConvAspect], 14.0 / (8 * 28));
  EXPECT_EQ(volume->numbers[kConvKernel], 9);
  EXPECT_EQ(volume->numbers[kConvKernelAspect], 3.0 / 9);
  EXPECT_EQ(volume->numbers[kConvStride], 2);
  EXPECT_EQ(volume->numbers[kConvInChannels], 0.5);
  EXPECT_EQ(volume->numbers[kConvPad], 0) << "it keeps the size";
  EXPECT_EQ(volume->contraction->out_h, 8 * 14);
  EXPECT_EQ(volume->contraction->kernel_h, 9);
  EXPECT_EQ(number_name(*volume, kConvHeight), "depth times height");
  // Few channels, and a channel a group: of the same kind.
  for (const char* text :
       {"Conv/11{dilations=[1,1,1],group=1,kernel_shape=[1,1,1],pads=[0,0,0,0,0,0],strides=[1,1,1]}"
        "(f32[1,3,8,28,28],f32c[8,3,1,1,1])->(f32[1,8,8,28,28])",
        "Conv/11{dilations=[1,1,1],group=8,kernel_shape=[3,1,1],pads=[1,0,0,1,0,0],strides=[1,1,1]}"
        "(f32[1,8,8,28,28],f32c[8,1,3,1,1])->(f32[1,8,8,28,28])"}) {
    const auto other = described(text);
    ASSERT_TRUE(other) << text;
    EXPECT_NE(other->slice.find(":Conv volume"), std::string::npos) << other->slice;
  }
  EXPECT_EQ(described("Conv/11{group=1}(f32[1,3,0,28,28],f32c[8,3,1,1,1])->(f32[1,8,0,28,28])")
                .value()
                .aligned,
            false)
      << "an empty one has no place";
}

/// deeplab's: of three rows of taps 36 places apart, one lies in an image of 16.
TEST(Description, ABlockedConvolutionLeavesThePaddingOut) {
  const auto dilated = described(
      "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[36,36],group=1,kernel_shape="
      "[3,3],pads=[36,36,36,36],strides=[1,1]}(f32[1,960,16,16],f32c[256,960,3,3],f32c[256])->"
      "(f32[1,256,16,16])");
  ASSERT_TRUE(dilated && dilated->contraction);
  EXPECT_DOUBLE_EQ(dilated->contraction->share_inside, 1.0 / 9);
  EXPECT_DOUBLE_EQ(*dilated->work.flops, 2.0 * 960 * 256 * 256);
  const auto plain = described(
      "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,"
      "3],pads=[1,1,1,1],strides=[2,2]}(f32[1,64,8,6],f32c[64,64,3,3],f32c[64])->(f32[1,64,4,3])");
  // Rows -1, 1, 3, 5 of the first tap: three of four inside; likewise two of three columns.
  EXPECT_DOUBLE_EQ(plain->contraction->share_inside, (11.0 / 4) * (8.0 / 3) / 9);
  const auto unpadded = described(
      "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,kernel_shape=[3,"
      "3],pads=[0,0,0,0],strides=[1,1]}(f32[1,64,8,6],f32c[64,64,3,3],f32c[64])->(f32[1,64,6,4])");
  EXPECT_DOUBLE_EQ(unpadded->contraction->share_inside, 1);
  // What no runtime has: the description ends, and its numbers are finite.
  for (const char* text : {
           "com.microsoft.nchwc:Conv/1@block=16{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,"
           "1,1,1],strides=[1,1]}(f32[1,64,8,6],f32c[64,64,9223372036854775807,3])->(f32[1,64,8,6]"
           ")",
           "com.microsoft.nchwc:Conv/1@block=16{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,"
           "1,1,1],strides=[0,0]}(f32[1,64,8,6],f32c[64,64,3,3])->(f32[1,64,8,6])",
           "com.microsoft.nchwc:Conv/1@block=16{dilations=[-3,0],group=1,kernel_shape=[3,3],pads=["
           "999999,1,1,1],strides=[1,1]}(f32[1,64,8,6],f32c[64,64,3,3])->(f32[1,64,8,6])",
           "com.microsoft.nchwc:Conv/1@block=16{dilations=[1,1],group=1,kernel_shape=[3,3],pads=["
           "999999,1,1,1],strides=[1,1]}(f32[1,64,8,6],f32c[64,64,3,3])->(f32[1,64,8,6])",
       }) {
    const auto strange = described(text);
    if (!strange) continue;
    EXPECT_GT(strange->contraction->share_inside, 0) << text;
    EXPECT_LE(strange->contraction->share_inside, 1) << text;
    EXPECT_TRUE(std::isfinite(strange->work.flops.value_or(0))) << text;
  }
}

TEST(Description, FusedOperatorsAreOfOneFamilyBlockedOnesOfAnother) {
  EXPECT_EQ(family_of("com.microsoft:FusedConv dense Relu"), family_of(":Conv dense"));
  EXPECT_EQ(family_of(":Gemm f32"), family_of(":MatMul f32")) << "a product with a bias";
  EXPECT_EQ(family_of("com.microsoft:FusedGemm f32"), "MatMul");
  EXPECT_NE(family_of("com.microsoft.nchwc:Conv dense"), family_of(":Conv dense"));
  EXPECT_EQ(family_of("torch:module x"), "torch:module");
}

TEST(Description, AResizeIsSizesBeforeAndAfter) {
  expect_alike(
      "Resize/13{coordinate_transformation_mode=half_pixel,exclude_outside=0,mode=linear}"
      "(f32[1,128,20,24],-,-,i64c[4]=[1,128,40,48])->(f32[1,128,40,48])",
      "Resize/13{coordinate_transformation_mode=align_corners,exclude_outside=0,mode=linear}"
      "(f32[2,64,20,24],-,f32c[4]=[1.0,1.0,2.0,2.0])->(f32[2,64,40,48])");
  expect_other_slices(
      "Resize/13{coordinate_transformation_mode=half_pixel,exclude_outside=0,mode=linear}"
      "(f32[1,8,20,24],-,-,i64c[4]=[1,8,40,48])->(f32[1,8,40,48])",
      "Resize/13{coordinate_transformation_mode=half_pixel,exclude_outside=0,mode=cubic}"
      "(f32[1,8,20,24],-,-,i64c[4]=[1,8,40,48])->(f32[1,8,40,48])");
  expect_other_slices(
      "Resize/13{coordinate_transformation_mode=asymmetric,mode=nearest,nearest_mode=floor}"
      "(f32[1,8,20,24],-,-,i64c[4]=[1,8,40,48])->(f32[1,8,40,48])",
      "Resize/13{coordinate_transformation_mode=half_pixel,mode=nearest,nearest_mode=floor}"
      "(f32[1,8,20,24],-,-,i64c[4]=[1,8,40,48])->(f32[1,8,40,48])");
  EXPECT_EQ(described("com.microsoft.nchwc:Upsample/1@block=16{coordinate_transformation_mode="
                      "half_pixel,mode=linear,scales=[1,1,2,2]}(f32[1,256,32,16])->"
                      "(f32[1,256,64,32])")
                ->numbers,
            (Numbers{256, 64, 32, 1}));
  EXPECT_TRUE(
      described("Resize/13{mode=linear}(f32[1,20,24,3],-,-,i64c[4]=[1,40,48,3])"
                "->(f32[1,40,48,3])"))
      << "channels last: all of its numbers";
}

/// By an interpolation of f32.
Description resized(std::string_view mode, std::string_view from, std::string_view to,
                    std::string_view more = "") {
  return *described(
      fmt::format("Resize/18{{{}coordinate_transformation_mode=half_pixel,mode={}}}"
                  "(f32[{}],-,-,i64c[4])->(f32[{}])",
                  more, mode, from, to));
}

TEST(Description, AResizeTakesAsLongAsItHasResults) {
  const Description grown = resized("linear", "1,32,40,40", "1,32,80,80");
  EXPECT_EQ(grown.numbers, (Numbers{32, 80, 80, 1}));
  EXPECT_EQ(grown.work.steps, 1.35 * 32 * 80 * 80);
  EXPECT_EQ(resized("linear", "1,32,10,10", "1,32,80,80").numbers, grown.numbers);
  const Description shrunk = resized("linear", "1,32,160,160", "1,32,80,80");
  EXPECT_EQ(shrunk.numbers, (Numbers{32, 80, 80, 2}));
  EXPECT_EQ(shrunk.slice, grown.slice);
  EXPECT_EQ(shrunk.work.steps, grown.work.steps);
  // Beyond that neighbours are as many, but none lies in a line of another.
  const Description far = resized("linear", "1,32,640,640", "1,32,80,80");
  EXPECT_EQ(far.numbers, shrunk.numbers);
  EXPECT_DOUBLE_EQ(far.work.steps, (1.35 + 1.2) * 32 * 80 * 80);
  EXPECT_EQ(resized("nearest", "1,32,160,160", "1,32,80,80").work.steps, 0.43 * 32 * 80 * 80);
  EXPECT_EQ(resized("cubic", "1,32,20,20", "1,32,80,80").numbers, (Numbers{32, 80, 80, 0.25}));
  EXPECT_EQ(resized("cubic", "1,32,320,320", "1,32,80,80").numbers, (Numbers{32, 80, 80, 4}));
}

// The loop of twice as many places is that of images behind each other.
TEST(Description, ChannelsThatLieLastAreCopiedOneByOne) {
  const auto twice = [](std::string_view where) {
    return described(fmt::format("Resize/13{{coordinate_transformation_mode={},mode=nearest,"
                                 "nearest_mode=floor}}(f32[1,32,20,20],-,-,i64c[4])->"
                                 "(f32[1,32,40,40])",
                                 where))
        ->work.steps;
  };
  EXPECT_EQ(twice("asymmetric"), 0);
  EXPECT_EQ(twice("half_pixel"), 0.43 * 32 * 40 * 40) << "places that are rounded";
  EXPECT_EQ(resized("nearest", "1,20,20,32", "1,40,40,32").work.steps, 0.43 * 32 * 40 * 40);
  EXPECT_EQ(resized("nearest", "1,20,20,32", "1,40,40,32").slice,
            resized("nearest", "1,20,20,32", "1,60,60,32").slice);
}

TEST(Description, AnAntialiasedResizeReadsAllThatComesIn) {
  const Description filtered = resized("linear", "1,32,160,160", "1,32,20,20", "antialias=1,");
  EXPECT_NE(filtered.slice, resized("linear", "1,32,160,160", "1,32,20,20").slice);
  EXPECT_EQ(filtered.numbers, (Numbers{32, 20, 20, 8}));
  EXPECT_EQ(filtered.work.steps, 0.67 * 32 * 160 * 160 + 2.3 * 32 * 20 * 20);
}

TEST(Description, AResizeOfAVolumeHasLoopsOfItsOwn) {
  const Description volume = resized("nearest", "1,8,10,20,20", "1,8,20,40,40");
  EXPECT_EQ(volume.numbers, (Numbers{160, 40, 40, 1}));
  EXPECT_EQ(volume.work.steps, 9.7 * 160 * 40 * 40);
  EXPECT_NE(volume.slice, resized("nearest", "1,8,20,20", "1,8,40,40").slice);
  EXPECT_EQ(resized("linear", "1,8,10,20,20", "1,8,20,40,40").work.steps, 3.1 * 160 * 40 * 40);
  const Description signal = resized("linear", "1,32,200", "1,32,400");
  EXPECT_EQ(signal.numbers, (Numbers{1, 32, 400, 1}));
  EXPECT_EQ(signal.work.steps, 3.1 * 32 * 400);
}

TEST(Description, AWalkAcrossRowsHasAStride) {
  const auto stride = [](std::string_view text) { return described(text)->stride_bytes; };
  EXPECT_EQ(stride("Transpose/13{perm=[0,2,1]}(f32[1,64,1024])->(f32[1,1024,64])"), 4096);
  EXPECT_EQ(stride("Transpose/13{perm=[0,2,1]}(u8[1,64,1024])->(u8[1,1024,64])"), 1024);
  EXPECT_EQ(stride("Transpose/13{perm=[0,2,1,3]}(f32[1,197,3,64])->(f32[1,3,197,64])"), 0)
      << "rows stay whole";
  EXPECT_EQ(stride("ReduceMean/13{axes=[1],keepdims=1}(f32[1,64,32,32])->(f32[1,1,32,32])"), 4096);
  EXPECT_EQ(stride("ReduceMean/13{axes=[2,3],keepdims=1}(f32[1,64,32,32])->(f32[1,64,1,1])"), 0);
  EXPECT_EQ(stride("Softmax/13{axis=1}(f32[1,8,256])->(&0)"), 1024);
  EXPECT_EQ(stride("Softmax/13{axis=-1}(f32[1,8,256])->(&0)"), 0);
  EXPECT_EQ(stride("com.microsoft.nchwc:ReorderOutput/1@block=16{channels=24,channels_last=0}"
                   "(f32[1,32,56,56])->(f32[1,24,56,56])"),
            56 * 56 * 4);
}

TEST(Description, AFusedActivationCostsByItsElements) {
  const auto cost = [](std::string_view activation, std::string_view result) {
    return described(
               fmt::format("com.microsoft.nchwc:Conv/1@block=16{{{}dilations=[1,1],group=16,"
                           "kernel_shape=[3,3],pads=[1,1,1,1],strides=[1,1]}}(f32[1,16,28,28],"
                           "f32c[16,1,3,3],f32c[16]{}",
                           activation, result))
        ->activation_cost;
  };
  constexpr std::string_view kResult = ")->(f32[1,16,28,28])";
  constexpr double kElements = 16 * 28 * 28;
  EXPECT_EQ(cost("", kResult), 0);
  EXPECT_EQ(cost("activation=Relu,", kResult), 0) << "part of the store";
  EXPECT_EQ(cost("activation=Clip,activation_params=[0.0,6.0],", kResult), kElements);
  EXPECT_EQ(cost("activation=HardSwish,", kResult), 1.5 * kElements);
  EXPECT_GT(cost("activation=Sigmoid,", kResult), cost("activation=HardSwish,", kResult));
  EXPECT_EQ(cost("activation=Clip,activation_params=[0.0,6.0],", ",f32[1,16,28,28])->(&3)"),
            kElements)
      << "a fused sum writes over an operand";
  EXPECT_GT(cost("activation=Softplus,", kResult), cost("activation=Selu,", kResult));
  EXPECT_EQ(cost("activation=NobodyKnowsIt,", kResult), 0);
  EXPECT_EQ(described("HardSwish/14{}(f32[8])->(f32[8])")->activation_cost, 0) << "not fused";
}

TEST(Description, FunctionsWithoutVectorsTakeStepsForEachElement) {
  EXPECT_EQ(described("Sinh/9{}(f32[1,64,50,50])->(f32[1,64,50,50])")->work.steps, 15 * 160000);
  EXPECT_EQ(described("Mod/13{fmod=1}(f32[80],f32[80])->(f32[80])")->work.steps, 5.8 * 80);
  EXPECT_EQ(described("Sqrt/13{}(f32[80])->(f32[80])")->work.steps, 0);
}

TEST(Description, WhatIsMultipliedIsFloatsOrBytesOrSignedBytes) {
  const auto factors = [](std::string_view key) { return described(key)->factors; };
  EXPECT_EQ(factors("MatMul/13{}(f32[8,16],f32c[16,4])->(f32[8,4])"), Factors::Wide);
  EXPECT_EQ(factors("QLinearMatMul/10{}(u8[8,16],f32c[],u8c[],i8c[16,4],f32c[],i8c[]=0,f32c[],"
                    "u8c[])->(u8[8,4])"),
            Factors::Bytes);
  EXPECT_EQ(factors("QLinearMatMul/10{}(i8[8,16],f32c[],i8c[],i8c[16,4],f32c[],i8c[]=0,f32c[],"
                    "i8c[])->(i8[8,4])"),
            Factors::SignedBytes);
  EXPECT_EQ(factors("com.microsoft:DynamicQuantizeMatMul/1{}(f32[8,16],i8c[16,4],f32c[4])->"
                    "(f32[8,4])"),
            Factors::Bytes)
      << "what comes in becomes bytes first";
  EXPECT_EQ(factors("com.microsoft:MatMulNBits/1{K=64,N=32,bits=4,block_size=32}(f32[1,64],"
                    "u8c[32,2,16],f32c[64])->(f32[1,32])"),
            Factors::Wide)
      << "weights of a few bits become floats";
}

// QLinearConv copies the channels of a group for each place of a window, or looks the place up.
TEST(Description, ConvolutionsOfBytesGatherTheirWindows) {
  const auto gathered = [](int group, std::string_view x, std::string_view w, int kernel,
                           int stride, std::string_view y) {
    return described(fmt::format("com.microsoft:QLinearConv/1{{channels_last=1,dilations=[1,1],"
                                 "group={},kernel_shape=[{},{}],pads=[0,0,0,0],strides=[{},{}]}}"
                                 "(u8[{}],f32c[],u8c[],i8c[{}],f32c[],i8c[]=0,f32c[],u8c[])->"
                                 "(u8[{}])",
                                 group, kernel, kernel, stride, stride, x, w, y))
        ->windows.gathered;
  };
  EXPECT_EQ(gathered(1, "2,9,9,16", "32,16,3,3", 3, 1, "2,7,7,32"), 2 * 49 * 9);
  EXPECT_EQ(gathered(4, "1,9,9,16", "32,4,3,3", 3, 1, "1,7,7,32"), 49 * 9 * 4);
  EXPECT_EQ(gathered(16, "1,9,9,16", "16,1,3,3", 3, 1, "1,7,7,16"), 49 * 9) << "depthwise";
  EXPECT_EQ(gathered(1, "1,9,9,16", "32,16,1,1", 1, 1, "1,9,9,32"), 0) << "as the image lies";
  EXPECT_EQ(gathered(1, "1,9,9,16", "32,16,1,1", 1, 2, "1,5,5,32"), 25);
  EXPECT_EQ(gathered(4, "1,9,9,16", "32,4,1,1", 1, 1, "1,9,9,32"), 81 * 4);
  EXPECT_EQ(described("QLinearMatMul/10{}(u8[4,8,16],f32c[],u8c[],u8[4,16,4],f32c[],u8c[],f32c[],"
                      "u8c[])->(u8[4,8,4])")
                ->windows.gathered,
            0);
  EXPECT_EQ(described("Conv/11{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[0,0,0,0],"
                      "strides=[1,1]}(f32[1,16,9,9],f32c[32,16,3,3])->(f32[1,32,7,7])")
                ->windows.gathered,
            0);
}

TEST(Description, ConvolutionsOfFloatsUnfoldTheirWindows) {
  const auto unfolded = [](std::string_view op, int group, std::string_view w, int kernel) {
    return described(fmt::format("{}{{dilations=[1,1],group={},kernel_shape=[{},{}],"
                                 "pads=[0,0,0,0],strides=[1,1]}}(f32[1,16,9,9],f32c[{}])->"
                                 "(f32[1,32,{},{}])",
                                 op, group, kernel, kernel, w, 10 - kernel, 10 - kernel))
        ->windows.unfolded;
  };
  EXPECT_EQ(unfolded("Conv/11", 1, "32,16,3,3", 3), 49 * 16 * 9);
  EXPECT_EQ(unfolded("com.microsoft:FusedConv/1", 4, "32,4,3,3", 3), 49 * 16 * 9);
  EXPECT_EQ(unfolded("Conv/11", 4, "32,4,1,1", 1), 0) << "multiplied as it lies";
  EXPECT_EQ(unfolded("com.microsoft.nchwc:Conv/1@block=16", 1, "32,16,3,3", 3), 0) << "blocked";
}

std::optional<Description> among_threads(std::string_view text, std::int64_t threads) {
  const auto key = parse(text);
  EXPECT_TRUE(key) << text;
  return key ? describe(*key, Catalogue::own(), {.threads = threads}) : std::nullopt;
}

// ONNX Runtime adds row to row where there are many for each thread, and else computes each result
// by itself, as behind a single image (CommonFastReduceSwitch).
TEST(Description, LoopsOfReductionsGoByThreads) {
  const auto rows = [](std::string_view op, int r, int k, std::int64_t threads) {
    return among_threads(fmt::format("{}{{keepdims=0,noop_with_empty_axes=0}}(f32[{},{}],"
                                     "i64c[1]=[0])->(f32[{}])",
                                     op, r, k, k),
                         threads);
  };
  const auto by_itself = [](int r, int k, std::int64_t threads) {
    return among_threads(fmt::format("ReduceSum/13{{keepdims=0,noop_with_empty_axes=0}}(f32[1,{},{}"
                                     "],i64c[1]=[1])->(f32[1,{}])",
                                     r, k, k),
                         threads);
  };
  struct Case {
    int r;
    int k;
    std::int64_t threads;
    bool fast;
  };
  for (const auto& [r, k, threads, fast] :
       {Case{256, 512, 1, true}, Case{256, 512, 2, false}, Case{256, 513, 2, true},
        Case{513, 8, 2, true}, Case{33, 600, 2, true}, Case{32, 600, 2, false},
        Case{16, 4096, 1, false}, Case{17, 4096, 1, true}, Case{300, 8, 1, true},
        Case{256, 64, 1, false}, Case{128, 4096, 8, false}, Case{129, 4096, 8, true}}) {
    const auto described = rows("ReduceSum/13", r, k, threads);
    const auto alone = by_itself(r, k, threads);
    ASSERT_TRUE(described && alone);
    EXPECT_EQ(described->slice == alone->slice, !fast) << r << "x" << k << ", " << threads;
    if (!fast) EXPECT_EQ(described->numbers, alone->numbers);
    EXPECT_EQ(described->work.steps > 0, !fast) << r << "x" << k << ", " << threads;
    if (!fast) EXPECT_EQ(described->work.steps, alone->work.steps);
  }
  EXPECT_DOUBLE_EQ(2 * by_itself(64, 512, 2)->work.steps, by_itself(64, 512, 1)->work.steps)
      << "results are shared";
}

TEST(Description, FewImagesOrChannelsAreReducedOneByOneByManyThreads) {
  const auto steps = [](std::string_view shape, std::string_view axes, std::int64_t threads) {
    return among_threads(fmt::format("ReduceMax/18{{keepdims=0,noop_with_empty_axes=0}}(f32[{}],"
                                     "i64c[]={})->(f32[?])",
                                     shape, axes),
                         threads);
  };
  const auto images = [&](int count, std::int64_t threads) {
    return steps(fmt::format("{},64,512", count), "1", threads)->work.steps > 0;
  };
  EXPECT_TRUE(images(1, 1));
  EXPECT_FALSE(images(2, 1));
  EXPECT_FALSE(images(2, 2));
  EXPECT_TRUE(images(2, 4));
  EXPECT_FALSE(images(4, 4));
  const auto channels = [&](int count, std::int64_t threads) {
    return among_threads(fmt::format("ReduceMax/18{{keepdims=0,noop_with_empty_axes=0}}(f32[64,{},"
                                     "32],i64c[2]=[0,2])->(f32[{}])",
                                     count, count),
                         threads)
               ->work.steps > 0;
  };
  EXPECT_TRUE(channels(1, 1));
  EXPECT_FALSE(channels(2, 2));
  EXPECT_TRUE(channels(3, 4));
  EXPECT_FALSE(channels(4, 4));
}

// MlasConv gives each thread whole groups or images, and copies windows by one thread where there
// are more filters than places.
TEST(Description, ConvolutionsCountWhatThreadsCannotShare) {
  struct Of {
    double flops;
    double unfolded;
  };
  const auto of = [](std::string_view op, std::string_view image, std::string_view weights,
                     int group, std::int64_t threads, std::string_view kernel = "3,3") {
    const std::string_view filters = weights.substr(0, weights.find(','));
    const auto found = among_threads(
        fmt::format("{}{{dilations=[1,1],group={},kernel_shape=[{}],pads=[0,0,0,0],strides=[1,1]}}"
                    "(f32[{}],f32c[{}])->(f32[{},{},7,7])",
                    op, group, kernel, image, weights, image.substr(0, 1), filters),
        threads);
    return Of{*found->work.flops, found->windows.unfolded};
  };
  const auto ratio = [&](auto... each) {
    const Of one = of(each..., 1);
    const Of two = of(each..., 2);
    return std::pair(two.flops / one.flops, two.unfolded / one.unfolded);
  };
  using Ratio = std::pair<double, double>;
  EXPECT_EQ(ratio("Conv/11", "1,12,9,9", "32,12,3,3", 1), Ratio(1, 1));
  EXPECT_EQ(ratio("Conv/11", "1,12,9,9", "50,12,3,3", 1), Ratio(1, 2)) << "50 filters, 49 places";
  EXPECT_EQ(ratio("Conv/11", "1,12,9,9", "12,4,3,3", 3), Ratio(4.0 / 3, 4.0 / 3));
  EXPECT_EQ(ratio("com.microsoft:FusedConv/1", "1,12,9,9", "12,3,3,3", 4), Ratio(1, 1));
  EXPECT_EQ(ratio("Conv/11", "3,12,9,9", "32,12,3,3", 1).first, 4.0 / 3) << "images are pieces";
  EXPECT_EQ(ratio("Conv/11", "1,12,9,9", "150,4,3,3", 3), Ratio(1, 2));
  EXPECT_EQ(of("Conv/11", "1,12,9,9", "12,4,3,3", 3, 5).flops /
                of("Conv/11", "1,12,9,9", "12,4,3,3", 3, 1).flops,
            5.0 / 3);
  const auto text_of_rows = [](std::int64_t threads) {
    return among_threads(
               "Conv/11{dilations=[1,1],group=1,kernel_shape=[5,128],pads=[0,0,0,0],"
               "strides=[1,1]}(f32[1,1,64,128],f32c[100,1,5,128])->(f32[1,100,60,1])",
               threads)
        ->windows.unfolded;
  };
  EXPECT_EQ(text_of_rows(1), 0) << "windows as wide as their image lie in order";
  EXPECT_EQ(text_of_rows(2), 0);
  const Of plain = of("Conv/11", "1,12,7,7", "300,4,1,1", 3, 2, "1,1");
  EXPECT_EQ(plain.flops / of("Conv/11", "1,12,7,7", "300,4,1,1", 3, 1, "1,1").flops, 4.0 / 3)
      << "nothing is copied: groups are shared, whatever their filters";
  EXPECT_EQ(of("com.microsoft.nchwc:Conv/1@block=16", "1,48,9,9", "48,16,3,3", 3, 2).flops,
            of("com.microsoft.nchwc:Conv/1@block=16", "1,48,9,9", "48,16,3,3", 3, 1).flops);
}

// Weights that another kernel makes are multiplied as constant ones are.
TEST(Description, RecurrentLayersWithWeightsOfOthersAreLikeThoseWithTheirOwn) {
  const auto of = [](std::string_view constant) {
    return described(
        fmt::format("GRU/14{{activations=[Sigmoid,Tanh],direction=forward,hidden_size=64,layout=0,"
                    "linear_before_reset=0}}(f32[20,4,512],f32{0}[1,192,512],f32{0}[1,192,64])->("
                    "f32[20,1,4,64])",
                    constant));
  };
  EXPECT_EQ(of("")->slice, of("c")->slice);
  EXPECT_EQ(of("")->numbers, of("c")->numbers);
  EXPECT_EQ(of("")->work.bytes_weights, of("c")->work.bytes_weights);
  EXPECT_EQ(of("")->stored_weight_bytes, of("c")->stored_weight_bytes);
}

// A norm of one row is not a reduction of all axes, which has a vector loop.
TEST(Description, ReductionsOfAllAxesHaveNoSteps) {
  const auto steps = [](std::string_view text) { return described(text)->work.steps; };
  const auto norm = [&](std::string_view op, std::string_view of, std::string_view axes) {
    return steps(fmt::format(
        "{}/18{{keepdims=1,noop_with_empty_axes=0}}(f32[{}],i64c[]={})->(f32[1])", op, of, axes));
  };
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceProd"}) {
    EXPECT_DOUBLE_EQ(norm(op, "1,1000", "1"), 802.4) << op;
    EXPECT_EQ(norm(op, "1000", "0"), 0) << op;
  }
  EXPECT_EQ(steps("ReduceL2/18{keepdims=1,noop_with_empty_axes=0}(f32[4,6])->(f32[1,1])"), 0);
  EXPECT_EQ(steps("ReduceL2/18{keepdims=1,noop_with_empty_axes=1}(f32[4,6])->(f32[4,6])"), 0)
      << "nothing is reduced";
  EXPECT_DOUBLE_EQ(norm("ReduceLogSumExp", "1000", "0"), 3900);
}

TEST(Description, SumsOfIntegersHaveSteps) {
  const auto steps = [](std::string_view op, std::string_view type) {
    return described(fmt::format("{}{{keepdims=0,noop_with_empty_axes=0}}({}[100,50],i64c[]=1)->"
                                 "({}[100])",
                                 op, type, type))
        ->work.steps;
  };
  EXPECT_DOUBLE_EQ(steps("ReduceSum/13", "i64"), 6000);
  EXPECT_DOUBLE_EQ(steps("ReduceMean/18", "i32"), 2000);
  EXPECT_EQ(steps("ReduceSum/13", "f32"), 0);
  EXPECT_EQ(steps("ReduceMax/18", "i64"), 0);
}

// Each operand that has fewer axes than the result is another pass.
TEST(Description, EachScalarIsAPassOfSingleElements) {
  EXPECT_EQ(described("Sum/13{}(f32[400,1],f32[1],f32[1],f32[1])->(f32[400,1])")->work.steps,
            3 * 400 * 11);
  EXPECT_EQ(described("Where/16{}(bool[400,1],f32[],f32[])->(f32[400,1])")->work.steps,
            2 * 400 * 11);
}

// Processors multiply bytes by signed bytes at once, by unsigned ones in more steps.
TEST(Description, UnsignedWeightsAreMultipliedMoreSlowly) {
  const auto slower = [](std::string_view text) { return described(text)->slower; };
  const auto product = [&](int rows, std::string_view weights) {
    return slower(
        fmt::format("MatMulInteger/10{{}}(u8[{},512],{}c[512,1000],u8c[],{}c[])->"
                    "(i32[{},1000])",
                    rows, weights, weights, rows));
  };
  EXPECT_EQ(product(128, "u8"), 2.4);
  EXPECT_EQ(product(128, "i8"), 1);
  EXPECT_EQ(product(1, "u8"), 1.3);
  const auto scaled = [&](std::string_view weights) {
    return slower(
        fmt::format("QLinearMatMul/10{{}}(u8[128,512],f32c[],u8c[],{0}c[512,1000],f32c[],"
                    "{0}c[],f32c[],u8c[])->(u8[128,1000])",
                    weights));
  };
  EXPECT_EQ(scaled("u8"), 2.4);
  EXPECT_EQ(scaled("i8"), 1);
  const auto convolution = [&](std::string_view weights, std::string_view shape, int group) {
    return slower(fmt::format(
        "QLinearConv/10{{dilations=[1,1],group={2},kernel_shape=[3,3],pads=[1,1,1,1],"
        "strides=[1,1]}}(u8[1,32,28,28],f32c[],u8c[],{0}c[{1}],f32c[],{0}c[],f32c[],u8c[])->"
        "(u8[1,32,28,28])",
        weights, shape, group));
  };
  EXPECT_EQ(convolution("u8", "32,32,3,3", 1), 2.4);
  EXPECT_EQ(convolution("i8", "32,32,3,3", 1), 1);
  EXPECT_EQ(convolution("u8", "32,1,3,3", 32), 1) << "of a channel by itself";
  EXPECT_EQ(slower("ConvInteger/10{dilations=[1,1],group=1,kernel_shape=[3,3],pads=[1,1,1,1],"
                   "strides=[1,1]}(u8[1,32,28,28],u8c[32,32,3,3],u8c[],u8c[])->(i32[1,32,28,28])"),
            1);
  EXPECT_EQ(slower("com.microsoft:MatMulNBits/1{K=1024,N=1024,bits=4,block_size=32}"
                   "(f32[1,1,1024],u8c[1024,32,16],f32c[32768])->(f32[1,1,1024])"),
            1)
      << "weights of a few bits are floats before they are multiplied";
  const auto with_avx2 = [](int rows) {
    const auto key = parse(fmt::format(
        "MatMulInteger/10{{}}(u8[{0},512],u8c[512,1000],u8c[],u8c[])->(i32[{0},1000])", rows));
    return describe(key.value(), Catalogue::own(), {.threads = 1, .lanes = 8})->slower;
  };
  EXPECT_EQ(with_avx2(128), 1.35);
  EXPECT_EQ(with_avx2(1), 1.1);
}

// What has axes of one element in common only is computed element by element.
TEST(Description, OperandsThatShareNoAxisOfMoreThanOneElementHaveNoRuns) {
  const auto slice = [](std::string_view a, std::string_view b) {
    return described(fmt::format("Mul/14{{}}(f32[{0}],f32[{1}])->(f32[{0}])", a, b))->slice;
  };
  const auto steps = [](std::string_view a, std::string_view b) {
    return described(fmt::format("Mul/14{{}}(f32[{0}],f32[{1}])->(f32[{0}])", a, b))->work.steps;
  };
  EXPECT_EQ(steps("4096,1", "1,1"), 0);
  EXPECT_EQ(steps("64,64,1", "64,1"), 64 * 6);
  EXPECT_EQ(steps("64,64,1,1", "64,1,1"), 64 * 6);
  EXPECT_EQ(steps("4096", "1"), 0);
  EXPECT_EQ(steps("4096", ""), 0) << "a scalar meets the last axis";
  EXPECT_EQ(steps("4096,1", ""), 4096 * 11);
  EXPECT_EQ(steps("1,1", "1"), 0) << "there is one element alone";
  EXPECT_EQ(steps("4096,2", "1"), 0);
  EXPECT_NE(slice("4096,1", "1"), slice("4096,1", "1,1"));
  EXPECT_EQ(described("Clip/13{}(f32[4096,1],f32c[],f32c[])->(f32[4096,1])")->work.steps, 0)
      << "its bounds are numbers";
  EXPECT_EQ(
      described("DequantizeLinear/13{axis=1}(u8[64,1,1],f32c[],u8c[])->(f32[64,1,1])")->work.steps,
      0);
}

TEST(Description, ProductsOfABatchAreCallsOfTheirOwn) {
  const auto calls = [](std::string_view key) { return described(key)->windows.calls; };
  EXPECT_EQ(calls("MatMul/13{}(f32[4,4,9,36],f32[4,4,36,9])->(f32[4,4,9,9])"), 16);
  EXPECT_EQ(calls("MatMul/13{}(f32[4,9,36],f32c[36,9])->(f32[4,9,9])"), 1) << "one of 36 rows";
  EXPECT_EQ(calls("QLinearMatMul/10{}(u8[1,12,128,26],f32c[],u8c[],u8[1,12,26,128],f32c[],u8c[],"
                  "f32c[],u8c[])->(u8[1,12,128,128])"),
            12);
  EXPECT_EQ(calls("Conv/11{dilations=[1,1],group=4,kernel_shape=[1,1],pads=[0,0,0,0],"
                  "strides=[1,1]}(f32[2,16,9,9],f32c[32,4,1,1])->(f32[2,32,9,9])"),
            8);
  EXPECT_EQ(calls("com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],group=16,"
                  "kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]}(u8[1,9,9,16],f32c[],u8c[],"
                  "i8c[16,1,3,3],f32c[],i8c[]=0,f32c[],u8c[])->(u8[1,7,7,16])"),
            0)
      << "depthwise";
}

TEST(Description, ATransposedConvolutionIsAProductWhoseColumnsAreAddedUp) {
  const auto transposed = [](int group, std::string_view w) {
    return described(
        fmt::format("ConvTranspose/11{{dilations=[1,1],group={},kernel_shape=[4,4],"
                    "output_padding=[0,0],pads=[1,1,1,1],strides=[2,2]}}"
                    "(f32[2,64,8,10],f32c[{}])->(f32[2,32,16,20])",
                    group, w));
  };
  const auto whole = transposed(1, "64,32,4,4");
  ASSERT_TRUE(whole->contraction);
  EXPECT_EQ(whole->contraction->in_c, 64);
  EXPECT_EQ(whole->contraction->out_c, 32 * 16);
  EXPECT_EQ(whole->contraction->batch * whole->contraction->out_h * whole->contraction->out_w, 160);
  EXPECT_EQ(whole->windows.folded, 160 * 32 * 16);
  // By the numbers of a convolution.
  EXPECT_TRUE(has_convolution_numbers(*whole));
  EXPECT_EQ(whole->numbers[kConvOutChannels], 32);
  EXPECT_EQ(whole->numbers[kConvKernel], 4);
  EXPECT_EQ(whole->numbers[kConvStride], 2);
  EXPECT_EQ(number_name(*whole, kConvKernel), "kernel");
  const auto grouped = transposed(2, "64,16,4,4");
  EXPECT_EQ(grouped->contraction->in_c, 32);
  EXPECT_EQ(grouped->windows.folded, 160 * 32 * 16);
  EXPECT_FALSE(transposed(0, "64,32,4,4")->contraction) << "an untrusted table's key";
  EXPECT_FALSE(transposed(1, "0,32,4,4")->contraction);
}

TEST(Description, ConvIntegerUnfoldsItsWindowsAndHasNoLists) {
  const auto depthwise = described(
      "ConvInteger/10{dilations=[1,1],group=16,kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]}"
      "(u8[1,16,9,9],u8c[16,1,3,3])->(i32[1,16,7,7])");
  EXPECT_EQ(depthwise->factors, Factors::Bytes);
  EXPECT_EQ(depthwise->windows.calls, 16);
  EXPECT_EQ(depthwise->windows.gathered, 0);
  EXPECT_EQ(depthwise->windows.unfolded, 49 * 16 * 9);
  const auto padded = described(
      "Conv/11{dilations=[1,1],group=1,kernel_shape=[1,1],pads=[1,1,1,1],strides=[1,1]}"
      "(f32[1,16,9,9],f32c[32,16,1,1])->(f32[1,32,11,11])");
  EXPECT_EQ(padded->windows.unfolded, 121 * 16) << "a padded image is not multiplied as it lies";
}

TEST(Description, BlockedConvolutionsComputeWindowsAtEdgesOneByOne) {
  const auto at_edges = [](std::string_view op, int width, int kernel, int stride, int pad,
                           int results) {
    return described(fmt::format("{}{{dilations=[1,1],group=1,kernel_shape=[3,{}],"
                                 "pads=[1,{},1,{}],strides=[1,{}]}}(f32[1,16,9,{}],"
                                 "f32c[32,16,3,{}])->(f32[1,32,9,{}])",
                                 op, kernel, pad, pad, stride, width, kernel, results))
        ->contraction->share_at_edges;
  };
  constexpr std::string_view kBlocked = "com.microsoft.nchwc:Conv/1@block=16";
  EXPECT_NEAR(at_edges(kBlocked, 7, 3, 1, 1, 7), 2.0 / 7, 1e-12);
  EXPECT_NEAR(at_edges(kBlocked, 8, 3, 2, 1, 4), 1.0 / 4, 1e-12) << "the last one ends inside";
  EXPECT_EQ(at_edges(kBlocked, 9, 3, 1, 0, 7), 0);
  EXPECT_EQ(at_edges(kBlocked, 9, 1, 1, 0, 9), 0);
  EXPECT_EQ(at_edges(kBlocked, 7, 35, 1, 17, 7), 1) << "no window lies within the image";
  EXPECT_EQ(at_edges("Conv/11", 7, 3, 1, 1, 7), 0) << "not blocked";
}

TEST(Description, NumbersWithoutEndDescribeNothing) {
  EXPECT_TRUE(described("x:op{alpha=1.5}(f32[8])->(f32[8])"));
  for (const char* alpha : {"inf", "-inf", "nan"}) {
    EXPECT_FALSE(described("x:op{alpha=" + std::string(alpha) + "}(f32[8])->(f32[8])")) << alpha;
  }
}

}  // namespace
}  // namespace oplat::ir
