// SPDX-License-Identifier: Apache-2.0
/// Bytes that one run touches.
#include <gtest/gtest.h>

#include "unit/plan/net.hpp"

namespace oplat::plan {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the graphs of this folder

TEST(Footprint, WeightsOnceResultsEachTime) {
  Net net;
  net.input("x");
  net.constant("w", {4, 4});  // 64 bytes, read by both
  net.constant("b", {4});     // 16 bytes
  net.constant("idle", {1000});
  net.node("MatMul", {"x", "w"}, {"h"}, "first");
  net.node("Gemm", {"h", "w", "b"}, {"y"}, "second");
  net.node("Foo", {"h", "idle"}, {"z"}, "not_run");
  net.output("y");
  const NodeRun first{"first", {seen({2, 4}), seen({4, 4})}, {seen({2, 4})}, {}};
  const NodeRun second{"second", {seen({2, 4}), seen({4, 4}), seen({4})}, {seen({2, 4})}, {}};
  const Footprint once = footprint(net.graph, std::vector<NodeRun>{first, second});
  EXPECT_EQ(once.weight_bytes, 64 + 16);
  EXPECT_EQ(once.activation_bytes, 2 * 32);
  const Footprint again = footprint(net.graph, std::vector<NodeRun>{first, first, second});
  EXPECT_EQ(again.weight_bytes, 64 + 16);
  EXPECT_EQ(again.activation_bytes, 3 * 32);
}

TEST(Footprint, WeightsOfOneHashAreOneWeight) {
  Net net;
  net.constant("a", {8}).constant_hash = 1;
  net.constant("b", {8}).constant_hash = 1;
  net.constant("c", {8}).constant_hash = 2;
  net.node("Foo", {"a", "b", "c"}, {"y"});
  EXPECT_EQ(footprint(net.graph, std::vector<NodeRun>{{"Foo", {}, {}, {}}}).weight_bytes, 2 * 32);
}

TEST(Footprint, ViewsMoveNothing) {
  Net net;
  net.input("x");
  net.node("Reshape", {"x", "s"}, {"y"});
  EXPECT_EQ(footprint(net.graph, std::vector<NodeRun>{{"Reshape", {}, {seen({1000})}, {}}})
                .activation_bytes,
            0);
}

TEST(Footprint, AViewThatLeavesTheGraphIsCopied) {
  Net net;
  net.input("x");
  net.node("Reshape", {"x", "s"}, {"y"});
  net.output("y");
  EXPECT_EQ(footprint(net.graph, std::vector<NodeRun>{{"Reshape", {}, {seen({1000})}, {}}})
                .activation_bytes,
            4000);
}

TEST(Footprint, TypesHaveTheirSizes) {
  Net net;
  net.input("x");
  net.node("Foo", {"x"}, {"a", "b", "c"});
  const NodeRun run{"Foo",
                    {},
                    {seen({10}, ir::Dtype::F16),
                     seen({10}, ir::Dtype::I4),
                     {ir::Dtype::F32, {.ranked = false, .dims = {}}}},
                    {}};
  EXPECT_EQ(footprint(net.graph, std::vector<NodeRun>{run}).activation_bytes, 20 + 5);
}

TEST(Footprint, ControlNodesAndUnknownNodesCountNothing) {
  Net net;
  net.constant("w", {4});
  net.node("If", {"w"}, {"y"})
      .bodies.emplace_back("then_branch", std::make_shared<const ir::Graph>());
  const Footprint bytes = footprint(
      net.graph, std::vector<NodeRun>{{"If", {}, {seen({4})}, {}}, {"other", {}, {seen({4})}, {}}});
  EXPECT_EQ(bytes.weight_bytes, 0);
  EXPECT_EQ(bytes.activation_bytes, 0);
}

}  // namespace
}  // namespace oplat::plan
