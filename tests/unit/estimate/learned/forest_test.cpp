// SPDX-License-Identifier: Apache-2.0
/// Forests: what they answer, that they come back as they were, and that no bytes make them
/// misbehave.
#include "estimate/learned/forest.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/random.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::estimate {
namespace {

using test::must;

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();

TrainedTree::Node leaf(float value) { return {-1, -1, 0, value, false}; }
TrainedTree::Node split(std::int32_t left, std::int32_t right, std::uint32_t feature, float at,
                        bool missing_left = false) {
  return {left, right, feature, at, missing_left};
}

/// Below 2 in feature 0: 1, else by feature 1 at 5: 10 or 20; what is missing goes left, then
/// right.
TrainedTree small_tree() {
  return {{split(1, 2, 0, 2, true), leaf(1), split(3, 4, 1, 5), leaf(10), leaf(20)}};
}

TrainedTree random_tree(base::Random& random, std::size_t features, int splits) {
  TrainedTree tree{{leaf(static_cast<float>(random.normal()))}};
  for (int i = 0; i < splits; ++i) {
    std::size_t at = random.below(tree.nodes.size());
    while (tree.nodes[at].left >= 0) at = random.below(tree.nodes.size());
    const auto left = static_cast<std::int32_t>(tree.nodes.size());
    tree.nodes[at] = split(left, left + 1, static_cast<std::uint32_t>(random.below(features)),
                           static_cast<float>(random.normal()), random.below(2) == 0);
    tree.nodes.push_back(leaf(static_cast<float>(random.normal())));
    tree.nodes.push_back(leaf(static_cast<float>(random.normal())));
  }
  return tree;
}

std::vector<float> random_features(base::Random& random, std::size_t count) {
  std::vector<float> features;
  for (std::size_t i = 0; i < count; ++i)
    features.push_back(random.below(5) == 0 ? kNoNumber : static_cast<float>(random.normal()));
  return features;
}

/// The tree walked as training means it.
float walk(const TrainedTree& tree, const std::vector<float>& features) {
  std::size_t at = 0;
  while (tree.nodes[at].left >= 0) {
    const TrainedTree::Node& node = tree.nodes[at];
    const float x = features[node.feature];
    const bool left = std::isnan(x) ? node.missing_left : x < node.value;
    at = static_cast<std::size_t>(left ? node.left : node.right);
  }
  return tree.nodes[at].value;
}

TEST(ForestTest, SumsLeavesAndSendsMissingFeaturesWhereTrainingDid) {
  const std::vector<TrainedTree> trees{small_tree(), {{leaf(0.5F)}}};
  const Forest forest = must(Forest::make(trees, 100, 2));
  EXPECT_FLOAT_EQ(forest.value(std::vector<float>{1, 0}), 101.5F);
  EXPECT_FLOAT_EQ(forest.value(std::vector<float>{2, 4}), 110.5F) << "a threshold goes right";
  EXPECT_FLOAT_EQ(forest.value(std::vector<float>{3, 5}), 120.5F);
  EXPECT_FLOAT_EQ(forest.value(std::vector<float>{kNoNumber, 5}), 101.5F);
  EXPECT_FLOAT_EQ(forest.value(std::vector<float>{3, kNoNumber}), 120.5F);
  EXPECT_FLOAT_EQ(must(Forest::make({}, 3, 0)).value({}), 3.0F);
}

TEST(ForestTest, AnswersAsTheTreesDoBeforeAndAfterItIsStored) {
  base::Random random(7);
  constexpr std::size_t kFeatures = 9;
  std::vector<TrainedTree> trees;
  for (int i = 0; i < 20; ++i) trees.push_back(random_tree(random, kFeatures, i));
  const Forest forest = must(Forest::make(trees, -0.25F, kFeatures));
  const std::string bytes = forest.save();
  const Forest again = must(Forest::load(bytes));
  EXPECT_EQ(again.trees(), 20U);
  EXPECT_EQ(again.features(), kFeatures);
  EXPECT_EQ(again.save(), bytes);
  for (int i = 0; i < 200; ++i) {
    const std::vector<float> features = random_features(random, kFeatures);
    double sum = -0.25;
    for (const TrainedTree& tree : trees) sum += walk(tree, features);
    EXPECT_FLOAT_EQ(forest.value(features), static_cast<float>(sum));
    EXPECT_EQ(again.value(features), forest.value(features));
  }
}

TEST(ForestTest, RefusesTreesThatAreNone) {
  const auto code = [](const TrainedTree& tree, std::size_t features = 2) {
    const auto made = Forest::make({&tree, 1}, 0, features);
    return made ? std::optional<Code>() : std::optional(made.error().code);
  };
  EXPECT_EQ(code(small_tree()), std::nullopt);
  EXPECT_EQ(code({{}}), Code::Input);
  EXPECT_EQ(code({{split(1, 5, 0, 0), leaf(1), leaf(2)}}), Code::Input)
      << "a child that is not there";
  EXPECT_EQ(code({{split(1, -1, 0, 0), leaf(1), leaf(2)}}), Code::Input) << "one child";
  EXPECT_EQ(code({{split(0, 1, 0, 0), leaf(1)}}), Code::Input) << "a root below itself";
  EXPECT_EQ(code({{split(1, 1, 0, 0), leaf(1)}}), Code::Input) << "one child twice";
  EXPECT_EQ(code({{split(1, 2, 2, 0), leaf(1), leaf(2)}}), Code::Input)
      << "a feature that is not there";
  EXPECT_EQ(code({{leaf(kNoNumber)}}), Code::Input);
  EXPECT_EQ(code({{leaf(1)}}, 1 << 20), Code::Input) << "more features than a node can name";
}

TEST(ForestTest, BytesThatAreCutOffOrLongerAreRefused) {
  const std::vector<TrainedTree> trees{small_tree(), small_tree()};
  const std::string bytes = must(Forest::make(trees, 1, 2)).save();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Forest::load(bytes.substr(0, size))) << size;
  EXPECT_FALSE(Forest::load(bytes + '\0'));
}

TEST(ForestTest, NoDamagedByteMakesAWalkEndlessOrLeaveTheForest) {
  base::Random random(3);
  std::vector<TrainedTree> trees;
  for (int i = 0; i < 4; ++i) trees.push_back(random_tree(random, 3, 6));
  const std::string bytes = must(Forest::make(trees, 1, 3)).save();
  std::size_t taken = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      const auto forest = Forest::load(damaged);
      if (!forest) continue;
      ++taken;
      static_cast<void>(forest->value(std::vector<float>(forest->features(), 0.5F)));
      static_cast<void>(forest->value(std::vector<float>(forest->features(), kNoNumber)));
    }
  }
  EXPECT_GT(taken, 0U) << "damage to a threshold cannot be seen";
}

TEST(ForestTest, ANodeThatPointsBackIsRefused) {
  base::ByteWriter writer;
  writer.u64(1);  // features
  writer.f32(0);
  writer.u64(1);  // trees
  writer.u16(3);
  for (const int left : {1, 1, 0}) {  // the second node is its own child
    writer.f32(1);
    writer.u16(left == 0 ? 0x7fff : 0);
    writer.u16(static_cast<std::uint16_t>(left));
  }
  EXPECT_FALSE(Forest::load(writer.bytes()));
}

TEST(ByteReaderTest, NeverReadsOverTheEnd) {
  base::ByteWriter writer;
  writer.u16(0x1234);
  writer.u32(7);
  writer.f64(2.5);
  writer.text("abc");
  EXPECT_EQ(writer.bytes().substr(0, 2), "\x34\x12") << "little-endian";
  base::ByteReader reader(writer.bytes());
  EXPECT_EQ(reader.u16(), 0x1234);
  EXPECT_EQ(reader.u32(), 7U);
  EXPECT_EQ(reader.f64(), 2.5);
  EXPECT_EQ(reader.text(), "abc");
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.u16(), 0);
  EXPECT_FALSE(reader.ok());
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff";
  EXPECT_EQ(base::ByteReader(huge + "x").text(), "");
  EXPECT_EQ(base::ByteReader(huge + "x").count(1), 0U) << "a count that the bytes cannot hold";
}

}  // namespace
}  // namespace oplat::estimate
