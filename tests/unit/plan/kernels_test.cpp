// SPDX-License-Identifier: Apache-2.0
/// Keys and counts of what ran.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/plan/net.hpp"

namespace oplat::plan {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the graphs of this folder
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
  EXPECT_EQ(
      *kernels,
      (std::vector<PlanKernel>{{"MatMul", "MatMul/13{}(f32[3,4],f32c[4,2])->(f32[3,2])", 1}}));
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

TEST(Kernels, OfBodiesAreCountedAndTheirControlNodeIsNot) {
  const NodeRun foo{"loop_foo", {seen({2}), seen({5})}, {seen({2})}, {}};
  const NodeRun control{"Loop", {seen({2})}, {seen({2})}, {}};
  const auto kernels = kernels_of(loop().graph, std::vector<NodeRun>{foo, foo, foo, control});
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_EQ(*kernels, (std::vector<PlanKernel>{{"loop_foo", "Foo{}(f32[2],f32[5])->(f32[2])", 3}}));
}

TEST(Kernels, ShapesThatChangeFromRunToRunAreKernelsOfTheirOwn) {
  const NodeRun two{"loop_foo", {seen({2}), seen({5})}, {seen({2})}, {}};
  const NodeRun four{"loop_foo", {seen({4}), seen({5})}, {seen({4})}, {}};
  const auto kernels = kernels_of(loop().graph, std::vector<NodeRun>{two, four, two});
  ASSERT_TRUE(kernels);
  EXPECT_EQ(*kernels, (std::vector<PlanKernel>{{"loop_foo", "Foo{}(f32[2],f32[5])->(f32[2])", 2},
                                               {"loop_foo", "Foo{}(f32[4],f32[5])->(f32[4])", 1}}));
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
  EXPECT_EQ(*kernels, (std::vector<PlanKernel>{{"first", "Foo{}(f32[2])->(f32[2])", 1},
                                               {"second", "Foo{}(f32[2])->(f32[2])", 1}}));
}

}  // namespace
}  // namespace oplat::plan
