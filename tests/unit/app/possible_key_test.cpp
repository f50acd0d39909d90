// SPDX-License-Identifier: Apache-2.0
#include "app/possible_key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

/// Why no operator computes the key; empty: one may.
std::string objection(const std::string& key) {
  const Status possible = check_possible(test::must(ir::parse(key)));
  if (possible) return {};
  EXPECT_EQ(possible.error().code, Code::Usage);
  return possible.error().message;
}

TEST(PossibleKey, ProductsHaveOneInnerDimension) {
  EXPECT_EQ(objection("MatMul/13{}(f32[64,32],f32c[32,50])->(f32[64,50])"), "");
  EXPECT_EQ(objection("MatMul/13{}(f32[64,32],f32c[99,50])->(f32[64,50])"),
            "MatMul: the inner dimensions are 32 and 99; expected the same");
  EXPECT_EQ(objection("MatMul/13{}(f32[64,32],f32c[32,50])->(f32[64,51])"),
            "MatMul: the result has 51 columns, its operands make 50");
  EXPECT_EQ(objection("MatMul/13{}(f32[4,64,32],f32[1,32,50])->(f32[4,64,50])"), "");
  EXPECT_THAT(objection("MatMul/13{}(f32[4,64,32],f32[3,32,50])->(f32[4,64,50])"),
              HasSubstr("batches of 4 and 3 matrices"));
  EXPECT_EQ(objection("MatMul/13{}(f32[32],f32[32,50])->(f32[50])"), "");
  EXPECT_EQ(objection("MatMul/13{}(f32[64,?],f32c[32,50])->(f32[64,50])"), "")
      << "what is not known is not looked at";
  EXPECT_EQ(objection("com.microsoft:FusedMatMul/1{transA=0,transB=1}(f32[64,32],f32[50,32])"
                      "->(f32[64,50])"),
            "");
  EXPECT_THAT(objection("com.microsoft:FusedMatMul/1{transA=0,transB=1}(f32[64,32],f32[32,50])"
                        "->(f32[64,50])"),
              HasSubstr("32 and 50"));
}

TEST(PossibleKey, GroupsThatNoNumberOfChannelsHoldsAreRefused) {
  EXPECT_EQ(objection("Conv/11{group=4611686018427387904}(f32[1,4,8,8],f32c[8,4,3,3])"
                      "->(f32[1,8,6,6])"),
            "Conv: 8 filters cannot be in 4611686018427387904 groups");
  EXPECT_NE(objection("ConvTranspose/11{group=4611686018427387904}(f32[1,8,8,8],f32c[8,4,3,3])"
                      "->(f32[1,4,10,10])"),
            "");
}

TEST(PossibleKey, GemmTurnsItsOperands) {
  EXPECT_EQ(objection("Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=1}(f32[8,64],f32c[48,64],"
                      "f32c[48])->(f32[8,48])"),
            "");
  EXPECT_THAT(objection("Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=0}(f32[8,192],f32c[8,192],"
                        "f32c[192])->(f32[8,192])"),
              HasSubstr("Gemm: the inner dimensions are 192 and 8"));
  EXPECT_THAT(objection("Gemm/13{alpha=1.0,beta=1.0,transA=0,transB=0}(f32[2,8,64],f32c[64,48])"
                        "->(f32[8,48])"),
              HasSubstr("operands of 3 and 2 dimensions"));
}

TEST(PossibleKey, ConvolutionsFitTheirImages) {
  const auto conv = [](const std::string& group, const std::string& strides,
                       const std::string& operands) {
    return objection("Conv/11{dilations=[1,1],group=" + group +
                     ",kernel_shape=[3,3],pads=[0,0,0,0],strides=" + strides + "}" + operands);
  };
  const std::string plain = "(f32[1,4,8,8],f32c[8,4,3,3],f32c[8])->(f32[1,8,6,6])";
  EXPECT_EQ(conv("1", "[1,1]", plain), "");
  EXPECT_EQ(conv("0", "[1,1]", plain), "Conv: group is 0; expected 1 or more");
  EXPECT_EQ(conv("1", "[0,1]", plain), "Conv: strides holds 0; expected 1 or more");
  EXPECT_EQ(conv("1", "[1,1]", "(f32[1,3,8,8],f32c[8,4,3,3])->(f32[1,8,6,6])"),
            "Conv: the image has 3 channels, but the weights are for 4");
  EXPECT_EQ(conv("2", "[1,1]", "(f32[1,4,8,8],f32c[8,4,3,3])->(f32[1,8,6,6])"),
            "Conv: the image has 4 channels, but the weights are for 8 in 2 groups");
  EXPECT_EQ(conv("4", "[1,1]", "(f32[1,4,8,8],f32c[6,1,3,3])->(f32[1,6,6,6])"),
            "Conv: 6 filters cannot be in 4 groups");
  EXPECT_EQ(conv("1", "[1,1]", "(f32[1,4,8,8],f32c[8,4,3,3])->(f32[1,9,6,6])"),
            "Conv: the result has 9 channels, its operands make 8");
  EXPECT_EQ(conv("1", "[1,1]", "(f32[1,4,8,8],f32c[8,4,5,5])->(f32[1,8,4,4])"),
            "Conv: kernel_shape is not that of the weights");
  EXPECT_THAT(conv("1", "[1,1]", "(f32[1,4,8],f32c[8,4,3,3])->(f32[1,8,6,6])"),
              HasSubstr("the image has 3 dimensions and the weights have 4"));
}

TEST(PossibleKey, OtherLayoutsAndDomainsAreLeftAlone) {
  EXPECT_EQ(objection("ConvTranspose/11{dilations=[1,1],group=1,kernel_shape=[2,2],"
                      "output_padding=[0,0],pads=[0,0,0,0],strides=[2,2]}"
                      "(f32[1,8,4,4],f32c[8,4,2,2])->(f32[1,4,8,8])"),
            "");
  EXPECT_THAT(objection("ConvTranspose/11{dilations=[1,1],group=1,kernel_shape=[2,2],"
                        "output_padding=[0,0],pads=[0,0,0,0],strides=[2,2]}"
                        "(f32[1,8,4,4],f32c[4,8,2,2])->(f32[1,8,8,8])"),
              HasSubstr("the image has 8 channels, but the weights are for 4"));
  EXPECT_EQ(objection("com.microsoft:QLinearConv/1{channels_last=1,dilations=[1,1],group=1,"
                      "kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]}(u8[1,16,16,32],f32c[],"
                      "u8c[],i8c[32,32,1,1],f32c[],i8c[]=0,f32c[],u8c[])->(u8[1,16,16,32])"),
            "");
  EXPECT_EQ(objection("com.microsoft.nchwc:Conv/1@block=16{dilations=[1,1],group=1,kernel_shape="
                      "[3,3],pads=[0,0,0,0],strides=[1,1]}(f32[1,3,8,8],f32c[32,3,3,3],f32c[32])"
                      "->(f32[1,32,6,6])"),
            "");
  EXPECT_EQ(objection("MaxPool/12{kernel_shape=[0,2],strides=[1,1]}(f32[1,4,8,8])->(f32[1,4,7,7])"),
            "MaxPool: kernel_shape holds 0; expected 1 or more");
}

}  // namespace
}  // namespace oplat::app
