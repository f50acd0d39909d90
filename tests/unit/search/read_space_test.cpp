// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spaces.hpp"

namespace oplat::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error(const std::string& yaml) {
  const auto space = test::try_space(yaml);
  if (space) return "no error";
  EXPECT_EQ(space.error().code, Code::Input);
  return space.error().message;
}
/// What is wrong with the small space after a change.
std::string changed(const std::string& what, const std::string& by) {
  return error(test::with(test::kSmallSpace, what, by));
}

TEST(ReadSpace, FillsInWhatTheFileLeavesOut) {
  const SearchSpace space = test::space_of(test::kSmallSpace);
  EXPECT_EQ(space.name, "small");
  EXPECT_EQ(space.family->name(), "caffe2-int8");
  EXPECT_EQ(space.batch, 1);
  EXPECT_EQ(space.channels, 3);
  EXPECT_THAT(space.resolutions, ElementsAre(8));
  ASSERT_EQ(space.layers.size(), 7U);
  EXPECT_FALSE(space.layers[1].searched);
  EXPECT_TRUE(space.layers[2].searched);
  EXPECT_THAT(space.layers[2].choices, ElementsAre(0, 1, 2));
  EXPECT_FALSE(space.blocks[0].shuffle);
  EXPECT_TRUE(space.blocks[1].shuffle);
  EXPECT_EQ(space.blocks[1].expansion, 1);
  EXPECT_EQ(space.blocks[space.layers[1].choices[0]].name, "stem");
}

TEST(ReadSpace, RepeatsALayerWithTheStrideOfTheFirst) {
  const SearchSpace space = test::space_of(test::with(test::kSmallSpace, "channels: 8, stride: 2",
                                                      "channels: [8, 12], stride: 2, repeat: 3"));
  ASSERT_EQ(space.layers.size(), 9U);
  EXPECT_EQ(space.layers[2].name, "one_1");
  EXPECT_EQ(space.layers[2].stride, 2);
  EXPECT_FALSE(space.layers[2].as_input);
  EXPECT_EQ(space.layers[4].name, "one_3");
  EXPECT_EQ(space.layers[4].stride, 1);
  EXPECT_TRUE(space.layers[4].as_input);
  EXPECT_THAT(space.layers[4].channels, ElementsAre(8, 12));
}

TEST(ReadSpace, NamesLineAndEntry) {
  EXPECT_THAT(changed("oplat.space/1", "oplat.space/2"),
              HasSubstr("s.yaml:1: 'format' is 'oplat.space/2'; expected oplat.space/1"));
  EXPECT_THAT(
      changed("family: caffe2-int8", "family: tflite"),
      HasSubstr("s.yaml:3: 'family' is 'tflite'; expected one of caffe2-int8, caffe2-fp32"));
  EXPECT_THAT(changed("resolutions: 8", "resolutions: []"),
              HasSubstr("s.yaml:4: 'resolutions' is an empty list"));
  EXPECT_THAT(changed("resolutions: 8", "resolutions: [8, 16, 8]"), HasSubstr("lists 8 twice"));
  EXPECT_THAT(changed("resolutions: 8", "resolutions: 20000"),
              HasSubstr("expected a number from 1 to 16384"));
  EXPECT_THAT(changed("resolutions: 8", "resolution: 8"),
              HasSubstr("a space has no 'resolution' (do you mean resolutions?)"));
  EXPECT_THAT(changed("expansion: 2", "expansion: two"),
              HasSubstr("s.yaml:6: 'expansion' of block wide (inverted_residual) is 'two'"));
  EXPECT_THAT(changed("expansion: 2", "expand: 2"),
              HasSubstr("block wide (inverted_residual) has no 'expand'"));
  EXPECT_THAT(changed("kernel: 5", "kernel: 4"), HasSubstr("expected an odd number"));
  EXPECT_THAT(changed("kind: skip", "kind: hop"),
              HasSubstr("s.yaml:8: 'kind' of block skip is 'hop'"));
  EXPECT_THAT(changed("kind: skip", "kind: skip, projection: maybe"),
              HasSubstr("expected true or false"));
  EXPECT_THAT(changed("expansion: 2", "shuffle: true"), HasSubstr("of a single group"));
  EXPECT_THAT(changed("skip: {", "fixed: {"), HasSubstr("'fixed' is the name of a column"));
  EXPECT_THAT(changed("  skip: {kind: skip}\n", "  \"a,b\": {kind: skip}\n"),
              HasSubstr("the name of a block is 'a,b'"));
  EXPECT_THAT(changed("choices: all, channels: 8", "choices: [wide, sikp], channels: 8"),
              HasSubstr("'sikp' is not a block of 'blocks' (do you mean skip?)"));
  EXPECT_THAT(changed("choices: all, channels: 8", "choices: [wide, wide], channels: 8"),
              HasSubstr("block wide is listed twice"));
  EXPECT_THAT(changed("choices: all, channels: 8", "channels: 8"), HasSubstr("neither 'choices'"));
  EXPECT_THAT(changed("choices: all, channels: 8", "choices: all, block: skip"),
              HasSubstr("both 'choices'"));
  EXPECT_THAT(changed("name: two", "name: one"), HasSubstr("layer one is defined twice"));
  EXPECT_THAT(changed("name: stem", "name: skip"), HasSubstr("block skip is defined twice"));
  EXPECT_THAT(changed("channels: 4, stride: 2", "channels: 4, stride: 0"),
              HasSubstr("'stride' of layer 2 is '0'"));
}

TEST(ReadSpace, RefusesWhatIsNoPlainYaml) {
  EXPECT_THAT(error(""), HasSubstr("s.yaml: is empty"));
  EXPECT_THAT(error("just words"), HasSubstr("a space is 'just words'; expected a map"));
  EXPECT_THAT(error("name: {a: 1"), HasSubstr("not YAML"));
  EXPECT_THAT(error("a: &x [1]\nb: *x\n"), HasSubstr("s.yaml:1: anchors (&name)"));
  EXPECT_THAT(error("a: !!binary QUJD\n"), HasSubstr("tags ("));
  EXPECT_THAT(error("a: 1\na: 2\n"), HasSubstr("s.yaml:2: 'a' is given twice"));
  EXPECT_THAT(error("a: 1\n---\nb: 2\n"), HasSubstr("a second document"));
  EXPECT_THAT(error("? [1, 2]\n: 3\n"), HasSubstr("the name of an entry is a list"));
  EXPECT_THAT(error(std::string("a: ") + std::string(3000, '[')),
              HasSubstr("nested deeper than 16 levels"));
  std::string many = "a: [0";
  for (int i = 0; i < 30'000; ++i) many += ",0";
  EXPECT_THAT(error(many + "]"), HasSubstr("more than 20000 entries"));
  EXPECT_THAT(error(std::string((2 << 20) + 1, '#')), HasSubstr("the limit is 2097152"));
  EXPECT_THAT(error(std::string("\0\1\2\xff\xfe: [\x80", 8)), HasSubstr("s.yaml"));
}

}  // namespace
}  // namespace oplat::search
