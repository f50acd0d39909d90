// SPDX-License-Identifier: Apache-2.0
#include "compat/mobile_vision/module_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::compat::mobile_vision {

using namespace ir;  // NOLINT: the file is about keys

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Args = std::vector<NamedValue>;
using Shapes = std::vector<std::vector<std::int64_t>>;

ModuleFacts facts(const std::string& op, const Args& args, const Shapes& shapes) {
  const auto query = canonical({op, args, shapes});
  if (!query) throw std::runtime_error(query.error().message);
  const auto facts = facts_of(*query);
  if (!facts) throw std::runtime_error(facts.error().message);
  return *facts;
}
std::string key(const std::string& op, const Args& args, const Shapes& shapes) {
  const auto query = canonical({op, args, shapes});
  return query ? print(key_of(*query).value()) : query.error().message;
}
/// Of canonical() or, where that is content, of facts_of().
std::string error(const std::string& op, const Args& args, const Shapes& shapes) {
  const auto query = canonical({op, args, shapes});
  if (!query) return query.error().message;
  const auto made = facts_of(*query);
  return made ? "no error" : made.error().message;
}

const Args kConvArgs = {
    {"in_channels", 3}, {"out_channels", 32}, {"kernel_size", 3}, {"stride", 2}, {"padding", 1}};

TEST(ModuleQuery, ConvolutionsCountWeightsAtEveryOutput) {
  const ModuleFacts conv = facts("Conv2d", kConvArgs, {{1, 3, 224, 224}});
  EXPECT_THAT(conv.output_shape, ElementsAre(1, 32, 112, 112));
  EXPECT_EQ(conv.weights, 32 * 3 * 9);
  EXPECT_EQ(conv.parameters, 32 * 3 * 9 + 32);
  EXPECT_EQ(conv.macs, 32.0 * 3 * 9 * 112 * 112);
  EXPECT_EQ(conv.mobile_cv_flops, conv.macs);

  const ModuleFacts line = facts("Conv1d",
                                 {{"in_channels", 8},
                                  {"out_channels", 4},
                                  {"kernel_size", 3},
                                  {"groups", 4},
                                  {"dilation", 2},
                                  {"bias", 0}},
                                 {{2, 8, 20}});
  EXPECT_THAT(line.output_shape, ElementsAre(2, 4, 16));
  EXPECT_EQ(line.parameters, 4 * 2 * 3);
  EXPECT_EQ(line.macs, 4.0 * 2 * 3 * 2 * 16);

  const ModuleFacts volume = facts("Conv3d",
                                   {{"in_channels", 2},
                                    {"out_channels", 6},
                                    {"kernel_size", Value::ints({1, 3, 5})},
                                    {"padding", "same"}},
                                   {{1, 2, 4, 6, 8}});
  EXPECT_THAT(volume.output_shape, ElementsAre(1, 6, 4, 6, 8));
  EXPECT_EQ(volume.macs, 6.0 * 2 * 15 * 4 * 6 * 8);
}

TEST(ModuleQuery, TransposedConvolutionsUseTheirWeightsAtEveryInput) {
  const ModuleFacts up = facts(
      "ConvTranspose2d",
      {{"in_channels", 8}, {"out_channels", 4}, {"kernel_size", 4}, {"stride", 2}, {"padding", 1}},
      {{1, 8, 10, 12}});
  EXPECT_THAT(up.output_shape, ElementsAre(1, 4, 20, 24));
  EXPECT_EQ(up.weights, 8 * 4 * 16);
  EXPECT_EQ(up.macs, 8.0 * 4 * 16 * 10 * 12);
  EXPECT_EQ(up.mobile_cv_flops, 8.0 * 4 * 16 * 20 * 24);
  const ModuleFacts padded = facts("ConvTranspose1d",
                                   {{"in_channels", 2},
                                    {"out_channels", 2},
                                    {"kernel_size", 3},
                                    {"stride", 2},
                                    {"output_padding", 1}},
                                   {{1, 2, 5}});
  EXPECT_THAT(padded.output_shape, ElementsAre(1, 2, 12));
  EXPECT_THAT(facts("ConvTranspose3d",
                    {{"in_channels", 2}, {"out_channels", 3}, {"kernel_size", 2}, {"stride", 2}},
                    {{1, 2, 3, 4, 5}})
                  .output_shape,
              ElementsAre(1, 3, 6, 8, 10));
}

TEST(ModuleQuery, ProductsAndAttention) {
  const ModuleFacts linear =
      facts("Linear", {{"in_features", 64}, {"out_features", 10}}, {{2, 7, 64}});
  EXPECT_THAT(linear.output_shape, ElementsAre(2, 7, 10));
  EXPECT_EQ(linear.parameters, 650);
  EXPECT_EQ(linear.macs, 640.0 * 14);

  const ModuleFacts product = facts("MatMul", {}, {{5, 1, 3, 4}, {1, 2, 4, 6}});
  EXPECT_THAT(product.output_shape, ElementsAre(5, 2, 3, 6));
  EXPECT_EQ(product.parameters, 0);
  EXPECT_EQ(product.macs, 5.0 * 2 * 3 * 6 * 4);

  // Five queries and seven keys of a batch of two, by hand: projections of q, k, v, out, two
  // products.
  const ModuleFacts attention =
      facts("MultiheadAttention", {{"embed_dim", 8}, {"num_heads", 2}, {"kdim", 6}},
            {{5, 2, 8}, {7, 2, 6}, {7, 2, 8}});
  EXPECT_THAT(attention.output_shape, ElementsAre(5, 2, 8));
  EXPECT_EQ(attention.weights, 64 + 48 + 64 + 64);
  EXPECT_EQ(attention.parameters, 240 + 32);
  EXPECT_EQ(attention.macs, 2.0 * (5 * 64 + 7 * 48 + 7 * 64 + 5 * 64 + 2 * 5 * 7 * 8));
}

TEST(ModuleQuery, PoolingHasNoParameters) {
  const ModuleFacts pool = facts("AdaptiveAvgPool2d", {}, {{1, 16, 7, 7}});
  EXPECT_THAT(pool.output_shape, ElementsAre(1, 16, 1, 1));
  EXPECT_EQ(pool.parameters, 0);
  EXPECT_EQ(pool.macs, 0);
  EXPECT_EQ(pool.mobile_cv_flops, 16.0 * 49);
  EXPECT_THAT(facts("AvgPool2d", {{"kernel_size", 2}}, {{1, 3, 9, 8}}).output_shape,
              ElementsAre(1, 3, 4, 4));
  EXPECT_THAT(
      facts("MaxPool2d", {{"kernel_size", 3}, {"stride", 2}, {"ceil_mode", 1}}, {{1, 3, 8, 7}})
          .output_shape,
      ElementsAre(1, 3, 4, 3));
  // The last window may not begin in the padding behind the input.
  EXPECT_THAT(
      facts("MaxPool1d", {{"kernel_size", 2}, {"stride", 3}, {"padding", 1}, {"ceil_mode", 1}},
            {{1, 3, 5}})
          .output_shape,
      ElementsAre(1, 3, 2));
}

TEST(ModuleQuery, EqualLayersHaveOneKeyHoweverTheyAreSpelt) {
  const std::string text =
      "torch:Conv2d{dilation=[1,1],groups=1,kernel_size=[3,3],padding=[1,1],stride=[2,2]}(f32[1,3,"
      "224,224],f32c[32,3,3,"
      "3],f32c[32])->(f32[1,32,112,112])";
  EXPECT_EQ(key("Conv2d", kConvArgs, {{1, 3, 224, 224}}), text);
  EXPECT_EQ(key("Conv2d",
                {{"stride", Value::ints({2, 2})},
                 {"bias", 1},
                 {"padding", "same"},
                 {"kernel_size", 3},
                 {"out_channels", 32},
                 {"in_channels", 3}},
                {{1, 3, 224, 224}}),
            text);
  EXPECT_EQ(key("AvgPool1d", {{"kernel_size", 2}}, {{1, 3, 8}}),
            key("AvgPool1d", {{"kernel_size", 2}, {"stride", Value(Unknown{})}, {"ceil_mode", 0}},
                {{1, 3, 8}}));
  EXPECT_EQ(key("Linear", {{"in_features", 4}, {"out_features", 2}}, {{1, 4}}),
            "torch:Linear{}(f32[1,4],f32c[2,4],f32c[2])->(f32[1,2])");
  EXPECT_NE(key("MultiheadAttention", {{"embed_dim", 8}, {"num_heads", 2}},
                {{5, 2, 8}, {5, 2, 8}, {5, 2, 8}}),
            key("MultiheadAttention", {{"embed_dim", 8}, {"num_heads", 4}},
                {{5, 2, 8}, {5, 2, 8}, {5, 2, 8}}));
  const auto parsed = parse(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(print(*parsed), text);
}

TEST(ModuleQuery, TheOtherBiasIsTheSameLayerWithoutIt) {
  const auto query = canonical({"Linear", {{"in_features", 4}, {"out_features", 2}}, {{1, 4}}});
  ASSERT_TRUE(query);
  const auto other = with_other_bias(*query);
  ASSERT_TRUE(other);
  EXPECT_EQ(print(key_of(*other).value()), "torch:Linear{}(f32[1,4],f32c[2,4])->(f32[1,2])");
  EXPECT_EQ(with_other_bias(*other), *query);
  const auto pool = canonical({"AdaptiveAvgPool2d", {}, {{1, 16, 7, 7}}});
  ASSERT_TRUE(pool);
  EXPECT_FALSE(with_other_bias(*pool));
}

TEST(ModuleQuery, NamesWhatDoesNotFit) {
  EXPECT_THAT(error("Conv2D", kConvArgs, {{1, 3, 8, 8}}),
              HasSubstr("unknown operator 'Conv2D' (do you mean Conv2d?)"));
  EXPECT_THAT(error("Conv2d", {{"in_channels", 3}, {"out_channels", 4}}, {{1, 3, 8, 8}}),
              HasSubstr("lacks the argument 'kernel_size'"));
  EXPECT_THAT(error("Conv2d", {{"kernal_size", 3}}, {{1, 3, 8, 8}}),
              HasSubstr("no argument 'kernal_size'"));
  EXPECT_THAT(error("Conv2d", kConvArgs, {{1, 4, 8, 8}}),
              HasSubstr("'in_channels' is 3, but the input has 4"));
  EXPECT_THAT(error("Conv2d", kConvArgs, {{3, 8, 8}}), HasSubstr("2 more dimensions"));
  EXPECT_THAT(error("Conv2d", kConvArgs, {{1, 3, 8, 8}, {1}}), HasSubstr("has 1 inputs; found 2"));
  EXPECT_THAT(error("Conv2d", kConvArgs, {{1, 3, 0, 8}}), HasSubstr("0 is not a dimension"));
  EXPECT_THAT(error("AvgPool2d", {{"kernel_size", 9}}, {{1, 3, 8, 8}}),
              HasSubstr("window is larger"));
  EXPECT_THAT(error("AvgPool2d", {{"kernel_size", Value::ints({1, 2, 3})}}, {{1, 3, 8, 8}}),
              HasSubstr("holds 3 numbers"));
  EXPECT_THAT(error("AdaptiveAvgPool2d", {{"output_size", Value(Unknown{})}}, {{1, 3, 8, 8}}),
              HasSubstr("'output_size' is not an integer"));
  EXPECT_THAT(error("MatMul", {}, {{3, 4}, {5, 6}}), HasSubstr("4 columns, but 5 rows"));
  EXPECT_THAT(error("MultiheadAttention", {{"embed_dim", 8}, {"num_heads", 3}},
                    {{5, 2, 8}, {5, 2, 8}, {5, 2, 8}}),
              HasSubstr("not a multiple"));
}

TEST(ModuleQuery, RefusesWhatCannotBeCounted) {
  const std::int64_t most = std::int64_t{1} << 28;
  const Args huge = {{"in_channels", 1},
                     {"out_channels", most},
                     {"kernel_size", most},
                     {"stride", most},
                     {"padding", most}};
  EXPECT_THAT(error("Conv3d", huge, {{1, 1, 9, 9, 9}}), HasSubstr("overflows"));
  const Args wide = {
      {"in_channels", 1}, {"out_channels", most}, {"kernel_size", 1}, {"stride", most}};
  EXPECT_THAT(error("ConvTranspose3d", wide, {{1, 1, 1 << 30, 1 << 30, 1}}),
              HasSubstr("overflows"));
  EXPECT_THAT(error("Linear", {{"in_features", most + 1}, {"out_features", 1}}, {{1, most + 1}}),
              HasSubstr("expected a number from 1 to"));
}

}  // namespace
}  // namespace oplat::compat::mobile_vision
