// SPDX-License-Identifier: Apache-2.0
#include "plan/inspection.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

namespace oplat::plan {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

ir::TensorId add_tensor(ir::Graph& graph, const std::string& name,
                        const std::vector<std::int64_t>& dims, bool constant = false) {
  ir::TensorInfo tensor;
  tensor.name = name;
  tensor.dtype = ir::Dtype::F32;
  tensor.shape = ir::Shape::of(dims);
  tensor.constant = constant;
  tensor.constant_hash = constant ? graph.tensors.size() + 1 : 0;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<ir::TensorId>(graph.tensors.size() - 1);
}

void add_node(ir::Graph& graph, const std::string& name, const std::string& op,
              std::vector<ir::TensorId> inputs, std::vector<ir::TensorId> outputs) {
  ir::Node node;
  node.name = name;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  graph.nodes.push_back(std::move(node));
}

/// x (100) -> a (1000) -> view -> b (10) -> out (1); weights of 1000 x 10, read twice.
ir::Graph small_net() {
  ir::Graph graph;
  const auto x = add_tensor(graph, "x", {1, 100});
  const auto w = add_tensor(graph, "w", {1000, 10}, true);
  const auto a = add_tensor(graph, "a", {1, 1000});
  const auto v = add_tensor(graph, "v", {10, 100});
  const auto b = add_tensor(graph, "b", {1, 10});
  const auto out = add_tensor(graph, "out", {1, 1});
  add_node(graph, "grow", "Tile", {x}, {a});
  add_node(graph, "view", "Reshape", {a}, {v});
  add_node(graph, "shrink", "MatMul", {v, w}, {b});
  add_node(graph, "again", "ReduceSum", {b, w}, {out});
  graph.inputs = {x};
  graph.outputs = {out};
  return graph;
}

TEST(PeakMemory, HoldsInputsAndWhatIsAliveTogether) {
  const auto peak = peak_memory(small_net(), ir::Catalogue::own());
  ASSERT_TRUE(peak);
  // The input is the caller's all the time; the view is its operand's memory.
  EXPECT_DOUBLE_EQ(peak->bytes, 4 * (100 + 1000 + 10));
  EXPECT_EQ(peak->node, "shrink");
}

TEST(PeakMemory, IsUnknownWithASizeThatSomebodyReads) {
  ir::Graph graph = small_net();
  graph.tensors[4].shape.ranked = false;
  EXPECT_FALSE(peak_memory(graph, ir::Catalogue::own()));
  graph = small_net();
  add_node(graph, "side", "Split", {0}, {add_tensor(graph, "unread", {1})});
  graph.tensors.back().shape.ranked = false;
  EXPECT_TRUE(peak_memory(graph, ir::Catalogue::own()));
}

TEST(Parameters, SharedConstantsCountOnce) {
  const ParameterSum sum = parameters_of(small_net());
  EXPECT_DOUBLE_EQ(sum.count, 10'000);
  EXPECT_DOUBLE_EQ(sum.bytes, 40'000);
  const auto key = ir::parse("Gather/13{axis=0}(f16c[100,4],i64c[2]=[1,2])->(f16[2,4])");
  EXPECT_DOUBLE_EQ(parameters_of(*key).count, 400);
  EXPECT_DOUBLE_EQ(parameters_of(*key).bytes, 800);
}

TEST(Parameters, EqualConstantsOfSeveralLayersAllCount) {
  ir::Graph graph;
  const auto x = add_tensor(graph, "x", {1, 512});
  for (int i = 0; i < 50; ++i) {
    const auto bias = add_tensor(graph, "bias", {512}, true);
    graph.tensors.back().constant_hash = 7;  // all of them zeros
    add_node(graph, "add", "Add", {x, bias}, {add_tensor(graph, "y", {1, 512})});
  }
  EXPECT_DOUBLE_EQ(parameters_of(graph).count, 25'600);
}

TEST(Parameters, ThoseOfBodiesCountAndWhatTheyCaptureCountsOnce) {
  ir::Graph body;
  const auto own = add_tensor(body, "own", {30}, true);
  const auto outer = add_tensor(body, "w", {1000, 10}, true);
  body.tensors[static_cast<std::size_t>(outer)].outer = true;
  add_node(body, "inside", "Add", {own, outer}, {add_tensor(body, "sum", {30})});
  ir::Graph graph = small_net();
  ir::Node& node = graph.nodes.back();
  node.bodies = {{"then_branch", std::make_shared<const ir::Graph>(body)},
                 {"else_branch", std::make_shared<const ir::Graph>(body)}};
  node.captured = {1};
  EXPECT_DOUBLE_EQ(parameters_of(graph).count, 10'000 + 2 * 30);
  graph.nodes[2].inputs.pop_back();  // "w" is read by the bodies alone
  node.inputs.pop_back();
  EXPECT_DOUBLE_EQ(parameters_of(graph).count, 10'000 + 2 * 30);
}

TEST(KernelsOfFile, HaveTheNamesAndSizesOfTheFile) {
  ir::Graph graph = small_net();
  graph.nodes[3].name = "shrink";  // names need not be unique
  const auto kernels = must(kernels_of_file(graph));
  ASSERT_EQ(kernels.size(), 4U);
  EXPECT_EQ(kernels[2].name, "shrink");
  EXPECT_EQ(kernels[3].name, "shrink");
  EXPECT_EQ(kernels[2].key.substr(kernels[2].key.find('(')),
            "(f32[10,100],f32c[1000,10])->(f32[1,10])");
  EXPECT_TRUE(is_complete(graph, kernels));
  graph.tensors[4].shape.ranked = false;
  EXPECT_FALSE(is_complete(graph, must(kernels_of_file(graph))));
}

TEST(TakeSizes, FillsWhatTheFileLeavesOpen) {
  const auto kernels = must(kernels_of_file(small_net()));
  ir::Graph open = small_net();
  open.tensors[2].shape.ranked = false;
  open.tensors[4].shape.ranked = false;
  take_sizes(kernels, open);
  EXPECT_EQ(open.tensors[2].shape, ir::Shape::of({1, 1000}));
  EXPECT_EQ(open.tensors[4].shape, ir::Shape::of({1, 10}));
  // Without names by the order of the operators.
  ir::Graph nameless = small_net();
  for (ir::Node& node : nameless.nodes) node.name.clear();
  nameless.tensors[4].shape.ranked = false;
  take_sizes(kernels, nameless);
  EXPECT_EQ(nameless.tensors[4].shape, ir::Shape::of({1, 10}));
}

}  // namespace
}  // namespace oplat::plan
