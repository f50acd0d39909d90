// SPDX-License-Identifier: Apache-2.0
/// Rules against what the optimisers themselves left of networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "compat/registry.hpp"
#include "formats/format_reader.hpp"
#include "plan/rules.hpp"

namespace oplat::plan {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = fs::path(OPLAT_SHARED_DIR) / "data";

Result<ir::Graph> graph_of(const fs::path& file) {
  OPLAT_TRY(source, base::Source::open(file));
  OPLAT_TRY(reader, formats::reader_for(source));
  return reader->read(source, {});
}

fs::path exported(const std::string& name, const std::string& file) {
  return fs::path(OPLAT_TEST_SOURCE_DIR) / "../models/paddle" / name / file;
}

class PaddleLiteReference : public ::testing::TestWithParam<const char*> {
 protected:
  static void expect_same(const std::string& name, const fs::path& model) {
    const fs::path reference = kShared / "paddle-lite" / ("fused_" + name + ".tsv");
    if (!fs::exists(reference)) GTEST_SKIP() << "no " << reference.string();
    if (!fs::exists(model))
      GTEST_SKIP() << "no " << model.string() << "; make it with scripts/paddle_nets";
    const auto graph = graph_of(model);
    ASSERT_TRUE(graph) << graph.error().message;
    const auto fused = fuse(*graph, *built_in_rules("paddle-lite@2.12", compat::rule_sets()));
    ASSERT_TRUE(fused) << fused.error().message;
    std::string lines;
    for (const ir::Node& node : fused->nodes) {
      const FusedWords words = fused_words(*fused, node);
      lines += words.op + (words.filter.empty() ? "" : "\tfilter=" + words.filter);
      if (!words.attributes.empty()) {
        for (const std::string& attribute : base::split(words.attributes, ' '))
          lines += "\t" + attribute;
      }
      lines += "\n";
    }
    const auto expected = base::read_file(reference);
    ASSERT_TRUE(expected);
    EXPECT_EQ(lines, *expected);
  }
};

TEST_P(PaddleLiteReference, IsWhatIsLeftOfAProgram) {
  const std::string name = GetParam();
  expect_same(name, exported(name, name + ".pdmodel"));
}

TEST_P(PaddleLiteReference, IsWhatIsLeftOfAProgramInJson) {
  const std::string name = GetParam();
  expect_same(name, exported(name, "pir/" + name + ".json"));
}

INSTANTIATE_TEST_SUITE_P(Networks, PaddleLiteReference,
                         ::testing::Values("mobilenet_v1", "mobilenet_v3_small", "resnet18"),
                         [](const auto& one) { return std::string(one.param); });

/// What ONNX Runtime itself makes of small networks; scripts/reference_plans writes both.
class OnnxRuntimeReference : public ::testing::TestWithParam<const char*> {};

TEST_P(OnnxRuntimeReference, IsWhatTheRuntimeMakesOfANetwork) {
  const fs::path folder = fs::path(OPLAT_TEST_SOURCE_DIR) / "data" / "plans";
  const std::string name = GetParam();
  const auto graph = graph_of(folder / (name + ".onnx"));
  ASSERT_TRUE(graph) << graph.error().message;
  const auto plan = plan_by_rules(*graph, *built_in_rules("onnxruntime", compat::rule_sets()),
                                  compat::catalogue(), {"block16"});
  ASSERT_TRUE(plan) << plan.error().message;
  std::string lines;
  for (const auto& kernel : plan->kernels)
    lines += std::to_string(kernel.count) + " " + kernel.key + "\n";
  const auto expected = base::read_file(folder / (name + ".plan"));
  ASSERT_TRUE(expected);
  EXPECT_FALSE(expected->empty());
  EXPECT_EQ(lines, *expected);
}

INSTANTIATE_TEST_SUITE_P(Networks, OnnxRuntimeReference,
                         ::testing::Values("attention", "bits", "decoder", "dynamic", "gelu",
                                           "mixer", "parts", "pools", "qoperator", "residual",
                                           "residual_other_bias", "residual_per_channel",
                                           "residual_signed", "scales", "selu", "shared", "shuffle",
                                           "squeeze", "tokens_cancel", "tokens_merge"),
                         [](const auto& one) { return std::string(one.param); });

/// How often each of the operators of a channel shuffle is left of a ShuffleNet as it is exported.
std::vector<std::int64_t> shuffles_left(const fs::path& model, std::string_view rules) {
  const auto graph = graph_of(model);
  if (!graph) return {};
  const auto fused = fuse(*graph, *built_in_rules(rules, compat::rule_sets()));
  if (!fused) return {};
  std::vector<std::int64_t> counts;
  for (const std::string_view op : {"reshape2", "transpose2", "shuffle_channel"})
    counts.push_back(std::count_if(fused->nodes.begin(), fused->nodes.end(),
                                   [&](const ir::Node& node) { return node.op == op; }));
  return counts;
}

TEST(PaddleLiteShuffleNet, IsShuffledByThreeOperatorsFrom212) {
  const fs::path model = exported("shufflenet_v2_x0_25", "shufflenet_v2_x0_25.pdmodel");
  if (!fs::exists(model))
    GTEST_SKIP() << "no " << model.string() << "; make it with scripts/paddle_nets";
  EXPECT_EQ(shuffles_left(model, "paddle-lite@2.12"), (std::vector<std::int64_t>{32, 16, 0}));
  EXPECT_EQ(shuffles_left(model, "paddle-lite@2.10"), (std::vector<std::int64_t>{0, 0, 16}));
}

}  // namespace
}  // namespace oplat::plan
