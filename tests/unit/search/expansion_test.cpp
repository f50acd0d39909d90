// SPDX-License-Identifier: Apache-2.0
#include "search/expansion.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "compat/mobile_vision/families.hpp"
#include "ir/key.hpp"
#include "spaces.hpp"

namespace oplat::search {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Expansion expanded(const SearchSpace& space, std::int64_t resolution) {
  auto made = expand(space, resolution);
  if (!made) throw std::runtime_error(made.error().message);
  return std::move(*made);
}
std::string expansion_error(const std::string& yaml, std::int64_t resolution = 8) {
  const auto made = expand(test::space_of(yaml), resolution);
  return made ? "no expansion_error" : made.error().message;
}

std::string dims(const ir::TensorEntry* entry) {
  std::vector<std::int64_t> numbers;
  for (const ir::Dim& dim : entry->shape.dims) numbers.push_back(dim.value_or(-1));
  return fmt::format("{}", fmt::join(numbers, "x"));
}
/// "Int8Conv 8x5x5x1 -> 1x4x4x8": operator, weights, result.
std::string brief(const std::string& text) {
  const ir::Key key = ir::parse(text).value();
  const ir::TensorEntry* weights = key.operand(1);
  return key.op + (weights != nullptr && weights->constant ? " " + dims(weights) : "") + " -> " +
         dims(key.result(0));
}
std::vector<std::string> cell(const Expansion& expansion, std::size_t layer, std::size_t at) {
  std::vector<std::string> kernels;
  for (const std::size_t kernel : expansion.layers[layer].cells.at(at).kernels)
    kernels.push_back(brief(expansion.keys[kernel]));
  return kernels;
}

TEST(Expansion, KeysAreThoseOfCaffe2Queries) {
  const Expansion small = expanded(test::space_of(test::kSmallSpace), 8);
  EXPECT_EQ(small.keys[small.layers[1].cells[0].kernels[0]],
            "caffe2:Int8ConvRelu{dilations=[1,1],group=1,kernels=[3,3],order=NHWC,pads=[1,1,1,1],"
            "strides=[2,2]}(u8[1,8,"
            "8,3],u8c[4,3,3,3],i32c[4])->(u8[1,4,4,4])");
}

TEST(Expansion, BlocksAreTheirKernelsInOrder) {
  const Expansion small = expanded(test::space_of(test::kSmallSpace), 8);
  ASSERT_THAT(small.layers, SizeIs(7));
  EXPECT_THAT(cell(small, 0, 0), ElementsAre("NCHW2NHWC -> 1x8x8x3", "Int8Quantize -> 1x8x8x3"));
  // At stride 2 there is no sum, and skipping is not a choice.
  ASSERT_THAT(small.layers[2].cells, SizeIs(2));
  EXPECT_THAT(cell(small, 2, 0),
              ElementsAre("Int8ConvRelu 8x1x1x4 -> 1x4x4x8", "Int8Conv 8x3x3x1 -> 1x2x2x8",
                          "Int8Conv 8x1x1x8 -> 1x2x2x8"));
  EXPECT_THAT(cell(small, 2, 1),
              ElementsAre("Int8ConvRelu 4x1x1x2 -> 1x4x4x4", "Int8ChannelShuffle -> 1x4x4x4",
                          "Int8ConvRelu 4x5x5x1 -> 1x2x2x4", "Int8Conv 8x1x1x2 -> 1x2x2x8"));
  ASSERT_THAT(small.layers[3].cells, SizeIs(3));
  EXPECT_THAT(cell(small, 3, 0),
              ElementsAre("Int8ConvRelu 16x1x1x8 -> 1x2x2x16", "Int8Conv 16x3x3x1 -> 1x2x2x16",
                          "Int8Conv 8x1x1x16 -> 1x2x2x8", "Int8Sum -> 1x2x2x8"));
  EXPECT_THAT(cell(small, 3, 2), IsEmpty());
  EXPECT_THAT(cell(small, 4, 0), ElementsAre("Int8AveragePool -> 1x1x1x8"));
  EXPECT_THAT(cell(small, 5, 0), ElementsAre("Int8FC 10x8 -> 1x10"));
  EXPECT_THAT(cell(small, 6, 0), ElementsAre("Int8Softmax -> 1x10", "Int8Dequantize -> 1x10"));
}

TEST(Expansion, TheOtherFamilyComputesInFloatsWithReluByItself) {
  const Expansion small =
      expanded(test::space_of(test::with(test::kSmallSpace, "caffe2-int8", "caffe2-fp32")), 8);
  EXPECT_THAT(cell(small, 0, 0), IsEmpty());
  EXPECT_THAT(cell(small, 1, 0), ElementsAre("Conv 4x3x3x3 -> 1x4x4x4", "Relu -> 1x4x4x4"));
  EXPECT_THAT(cell(small, 3, 0), ElementsAre("Conv 16x8x1x1 -> 1x16x2x2", "Relu -> 1x16x2x2",
                                             "Conv 16x1x3x3 -> 1x16x2x2",
                                             "Conv 8x16x1x1 -> 1x8x2x2", "Sum -> 1x8x2x2"));
  EXPECT_THAT(cell(small, 4, 0), ElementsAre("AveragePool -> 1x8x1x1"));
  EXPECT_THAT(cell(small, 5, 0), ElementsAre("FC 10x8 -> 1x10"));
  EXPECT_THAT(cell(small, 6, 0), ElementsAre("Softmax -> 1x10"));
}

TEST(Expansion, ResolutionAndBatchFlowThrough) {
  SearchSpace space = test::space_of(test::kSmallSpace);
  space.batch = 3;
  const Expansion odd = expanded(space, 21);
  EXPECT_THAT(cell(odd, 2, 0),
              ElementsAre("Int8ConvRelu 8x1x1x4 -> 3x11x11x8", "Int8Conv 8x3x3x1 -> 3x6x6x8",
                          "Int8Conv 8x1x1x8 -> 3x6x6x8"));
  EXPECT_EQ(odd.layers[4].size, 6);
  EXPECT_THAT(cell(odd, 4, 0), ElementsAre("Int8AveragePool -> 3x1x1x8"));
}

TEST(Expansion, ProjectionsSkipWhereNothingCannot) {
  const Expansion small = expanded(test::space_of(test::with(test::kSmallSpace, "{kind: skip}",
                                                             "{kind: skip, projection: true}")),
                                   8);
  ASSERT_THAT(small.layers[2].cells, SizeIs(3));
  EXPECT_THAT(cell(small, 2, 2), ElementsAre("Int8ConvRelu 8x1x1x4 -> 1x2x2x8"));
  EXPECT_THAT(cell(small, 3, 2), IsEmpty());
}

TEST(Expansion, ChoicesOfChannelsArePairsWhereAStageBegins) {
  const std::string yaml =
      test::with(test::kSmallSpace, "choices: all, channels: 8, stride: 2",
                 "choices: [wide, skip], channels: [4, 6, 8], stride: 1, repeat: 2");
  const Expansion many = expanded(test::space_of(yaml), 8);
  const ExpandedLayer& first = many.layers[2];
  EXPECT_THAT(first.in_channels, ElementsAre(4));
  EXPECT_THAT(first.out_channels, ElementsAre(4, 6, 8));
  ASSERT_THAT(first.cells, SizeIs(3 + 1)) << "skipping keeps 4 channels only";
  EXPECT_EQ(first.cells[3].choice, 1U);
  EXPECT_EQ(first.cells[3].out, 0U);
  EXPECT_THAT(cell(many, 2, 1),
              ElementsAre("Int8ConvRelu 8x1x1x4 -> 1x4x4x8", "Int8Conv 8x3x3x1 -> 1x4x4x8",
                          "Int8Conv 6x1x1x8 -> 1x4x4x6"));
  // The stage's second layer has the channels of its first.
  const ExpandedLayer& second = many.layers[3];
  EXPECT_THAT(second.in_channels, ElementsAre(4, 6, 8));
  ASSERT_THAT(second.cells, SizeIs(6));
  for (const Cell& one : second.cells) EXPECT_EQ(one.in, one.out);
  // ... and so has a layer that says nothing of channels; the classes do not depend on them.
  EXPECT_THAT(many.layers[4].cells, SizeIs(3 + 3 + 3));
  EXPECT_THAT(many.layers[6].cells, SizeIs(3));
  EXPECT_THAT(many.layers[7].cells, SizeIs(1));
}

TEST(Expansion, KeysAreDistinctOverResolutions) {
  const SearchSpace space = test::space_of(test::kSmallSpace);
  const std::vector<std::int64_t> both = {8, 16};
  const auto keys = keys_of(space, both);
  ASSERT_TRUE(keys);
  EXPECT_EQ(std::set<std::string>(keys->begin(), keys->end()).size(), keys->size());
  // Nothing after the pool depends on the resolution: FC, softmax and dequantise stand there once.
  EXPECT_EQ(keys->size(), expanded(space, 8).keys.size() + expanded(space, 16).keys.size() - 3);
}

TEST(Expansion, EveryKeyIsAQueryAgain) {
  for (const char* family : {"caffe2-int8", "caffe2-fp32"}) {
    for (const std::string& key :
         expanded(test::space_of(test::with(test::kSmallSpace, "caffe2-int8", family)), 8).keys) {
      const auto query = compat::mobile_vision::query_of(key);
      ASSERT_TRUE(query) << key;
      EXPECT_EQ(ir::print(formats::caffe2::key_of(*query).value()), key);
    }
  }
}

TEST(Expansion, NamesLayerAndBlockThatDoNotFit) {
  EXPECT_THAT(expansion_error(test::with(test::kSmallSpace, "channels: 8, stride: 2",
                                         "channels: 7, stride: 2")),
              HasSubstr("s.yaml: layer one, block grouped at resolution 8: 7 channels are not a "
                        "multiple of 2 groups"));
  EXPECT_THAT(expansion_error(test::with(test::kSmallSpace, "kind: average_pool",
                                         "kind: average_pool, kernel: 3")),
              HasSubstr("a window of 3x3 does not fit a map of 2x2"));
  EXPECT_THAT(
      expansion_error(test::with(test::kSmallSpace, "{name: softmax, block: {kind: output}}",
                                 "{name: late, block: {kind: conv}}")),
      HasSubstr("which has no feature map"));
  EXPECT_THAT(
      expansion_error(test::with(test::kSmallSpace, "kind: output}", "kind: output}, stride: 2")),
      HasSubstr("omit 'stride'"));
  EXPECT_THAT(expansion_error(test::with(test::kSmallSpace, "kind: average_pool}",
                                         "kind: average_pool}, channels: 9")),
              HasSubstr("omit 'channels'"));
  EXPECT_THAT(expansion_error(test::with(test::kSmallSpace, "choices: all, channels: 8",
                                         "choices: [skip], channels: 8")),
              HasSubstr("none of its choices supports"));
}

TEST(Expansion, IsBounded) {
  std::string options = "[1";
  for (int i = 2; i <= 32; ++i) options += fmt::format(", {}", i);
  std::string yaml = test::with(
      test::kSmallSpace,
      "  grouped: {kind: inverted_residual, kernel: 5, group: 2, depthwise_relu: true}\n", "");
  for (int i = 0; i < 100; ++i)
    yaml = test::with(
        yaml, "  - {name: pool",
        fmt::format("  - {{name: l{}, choices: [wide], channels: {}]}}\n  - {{name: pool", i,
                    options));
  EXPECT_THAT(expansion_error(yaml), HasSubstr("the limit is 100000"));
}

SearchSpace shipped(const std::string& name) {
  const auto source = base::Source::open(std::string(OPLAT_SPACES) + "/" + name);
  if (!source) throw std::runtime_error(source.error().message);
  const auto space = read_space(*source, compat::block_families());
  if (!space) throw std::runtime_error(space.error().message);
  return *space;
}

TEST(ShippedSpaces, FbnetHas22LayersOfNineBlocks) {
  const Expansion fbnet = expanded(shipped("fbnet.yaml"), 224);
  const SearchSpace space = shipped("fbnet.yaml");
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < space.layers.size(); ++i) {
    if (space.layers[i].searched) sizes.push_back(fbnet.layers[i].cells.size());
  }
  EXPECT_THAT(sizes, SizeIs(22));
  EXPECT_THAT(sizes, Each(9U));
  EXPECT_EQ(fbnet.layers[space.layers.size() - 4].size, 7);
  EXPECT_THAT(cell(fbnet, space.layers.size() - 4, 0),
              ElementsAre("Int8ConvRelu 1504x1x1x352 -> 1x7x7x1504"));
}

TEST(ShippedSpaces, ChamnetChoosesChannelsToo) {
  const SearchSpace space = shipped("chamnet.yaml");
  EXPECT_THAT(space.resolutions, ElementsAre(160, 192, 224));
  const Expansion chamnet = expanded(space, 160);
  EXPECT_EQ(chamnet.layers.back().cells.size(), 1U);
  EXPECT_EQ(chamnet.layers[chamnet.layers.size() - 4].size, 5);
}

}  // namespace
}  // namespace oplat::search
