// SPDX-License-Identifier: Apache-2.0
/// Keys under which PaddleSlim's tables may hold a model's kernel.
#include "compat/paddleslim/aliases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/paddleslim/domains.hpp"
#include "compat/paddleslim/key.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::compat::paddleslim {
namespace {

using namespace ir;  // NOLINT: the file is about keys

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Key parsed_key(std::string_view text) {
  auto key = parse(text);
  if (!key) {
    ADD_FAILURE() << key.error().message;
    return {};
  }
  return *std::move(key);
}

/// As core code asks: none of a key of another domain.
std::vector<KeyAlias> aliases_of(const Key& key) {
  const KeyDomain* domain = compat::catalogue().aliasing_domain_of(print(key));
  return domain == nullptr ? std::vector<KeyAlias>() : domain->aliases(key);
}

/// Texts with what differs in them.
std::vector<std::string> texts(std::string_view key) {
  std::vector<std::string> found;
  for (const KeyAlias& one : aliases_of(parsed_key(key))) {
    const auto text = paddle_text_of(one.key);
    found.push_back(fmt::format("{} | {}{}", text.value_or("none"), one.difference,
                                one.open_batch ? " open" : ""));
  }
  return found;
}

constexpr const char* kConv =
    "paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=[1,1],group=1,pads=[0,"
    "0,0,0],quant=None,"
    "strides=[1,1]}(f32[1,8,4,4],f32c[1,8,1,1])->(f32[1,1,4,4])";
constexpr const char* kConvForm =
    "paddle_lite:conv2d{activation=?,bias=?,bit_length=None,dilations=[?,1],group=1,pads=[?,?,0,0],"
    "quant=None,"
    "strides=[?,1]}(f32[1,8,4,4],f32c[1,8,1,1])->(f32[1,1,4,4])";

TEST(Aliases, IsOfSystemsWithTextsOfTheirOwn) {
  EXPECT_EQ(compat::catalogue().aliasing_domain_of(kConv), &lite_domain());
  EXPECT_EQ(compat::catalogue().aliasing_domain_of("Relu/14{}(f32[1,16])->(f32[1,16])"), nullptr);
  EXPECT_THAT(aliases_of(parsed_key("Relu/14{}(f32[1,16])->(f32[1,16])")), IsEmpty());
  EXPECT_THAT(aliases_of(parsed_key("paddle_lite:lstm{}(f32[1,16])->(f32[1,16])")), IsEmpty());
}

TEST(Aliases, TheOriginalsTextComesFirstThenTheOpenBatch) {
  const auto spellings = aliases_of(parsed_key(kConv));
  ASSERT_EQ(spellings.size(), 2U);
  EXPECT_EQ(print(spellings[0].key), kConvForm);
  // Weights have no batch.
  EXPECT_THAT(texts(kConv), ElementsAre("conv2d in=(1, 8, 4, 4) weight=(1, 8, 1, 1) out=(1, 1, 4, "
                                        "4) pad=0 stride=1 group=1 dilation=1 "
                                        "quant=None bit_length=None | ",
                                        "conv2d in=(-1, 8, 4, 4) weight=(1, 8, 1, 1) out=(-1, 1, "
                                        "4, 4) pad=0 stride=1 group=1 dilation=1 "
                                        "quant=None bit_length=None | batch -1 open"));
}

TEST(Aliases, AnOpenBatchIsAskedForAsOneToo) {
  EXPECT_THAT(
      texts("paddle_lite:swish{}(f32[?,8])->(f32[?,8])"),
      ElementsAre("swish in=(-1, 8) out=(-1, 8) | ", "swish in=(1, 8) out=(1, 8) | batch 1 open"));
  // Rows of an open batch were measured with one image.
  EXPECT_THAT(texts("paddle_lite:swish{}(f32[2,8])->(f32[2,8])"),
              ElementsAre("swish in=(2, 8) out=(2, 8) | "));
}

TEST(Aliases, TheSecondOperandMayHaveNoBatch) {
  EXPECT_THAT(
      texts("paddle_lite:elementwise_mul{axis=0}(f32[1,8],f32[1,8])->(f32[1,8])"),
      ElementsAre(
          "elementwise_mul X=(1, 8) Y=(1, 8) axis=0 out=(1, 8) | ",
          "elementwise_mul X=(1, 8) Y=(1, 8) axis=-1 out=(1, 8) | axis -1, which is the same",
          "elementwise_mul X=(-1, 8) Y=(-1, 8) axis=0 out=(-1, 8) | batch -1 open",
          "elementwise_mul X=(-1, 8) Y=(1, 8) axis=0 out=(-1, 8) | batch -1 open",
          "elementwise_mul X=(-1, 8) Y=(-1, 8) axis=-1 out=(-1, 8) | axis -1, which is the same, "
          "batch -1 open",
          "elementwise_mul X=(-1, 8) Y=(1, 8) axis=-1 out=(-1, 8) | axis -1, which is the same, "
          "batch -1 open"));
}

TEST(Aliases, AnAxisIsCountedFromEitherEnd) {
  EXPECT_THAT(
      texts("paddle_lite:elementwise_add{axis=-1}(f32[4,10],f32[10])->(f32[4,10])"),
      ElementsAre(
          "elementwise_add X=(4, 10) Y=(10,) axis=-1 out=(4, 10) | ",
          "elementwise_add X=(4, 10) Y=(10,) axis=1 out=(4, 10) | axis 1, which is the same"));
  EXPECT_THAT(texts("paddle_lite:elementwise_add{axis=0}(f32[4,10],f32[4])->(f32[4,10])"),
              ElementsAre("elementwise_add X=(4, 10) Y=(4,) axis=0 out=(4, 10) | "));
  EXPECT_THAT(texts("paddle_lite:concat{axis=-1}(f32[4,10],f32[4,10])->(f32[4,20])"),
              ElementsAre("concat in=(4, 10)(4, 10) axis=-1 out=(4, 20) | "));
}

TEST(Aliases, WhatIsSwappedWhenItRunsMayStandEitherWay) {
  EXPECT_THAT(
      texts("paddle_lite:elementwise_mul{axis=-1}(f32[2,8,1,1],f32[2,8,4,4])->(f32[2,8,4,4])"),
      Contains("elementwise_mul X=(2, 8, 4, 4) Y=(2, 8, 1, 1) axis=-1 out=(2, 8, 4, 4) | operands "
               "swapped, which is the same"));
  for (const char* key :
       {"paddle_lite:elementwise_sub{axis=-1}(f32[2,8,1,1],f32[2,8,4,4])->(f32[2,8,4,4])",
        "paddle_lite:elementwise_mul{axis=1}(f32[2,8,1,1],f32[2,8,4,4])->(f32[2,8,4,4])",
        "paddle_lite:elementwise_mul{axis=-1}(f32[8],f32[2,8])->(f32[2,8])"}) {
    EXPECT_THAT(texts(key), Not(Contains(HasSubstr("swapped")))) << key;
  }
}

TEST(Aliases, HalvesStandInTablesOfEitherType) {
  const auto spellings = aliases_of(parsed_key("paddle_lite:swish{}(f16[2,8])->(f16[2,8])"));
  ASSERT_EQ(spellings.size(), 2U);
  EXPECT_EQ(print(spellings[0].key), "paddle_lite:swish{}(f16[2,8])->(f16[2,8])");
  EXPECT_EQ(print(spellings[1].key), "paddle_lite:swish{}(f32[2,8])->(f32[2,8])");
}

TEST(Aliases, AModelsKernelIsDescribedAsATablesRow) {
  const auto form = table_form(parsed_key(kConv));
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(print(*form), kConvForm);
  EXPECT_EQ(table_form(*form), std::nullopt);
  const auto asked = describe(parsed_key(kConv)), row = describe(parsed_key(kConvForm));
  ASSERT_TRUE(asked && row);
  EXPECT_EQ(asked->slice, row->slice);
  EXPECT_EQ(asked->numbers, row->numbers);
  const auto pool =
      describe(parsed_key("paddle_lite:pool2d{exclusive=true,global_pooling=0,kernel_shape=[3,3],"
                          "pads=[1,1,1,1],pooling_type=max,strides=[2,2]}"
                          "(f32[1,24,8,8])->(f32[1,24,4,4])"));
  const auto pool_row =
      describe(paddle_key_of("pool2d in=(1, 24, 8, 8) out=(1, 24, 4, 4) stride=2 kernel=3x3 pad=1 "
                             "flag_global=0 type=max)"));
  ASSERT_TRUE(pool && pool_row);
  EXPECT_EQ(pool->slice, pool_row->slice);
  EXPECT_EQ(pool->numbers, pool_row->numbers);
}

}  // namespace
}  // namespace oplat::compat::paddleslim
