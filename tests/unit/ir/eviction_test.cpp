// SPDX-License-Identifier: Apache-2.0
/// What the cache states of a kernel are about.
#include "oplat/ir/eviction.hpp"

#include <gtest/gtest.h>

namespace oplat::ir {
namespace {

Work work_of(const char* text) {
  const auto key = parse(text);
  EXPECT_TRUE(key) << text;
  return key ? work(*key) : Work();
}

TEST(Eviction, WeightsFirstElseOperands) {
  const Work weights = work_of("MatMul/13{}(f32[64,256],f32c[256,256])->(f32[64,256])");
  EXPECT_EQ(evicted_of(weights), Evicted::Weights);
  EXPECT_EQ(evicted_bytes(weights), 256 * 256 * 4);
  const Work operands = work_of("Transpose/13{perm=[1,0]}(f32[128,128])->(f32[128,128])");
  EXPECT_EQ(evicted_of(operands), Evicted::Operands);
  EXPECT_EQ(evicted_bytes(operands), 2 * 128 * 128 * 4);
  const Work small = work_of("Transpose/13{perm=[1,0]}(f32[64,64])->(f32[64,64])");
  EXPECT_EQ(evicted_of(small), Evicted::Nothing);
  EXPECT_EQ(evicted_bytes(small), 0);
}

TEST(Eviction, WhatIsOverwrittenStaysNear) {
  const Work sum = work_of("Add/14{}(f32[128,128],f32[128,128])->(&0)");
  EXPECT_EQ(sum.bytes_overwritten, 128 * 128 * 4);
  EXPECT_EQ(evicted_of(sum), Evicted::Operands);
  EXPECT_EQ(evicted_bytes(sum), 128 * 128 * 4) << "the other operand";
  EXPECT_EQ(evicted_of(work_of("Relu/14{}(f32[512,512])->(&0)")), Evicted::Nothing);
}

}  // namespace
}  // namespace oplat::ir
