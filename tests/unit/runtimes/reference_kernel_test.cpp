// SPDX-License-Identifier: Apache-2.0
/// Keys made into kernels of plain loops.
#include "runtimes/reference/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::runtimes::reference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Built build_text(const char* text) {
  const auto key = ir::parse(text);
  EXPECT_TRUE(key) << (key ? "" : key.error().message);
  return key ? build(*key) : Built(table::Failed{"no key"});
}

/// The result of one call on these operands.
std::vector<float> compute(const char* text, const std::vector<std::vector<float>>& operands) {
  const auto built = build_text(text);
  const auto* kernel = std::get_if<Kernel>(&built);
  if (kernel == nullptr) {
    ADD_FAILURE() << text << " was not built";
    return {};
  }
  std::vector<Floats> in(operands.begin(), operands.end());
  std::vector<float> out(static_cast<std::size_t>(kernel->result_elements));
  kernel->call(in, out);
  return out;
}

std::string refusal(const char* text) {
  const auto built = build_text(text);
  if (const auto* unsupported = std::get_if<table::Unsupported>(&built))
    return "unsupported: " + unsupported->reason;
  if (const auto* failed = std::get_if<table::Failed>(&built)) return "failed: " + failed->reason;
  return "built";
}

TEST(ReferenceKernelTest, ConvReadsItsAttributes) {
  EXPECT_THAT(
      compute("Conv/11{dilations=[1,1],group=1,kernel_shape=[1,2],pads=[0,0,0,1],strides=[1,2]}"
              "(f32[1,1,1,3],f32c[1,1,1,2],f32c[1])->(f32[1,1,1,2])",
              {{1, 2, 3}, {1, 10}, {0.5}}),
      ElementsAre(21.5F, 3.5F));
}

TEST(ReferenceKernelTest, ConvOfOneDimension) {
  EXPECT_THAT(compute("Conv/11{kernel_shape=[2],strides=[1]}(f32[1,1,3],f32c[1,1,2])->(f32[1,1,2])",
                      {{1, 2, 3}, {1, 10}}),
              ElementsAre(21, 32));
}

TEST(ReferenceKernelTest, GemmReadsItsAttributes) {
  EXPECT_THAT(
      compute(
          "Gemm/13{alpha=2.0,beta=0.5,transA=0,transB=1}(f32[1,2],f32c[2,2],f32c[2])->(f32[1,2])",
          {{1, 2}, {1, 0, 0, 1}, {10, 20}}),
      ElementsAre(7, 14));
}

TEST(ReferenceKernelTest, MatMulMulAndAliases) {
  EXPECT_THAT(compute("MatMul/13{}(f32[1,2],f32c[2,1])->(f32[1,1])", {{2, 3}, {10, 1}}),
              ElementsAre(23));
  const auto built = build_text("Mul/14{}(f32[3],&0)->(&0)");
  const auto& kernel = std::get<Kernel>(built);
  EXPECT_THAT(kernel.source, ElementsAre(0, 0));
  EXPECT_EQ(kernel.chained, 0U);
}

TEST(ReferenceKernelTest, ClipTakesBoundsFromOperandsOrAttributes) {
  EXPECT_THAT(compute("Clip/13{}(f32[3],f32c[]=0.0,f32c[]=6.0)->(&0)", {{-1, 3, 9}, {0}, {6}}),
              ElementsAre(0, 3, 6));
  EXPECT_THAT(compute("Clip/6{max=1.0,min=-1.0}(f32[3])->(&0)", {{-2, 0.5, 9}}),
              ElementsAre(-1, 0.5F, 1));
  EXPECT_THAT(compute("Clip/13{}(f32[3],-,f32c[]=6.0)->(&0)", {{-1, 3, 9}, {}, {6}}),
              ElementsAre(-1, 3, 6));
  const auto built = build_text("Clip/13{}(f32[3],f32c[]=0.0,f32c[]=6.0)->(&0)");
  EXPECT_EQ(std::get<Kernel>(built).values[2], 6.0F);
}

TEST(ReferenceKernelTest, Pools) {
  EXPECT_THAT(
      compute("MaxPool/"
              "12{ceil_mode=1,kernel_shape=[1,2],strides=[1,2]}(f32[1,1,1,3])->(f32[1,1,1,2],-)",
              {{1, 2, 3}}),
      ElementsAre(2, 3));
  EXPECT_THAT(
      compute("AveragePool/11{count_include_pad=1,kernel_shape=[1,2],pads=[0,1,0,0],strides=[1,2]}"
              "(f32[1,1,1,3])->(f32[1,1,1,2])",
              {{1, 2, 4}}),
      ElementsAre(0.5F, 3));
  EXPECT_THAT(compute("GlobalAveragePool/1{}(f32[1,2,1,2])->(f32[1,2,1,1])", {{1, 3, 5, 9}}),
              ElementsAre(2, 7));
}

TEST(ReferenceKernelTest, SoftmaxFlattensBeforeVersion13) {
  const std::vector<float> four(4, 1.0F);
  EXPECT_THAT(compute("Softmax/11{axis=1}(f32[1,2,2])->(f32[1,2,2])", {four}),
              testing::Each(0.25F));
  EXPECT_THAT(compute("Softmax/13{axis=1}(f32[1,2,2])->(f32[1,2,2])", {four}), testing::Each(0.5F));
}

TEST(ReferenceKernelTest, WhatTheLoopsLackIsNamed) {
  EXPECT_THAT(refusal("LSTM/14{}(f32[1])->(f32[1])"),
              testing::AllOf(HasSubstr("unsupported"), HasSubstr("LSTM")));
  EXPECT_THAT(refusal("com.microsoft:Gelu/1{}(f32[1])->(f32[1])"), HasSubstr("com.microsoft:Gelu"));
  EXPECT_THAT(refusal("com.microsoft.nchwc:Conv/1{}(f32[1,8,4,4],f32c[8,8,1,1])->(f32[1,8,4,4])"),
              HasSubstr("unsupported"));
  EXPECT_THAT(refusal("Relu/14{}(f16[4])->(f16[4])"), HasSubstr("dtype f16"));
  EXPECT_THAT(refusal("Relu/14{}(f32[?,4])->(f32[?,4])"), HasSubstr("not known"));
  EXPECT_THAT(refusal("Relu/14{}(f32[*])->(f32[*])"), HasSubstr("not known"));
  EXPECT_THAT(
      refusal("Conv/11{kernel_shape=[1,1,1]}(f32[1,1,2,2,2],f32c[1,1,1,1,1])->(f32[1,1,2,2,2])"),
      HasSubstr("spatial"));
  EXPECT_THAT(
      refusal(
          "Conv/"
          "11{auto_pad=SAME_UPPER,kernel_shape=[3,3]}(f32[1,1,4,4],f32c[1,1,3,3])->(f32[1,1,4,4])"),
      HasSubstr("auto_pad"));
  EXPECT_THAT(refusal("MaxPool/12{kernel_shape=[2,2]}(f32[1,1,4,4])->(f32[1,1,3,3],i64[1,1,3,3])"),
              HasSubstr("indices"));
}

TEST(ReferenceKernelTest, KeysThatContradictThemselvesFail) {
  EXPECT_THAT(refusal("Relu/14{}(f32[4])->(f32[5])"), HasSubstr("failed"));
  EXPECT_THAT(refusal("Relu/14{}()->(f32[5])"), HasSubstr("failed"));
  EXPECT_THAT(refusal("Relu/14{}(f32[4])->()"), HasSubstr("failed"));
  EXPECT_THAT(refusal("Conv/11{kernel_shape=[3,3]}(f32[1,4,8,8],f32c[4,3,3,3])->(f32[1,4,6,6])"),
              HasSubstr("failed"));
  EXPECT_THAT(
      refusal("Conv/11{group=0,kernel_shape=[3,3]}(f32[1,4,8,8],f32c[4,4,3,3])->(f32[1,4,6,6])"),
      HasSubstr("failed"));
  EXPECT_THAT(refusal("Conv/11{kernel_shape=[5,5]}(f32[1,4,8,8],f32c[4,4,3,3])->(f32[1,4,4,4])"),
              HasSubstr("failed"));
  EXPECT_THAT(refusal("Gemm/13{}(f32[1,2],f32c[3,2])->(f32[1,2])"), HasSubstr("failed"));
  EXPECT_THAT(refusal("MatMul/13{}(f32[2,2],f32[3,2])->(f32[2,2])"), HasSubstr("failed"));
  EXPECT_THAT(refusal("Add/14{}(f32[2],f32[3])->(f32[3])"), HasSubstr("failed"));
  EXPECT_THAT(refusal("Softmax/13{axis=3}(f32[2,2])->(f32[2,2])"), HasSubstr("failed"));
  EXPECT_THAT(
      refusal("MaxPool/12{kernel_shape=[2,2],pads=[2,2,2,2]}(f32[1,1,4,4])->(f32[1,1,7,7])"),
      HasSubstr("failed"));
}

TEST(ReferenceKernelTest, AbsurdSizesAreRefused) {
  EXPECT_NE(refusal("Relu/14{}(f32[1099511627776,1099511627776])->(&0)"), "built");
  EXPECT_NE(refusal("Relu/14{}(f32[1099511627776,1099511627776,0])->(&0)"), "built");
  EXPECT_NE(refusal("Add/14{}(f32[2000000000,1],f32[1,2000000000])->(f32[2000000000,2000000000])"),
            "built");
  EXPECT_NE(
      refusal("MaxPool/12{kernel_shape=[9223372036854775807,1]}(f32[1,1,4,4])->(f32[1,1,4,4])"),
      "built");
  EXPECT_NE(
      refusal(
          "Conv/11{kernel_shape=[1,1],strides=[0,1]}(f32[1,1,4,4],f32c[1,1,1,1])->(f32[1,1,4,4])"),
      "built");
}

}  // namespace
}  // namespace oplat::runtimes::reference
