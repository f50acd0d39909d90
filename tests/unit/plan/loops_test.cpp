// SPDX-License-Identifier: Apache-2.0
#include "plan/loops.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace oplat::plan {
namespace {

ir::TensorId add_tensor(ir::Graph& graph, bool constant, std::optional<ir::Value> value = {}) {
  ir::TensorInfo tensor;
  tensor.constant = constant;
  tensor.small_value = std::move(value);
  graph.tensors.push_back(std::move(tensor));
  return static_cast<ir::TensorId>(graph.tensors.size() - 1);
}

ir::TensorId add_node(ir::Graph& graph, const char* op, std::vector<ir::TensorId> inputs) {
  ir::Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = {add_tensor(graph, false)};
  graph.nodes.push_back(node);
  return node.outputs.front();
}

/// A body of a count and a condition, whose next condition is to be added.
ir::Graph body_start() {
  ir::Graph body;
  body.inputs = {add_tensor(body, false), add_tensor(body, false)};
  return body;
}

/// A graph with a Loop as its only node.
ir::Graph loop_of(ir::Graph body, bool constant_count, ir::List count) {
  ir::Graph graph;
  ir::Node loop;
  loop.op = "Loop";
  loop.inputs = {add_tensor(graph, constant_count, ir::Value(std::move(count))), ir::kNoTensor};
  loop.bodies.emplace_back("body", std::make_shared<const ir::Graph>(std::move(body)));
  graph.nodes.push_back(std::move(loop));
  return graph;
}

TEST(Loops, ConditionThatIsHandedOnIsNotComputed) {
  ir::Graph direct = body_start();
  direct.outputs = {direct.inputs[1]};
  EXPECT_FALSE(computes_condition(direct));
  ir::Graph copied = body_start();
  copied.outputs = {
      add_node(copied, "Identity", {add_node(copied, "Identity", {copied.inputs[1]})})};
  EXPECT_FALSE(computes_condition(copied));
  ir::Graph constant = body_start();
  constant.outputs = {add_node(constant, "Constant", {})};
  EXPECT_FALSE(computes_condition(constant));
}

TEST(Loops, ConditionOfAnOperatorOrOfOutsideIsComputed) {
  ir::Graph less = body_start();
  less.outputs = {add_node(less, "Less", {less.inputs[0], add_tensor(less, true)})};
  EXPECT_TRUE(computes_condition(less));
  ir::Graph outside = body_start();
  outside.outputs = {add_tensor(outside, false)};
  EXPECT_TRUE(computes_condition(outside));
}

TEST(Loops, ConstantCountIsTheNumberOfSteps) {
  ir::Graph body = body_start();
  body.outputs = {body.inputs[1]};
  const ir::Graph seven = loop_of(body, true, {ir::Value(7)});
  EXPECT_EQ(constant_steps(seven, seven.nodes[0]), 7);
  const ir::Graph negative = loop_of(body, true, {ir::Value(-3)});
  EXPECT_EQ(constant_steps(negative, negative.nodes[0]), 0);
}

TEST(Loops, ConditionThatIsAlwaysFalseEndsTheLoopAfterOneStep) {
  ir::Graph body = body_start();
  const ir::TensorId never = add_node(body, "Constant", {});
  body.tensors[static_cast<std::size_t>(never)].small_value = ir::Value(ir::List{ir::Value(0)});
  body.outputs = {never};
  const ir::Graph once = loop_of(body, true, {ir::Value(1000)});
  EXPECT_EQ(constant_steps(once, once.nodes[0]), 1);
  body.tensors[static_cast<std::size_t>(never)].small_value = ir::Value(ir::List{ir::Value(1)});
  const ir::Graph all = loop_of(body, true, {ir::Value(1000)});
  EXPECT_EQ(constant_steps(all, all.nodes[0]), 1000);
}

TEST(Loops, FirstConditionThatIsFalseLeavesNoStep) {
  ir::Graph body = body_start();
  body.outputs = {body.inputs[1]};
  ir::Graph never = loop_of(body, true, {ir::Value(7)});
  never.nodes[0].inputs[1] = add_tensor(never, true, ir::Value(ir::List{ir::Value(0)}));
  EXPECT_EQ(constant_steps(never, never.nodes[0]), 0);
  ir::Graph always = loop_of(body, true, {ir::Value(7)});
  always.nodes[0].inputs[1] = add_tensor(always, true, ir::Value(ir::List{ir::Value(1)}));
  EXPECT_EQ(constant_steps(always, always.nodes[0]), 7);
}

TEST(Loops, NoStepsAreKnownOfAnOpenCountOrAComputedCondition) {
  ir::Graph body = body_start();
  body.outputs = {body.inputs[1]};
  const ir::Graph open = loop_of(body, false, {ir::Value(7)});
  EXPECT_EQ(constant_steps(open, open.nodes[0]), std::nullopt);
  body.outputs = {add_node(body, "Not", {body.inputs[1]})};
  const ir::Graph computed = loop_of(body, true, {ir::Value(7)});
  EXPECT_EQ(constant_steps(computed, computed.nodes[0]), std::nullopt);
  ir::Graph missing = computed;
  missing.nodes[0].inputs[0] = ir::kNoTensor;
  EXPECT_EQ(constant_steps(missing, missing.nodes[0]), std::nullopt);
}

}  // namespace
}  // namespace oplat::plan
