// SPDX-License-Identifier: Apache-2.0
/// The catalogue as a list: entries found, none twice, facts that others build on.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "ir/caffe2.hpp"
#include "unit/ir/key_samples.hpp"

namespace oplat::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Catalogue, EveryEntryIsFoundUnderItsName) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const OperatorInfo& info : operators()) {
    EXPECT_FALSE(info.op.empty());
    EXPECT_TRUE(seen.emplace(info.domain, info.op).second)
        << info.domain << ":" << info.op << " stands twice";
    EXPECT_EQ(find_operator(info.domain, info.op), &info);
  }
  EXPECT_GT(seen.size(), 150U);
}

/// A slip of the pen in a name would make an entry that no model reaches.
TEST(Catalogue, EveryEntryIsAnOperatorOfItsDomain) {
  for (const OperatorInfo& info : operators()) {
    // ONNX Runtime's own, although it stands in ONNX's domain.
    if (info.op == "SimplifiedLayerNormalization") continue;
    // Paddle's operators have no versions; their names are those of the tables that hold them
    // (paddle_key_test.cpp), or those that tests/python/paddle_test.py makes kernels of.
    if (info.domain.starts_with("paddle")) continue;
    // Tuples of convolution libraries are in no model.
    if (info.domain == "tinynas") continue;
    if (info.domain == kCaffe2Domain) {
      EXPECT_TRUE(is_caffe2_operator(info.op)) << info.op;
      continue;
    }
    bool defined = false;
    for (std::int64_t version = 1; version <= 30; ++version) {
      defined = defined || since_version(info.domain, info.op, version) == version;
    }
    EXPECT_TRUE(defined) << info.domain << ":" << info.op;
  }
}

TEST(Catalogue, UnknownOperatorsHaveNoEntry) {
  EXPECT_EQ(find_operator("", "NoSuchOperator"), nullptr);
  EXPECT_EQ(find_operator("torch", "Conv"), nullptr);
  EXPECT_EQ(find_operator("ai.onnx", "Conv"), find_operator("", "Conv"));
}

TEST(Catalogue, FamiliesThatModelsAreMadeOfHaveFormulas) {
  for (const char* op : {"Conv",
                         "ConvTranspose",
                         "QLinearConv",
                         "ConvInteger",
                         "Gemm",
                         "MatMul",
                         "MatMulInteger",
                         "MaxPool",
                         "AveragePool",
                         "GlobalAveragePool",
                         "Relu",
                         "Clip",
                         "Sigmoid",
                         "HardSwish",
                         "Add",
                         "Mul",
                         "Pow",
                         "QuantizeLinear",
                         "DynamicQuantizeLinear",
                         "BatchNormalization",
                         "LayerNormalization",
                         "Softmax",
                         "ReduceMean",
                         "LSTM",
                         "GRU",
                         "RNN",
                         "Concat",
                         "Split",
                         "Transpose",
                         "Slice",
                         "Gather",
                         "Pad",
                         "Resize",
                         "Expand",
                         "Tile",
                         "Reshape",
                         "Flatten"}) {
    const OperatorInfo* info = find_operator("", op);
    ASSERT_NE(info, nullptr) << op;
    EXPECT_NE(info->flops, nullptr) << op;
  }
  for (const char* op : {"FusedConv",          "NhwcFusedConv",
                         "QLinearConv",        "FusedMatMul",
                         "FusedGemm",          "QGemm",
                         "MatMulNBits",        "Gelu",
                         "QuickGelu",          "BiasGelu",
                         "FastGelu",           "QLinearAdd",
                         "QLinearMul",         "QLinearSigmoid",
                         "QLinearLeakyRelu",   "QLinearGlobalAveragePool",
                         "QLinearAveragePool", "SkipLayerNormalization",
                         "Attention",          "MultiHeadAttention"}) {
    const OperatorInfo* info = find_operator("com.microsoft", op);
    ASSERT_NE(info, nullptr) << op;
    EXPECT_NE(info->flops, nullptr) << op;
  }
  for (const char* op : {"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool",
                         "ReorderInput", "ReorderOutput", "Upsample"}) {
    EXPECT_NE(find_operator("com.microsoft.nchwc", op), nullptr) << op;
  }
}

TEST(Catalogue, AnAttributeThatChangesTheWorkIsNotInert) {
  const OperatorInfo* quick_gelu = find_operator("com.microsoft", "QuickGelu");
  ASSERT_NE(quick_gelu, nullptr);
  EXPECT_TRUE(quick_gelu->inert.empty()) << "with alpha 1 the runtime leaves out a pass";
  EXPECT_FALSE(find_operator("", "LeakyRelu")->inert.empty());
}

TEST(Catalogue, ViewsAreTheReshapingOperators) {
  std::map<std::string_view, std::set<std::string_view>> views;
  for (const OperatorInfo& info : operators()) {
    if (info.view) views[info.domain].insert(info.op);
  }
  EXPECT_EQ(views.size(), 2U);
  EXPECT_THAT(views[""],
              ElementsAre("Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"));
  EXPECT_THAT(views["paddle_lite"],
              ElementsAre("dropout", "flatten", "flatten2", "flatten_contiguous_range", "reshape",
                          "reshape2", "squeeze", "squeeze2", "unsqueeze", "unsqueeze2"));
}

TEST(Catalogue, OperandsThatKernelsWriteOver) {
  const auto overwritable = [](std::string_view domain, std::string_view op) {
    return find_operator(domain, op)->overwritable;
  };
  EXPECT_THAT(overwritable("com.microsoft.nchwc", "Conv"), ElementsAre(3));
  EXPECT_THAT(overwritable("com.microsoft", "FusedConv"), ElementsAre(3));
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "Clip", "Cast", "Softmax", "LeakyRelu",
                         "HardSigmoid", "Reshape"}) {
    EXPECT_THAT(overwritable("", op), ElementsAre(0)) << op;
  }
  for (const char* op : {"Conv", "Gemm", "Add", "Mul", "Exp", "Erf", "BatchNormalization",
                         "LayerNormalization", "Transpose"}) {
    EXPECT_THAT(overwritable("", op), IsEmpty()) << op;
  }
}

}  // namespace
}  // namespace oplat::ir
