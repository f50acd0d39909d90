// SPDX-License-Identifier: Apache-2.0
/// What is an ONNX model, what is none, and what is said about the latter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/formats/models.hpp"

namespace oplat::formats::onnx {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the models of this folder
using ::testing::HasSubstr;

void expect_no_model(const std::string& bytes, const std::string& why) {
  const auto model = Model::load(base::Source::from_bytes("net.onnx", bytes));
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Code::Input);
  EXPECT_THAT(model.error().message, HasSubstr(why));
  EXPECT_TRUE(model.error().message.starts_with("net.onnx: ")) << model.error().message;
}

TEST(Load, SmallModel) {
  const auto model = load(small_model());
  ASSERT_TRUE(model) << model.error().message;
  const auto inputs = model->inputs();
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->size(), 1U);  // the initialiser is none
  EXPECT_EQ((*inputs)[0].name, "x");
  EXPECT_EQ((*inputs)[0].dtype, ir::Dtype::F32);
  EXPECT_EQ((*inputs)[0].shape.dims, (std::vector<ir::Dim>{std::nullopt, 4}));
}

TEST(Load, BytesPassThroughUnchanged) {
  const wire::Model small = small_model();
  const auto model = load(small);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->bytes(), small.SerializeAsString());
}

TEST(Load, RefusesWhatIsNoModel) {
  expect_no_model("", "empty");
  expect_no_model("this is a text file, and no model at all", "no ONNX model");
  expect_no_model(std::string(1000, '\xff'), "no ONNX model");
  expect_no_model(std::string(1000, '\0'), "no ONNX model");
  wire::Model model = small_model();
  model.clear_graph();
  expect_no_model(model.SerializeAsString(), "no graph");
  model = small_model();
  model.clear_opset_import();
  expect_no_model(model.SerializeAsString(), "opset_import");
  expect_no_model(empty_model().SerializeAsString(), "neither nodes nor outputs");
}

TEST(Load, DataOfAnotherSizeThanItsTensor) {
  wire::Model model = small_model();
  wire::Tensor& weights = *model.mutable_graph()->mutable_initializer(0);
  weights.set_raw_data(std::string(32, '\0'));
  EXPECT_TRUE(load(model));
  weights.set_raw_data(std::string(31, '\0'));
  expect_no_model(model.SerializeAsString(), "'w' holds 31 bytes, its type and dimensions take 32");
}

TEST(Load, EveryPrefixIsTruncated) {
  const std::string bytes = small_model().SerializeAsString();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto model = Model::load(base::Source::from_bytes("net.onnx", bytes.substr(0, length)));
    ASSERT_FALSE(model) << length << " of " << bytes.size();
    ASSERT_EQ(model.error().code, Code::Input);
  }
  EXPECT_TRUE(Model::load(base::Source::from_bytes("net.onnx", bytes)));
}

TEST(Load, InputThatIsNoTensor) {
  wire::Model model = small_model();
  model.mutable_graph()->mutable_input(0)->clear_type();
  auto loaded = load(model);
  ASSERT_TRUE(loaded);
  const auto inputs = loaded->inputs();
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().code, Code::Input);
  EXPECT_THAT(inputs.error().message, HasSubstr("'x' is not a tensor"));
}

TEST(Load, NodeNamesAreUniqueOverBodies) {
  auto model = load(nested_model(2));
  ASSERT_TRUE(model);
  model->name_nodes();
  const auto graph = model->graph();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes[0].name, "n0");
  const ir::Graph& body = *graph->nodes[0].bodies.at(0).second;
  EXPECT_EQ(body.nodes[0].name, "n0_0_0");
  EXPECT_EQ(body.nodes[0].bodies.at(0).second->nodes[0].name, "n0_0_0_0_0");
}

TEST(Nesting, TwentyLevelsAreRead) {
  const auto graph = graph_of(nested_model(20));
  ASSERT_TRUE(graph) << graph.error().message;
  const ir::Graph* at = &*graph;
  int depth = 0;
  for (; !at->nodes[0].bodies.empty(); ++depth) at = at->nodes[0].bodies[0].second.get();
  EXPECT_EQ(depth, 20);
}

TEST(Nesting, AHundredLevelsAreRefused) {
  for (const int depth : {33, 100, 1000}) {
    const auto graph = graph_of(nested_model(depth));
    ASSERT_FALSE(graph) << depth;
    EXPECT_EQ(graph.error().code, Code::Input);
  }
}

TEST(ReaderFor, Onnx) {
  const auto reader = reader_for(source_of(small_model()));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->name(), "onnx");
  const auto graph = (*reader)->read(source_of(small_model()), {.shapes = {}, .batch = 3});
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->tensors[static_cast<std::size_t>(graph->inputs.at(0))].shape,
            ir::Shape::of({3, 4}));
}

TEST(ReaderFor, NamesWhatItSaw) {
  const auto expect = [](const std::string& bytes, const std::string& why) {
    const auto reader = reader_for(base::Source::from_bytes("net.bin", bytes));
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, Code::Input);
    EXPECT_THAT(reader.error().message, HasSubstr(why));
  };
  expect("", "empty");
  expect("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull");
  expect("\x89PNG\r\n\x1a\n and more", "begins with '\\x89PNG\\x0d\\x0a\\x1a\\x0a and mor");
  expect("<html>not found</html>", "<html>not found<");
  expect("PK\x03\x04", "(onnx, caffe2, paddle, mnn)");
}

}  // namespace
}  // namespace oplat::formats::onnx
