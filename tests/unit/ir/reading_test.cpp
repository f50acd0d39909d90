// SPDX-License-Identifier: Apache-2.0
#include "ir/reading.hpp"

#include <gtest/gtest.h>

#include "ir/catalogue.hpp"

namespace oplat::ir {
namespace {

Reading reading(const char* text) { return reading_of(*parse(text), Catalogue::own()); }

TEST(Reading, SumsAndTransposesWait) {
  for (const char* key :
       {"Add/14{}(f32[64],f32[64])->(f32[64])", "Relu/14{}(f32[64])->(&0)",
        "LayerNormalization/17{axis=-1,epsilon=1e-05,stash_type=1}(f32[4,64],f32c[64],f32c[64])->"
        "(f32[4,64])",
        "Transpose/13{perm=[1,0]}(f32[8,4])->(f32[4,8])", "Unheard{}(f32[8])->(f32[8])"})
    EXPECT_EQ(reading(key), Reading::Waits) << key;
}

TEST(Reading, ProductsComputeMeanwhile) {
  for (const char* key :
       {"MatMul/13{}(f32[8,8],f32c[8,8])->(f32[8,8])",
        "Conv/11{dilations=[1,1],group=4,kernel_shape=[3,3],pads=[1,1,1,1],strides=[2,2]}"
        "(f32[1,4,8,8],f32c[4,1,3,3])->(f32[1,4,4,4])",
        "com.microsoft.nchwc:MaxPool/1@block=16{ceil_mode=0,dilations=[1,1],kernel_shape=[9,9],"
        "pads=[4,4,4,4],storage_order=0,strides=[1,1]}(f32[1,16,32,32])->(f32[1,16,32,32])"})
    EXPECT_EQ(reading(key), Reading::Computes) << key;
}

TEST(Reading, FunctionsCopiesAndWhatMovesLittleAreAhead) {
  for (const char* key :
       {"Softmax/13{axis=-1}(f32[4,64])->(f32[4,64])", "com.microsoft:Gelu/1{}(f32[8])->(f32[8])",
        "Split/13{axis=0}(f32[8],i64c[2]=4)->(f32[4],f32[4])",
        "Concat/13{axis=0}(f32[4],f32[4])->(f32[8])",
        "Gather/13{axis=0}(f32[100,4],i64[8])->(f32[8,4])",
        "Shape/15{start=0}(f32[64,64])->(i64[2])",
        "Scan/16{num_scan_inputs=1}(f32[4,8])->(f32[4,8])"})
    EXPECT_EQ(reading(key), Reading::Ahead) << key;
}

}  // namespace
}  // namespace oplat::ir
