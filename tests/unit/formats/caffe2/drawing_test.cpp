// SPDX-License-Identifier: Apache-2.0
/// Shapes from drawings; the published net, where it is at hand.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/caffe2/net.hpp"
#include "unit/formats/caffe2/nets.hpp"

namespace oplat::formats::caffe2 {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the nets of this folder
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string node(const std::string& title) {
  return "<g id=\"node1\" class=\"node\"><title>" + title + "</title>\n</g>\n";
}

TEST(Drawing, HoldsTheShapesInNodeTitles) {
  const auto drawing = read_drawing(
      "d.svg", "<svg>" + node("Conv (op#0)") + node("x\\n[64, 3, 8, 8]0") +
                   node("a&#45;&gt;b\\n[4]1") +
                   "<g class=\"edge\"><title>x\\n[1, 1]0&#45;&gt;Conv (op#0)</title></g></svg>");
  ASSERT_TRUE(drawing) << drawing.error().message;
  EXPECT_THAT(*drawing, UnorderedElementsAre(Pair(Pair("x", 0), Dims{64, 3, 8, 8}),
                                             Pair(Pair("a->b", 1), Dims{4})));
}

TEST(Drawing, WhatIsNoShapeIsLeftOut) {
  const auto drawing = read_drawing(
      "d.svg", node("a\\n[]0") + node("b\\n[1, x]0") + node("c\\n[0]0") + node("d\\n[-1]0") +
                   node("e\\n[99999999999]0") + node("f\\n[1]") + node("g\\n[1]-1") +
                   node("h\\n1]0") + node("i\\n[1") + node(std::string(9999, 'j') + "\\n[1]0") +
                   node("k\\n[1073741824, 1073741824, 1073741824]0") + node("good\\n[1]0") +
                   "<g class=\"node\"><title>cut\\n[1]0");
  ASSERT_TRUE(drawing) << drawing.error().message;
  EXPECT_THAT(*drawing, UnorderedElementsAre(Pair(Pair("good", 0), Dims{1})));
}

TEST(Drawing, WithoutShapesIsNone) {
  for (const std::string& svg :
       {std::string(), std::string("<html>not found</html>"), node("x"), node("x\\n[2]")}) {
    const auto drawing = read_drawing("d.svg", svg);
    ASSERT_FALSE(drawing) << svg;
    EXPECT_EQ(drawing.error().code, Code::Input);
    EXPECT_THAT(drawing.error().message, HasSubstr("d.svg: is not a drawing"));
  }
  EXPECT_THAT(read_drawing("d.svg", "version https://git-lfs.github.com/spec/v1\n").error().message,
              HasSubstr("git lfs pull"));
}

const std::string kNet = inputs({"x", "w", "b"}) +
                         op("Int8Conv", {"x", "w", "b"}, {"y"}, i("kernel", 1)) +
                         op("Mystery", {"y"}, {"y"}) + op("Int8Relu", {"y"}, {"z"});
const std::string kDrawing = node("x\\n[64, 8, 8, 3]0") + node("w\\n[4, 1, 1, 3]0") +
                             node("b\\n[4]0") + node("y\\n[64, 8, 8, 4]0") +
                             node("y\\n[64, 2, 2, 4]1");

TEST(Drawing, GivesParametersAndResultsThatNobodyInfers) {
  const Folder folder({{"model.pbtxt", kNet}, {"model_def.svg", kDrawing}});
  const auto graph = folder.read(shapes({{"x", {2, 8, 8, 3}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->inputs.at(0)), "x u8[2,8,8,3]");
  EXPECT_EQ(shown(*graph, graph->nodes[0].inputs[1]), "w u8c[4,1,1,3]");
  EXPECT_EQ(shown(*graph, graph->nodes[0].inputs[2]), "b i32c[4]");
  EXPECT_EQ(shown(*graph, graph->nodes[1].outputs[0]), "y.1 u8[2,2,2,4]");
  EXPECT_EQ(shown(*graph, graph->outputs.at(0)), "z u8[2,2,2,4]");
}

TEST(Drawing, OfAnotherSizeSaysNothingOfResults) {
  const Folder folder({{"model.pbtxt", kNet}, {"model_def.svg", kDrawing}});
  const auto graph = folder.read(shapes({{"x", {2, 16, 8, 3}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->outputs.at(0)), "z any[*]");
}

TEST(Drawing, ItsInputsNeedABatch) {
  const Folder folder({{"model.pbtxt", kNet}, {"model_def.svg", kDrawing}});
  const auto open = folder.read();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, Code::Usage);
  EXPECT_THAT(open.error().message, HasSubstr("its drawing has [64, 8, 8, 3]"));
  const auto graph = folder.read({.shapes = {}, .batch = 3});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->inputs.at(0)), "x u8[3,8,8,3]");
}

TEST(Published, EveryQueryIsTheOriginals) {
  const std::filesystem::path folder =
      std::filesystem::path(OPLAT_SHARED_DIR) / "data/mobile-vision";
  if (!std::filesystem::exists(folder / "ChamNet-A/model.pbtxt"))
    GTEST_SKIP() << "the published net is not in " << folder;
  const auto source = base::Source::open(folder / "ChamNet-A/model.pbtxt");
  ASSERT_TRUE(source) << source.error().message;
  const auto list = queries(*source, shapes({{"data", {1, 3, 224, 224}}}));
  ASSERT_TRUE(list) << list.error().message;
  std::ifstream stream(folder / "ChamNet-A.int8.queries.jsonl");
  std::size_t count = 0;
  for (std::string line; std::getline(stream, line); ++count) {
    ASSERT_LT(count, list->size());
    const auto json = nlohmann::json::parse(line);
    const LutQuery expected{.op_type = json.at("op_type"),
                            .op_args = json.at("op_args"),
                            .input_shapes = json.at("input_shapes"),
                            .input_dtypes = json.at("input_dtypes")};
    EXPECT_EQ(list->at(count), expected) << line;
  }
  EXPECT_EQ(count, 69U);
  EXPECT_EQ(list->size(), count);
}

}  // namespace
}  // namespace oplat::formats::caffe2
