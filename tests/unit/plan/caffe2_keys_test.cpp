// SPDX-License-Identifier: Apache-2.0
/// A Caffe2 net's kernels have the keys that its queries have: tables filled by either answer the
/// other.
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/caffe2.hpp"
#include "ir/key.hpp"
#include "plan/plan.hpp"

namespace oplat::plan {
namespace {

void expect_same_keys(const std::filesystem::path& net, const formats::ShapeOptions& options,
                      std::size_t operators) {
  const auto source = base::Source::open(net);
  ASSERT_TRUE(source) << source.error().message;
  const auto graph = formats::caffe2::reader().read(*source, options);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto queries = formats::caffe2::queries(*source, options);
  ASSERT_TRUE(queries) << queries.error().message;
  std::vector<NodeRun> runs;
  for (const ir::Node& node : graph->nodes) {
    NodeRun run;
    run.node = node.name;
    for (const ir::TensorId id : node.outputs) {
      const ir::TensorInfo& info = graph->tensors[static_cast<std::size_t>(id)];
      run.outputs.push_back({info.dtype, info.shape});
    }
    for (const ir::TensorId id : node.inputs) {
      const ir::TensorInfo& info = graph->tensors[static_cast<std::size_t>(id)];
      run.inputs.push_back({info.dtype, info.shape});
    }
    runs.push_back(std::move(run));
  }
  const auto kernels = kernels_of(*graph, runs);
  ASSERT_TRUE(kernels) << kernels.error().message;
  ASSERT_EQ(kernels->size(), operators);
  ASSERT_EQ(queries->size(), operators);
  for (std::size_t i = 0; i < operators; ++i) {
    const auto key = formats::caffe2::key_of((*queries)[i]);
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ((*kernels)[i].key, ir::print(*key));
    EXPECT_TRUE(ir::parse((*kernels)[i].key)) << (*kernels)[i].key;
  }
}

TEST(Caffe2Keys, OfTheOwnNet) {
  const auto net = std::filesystem::path(OPLAT_TEST_SOURCE_DIR).parent_path() /
                   "data/caffe2/tiny-int8/model.pbtxt";
  expect_same_keys(net, {.shapes = {{"data", {1, 3, 32, 32}}}, .batch = {}}, 18);
}

TEST(Caffe2Keys, OfThePublishedNet) {
  const auto net =
      std::filesystem::path(OPLAT_SHARED_DIR) / "data/mobile-vision/ChamNet-A/model.pbtxt";
  if (!std::filesystem::exists(net)) GTEST_SKIP() << "the published net is not at " << net;
  expect_same_keys(net, {.shapes = {{"data", {1, 3, 224, 224}}}, .batch = {}}, 69);
}

}  // namespace
}  // namespace oplat::plan
