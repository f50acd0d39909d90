// SPDX-License-Identifier: Apache-2.0
#include "runtimes/onnxruntime/node_labels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::runtimes::onnxruntime {
namespace {

using formats::onnx::NodeEnds;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Nodes = std::vector<NodeEnds>;

/// As a run has them: n0, n1 and so on.
Nodes numbered(Nodes nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].name = "n" + std::to_string(i);
  return nodes;
}

const Nodes kModel = {{"/conv1/Conv", "Conv", {"x"}, {"conv1"}},
                      {"/relu/Relu", "Relu", {"conv1"}, {"relu"}},
                      {"/conv2/Conv", "Conv", {"relu"}, {"conv2"}},
                      {"/Add", "Add", {"conv2", "relu"}, {"sum"}},
                      {"/loop/Loop", "Loop", {"sum"}, {"looped"}, true},
                      {"/norm/Div", "Div", {"looped"}, {"divided"}},
                      {"/norm/Add", "Add", {"divided"}, {"output"}}};

TEST(NodeLabelsTest, ANodeThatTheRuntimeLeftAloneHasItsName) {
  EXPECT_THAT(node_labels(kModel, kModel, numbered(kModel)),
              UnorderedElementsAre(Pair("n0", "/conv1/Conv"), Pair("n1", "/relu/Relu"),
                                   Pair("n2", "/conv2/Conv"), Pair("n3", "/Add"),
                                   Pair("n5", "/norm/Div"), Pair("n6", "/norm/Add")));
}

TEST(NodeLabelsTest, AFusedNodeIsCalledAfterTheNearestOfItsOperator) {
  // As ONNX Runtime writes it, with blocked layouts, and a normalisation made of two nodes.
  const Nodes fused = {{"relu_nchwc", "Conv", {"x"}, {"reorder"}},
                       {"sum_nchwc", "Conv", {"reorder", "w", "", "reorder"}, {"reorder_1"}},
                       {"ReorderOutput", "ReorderOutput", {"reorder_1"}, {"sum"}},
                       {"LayerNormalization", "LayerNormalization", {"looped"}, {"output"}}};
  EXPECT_THAT(node_labels(kModel, fused, numbered(fused)),
              UnorderedElementsAre(Pair("n0", "/conv1/Conv"), Pair("n1", "/conv2/Conv"),
                                   Pair("n3", "/norm/Add")));
  const Nodes plain = {{"fused", "FusedConv", {"x"}, {"relu"}}};
  EXPECT_THAT(node_labels(kModel, plain, numbered(plain)),
              UnorderedElementsAre(Pair("n0", "/conv1/Conv")));
}

TEST(NodeLabelsTest, ANodeThatIsCalledAfterOneOfTheModelHasItsName) {
  // As ONNX Runtime writes fusions, fusions of fusions, and nodes in another layout.
  const Nodes model = {{"/mlp/MatMul", "MatMul", {"x", "w"}, {"product"}},
                       {"/mlp/Add", "Add", {"product", "b"}, {"sum"}},
                       {"/out/MatMul", "MatMul", {"sum", "v"}, {"output"}},
                       {"/conv/Conv", "QLinearConv", {"output"}, {"conv"}}};
  const Nodes fused = {
      {"gemm_input_reshape", "Reshape", {"x"}, {"gemm_input_reshape_arg"}},
      {"/mlp/MatMul/MatMulAddFusion", "Gemm", {"gemm_input_reshape_arg"}, {"product_arg"}},
      {"gemm_output_reshape", "Reshape", {"product_arg"}, {"sum"}},
      {"/out/MatMul/MatmulTransposeFusion//MatMulScaleFusion/", "FusedMatMul", {"sum"}, {"output"}},
      {"/conv/Conv_token_12", "QLinearConv", {"output"}, {"Transpose_token_9"}},
      {"/conv/Conv/twice", "QLinearConv", {"output"}, {"other"}}};
  EXPECT_THAT(node_labels(model, fused, numbered(fused)),
              UnorderedElementsAre(Pair("n1", "/mlp/MatMul"), Pair("n3", "/out/MatMul"),
                                   Pair("n4", "/conv/Conv")));
}

TEST(NodeLabelsTest, WhatAnotherNodeThatRanMakesIsNotOfThisOne) {
  const Nodes apart = {{"a", "Conv", {"x"}, {"conv1"}}, {"b", "Conv", {"conv1"}, {"relu"}}};
  EXPECT_THAT(node_labels(kModel, apart, numbered(apart)),
              UnorderedElementsAre(Pair("n0", "/conv1/Conv"), Pair("n1", "/relu/Relu")));
}

TEST(NodeLabelsTest, AfterAFurtherRewriteOnlyResultsAreLeft) {
  const Nodes executed = {{"n0", "Conv", {"x"}, {"relu"}}};
  EXPECT_THAT(node_labels(kModel, kModel, executed),
              UnorderedElementsAre(Pair("n0", "/conv1/Conv")));
}

TEST(NodeLabelsTest, ALabelIsThereOnce) {
  const Nodes twice = {{"/Conv", "Conv", {"x"}, {"a"}}, {"/Conv", "Conv", {"a"}, {"b"}}};
  EXPECT_THAT(node_labels(twice, twice, numbered(twice)), IsEmpty());
  // Two nodes that the runtime made of one.
  const Nodes parts = {{"part", "Conv", {"x"}, {"conv1"}}, {"/conv1/Conv", "Conv", {"x"}, {"b"}}};
  EXPECT_THAT(node_labels(kModel, parts, numbered(parts)),
              UnorderedElementsAre(Pair("n0", "/conv1/Conv")));
}

TEST(NodeLabelsTest, WhatCouldBeTakenForANameOfARunIsNone) {
  for (const char* name : {"n7_0_2", "n1", "", "a b", "a\nb", "\xff"}) {
    const Nodes nodes = {{name, "Relu", {"x"}, {"a"}}};
    EXPECT_THAT(node_labels(nodes, nodes, numbered(nodes)), IsEmpty()) << name;
  }
  const Nodes nodes = {{std::string(1000, 'x'), "Relu", {"x"}, {"a"}}};
  EXPECT_THAT(node_labels(nodes, nodes, numbered(nodes)), IsEmpty());
}

}  // namespace
}  // namespace oplat::runtimes::onnxruntime
