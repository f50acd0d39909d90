// SPDX-License-Identifier: Apache-2.0
/// Keys as numbers: what an untrusted key must not do to the descriptions.
#include "ir/description.hpp"
#include "unit/compat/all_domains.hpp"

#include <gtest/gtest.h>

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

TEST(Description, NumbersWithoutEndDescribeNothing) {
  EXPECT_TRUE(described("x:op{alpha=1.5}(f32[8])->(f32[8])"));
  for (const char* alpha : {"inf", "-inf", "nan"}) {
    EXPECT_FALSE(described("x:op{alpha=" + std::string(alpha) + "}(f32[8])->(f32[8])")) << alpha;
  }
}

}  // namespace
}  // namespace oplat::ir
