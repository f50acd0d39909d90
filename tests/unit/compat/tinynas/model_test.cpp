// SPDX-License-Identifier: Apache-2.0
/// Structures and samples as ONNX models: the graphs hold what the corrected rules count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "compat/tinynas/op_profiler.hpp"
#include "formats/onnx.hpp"
#include "unit/formats/models.hpp"

namespace oplat::compat::tinynas {
namespace {

using ::testing::HasSubstr;

/// Every class, activations of both kinds, odd sizes.
constexpr const char* kNet = R"([
  {'class': 'ConvKXBNRELU', 'in': 3, 'out': 8, 'k': 3, 's': 2, 'act': 'relu6'},
  {'class': 'SuperResKXKX', 'in': 8, 'out': 8, 'btn': 4, 'k': 3, 's': 2, 'L': 2, 'act': 'learkyrelu'},
  {'class': 'SuperResK1KX', 'in': 8, 'out': 16, 'btn': 4, 'k': 3, 's': 1, 'L': 1, 'g': 2},
  {'class': 'SuperResK1KXK1', 'in': 16, 'out': 16, 'btn': 8, 'k': 5, 's': 2, 'L': 1, 'act': 'sigmoid'},
  {'class': 'SuperResK1DWK1', 'in': 16, 'out': 24, 'btn': 32, 'k': 3, 's': 1, 'L': 2},
  {'class': 'SuperResK1DWSEK1', 'in': 24, 'out': 24, 'btn': 40, 'k': 3, 's': 2, 'L': 1},
  {'class': 'ConvKXBN', 'in': 24, 'out': 10, 'k': 1}])";

struct Written {
  formats::onnx::wire::Model wire;
  std::map<std::string, int> operators;
};

Written read_back(const std::string& bytes) {
  Written out;
  EXPECT_TRUE(out.wire.ParseFromString(bytes));
  for (const auto& node : out.wire.graph().node()) ++out.operators[node.op_type()];
  auto model = formats::onnx::Model::load(base::Source::from_bytes("model", bytes));
  EXPECT_TRUE(model && model->graph());
  return out;
}

std::vector<std::int64_t> ints(const formats::onnx::wire::Node& node, const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
  }
  return {};
}

TEST(StructureModel, HoldsTheConvolutionsThatAreCounted) {
  const auto structure = read_structure(base::Source::from_bytes("net.txt", kNet));
  ASSERT_TRUE(structure) << structure.error().message;
  const auto convs = convolutions(*structure, 45, Rules::Corrected);
  ASSERT_TRUE(convs) << convs.error().message;
  const auto bytes = structure_model(*structure, 45, 2);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const Written model = read_back(*bytes);
  std::map<std::string, std::vector<std::int64_t>> weights;
  for (const auto& tensor : model.wire.graph().initializer())
    weights[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
  std::map<std::string, const formats::onnx::wire::Node*> nodes;
  for (const auto& node : model.wire.graph().node()) nodes[node.name()] = &node;
  for (const NamedConv& one : *convs) {
    const ConvTuple& conv = one.conv;
    ASSERT_TRUE(nodes.contains(one.name)) << one.name;
    const bool depthwise = conv.type == ConvType::Depthwise;
    const std::vector<std::int64_t> dims = {conv.out_c, depthwise ? 1 : conv.in_c / conv.group,
                                            conv.kernel, conv.kernel};
    EXPECT_EQ(weights[one.name + ".weight"], dims) << one.name;
    EXPECT_EQ(ints(*nodes[one.name], "strides"),
              std::vector<std::int64_t>({conv.stride, conv.stride}));
  }
  EXPECT_EQ(static_cast<std::size_t>(model.operators.at("Conv")), convs->size());
  EXPECT_EQ(model.operators.at("BatchNormalization"), model.operators.at("Conv"));
  // A sum for each fused convolution.
  const auto fused = std::count_if(convs->begin(), convs->end(),
                                   [](const NamedConv& one) { return one.conv.fused; });
  EXPECT_EQ(model.operators.at("Add"), fused);
  EXPECT_EQ(model.operators.at("AveragePool"), 3);
  EXPECT_EQ(model.operators.at("GlobalAveragePool"), 1);
  EXPECT_EQ(model.operators.at("Clip"), 1);
  EXPECT_EQ(model.operators.at("LeakyRelu"), 4);
  const auto& input = model.wire.graph().input(0);
  EXPECT_EQ(input.name(), "input");
  EXPECT_EQ(input.type().tensor_type().shape().dim(0).dim_value(), 2);
  // 45 -> 23 -> 12 -> 6 -> 3.
  const auto& output = model.wire.graph().output(0).type().tensor_type().shape();
  EXPECT_EQ(output.dim(1).dim_value(), 10);
  EXPECT_EQ(output.dim(2).dim_value(), 3);
}

TEST(StructureModel, IsTheSameInEveryRun) {
  const auto structure = read_structure(base::Source::from_bytes("net.txt", kNet));
  ASSERT_TRUE(structure);
  EXPECT_EQ(*structure_model(*structure, 32, 1), *structure_model(*structure, 32, 1));
}

TEST(StructureModel, TooManyWeightsAreRefusedBeforeTheyAreMade) {
  const auto structure = read_structure(
      base::Source::from_bytes("net.txt", "[{'class':'ConvKXBN','in':100000,'out':100000,'k':3}]"));
  ASSERT_TRUE(structure);
  const auto bytes = structure_model(*structure, 8, 1);
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().message, HasSubstr("the limit for an ONNX file is 2 GiB"));
}

TEST(SampleModel, FusedHasASecondInput) {
  ConvTuple conv;
  conv.batch = 8, conv.in_c = 16, conv.out_c = 32, conv.in_h = conv.in_w = 15, conv.kernel = 3,
  conv.stride = 2;
  const auto plain = sample_model(conv);
  ASSERT_TRUE(plain);
  EXPECT_EQ(read_back(*plain).operators,
            (std::map<std::string, int>{{"Conv", 1}, {"BatchNormalization", 1}, {"Relu", 1}}));
  conv.fused = true;
  const auto fused = sample_model(conv);
  ASSERT_TRUE(fused);
  const Written model = read_back(*fused);
  EXPECT_EQ(model.operators.at("Add"), 1);
  ASSERT_EQ(model.wire.graph().input_size(), 2);
  EXPECT_EQ(model.wire.graph().input(1).type().tensor_type().shape().dim(2).dim_value(), 8);
  // Of a depthwise sample In_C is ignored, as everywhere.
  conv = {ConvType::Depthwise, 1, 7, 8, 8, 32, 3, 1};
  const auto depthwise = sample_model(conv);
  ASSERT_TRUE(depthwise);
  EXPECT_EQ(
      read_back(*depthwise).wire.graph().input(0).type().tensor_type().shape().dim(1).dim_value(),
      32);
  conv = {ConvType::Regular, 1, 8, 1, 1, 8, 4, 1};
  EXPECT_FALSE(sample_model(conv));  // 4x4 on 1x1 with padding 1
  conv = {ConvType::Regular, 1, 8, 16, 15, 8, 3, 1};
  const auto oblong = sample_model(conv);  // its log could not be collected
  ASSERT_FALSE(oblong);
  EXPECT_THAT(oblong.error().message,
              HasSubstr("{Regular,1,8,16,15,8,3,1,0}: In_H differs from In_W"));
}

}  // namespace
}  // namespace oplat::compat::tinynas
