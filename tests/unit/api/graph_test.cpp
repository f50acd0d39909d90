// SPDX-License-Identifier: Apache-2.0
#include "oplat/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "unit/app/predicted_table.hpp"

namespace oplat {
namespace {

using ::testing::HasSubstr;

TEST(ApiGraph, ShowsInputsNodesAndOutputs) {
  const app::testing::PredictedTable made;
  const Graph graph = test::must(Graph::read(made.model()));
  EXPECT_EQ(graph.path(), made.model());
  ASSERT_FALSE(graph.nodes().empty());
  ASSERT_FALSE(graph.inputs().empty());
  ASSERT_FALSE(graph.outputs().empty());
  EXPECT_FALSE(graph.inputs()[0].name.empty());
  EXPECT_EQ(graph.inputs()[0].tensor.dtype, "f32");
  EXPECT_EQ(graph.nodes().back().outputs.front(), graph.outputs().front().name);
  EXPECT_GT(graph.weight_bytes(), 0U);
}

TEST(ApiGraph, RefusesAMissingFileAndOneThatIsNoModel) {
  EXPECT_EQ(Graph::read("none.onnx").error().code, Code::Input);
  const base::TemporaryFolder folder = test::must(base::TemporaryFolder::create("oplat-api"));
  const std::string path = (folder.path() / "text.onnx").string();
  std::ofstream(path) << "this is not a model at all";
  const auto refused = Graph::read(path);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Input);
  EXPECT_THAT(refused.error().message, HasSubstr("text.onnx"));
}

TEST(ApiGraph, RefusesShapesOfAnInputThatThereIsNot) {
  const app::testing::PredictedTable made;
  const auto refused = Graph::read(made.model(), {.shapes = {{"no such input", {1, 2}}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Usage);
}

}  // namespace
}  // namespace oplat
