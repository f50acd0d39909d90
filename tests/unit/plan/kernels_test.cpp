// SPDX-License-Identifier: Apache-2.0
/// Keys and counts of what ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/catalogue.hpp"
#include "unit/plan/net.hpp"

namespace oplat::plan {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the graphs of this folder
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

/// y = MatMul(x, w), x and y as the model says: nothing.
Net matmul() {
  Net net;
  net.input("x");
  net.constant("w", {4, 2});
  net.node("MatMul", {"x", "w"}, {"y"}).since = 13;
  net.output("y");
  return net;
}

TEST(Kernels, KeysHoldTheShapesThatTheRunSaw) {
  const auto kernels = kernels_of(
      matmul().graph,
      std::vector<NodeRun>{{"MatMul", {seen({3, 4}), seen({4, 2})}, {seen({3, 2})}, {}}});
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_EQ(*kernels,
            (std::vector<PlanKernel>{
                {"MatMul", "MatMul/13{}(f32[3,4],f32c[4,2])->(f32[3,2])", 1, std::nullopt, 48.0}}));
}

// A runtime that packs weights for its own use shows other dimensions; the model's are the key's.
TEST(Kernels, ConstantsKeepTheModelsShape) {
  EXPECT_EQ(
      keys(matmul(), {{"MatMul", {seen({3, 4}), seen({1024}, ir::Dtype::U8)}, {seen({3, 2})}, {}}}),
      Texts{"MatMul/13{}(f32[3,4],f32c[4,2])->(f32[3,2])"});
}

TEST(Kernels, TagsOfTheRunAndAttributesOfTheNode) {
  Net net = matmul();
  net.graph.nodes[0].domain = "com.example";
  net.graph.nodes[0].since = 1;
  net.graph.nodes[0].attributes = {{"z", 1}, {"a", "word"}};
  EXPECT_EQ(keys(net, {{"MatMul", {seen({3, 4}), seen({4, 2})}, {seen({3, 2})}, {{"block", 16}}}}),
            Texts{"com.example:MatMul/1@block=16{a=word,z=1}(f32[3,4],f32c[4,2])->(f32[3,2])"});
}

TEST(Kernels, DefaultsAreFilledIn) {
  Net net;
  net.input("x");
  net.node("Softmax", {"x"}, {"y"}).since = 13;
  net.output("y");
  EXPECT_EQ(keys(net, {{"Softmax", {seen({2, 5})}, {seen({2, 5})}, {}}}),
            Texts{"Softmax/13{axis=-1}(f32[2,5])->(f32[2,5])"});
}

TEST(Kernels, ValuesOfConstantsThatDecideArePrinted) {
  Net net;
  net.input("x");
  net.constant("starts", {2}, ir::Dtype::I64).small_value = ir::Value(ir::List{0, 1});
  net.constant("ends", {2}, ir::Dtype::I64).small_value = ir::Value(ir::List{9, 9});
  net.constant("axes", {1}, ir::Dtype::I64).small_value = ir::Value(ir::List{1});
  net.constant("table", {65}, ir::Dtype::I64);
  net.node("Foo", {"x", "starts", "ends", "axes", "table"}, {"y"});
  net.output("y");
  EXPECT_EQ(keys(net, {{"Foo", {seen({3}), {}, {}, {}, {}}, {seen({3})}, {}}}),
            Texts{"Foo{}(f32[3],i64c[2]=[0,1],i64c[2]=9,i64c[1]=[1],i64c[65])->(f32[3])"});
}

TEST(Kernels, FloatsArePrintedOnlyWhereTheCatalogueSaysSo) {
  Net net;
  net.input("x");
  net.constant("e", {}).small_value = ir::Value(ir::List{2.0});
  net.node("Pow", {"x", "e"}, {"p"}).since = 15;
  net.node("Add", {"p", "e"}, {"y"}).since = 14;
  net.output("y");
  EXPECT_EQ(keys(net, {{"Pow", {seen({3}), seen({})}, {seen({3})}, {}},
                       {"Add", {seen({3}), seen({})}, {seen({3})}, {}}}),
            (Texts{"Pow/15{}(f32[3],f32c[]=2.0)->(f32[3])", "Add/14{}(f32[3],f32c[])->(f32[3])"}));
}

TEST(Kernels, RepeatedOperandsAreAliasesConstantsAreNot) {
  Net net;
  net.input("x");
  net.constant("w", {3});
  net.node("Foo", {"w", "x", "x", "w", "x"}, {"y"});
  net.output("y");
  EXPECT_EQ(keys(net, {{"Foo", {{}, seen({3}), seen({3}), {}, seen({3})}, {seen({3})}, {}}}),
            Texts{"Foo{}(f32c[3],f32[3],&1,f32c[3],&1)->(f32[3])"});
}

TEST(Kernels, AbsentOperandsAndUnusedResults) {
  Net net;
  net.input("x");
  net.constant("hi", {});
  net.node("Foo", {"x", "", "hi"}, {"unread", "", "y"});
  net.output("y");
  EXPECT_EQ(keys(net, {{"Foo", {seen({3}), seen({})}, {seen({1}), seen({2})}, {}}}),
            Texts{"Foo{}(f32[3],-,f32c[])->(-,-,f32[2])"});
}

TEST(Kernels, OfWhichNobodyReadsAnythingSayTheirFirstResult) {
  Net net;
  net.input("x");
  net.node("Foo", {"x"}, {"unread", "neither"});
  net.node("Bar", {"x"}, {"y"});
  net.output("y");
  EXPECT_EQ(keys(net, {{"Foo", {seen({3})}, {seen({7}), seen({2})}, {}},
                       {"Bar", {seen({3})}, {seen({3})}, {}}}),
            (Texts{"Foo{}(f32[3])->(f32[7],-)", "Bar{}(f32[3])->(f32[3])"}));
}

TEST(Kernels, OtherNumbersOfTensorsFallBackOnTheGraph) {
  Net net = matmul();
  net.tensor("x").dtype = ir::Dtype::F32;
  net.tensor("x").shape = ir::Shape::of({7, 4});
  EXPECT_EQ(keys(net, {{"MatMul", {seen({3, 4})}, {seen({3, 2})}, {}}}),
            Texts{"MatMul/13{}(f32[7,4],f32c[4,2])->(f32[3,2])"});
  EXPECT_EQ(keys(net, {{"MatMul", {}, {}, {}}}),
            Texts{"MatMul/13{}(f32[7,4],f32c[4,2])->(any[*])"});
}

TEST(Kernels, UnknownNodesAreADefect) {
  const auto kernels = kernels_of(matmul().graph, std::vector<NodeRun>{{"Else\n", {}, {}, {}}});
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().code, Code::Internal);
  EXPECT_THAT(kernels.error().message, HasSubstr("'Else\\x0a'"));
}

/// A loop over a body that doubles "s", an outer tensor that it also captures.
Net loop() {
  Net body;
  body.input("s");
  body.node("Foo", {"s", "outer"}, {"t"}, "loop_foo");
  body.output("t");
  body.tensor("outer").outer = true;
  Net net;
  net.input("x");
  net.input("outer");
  ir::Node& node = net.node("Loop", {"", "", "x"}, {"y"});
  node.bodies.emplace_back("body", std::make_shared<const ir::Graph>(body.graph));
  node.captured.push_back(net.id("outer"));
  net.output("y");
  return net;
}

TEST(Kernels, OfBodiesAreCountedAndTheirLoopIsAKernelOfItsSteps) {
  const NodeRun foo{"loop_foo", {seen({2}), seen({5})}, {seen({2})}, {}};
  const NodeRun control{"Loop", {seen({2})}, {seen({2})}, {}};
  const auto kernels = kernels_of(loop().graph, std::vector<NodeRun>{foo, foo, foo, control});
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_EQ(*kernels,
            (std::vector<PlanKernel>{
                {"loop_foo", "Foo{}(f32[2],f32[5])->(f32[2])", 3, std::nullopt, 0.0},
                {"Loop", "Loop@ends=data@steps=3{}(-,-,f32[2])->(f32[2])", 1, std::nullopt, 0.0}}));
}

// Runs are listed by their beginning, where a loop comes before its body; each of its executions
// has the steps that ended before it.
TEST(Kernels, LoopsThatRunAgainHaveTheStepsOfEachRun) {
  NodeRun foo{"loop_foo", {seen({2}), seen({5})}, {seen({2})}, {}, 0};
  NodeRun control{"Loop", {seen({2})}, {seen({2})}, {}, 0};
  std::vector<NodeRun> runs;
  const auto add = [&](NodeRun run, std::size_t ended) {
    run.ended = ended;
    runs.push_back(std::move(run));
  };
  add(control, 3), add(foo, 1), add(foo, 2);
  add(control, 5), add(foo, 4);
  add(control, 6);
  EXPECT_EQ(keys(loop(), runs), (Texts{"Loop@ends=data@steps=2{}(-,-,f32[2])->(f32[2])",
                                       "Foo{}(f32[2],f32[5])->(f32[2])",
                                       "Loop@ends=data@steps=1{}(-,-,f32[2])->(f32[2])",
                                       "Loop@ends=data@steps=0{}(-,-,f32[2])->(f32[2])"}));
}

/// y = Loop(count, -, x) over a body that hands its condition on, as exporters write a `for`.
Net counted_loop(bool constant_count) {
  Net body;
  body.input("i");
  body.input("c");
  body.input("s");
  body.node("Identity", {"c"}, {"co"}, "loop_condition");
  body.node("Foo", {"s"}, {"t"}, "loop_foo");
  body.output("co");
  body.output("t");
  Net net;
  net.input("x");
  if (constant_count) {
    net.constant("m", {}, ir::Dtype::I64).small_value = ir::Value(ir::List{7});
  } else {
    net.input("m");
  }
  ir::Node& node = net.node("Loop", {"m", "", "x"}, {"y"});
  node.bodies.emplace_back("body", std::make_shared<const ir::Graph>(body.graph));
  net.output("y");
  return net;
}

TEST(Kernels, LoopsSayWhetherDataEndThem) {
  const NodeRun foo{"loop_foo", {seen({2})}, {seen({2})}, {}};
  const NodeRun control{"Loop", {seen({}, ir::Dtype::I64), seen({2})}, {seen({2})}, {}};
  EXPECT_EQ(keys(counted_loop(true), {foo, control}).back(),
            "Loop@steps=1{}(i64c[]=7,-,f32[2])->(f32[2])");
  EXPECT_EQ(keys(counted_loop(false), {foo, control}).back(),
            "Loop@ends=data@steps=1{}(i64[],-,f32[2])->(f32[2])");
  // Nothing of the body ran as a kernel: the constant says how many steps there were.
  EXPECT_EQ(keys(counted_loop(true), {control}).back(),
            "Loop@steps=7{}(i64c[]=7,-,f32[2])->(f32[2])");
}

TEST(Kernels, BranchesAreKernelsBesideTheirIf) {
  Net branch;
  branch.node("Foo", {"outer"}, {"t"}, "then_foo");
  branch.output("t");
  branch.tensor("outer").outer = true;
  Net net;
  net.input("c");
  net.input("outer");
  ir::Node& node = net.node("If", {"c"}, {"y"});
  node.since = 16;
  node.bodies.emplace_back("then_branch", std::make_shared<const ir::Graph>(branch.graph));
  node.captured.push_back(net.id("outer"));
  net.output("y");
  EXPECT_EQ(keys(net, {{"then_foo", {seen({2})}, {seen({2})}, {}},
                       {"If", {seen({}, ir::Dtype::Bool)}, {seen({2})}, {}}}),
            (Texts{"Foo{}(f32[2])->(f32[2])", "If/16{}(bool[])->(f32[2])"}));
}

/// The key of a view that reads an inner tensor, or the input.
std::string view_key(const std::string& from, bool leaves) {
  Net net;
  net.input("x");
  net.node("Foo", {"x"}, {"h"});
  net.node("Flatten", {from}, {"v"}).since = 13;
  net.graph.nodes.back().attributes = {{"axis", 1}};
  net.node("Bar", {"v"}, {"y"});
  net.output(leaves ? "v" : "y");
  return keys(net, {{"Flatten", {seen({2, 3, 4})}, {seen({2, 12})}, {}}}).at(0);
}

TEST(Kernels, ViewsThatLeaveTheGraphAreCopied) {
  EXPECT_EQ(view_key("h", false), "Flatten/13{axis=1}(f32[2,3,4])->(f32[2,12])");
  EXPECT_EQ(view_key("x", false), "Flatten/13{axis=1}(f32[2,3,4])->(f32[2,12])");
  EXPECT_EQ(view_key("h", true), "Flatten/13@copied=1{axis=1}(f32[2,3,4])->(f32[2,12])");
  EXPECT_EQ(view_key("x", true), "Flatten/13@copied=1{axis=1}(f32[2,3,4])->(f32[2,12])");
}

/// Whether a view is copied that gives a Loop's body its output, read from this tensor of the body.
bool copied_in_loop(const std::string& op, const std::string& from) {
  Net body;
  body.input("i");
  body.input("c");
  body.input("s");
  body.node("Foo", {"s"}, {"inner"});
  body.node(op, {from}, {"t"}, "view").since = 13;
  body.output("c");
  body.output("t");
  Net net;
  net.input("x");
  ir::Node& node = net.node("Loop", {"", "", "x"}, {"y"});
  node.bodies.emplace_back("body", std::make_shared<const ir::Graph>(body.graph));
  net.output("y");
  const std::string key = keys(net, {{"view", {seen({2, 2})}, {seen({2, 2})}, {}}}).at(0);
  return key.find("@copied=1") != std::string::npos;
}

TEST(Kernels, OfALoopsBodyViewsAreCopiedButForAnIdentityOfWhatItIsGiven) {
  EXPECT_FALSE(copied_in_loop("Identity", "s"));
  EXPECT_TRUE(copied_in_loop("Identity", "i")) << "the loop counts on in that memory";
  EXPECT_TRUE(copied_in_loop("Identity", "inner"));
  EXPECT_TRUE(copied_in_loop("Flatten", "s"));
}

TEST(Kernels, ConstantsThatLeaveTheGraphAreCopied) {
  Net net;
  net.input("x");
  net.constant("w", {3, 4});
  net.output("w");
  net.output("x");
  net.graph.opsets[""] = 17;
  const auto kernels = kernels_of(net.graph, std::vector<NodeRun>{});
  ASSERT_TRUE(kernels);
  EXPECT_EQ(*kernels,
            (std::vector<PlanKernel>{
                {"w", "Identity/16@copied=1{}(f32c[3,4])->(f32[3,4])", 1, std::nullopt, 0.0}}));
}

// Dropout is not a view: what an optimiser leaves of it copies its operand, or draws a mask.
TEST(Kernels, DropoutIsAKernelLikeAnyOther) {
  Net net;
  net.input("x");
  net.constant("r", {}).small_value = ir::Value(ir::List{0.5});
  net.constant("t", {}, ir::Dtype::Bool).small_value = ir::Value(ir::List{1});
  net.node("Foo", {"x"}, {"h"});
  net.node("Dropout", {"h", "r", "t"}, {"d", "mask"}).since = 13;
  net.node("Bar", {"d"}, {"y"});
  net.output("y");
  const std::string key = keys(net, {{"Dropout",
                                      {seen({2}), seen({}), seen({}, ir::Dtype::Bool)},
                                      {seen({2}), seen({2}, ir::Dtype::Bool)},
                                      {}}})
                              .at(0);
  EXPECT_EQ(key, "Dropout/13{}(f32[2],f32c[],boolc[]=1)->(f32[2],-)");
  EXPECT_FALSE(ir::is_view(*ir::parse(key), ir::Catalogue::own()));
}

/// x into MatMul with weights that the caller may replace.
TEST(Kernels, WeightsThatMayBeReplacedAreNoConstants) {
  Net net = matmul();
  ir::TensorInfo& w = net.tensor("w");
  w.constant = false;
  w.overridable = true;
  w.constant_bytes = 32;
  const std::vector<NodeRun> runs{{"MatMul", {seen({3, 4}), seen({4, 2})}, {seen({3, 2})}, {}}};
  EXPECT_EQ(keys(net, runs), Texts{"MatMul/13{}(f32[3,4],f32[4,2])->(f32[3,2])"});
  EXPECT_EQ(footprint(net.graph, runs).weight_bytes, 32) << "read from memory all the same";
}

TEST(Kernels, ShapesThatChangeFromRunToRunAreKernelsOfTheirOwn) {
  const NodeRun two{"loop_foo", {seen({2}), seen({5})}, {seen({2})}, {}};
  const NodeRun four{"loop_foo", {seen({4}), seen({5})}, {seen({4})}, {}};
  const auto kernels = kernels_of(loop().graph, std::vector<NodeRun>{two, four, two});
  ASSERT_TRUE(kernels);
  EXPECT_EQ(*kernels, (std::vector<PlanKernel>{
                          {"loop_foo", "Foo{}(f32[2],f32[5])->(f32[2])", 2, std::nullopt, 0.0},
                          {"loop_foo", "Foo{}(f32[4],f32[5])->(f32[4])", 1, std::nullopt, 0.0}}));
}

TEST(Kernels, EqualKeysOfTwoNodesAreTwoEntries) {
  Net net;
  net.input("x");
  net.node("Foo", {"x"}, {"a"}, "first");
  net.node("Foo", {"a"}, {"b"}, "second");
  net.output("b");
  const auto kernels =
      kernels_of(net.graph, std::vector<NodeRun>{{"first", {seen({2})}, {seen({2})}, {}},
                                                 {"second", {seen({2})}, {seen({2})}, {}}});
  ASSERT_TRUE(kernels);
  EXPECT_EQ(*kernels,
            (std::vector<PlanKernel>{{"first", "Foo{}(f32[2])->(f32[2])", 1, std::nullopt, 8.0},
                                     {"second", "Foo{}(f32[2])->(f32[2])", 1, std::nullopt, 0.0}}));
}

std::vector<std::optional<double>> input_bytes(const Net& net, const std::vector<NodeRun>& runs) {
  const auto kernels = kernels_of(net.graph, runs);
  std::vector<std::optional<double>> bytes;
  for (const PlanKernel& kernel : kernels.value()) bytes.push_back(kernel.input_bytes);
  return bytes;
}

TEST(Kernels, WhoReadsAnInputFirstSaysItsBytes) {
  Net net;
  net.input("x");
  net.input("ids");
  net.constant("w", {4, 2});
  net.node("Shape", {"x"}, {"s"}).since = 13;
  net.node("Flatten", {"x"}, {"f"}).since = 13;
  net.node("MatMul", {"f", "w"}, {"y"}).since = 13;
  net.node("Add", {"x", "ids"}, {"z"}).since = 14;
  for (const char* name : {"s", "y", "z"}) net.output(name);
  EXPECT_THAT(
      input_bytes(net, {{"Shape", {seen({3, 4})}, {seen({2}, ir::Dtype::I64)}, {}},
                        {"Flatten", {seen({3, 4})}, {seen({3, 4})}, {}},
                        {"MatMul", {seen({3, 4}), seen({4, 2})}, {seen({3, 2})}, {}},
                        {"Add", {seen({3, 4}), seen({4}, ir::Dtype::F16)}, {seen({3, 4})}, {}}}),
      ElementsAre(0, 0, 48, 8))
      << "neither a size nor a view reads it, and who reads it again finds it near";
}

TEST(Kernels, OfAnInputThatIsCutEachCutIsRead) {
  Net net;
  net.input("x");
  net.constant("i", {2}, ir::Dtype::I64);
  net.node("Gather", {"x", "i"}, {"y"}).since = 13;
  net.node("Gather", {"x", "i"}, {"z"}, "next").since = 13;
  net.node("Neg", {"x"}, {"n"}).since = 13;
  for (const char* name : {"y", "z", "n"}) net.output(name);
  EXPECT_THAT(input_bytes(net, {{"Gather", {seen({10, 4}), seen({2})}, {seen({2, 4})}, {}},
                                {"next", {seen({10, 4}), seen({7})}, {seen({7, 4})}, {}},
                                {"Neg", {seen({10, 4})}, {seen({10, 4})}, {}}}),
              ElementsAre(32, 112, 16));
}

// Indices are read whole, however little they pick.
TEST(Kernels, OfWhatPicksTheIndicesAreReadWhole) {
  Net net;
  net.input("x");
  net.input("i");
  net.node("Gather", {"x", "i"}, {"y"}).since = 13;
  net.output("y");
  EXPECT_THAT(
      input_bytes(net, {{"Gather", {seen({10}), seen({4}, ir::Dtype::I64)}, {seen({4})}, {}}}),
      ElementsAre(16 + 32));
}

// Of a view without a result, as an untrusted file may have, no name comes.
TEST(Kernels, MissingResultsAndOperandsAreNoInputs) {
  Net net;
  net.input("x");
  net.node("Flatten", {"x"}, {}).since = 13;
  net.node("Reshape", {"x"}, {""}).since = 14;
  net.node("Foo", {"", "x"}, {"y"});
  net.output("y");
  EXPECT_THAT(input_bytes(net, {{"Flatten", {seen({5})}, {}, {}},
                                {"Reshape", {seen({5})}, {}, {}},
                                {"Foo", {seen({5})}, {seen({5})}, {}}}),
              ElementsAre(0, 0, 20));
}

TEST(Kernels, AnInputOfUnknownSizeIsNotOne) {
  Net net;
  net.input("x");
  net.node("Foo", {"x"}, {"y"});
  net.output("y");
  SeenTensor unknown = seen({5});
  unknown.shape.dims[0] = std::nullopt;
  EXPECT_THAT(input_bytes(net, {{"Foo", {unknown}, {seen({5})}, {}}}),
              ElementsAre(std::optional<double>()));
}

// Its body's kernels read it, which is not counted; who reads it behind the loop finds it near.
TEST(Kernels, WhatALoopTakesIsReadByItsBody) {
  Net net = loop();
  net.input("z");
  net.node("Neg", {"x"}, {"n"}).since = 13;
  net.node("Neg", {"outer"}, {"m"}, "captured").since = 13;
  net.node("Neg", {"z"}, {"k"}, "other").since = 13;
  for (const char* name : {"n", "m", "k"}) net.output(name);
  EXPECT_THAT(input_bytes(net, {{"Loop", {seen({2})}, {seen({2})}, {}},
                                {"Neg", {seen({2})}, {seen({2})}, {}},
                                {"captured", {seen({5})}, {seen({5})}, {}},
                                {"other", {seen({3})}, {seen({3})}, {}}}),
              ElementsAre(0, 0, 0, 12));
}

TEST(Kernels, WhatANodeIsGivenTwiceIsReadOnce) {
  Net net;
  net.input("x");
  net.input("ignored");
  net.node("Mul", {"x", "x"}, {"h"}).since = 14;
  net.node("Flatten", {"h"}, {"y"}).since = 13;
  net.output("y");
  EXPECT_THAT(input_bytes(net, {{"Mul", {seen({5}), seen({5})}, {seen({5})}, {}},
                                {"Flatten", {seen({5})}, {seen({5})}, {}}}),
              ElementsAre(20, 0));
}

// An input that leaves is copied; a weight that may be replaced stays where it is.
TEST(Kernels, ViewsThatLeaveReadWhatTheyCopy) {
  Net net;
  net.input("x");
  net.input("w");
  net.tensor("w").overridable = true;
  net.node("Flatten", {"x"}, {"y"}).since = 13;
  net.node("Neg", {"w"}, {"z"}).since = 13;
  net.output("y");
  net.output("z");
  EXPECT_THAT(input_bytes(net, {{"Flatten", {seen({5})}, {seen({5})}, {}},
                                {"Neg", {seen({5})}, {seen({5})}, {}}}),
              ElementsAre(20, 0));
}

// Keys are made in the memory of the last: one with attributes, a tag and a constant, one with
// nothing of these, whose operands are one tensor.
TEST(Kernels, OfNodesAreThoseOfRunsThatSawWhatTheGraphStates) {
  Net net;
  net.input("x");
  net.constant("w", {4, 2});
  ir::Node& first = net.node("Foo", {"x", "w"}, {"h"});
  first.domain = "com.example";
  first.attributes = {{"z", 1}, {"a", "word"}};
  net.node("Bar", {"h", "h"}, {"y", ""});
  net.output("y");
  for (const char* name : {"x", "h", "y"}) {
    net.tensor(name).dtype = ir::Dtype::F32;
    net.tensor(name).shape = ir::Shape::of({3, 4});
  }
  const std::vector<std::size_t> order = {0, 1, 0};
  Footprint bytes;
  const auto kernels = kernels_of_nodes(net.graph, order, {"com.example", {{"block", 16}}}, bytes);
  ASSERT_TRUE(kernels) << kernels.error().message;
  const NodeRun foo{"Foo", {}, {seen({3, 4})}, {{"block", 16}}};
  const NodeRun bar{"Bar", {}, {seen({3, 4})}, {}};
  EXPECT_EQ(*kernels, *kernels_of(net.graph, std::vector<NodeRun>{foo, bar, foo}));
  EXPECT_EQ(kernels->at(1).key, "Bar{}(f32[3,4],&0)->(f32[3,4],-)");
  EXPECT_EQ(kernels->at(0).count, 2);
  EXPECT_EQ(bytes.weight_bytes, 32);
  EXPECT_EQ(bytes.activation_bytes, 3 * 48);
}

}  // namespace
}  // namespace oplat::plan
