// SPDX-License-Identifier: Apache-2.0
#include "ir/int8.hpp"

#include <gtest/gtest.h>

namespace oplat::ir {
namespace {

TEST(Int8, IsToldFromOperandsAndResults) {
  EXPECT_TRUE(
      has_int8_tensor("com.microsoft:QGemm/1{}(u8[1,64],f32c[1],u8c[1],i8c[64,8])->(u8[1,8])"));
  EXPECT_TRUE(has_int8_tensor("QuantizeLinear/13{axis=1}(f32[8],f32c[1],u8c[1])->(u8[8])"));
  EXPECT_TRUE(has_int8_tensor("Transpose/13{perm=[1,0]}(i8[8,4])->(i8[4,8])"));
  EXPECT_TRUE(has_int8_tensor("Cast/13{to=2}(f32[8])->(u8[8])"));
}

TEST(Int8, IsNotToldFromNumbersAttributesOrOtherTypes) {
  EXPECT_FALSE(
      has_int8_tensor("Gemm/13{alpha=1.0,transB=0}(f32[8,8],f32c[8,8],f32c[8])->(f32[8,8])"));
  EXPECT_FALSE(has_int8_tensor("Where/16{}(bool[8,8],i64[8,8],u16[8,8])->(i64[8,8])"));
  EXPECT_FALSE(has_int8_tensor("Custom/1{note=\"(u8[8])\"}(f32[18],f32[8])->(f32[8])"));
  EXPECT_FALSE(has_int8_tensor(""));
  EXPECT_FALSE(has_int8_tensor("8"));
}

}  // namespace
}  // namespace oplat::ir
