// SPDX-License-Identifier: Apache-2.0
/// Structures as convolutions under both rules. Expected lines are worked out by hand from the
/// classes' definitions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Lines = std::vector<std::string>;

Result<Structure> structure_of(const std::string& text) {
  return read_structure(base::Source::from_bytes("net.txt", text));
}

/// Tuples with blanks for tabs, one a line.
Lines lines_of(const std::string& text, std::int64_t resolution, Rules rules) {
  const auto structure = structure_of(text);
  EXPECT_TRUE(structure) << structure.error().message;
  if (!structure) return {};
  const auto convs = convolutions(*structure, resolution, rules);
  EXPECT_TRUE(convs) << convs.error().message;
  if (!convs) return {};
  Lines lines;
  for (const NamedConv& one : *convs) {
    lines.push_back(tuple_text(one.conv));
    std::replace(lines.back().begin(), lines.back().end(), '\t', ' ');
  }
  return lines;
}
Lines original(const std::string& text, std::int64_t resolution) {
  return lines_of(text, resolution, Rules::Original);
}
Lines corrected(const std::string& text, std::int64_t resolution) {
  return lines_of(text, resolution, Rules::Corrected);
}

std::string refused(const std::string& text, Rules rules, std::int64_t resolution = 32) {
  const auto structure = structure_of(text);
  if (!structure) return structure.error().message;
  const auto convs = convolutions(*structure, resolution, rules);
  EXPECT_FALSE(convs) << text;
  if (convs) return "";
  EXPECT_EQ(static_cast<int>(convs.error().code), static_cast<int>(Code::Input));
  return convs.error().message;
}

TEST(Rules, BottleneckProjectsEvenWhereChannelsAreEqual) {
  const std::string net = "[{'class':'SuperResK1KXK1','in':16,'out':16,'btn':8,'k':5,'s':2,'L':2}]";
  const Lines expected = {"Regular 1 0 1 1 16 32 8", "Regular 2 0 5 1 8 32 8",
                          "Regular 1 1 1 1 8 16 16", "Regular 1 0 1 1 16 16 16",
                          "Regular 1 0 1 1 16 16 8", "Regular 1 0 5 1 8 16 8",
                          "Regular 1 1 1 1 8 16 16"};
  EXPECT_EQ(original(net, 32), expected);
  EXPECT_EQ(corrected(net, 32), expected);  // the network holds that projection
}

TEST(Rules, TwoKernelBlocks) {
  const std::string kxkx = "[{'class':'SuperResKXKX','in':16,'out':32,'btn':24,'k':3,'s':2,'L':2}]";
  EXPECT_THAT(original(kxkx, 32),
              ElementsAre("Regular 1 0 3 1 16 32 24", "Regular 2 1 3 1 24 32 32",
                          "Regular 1 0 1 1 16 16 32", "Regular 1 0 3 1 32 16 24",
                          "Regular 1 1 3 1 24 16 32"));
  EXPECT_EQ(corrected(kxkx, 32), original(kxkx, 32));
  const std::string k1kx = "[{'class':'SuperResK1KX','in':16,'out':16,'btn':8,'k':3,'s':2,'L':1}]";
  EXPECT_THAT(original(k1kx, 32), ElementsAre("Regular 1 0 1 1 16 32 8",
                                              "Regular 2 1 3 1 8 32 16"));  // pooled, not projected
  EXPECT_EQ(corrected(k1kx, 32), original(k1kx, 32));
}

TEST(Rules, SizesAreDividedByTheOriginalAndKeptInTruth) {
  const std::string net =
      "[{'class':'ConvKXBNRELU','in':3,'out':8,'k':3,'s':2},{'class':'ConvKXBN','in':8,'out':8,'k':"
      "3,'s':2},"
      "{'class':'ConvKXBN','in':8,'out':8,'k':1}]";
  EXPECT_THAT(original(net, 15), ElementsAre("Regular 2 0 3 1 3 15 8", "Regular 2 0 3 1 8 7 8",
                                             "Regular 1 0 1 1 8 3 8"));
  EXPECT_THAT(corrected(net, 15), ElementsAre("Regular 2 0 3 1 3 15 8", "Regular 2 0 3 1 8 8 8",
                                              "Regular 1 0 1 1 8 4 8"));
}

TEST(Rules, DepthwiseBlocks) {
  const std::string same =
      "[{'class':'SuperQuantResK1DWK1','in':16,'out':16,'btn':48,'k':3,'s':2,'L':1}]";
  const Lines expected = {"Regular 1 0 1 1 16 32 48", "Depthwise 2 0 3 1 48 32 48",
                          "Regular 1 1 1 1 48 16 16"};
  EXPECT_EQ(original(same, 32), expected);
  EXPECT_EQ(corrected(same, 32), expected);
  const std::string wider =
      "[{'class':'ConvKXBNRELU','in':3,'out':16,'k':3},{'class':'SuperResK1DWK1','in':16,'out':24,'"
      "btn':48,'k':3,'s':2,'L':2}]";
  EXPECT_THAT(refused(wider, Rules::Original),
              HasSubstr("block 1 (SuperResK1DWK1): the original raises AttributeError"));
  // No shortcut in the first, so nothing is fused and nothing projected.
  EXPECT_THAT(corrected(wider, 32),
              ElementsAre("Regular 1 0 3 1 3 32 16", "Regular 1 0 1 1 16 32 48",
                          "Depthwise 2 0 3 1 48 32 48", "Regular 1 0 1 1 48 16 24",
                          "Regular 1 0 1 1 24 16 48", "Depthwise 1 0 3 1 48 16 48",
                          "Regular 1 1 1 1 48 16 24"));
}

TEST(Rules, SqueezeAndExcitation) {
  // 40 channels: round(10) // 8 * 8 = 8 between the two.
  const std::string net =
      "[{'class':'SuperResK1DWSEK1','in':16,'out':16,'btn':40,'k':3,'s':1,'L':1},"
      "{'class':'ConvKXBNRELU','in':16,'out':8,'k':3,'s':2},{'class':'ConvKXBNRELU','in':8,'out':8,"
      "'k':1}]";
  EXPECT_THAT(
      original(net, 32),
      ElementsAre("Regular 1 0 1 1 16 32 40", "Depthwise 1 0 3 1 40 32 40",
                  "Regular 1 0 1 1 40 32 8", "Regular 1 0 1 1 8 32 40", "Regular 1 1 1 1 40 1 16",
                  "Regular 2 0 3 1 16 1 8", "Regular 1 0 1 1 8 0 8"));
  EXPECT_THAT(
      corrected(net, 32),
      ElementsAre("Regular 1 0 1 1 16 32 40", "Depthwise 1 0 3 1 40 32 40",
                  "Regular 1 0 1 1 40 1 8", "Regular 1 0 1 1 8 1 40", "Regular 1 1 1 1 40 32 16",
                  "Regular 2 0 3 1 16 32 8", "Regular 1 0 1 1 8 16 8"));
}

TEST(Rules, SqueezeWidthRoundsAsPythonDoes) {
  // 0.25 * 62 = 15.5 -> 16 -> 16; 0.25 * 66 = 16.5 -> 16; 0.25 * 94 = 23.5 -> 24; 0.25 * 2 = 0.5 ->
  // 0 -> 8.
  const std::pair<int, const char*> cases[] = {{62, " 16"}, {66, " 16"}, {94, " 24"},
                                               {2, " 8"},   {61, " 8"},  {63, " 16"}};
  for (const auto& [btn, width] : cases) {
    const Lines lines = corrected(
        fmt::format("[{{'class':'SuperResK1DWSEK1','in':16,'out':16,'btn':{},'k':3,'L':1}}]", btn),
        32);
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[2], fmt::format("Regular 1 0 1 1 {} 1{}", btn, width));
  }
}

TEST(Rules, ForcedProjectionIsAKeyOfInnerBlocksOnly) {
  const std::string inner =
      "[{'class':'ResK1KX','in':16,'out':16,'btn':8,'k':3,'s':2,'force_resproj':True}]";
  EXPECT_THAT(original(inner, 32), ElementsAre("Regular 1 0 1 1 16 32 8", "Regular 2 1 3 1 8 32 16",
                                               "Regular 1 0 1 1 16 16 16"));
  const std::string outer =
      "[{'class':'SuperResK1KX','in':16,'out':16,'btn':8,'k':3,'s':2,'L':1,'force_resproj':True,'"
      "inner_class':'ResK1KXK1'}]";
  EXPECT_EQ(original(outer, 32).size(), 2U);
  const std::string depthwise =
      "[{'class':'ResK1DWK1','in':16,'out':24,'btn':8,'k':3,'force_resproj':1}]";
  EXPECT_THAT(original(depthwise, 32),
              ElementsAre("Regular 1 0 1 1 16 32 8", "Depthwise 1 0 3 1 8 32 8",
                          "Regular 1 1 1 1 8 32 24", "Regular 1 0 1 1 16 32 24"));
}

TEST(Rules, Groups) {
  const std::string grouped = "[{'class':'ConvKXBN','in':16,'out':32,'k':3,'g':4}]";
  EXPECT_THAT(
      refused(grouped, Rules::Original),
      HasSubstr("ValueError: Conv or DepthWise are supported in predictor, not Group Conv."));
  EXPECT_THAT(corrected(grouped, 32), ElementsAre("Regular 1 0 3 1 16 32 32 group=4"));
  const std::string depthwise = "[{'class':'ConvKXBN','in':32,'out':32,'k':3,'g':32}]";
  EXPECT_THAT(original(depthwise, 32), ElementsAre("Depthwise 1 0 3 1 32 32 32"));
  EXPECT_EQ(corrected(depthwise, 32), original(depthwise, 32));
  // As many groups as results, but two operands each: depthwise by the original's name only.
  const std::string half = "[{'class':'ConvKXBN','in':64,'out':32,'k':3,'g':32}]";
  EXPECT_THAT(original(half, 32), ElementsAre("Depthwise 1 0 3 1 64 32 32"));
  EXPECT_THAT(corrected(half, 32), ElementsAre("Regular 1 0 3 1 64 32 32 group=32"));
  EXPECT_THAT(refused("[{'class':'ConvKXBN','in':10,'out':32,'k':3,'g':4}]", Rules::Corrected),
              HasSubstr("4 groups"));
  // One group of one channel is an ordinary convolution.
  EXPECT_EQ(original("[{'class':'SuperResK1DWK1','in':16,'out':16,'btn':1,'k':3,'L':1}]", 32)[1],
            "Regular 1 0 3 1 1 32 1");
}

TEST(Rules, ThreeDimensionalBlocks) {
  const std::string net =
      "[{'class':'Conv3DKXBNRELU','in':3,'out':24,'s':2,'kt':1,'k':3},"
      "{'class':'SuperRes3DK1DWK1','in':24,'out':24,'s':2,'kt':3,'k':5,'L':1,'btn':48}]";
  EXPECT_THAT(original(net, 32),
              ElementsAre("Regular 2 0 3 1 3 32 24", "Regular 1 0 1 1 24 16 48",
                          "Depthwise 2 0 5 1 48 16 48", "Regular 1 1 1 1 48 8 24"));
  EXPECT_THAT(refused(net, Rules::Corrected), HasSubstr("block 0 (Conv3DKXBNRELU): a 3-D block"));
  EXPECT_THAT(refused("[{'class':'Conv3DKXBN','in':3,'out':24,'k':3}]", Rules::Original),
              HasSubstr("the key 'kt' is missing"));
  EXPECT_THAT(refused("[{'class':'ConvKXBN','in':3,'out':24,'k':3},{'class':'Conv3DKXBN','in':24,'"
                      "out':24,'k':3,'kt':1}]",
                      Rules::Original),
              HasSubstr("2-D and 3-D"));
}

TEST(Rules, PaddingDecidesTheTrueSize) {
  const std::string net =
      "[{'class':'ConvKXBN','in':3,'out':8,'k':3,'p':0},{'class':'ConvKXBN','in':8,'out':8,'k':1}]";
  EXPECT_EQ(corrected(net, 32)[1], "Regular 1 0 1 1 8 30 8");
  EXPECT_EQ(original(net, 32)[1], "Regular 1 0 1 1 8 32 8");
  EXPECT_THAT(
      refused("[{'class':'SuperResK1KX','in':16,'out':16,'btn':8,'k':4,'L':1}]", Rules::Corrected),
      HasSubstr("the sizes 31x31 and 32x32"));
  EXPECT_THAT(refused("[{'class':'ConvKXBN','in':3,'out':8,'k':9,'p':0}]", Rules::Corrected, 8),
              HasSubstr("a 9x9 kernel does not fit 8x8"));
  std::string growing = "[";
  for (int i = 0; i < 60; ++i) growing += "{'class':'ConvKXBN','in':3,'out':3,'k':1,'p':10000},";
  EXPECT_THAT(refused(growing + "]", Rules::Corrected),
              HasSubstr("block 49 (ConvKXBN): conv: the result of 1000032x1000032"));
}

TEST(Rules, WhatTheOriginalRaisesElsewhere) {
  EXPECT_THAT(
      refused("[{'class':'ConvKXBNRELU','in':3,'out':8,'k':3,'act':'silu'}]", Rules::Original),
      HasSubstr("Unsupported act type: silu"));
  const std::string block =
      "[{'class':'SuperResK1KX','in':16,'out':16,'btn':8,'k':3,'L':2,'nbitsA':%,'nbitsW':%}]";
  const auto with = [&](const std::string& bits) {
    std::string text = block;
    for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%'))
      text.replace(at, 1, bits);
    return text;
  };
  EXPECT_EQ(original(with("[8,8,8,8]"), 32).size(), 4U);
  EXPECT_THAT(refused(with("[8,8]"), Rules::Original), HasSubstr("nbitsA/W must have 2 elements"));
  EXPECT_THAT(refused(with("8"), Rules::Original), HasSubstr("TypeError"));
  EXPECT_EQ(corrected(with("8"), 32).size(), 4U);
}

TEST(Rules, NetworksThatCannotRun) {
  EXPECT_THAT(
      refused(
          "[{'class':'ConvKXBN','in':3,'out':8,'k':3},{'class':'ConvKXBN','in':16,'out':8,'k':3}]",
          Rules::Corrected),
      HasSubstr("block 1 (ConvKXBN): it takes 16 channels, but the block before it has 8 output "
                "channels"));
}

TEST(Rules, ErrorsNameTheLineOfTheBlock) {
  const std::string first = "# a net\n[{'class':'ConvKXBN','in':3,'out':8,\n 'k':3},\n\n ";
  EXPECT_THAT(refused(first + "{'class':'ConvKXBN','in':16,'out':8,'k':3}]", Rules::Corrected),
              StartsWith("net.txt:5: block 1 (ConvKXBN): it takes"));
  EXPECT_THAT(refused(first + "{'class':'ConvKXBN','in':8,'out':16,'k':3,'g':4}]", Rules::Original),
              StartsWith("net.txt:5: block 1 (ConvKXBN): the original raises ValueError"));
  EXPECT_THAT(
      refused(first + "{'class':'Conv3DKXBN','in':8,'out':8,'k':3,'kt':1}]", Rules::Original),
      StartsWith("net.txt:5: block 1 (Conv3DKXBN): the structure mixes 2-D and 3-D"));
}

TEST(Structure, BadBlocksAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"[{'class':'SuperResK1KXX','in':16}]",
       "block 0: unknown class 'SuperResK1KXX' (do you mean"},
      {"[{'class':'ConvKXBN','in':3,'out':8,'k':3},\n {'in':3}]",
       "net.txt:2:2: block 1: the key 'class' is missing"},
      {"[{'class':'ConvKXBN','out':8,'k':3}]", "the key 'in' is missing"},
      {"[{'class':'SuperResK1KX','in':3,'out':8,'k':3,'btn':4}]", "the key 'L' is missing"},
      {"[{'class':'SuperResK1KX','in':3,'out':8,'k':3,'L':4}]", "the key 'btn' is missing"},
      {"[{'class':'ConvKXBN','in':'3','out':8,'k':3}]", "'in' is the string '3'"},
      {"[{'class':'ConvKXBN','in':0,'out':8,'k':3}]", "'in' is 0; expected an integer from 1"},
      {"[{'class':'ConvKXBN','in':-3,'out':8,'k':3}]", "'in' is -3"},
      {"[{'class':'ConvKXBN','in':3,'out':8.5,'k':3}]", "'out' is 8.5"},
      {"[{'class':'SuperResK1KX','in':3,'out':8,'k':3,'btn':4,'L':1,'s':3}]",
       "'s' is 3; expected an integer from 1 to 2"},
      {"[{'class':'ConvKXBNRELU','in':3,'out':8,'k':3,'act':'gelu'}]", "unknown activation 'gelu'"},
      {"[{'class':7}]", "'class' is 7"},
      {"[{'class':'ConvKXBN','in':3,'out':8,b'k':3}]",
       "net.txt:1:37: found b', which begins a byte string"},
      {"[{'class':b'ConvKXBN','in':3,'out':8,'k':3}]",
       "net.txt:1:11: found b', which begins a byte string"},
      {"[7]", "block 0: 7; expected a dictionary"},
      {"[]", "at least one block"},
      {"7", "expected a list of blocks"},
      {"{'space_arch': 'CnnNet'}", "'best_structures'"},
      {"{'best_structures': []}", "a list of structures"},
      {"[os.system('x')]", "net.txt:1:2: found the name 'os', which is code"}};
  for (const auto& [text, why] : cases) {
    const auto structure = structure_of(text);
    ASSERT_FALSE(structure) << text;
    EXPECT_EQ(static_cast<int>(structure.error().code), static_cast<int>(Code::Input));
    EXPECT_THAT(structure.error().message, HasSubstr(why));
  }
  std::string many = "[";
  for (int i = 0; i < 6; ++i)
    many += "{'class':'SuperResK1KX','in':8,'out':8,'k':3,'btn':4,'L':10000},";
  EXPECT_THAT(structure_of(many + "]").error().message, HasSubstr("more than 50000 inner blocks"));
}

TEST(Structure, TheFirstOfSeveralCounts) {
  const auto structure = structure_of(
      "{'best_structures': [[{'class':'ConvKXBN','in':3,'out':8,'k':3}], []], 'space_arch': "
      "'CnnNet'}");
  ASSERT_TRUE(structure);
  EXPECT_EQ(structure->blocks.size(), 1U);
}

TEST(Rules, OriginalEqualsTheOriginalOnItsOwnStructures) {
  const std::filesystem::path folder = std::filesystem::path(OPLAT_SHARED_DIR) / "data/tinynas";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder << " here";
  for (const char* name : {"R18-like", "R50", "deepmad-R18", "maedet_s"}) {
    const auto source = base::Source::open(folder / "structures" / (std::string(name) + ".txt"));
    ASSERT_TRUE(source);
    const auto structure = read_structure(*source);
    ASSERT_TRUE(structure) << structure.error().message;
    const auto convs = convolutions(*structure, 224, Rules::Original);
    ASSERT_TRUE(convs) << convs.error().message;
    std::string text;
    for (const NamedConv& one : *convs) text += tuple_text(one.conv) + "\n";
    const auto golden = base::read_file(folder / "convs_224" / (std::string(name) + ".tsv"));
    ASSERT_TRUE(golden);
    EXPECT_EQ(text, *golden) << name;
  }
}

}  // namespace
}  // namespace oplat::compat::tinynas
