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

TEST(Footprint, OfATableOnlyWhatIsPicked) {
  Net net;
  net.input("i");
  net.constant("table", {1000, 8});  // 32,000 bytes
  net.constant("w", {8, 8});         // 256
  net.node("Gather", {"table", "i"}, {"h"}, "look_up");
  net.node("MatMul", {"h", "w"}, {"y"}, "product");
  net.node("MatMul", {"h", "table"}, {"z"}, "tied");
  net.output("y");
  const auto look_up = [](std::int64_t lines) {
    return NodeRun{"look_up", {seen({1000, 8}), seen({lines})}, {seen({lines, 8})}, {}};
  };
  const NodeRun product{"product", {seen({4, 8}), seen({8, 8})}, {seen({4, 8})}, {}};
  const auto weights = [&](const std::vector<NodeRun>& runs) {
    return footprint(net.graph, runs).weight_bytes;
  };
  EXPECT_EQ(weights({look_up(4), product}), 4 * 32 + 256);
  EXPECT_EQ(weights({look_up(4), look_up(6), product}), 10 * 32 + 256);
  EXPECT_EQ(weights({look_up(5000)}), 32'000) << "the whole at most";
  const NodeRun tied{"tied", {seen({4, 8}), seen({1000, 8})}, {seen({4, 1000})}, {}};
  EXPECT_EQ(weights({look_up(4), tied}), 32'000) << "another kernel reads all of it";
  EXPECT_EQ(weights({{"look_up", {}, {{std::nullopt, {}}}, {}}}), 32'000)
      << "nothing says how much is picked";
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
