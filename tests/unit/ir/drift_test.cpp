// SPDX-License-Identifier: Apache-2.0
#include "ir/drift.hpp"

#include <gtest/gtest.h>

namespace oplat::ir {
namespace {

bool is_another(const char* text) { return is_another_in_chain(*parse(text)); }

TEST(Drift, NumbersOfSquaresAndPowersDoNotStay) {
  for (const char* key :
       {"Pow/15{}(f32[64],f32c[]=2.0)->(f32[64])", "Pow/15{}(f32[64],f32[64])->(f32[64])",
        "Mul/14{}(f32[64],&0)->(f32[64])", "Gelu/20{}(f32[64])->(f32[64])",
        "com.microsoft:QuickGelu/1{alpha=1.0}(f32[64])->(f32[64])", "Sinh/9{}(f32[64])->(f32[64])",
        "Softmax/13{axis=-1}(f64[4,64])->(f64[4,64])"})
    EXPECT_TRUE(is_another(key)) << key;
  for (const char* key :
       {"Mul/14{}(f32[64],f32[64])->(f32[64])", "Add/14{}(f32[64],&0)->(f32[64])",
        "Sqrt/13{}(f32[64])->(f32[64])", "Softmax/13{axis=-1}(f32[4,64])->(f32[4,64])",
        "MatMul/13{}(f32[8,8],&0)->(f32[8,8])"})
    EXPECT_FALSE(is_another(key)) << key;
}

TEST(Drift, RowsOfAChainAreOfAnotherKernelUnlessItIsInPlace) {
  for (const char* key :
       {"Pow/15{}(f32[64],f32c[]=2.0)->(f32[64])", "Trilu/14{upper=1}(f32[8,8])->(f32[8,8])",
        "com.microsoft:Trilu/1{upper=1}(f32[8,8])->(f32[8,8])",
        "TensorScatter/24{axis=-2,mode=linear}(f32[2,8,8],f32[2,1,8],i64[2])->(f32[2,8,8])"})
    EXPECT_TRUE(is_another(key)) << key;
  for (const char* key : {"Trilu/14{upper=1}(f32[8,8])->(&0)", "Softplus/1{}(f32[64])->(&0)",
                          "Add/14{}(f32[64],f32[64])->(f32[64])",
                          "ScatterND/16{reduction=none}(f32[8,8],i64[2,1],f32[2,8])->(f32[8,8])",
                          // Of a runtime whose worker knows which of its kernels it chains.
                          "mnn:UnaryOp/1{opType=TAN}(f32[64])->(f32[64])"})
    EXPECT_FALSE(is_another(key)) << key;
}

}  // namespace
}  // namespace oplat::ir
