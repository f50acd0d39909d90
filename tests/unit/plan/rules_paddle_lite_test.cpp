// SPDX-License-Identifier: Apache-2.0
/// What data/fusion/paddle-lite.yaml makes of small graphs.
#include <gmock/gmock.h>

#include "compat/registry.hpp"
#include "unit/plan/paddle_net.hpp"

namespace oplat::plan::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PaddleNet image(const Dims& dims = {1, 3, 8, 8}) {
  PaddleNet net;
  net.input("x");
  net.activation("x", dims);
  return net;
}

TEST(PaddleLiteRules, AreReadAndNamedNewestFirst) {
  EXPECT_THAT(rule_set_names(compat::rule_sets()),
              ElementsAre("paddle-lite@2.12", "paddle-lite@2.10", "onnxruntime@1.31.1"));
  EXPECT_EQ(built_in_rules("paddle-lite", compat::rule_sets())->version, "2.12");
  EXPECT_EQ(built_in_rules("paddle-lite@2.10", compat::rule_sets())->runtime, "paddle_lite");
  const auto unknown = built_in_rules("paddle-light", compat::rule_sets());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::Usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("paddle-lite@2.12, paddle-lite@2.10"));
}

TEST(PaddleLiteRules, ConvolutionTakesNormAndActivation) {
  PaddleNet net = image();
  net.conv("x", "c", {4, 3, 3, 3}, 4, 2);
  net.batch_norm("c", "n");
  net.unary("relu", "n", "y");
  net.output("y");
  EXPECT_THAT(rule_keys(net),
              ElementsAre("paddle_lite:conv2d{activation=relu,bias=true,bit_length=None,dilations=["
                          "1,1],group=1,pads=[1,1,1,1],quant=None,"
                          "strides=[2,2]}(f32[1,3,8,8],f32c[4,3,3,3])->(f32[1,4,4,4])"));
  const auto graph = fuse(net.graph, *built_in_rules("paddle-lite", compat::rule_sets()));
  EXPECT_EQ(fused_words(*graph, graph->nodes[0]).attributes,
            "strides=2,2 paddings=1,1 dilations=1,1 groups=1 act_type=relu with_act=1 fuse_relu=1");
  EXPECT_EQ(fused_words(*graph, graph->nodes[0]).filter, "4x3x3x3");
}

TEST(PaddleLiteRules, NothingIsTakenFromASecondReader) {
  PaddleNet net = image();
  net.conv("x", "c", {4, 3, 3, 3}, 8);
  net.unary("relu", "c", "y");
  net.unary("sigmoid", "c", "z");
  net.output("y");
  net.output("z");
  EXPECT_THAT(fused(net), ElementsAre("conv2d 4x3x3x3", "relu", "sigmoid"));
}

TEST(PaddleLiteRules, NothingIsTakenFromAResultOfTheModel) {
  PaddleNet net = image();
  net.conv("x", "c", {4, 3, 3, 3}, 8);
  net.unary("relu", "c", "y");
  net.output("c");
  net.output("y");
  EXPECT_THAT(fused(net), ElementsAre("conv2d 4x3x3x3", "relu"));
}

TEST(PaddleLiteRules, ANormThatTwoConvolutionsShareStays) {
  PaddleNet net = image();
  net.conv("x", "c", {4, 3, 3, 3}, 8);
  net.batch_norm("c", "n");
  net.conv("n", "d", {4, 4, 3, 3}, 8);
  net.op("batch_norm",
         {{"Bias", "n.b"}, {"Mean", "n.m"}, {"Scale", "n.s"}, {"Variance", "n.v"}, {"X", "d"}},
         {{"Y", "y"}});
  net.output("y");
  EXPECT_THAT(fused(net),
              ElementsAre("conv2d 4x3x3x3", "batch_norm", "conv2d 4x4x3x3", "batch_norm"));
}

TEST(PaddleLiteRules, HardSwishStaysBehindDepthwiseConvolutions) {
  PaddleNet net = image({1, 4, 8, 8});
  net.conv("x", "c", {4, 1, 5, 5}, 8, 1, 4);
  net.batch_norm("c", "n");
  net.unary("hard_swish", "n", "h");
  net.conv("h", "d", {8, 4, 1, 1}, 8);
  net.unary("hard_swish", "d", "y",
            {{"threshold", ir::Value(6.0)}, {"scale", ir::Value(6.0)}, {"offset", ir::Value(3.0)}});
  net.output("y");
  EXPECT_THAT(fused(net),
              ElementsAre("depthwise_conv2d 4x1x5x5", "hard_swish", "conv2d 8x4x1x1 hard_swish"));
}

TEST(PaddleLiteRules, ABiasThatIsReshapedFirstStaysAnAddition) {
  PaddleNet net = image({1, 8, 1, 1});
  net.conv("x", "c", {4, 8, 1, 1}, 1);
  net.constant("b", {4});
  net.op("reshape2", {{"X", "b"}}, {{"Out", "r"}}, {{"shape", ints({1, -1, 1, 1})}});
  net.activation("r", {1, 4, 1, 1});
  net.binary("elementwise_add", "c", "r", "a");
  net.unary("relu", "a", "y");
  net.output("y");
  EXPECT_THAT(fused(net),
              ElementsAre("conv2d 4x8x1x1", "reshape2", "fusion_elementwise_add_activation relu"));
}

TEST(PaddleLiteRules, AConstantAdditionIsABias) {
  PaddleNet net = image();
  net.conv("x", "c", {4, 3, 1, 1}, 8);
  net.constant("b", {4});
  net.binary("elementwise_add", "c", "b", "a");
  net.unary("leaky_relu", "a", "y", {{"alpha", ir::Value(0.1)}});
  net.output("y");
  EXPECT_THAT(fused(net), ElementsAre("conv2d 4x3x1x1 leaky_relu"));
}

PaddleNet classifier(const char* activation = nullptr) {
  PaddleNet net = image({1, 16, 1, 1});
  net.op("flatten_contiguous_range", {{"X", "x"}}, {{"Out", "f"}},
         {{"start_axis", ir::Value(1)}, {"stop_axis", ir::Value(3)}});
  net.activation("f", {1, 16});
  net.linear("f", "l", 16, 10);
  if (activation != nullptr) net.unary(activation, "l", "y");
  net.output(activation != nullptr ? "y" : "l");
  return net;
}

TEST(PaddleLiteRules, FullyConnectedLayersAreOneFrom212) {
  EXPECT_THAT(rule_keys(classifier()),
              ElementsAre("paddle_lite:fc{}(f32[1,16,1,1],f32c[16,10])->(f32[1,10])"));
  EXPECT_THAT(fused(classifier("relu")), ElementsAre("fc 16x10 relu"));
  EXPECT_THAT(fused(classifier("hard_swish")), ElementsAre("fc 16x10", "hard_swish"));
  EXPECT_THAT(fused(classifier(), "paddle-lite@2.10"),
              ElementsAre("flatten_contiguous_range", "matmul_v2", "elementwise_add"));
  EXPECT_THAT(rule_keys(classifier(), "paddle-lite@2.10").back(),
              "paddle_lite:elementwise_add{axis=-1}(f32[1,10],f32c[10])->(f32[1,10])");
}

TEST(PaddleLiteRules, ATransposedMatrixIsNoFullyConnectedLayer) {
  PaddleNet net = classifier();
  for (ir::Node& node : net.graph.nodes) {
    for (auto& [name, value] : node.attributes)
      if (name == "trans_y") value = ir::Value("true");
  }
  EXPECT_THAT(fused(net), ElementsAre("flatten_contiguous_range", "matmul_v2", "elementwise_add"));
}

/// `former_shapes`: what of split, swap and join has the result XShape.
PaddleNet shuffle(const ir::Value& axis, const std::vector<bool>& former_shapes) {
  PaddleNet net = image({1, 8, 4, 4});
  net.op("reshape2", {{"X", "x"}}, {{"Out", "a"}}, {{"shape", ints({0, 2, 4, 4, 4})}});
  net.op("transpose2", {{"X", "a"}}, {{"Out", "b"}}, {{"axis", axis}});
  net.op("reshape2", {{"X", "b"}}, {{"Out", "y"}}, {{"shape", ints({0, 8, 4, 4})}});
  for (std::size_t i = 0; i < former_shapes.size(); ++i) {
    if (former_shapes[i]) net.graph.nodes[i].attributes.emplace_back("XShape", ir::Value("true"));
  }
  net.activation("y", {1, 8, 4, 4});
  net.output("y");
  return net;
}

TEST(PaddleLiteRules, ChannelsAreShuffledByOneOperator) {
  const ir::Value swapped = ints({0, 2, 1, 3, 4});
  EXPECT_THAT(rule_keys(shuffle(swapped, {true, true, true})),
              ElementsAre("paddle_lite:shuffle_channel{group=2}(f32[1,8,4,4])->(f32[1,8,4,4])"));
  EXPECT_THAT(fused(shuffle(ints({0, 1, 2, 3, 4}), {true, true, true})),
              ElementsAre("reshape2", "transpose2", "reshape2"));
}

// As Paddle 2.6.2 exports a ShuffleNet: 2.12 does not fuse, the time of 2.10 did.
TEST(PaddleLiteRules, ChannelsOfALaterExportAreShuffledByThreeOperators) {
  const ir::Value swapped = ints({0, 2, 1, 3, 4});
  for (const std::vector<bool>& former_shapes :
       {std::vector<bool>{true, false, true}, {false, true, true}, {true, true, false}, {}}) {
    EXPECT_THAT(fused(shuffle(swapped, former_shapes)),
                ElementsAre("reshape2", "transpose2", "reshape2"));
    EXPECT_THAT(fused(shuffle(swapped, former_shapes), "paddle-lite@2.10"),
                ElementsAre("shuffle_channel"));
  }
}

TEST(PaddleLiteRules, SoftmaxTakesTransposesWithFormerShapes) {
  for (const bool former_shapes : {true, false}) {
    PaddleNet net = image({1, 8, 4, 4});
    net.op("transpose2", {{"X", "x"}}, {{"Out", "a"}}, {{"axis", ints({0, 2, 3, 1})}});
    net.op("softmax", {{"X", "a"}}, {{"Out", "b"}}, {{"axis", ir::Value(-1)}});
    net.op("transpose2", {{"X", "b"}}, {{"Out", "y"}}, {{"axis", ints({0, 3, 1, 2})}});
    net.activation("a", {1, 4, 4, 8});
    net.activation("b", {1, 4, 4, 8});
    net.activation("y", {1, 8, 4, 4});
    net.output("y");
    if (former_shapes) {
      for (const std::size_t i : {0U, 2U})
        net.graph.nodes[i].attributes.emplace_back("XShape", ir::Value("true"));
      EXPECT_THAT(fused(net), ElementsAre("softmax"));
    } else {
      EXPECT_THAT(fused(net), ElementsAre("transpose2", "softmax", "transpose2"));
      EXPECT_THAT(fused(net, "paddle-lite@2.10"), ElementsAre("softmax"));
    }
  }
}

/// first -> second convolution, both linear.
PaddleNet pair(std::int64_t in, std::int64_t between, std::int64_t out) {
  PaddleNet net = image({1, in, 8, 8});
  net.conv("x", "c", {between, in, 1, 1}, 8);
  net.conv("c", "y", {out, between, 1, 1}, 8);
  net.output("y");
  return net;
}

TEST(PaddleLiteRules, TwoLinearConvolutionsAreOneWhereThatPays) {
  EXPECT_THAT(fused(pair(16, 16, 72)),
              ElementsAre("conv2d 16x16x1x1"));  // the program states the shape that the first had
  EXPECT_THAT(rule_keys(pair(16, 16, 72))[0],
              HasSubstr("(f32[1,16,8,8],f32c[72,16,1,1])->(f32[1,72,8,8])"));
  EXPECT_THAT(fused(pair(32, 16, 96)), ElementsAre("conv2d 16x32x1x1", "conv2d 96x16x1x1"));
}

TEST(PaddleLiteRules, SigmoidTimesItsOperandIsSwish) {
  PaddleNet net = image();
  net.unary("sigmoid", "x", "s");
  net.binary("elementwise_mul", "x", "s", "m");
  net.unary("sigmoid", "m", "t");
  net.binary("elementwise_mul", "t", "x", "y");
  net.output("y");
  EXPECT_THAT(fused(net), ElementsAre("swish", "sigmoid", "elementwise_mul"));
}

TEST(PaddleLiteRules, DropoutStaysAndScalingByOneGoes) {
  PaddleNet net = image();
  net.unary("dropout", "x", "d");
  net.unary("scale", "d", "s", {{"scale", ir::Value(1.0)}, {"bias", ir::Value(0.0)}});
  net.unary("scale", "s", "y", {{"scale", ir::Value(1.0)}, {"bias", ir::Value(0.0)}});
  net.output("y");
  // The second follows a scale, which the rule does not look through.
  EXPECT_THAT(fused(net), ElementsAre("dropout", "scale"));
}

TEST(PaddleLiteRules, KernelsStandInTheOrderOfADepthFirstWalk) {
  PaddleNet net = image();
  net.conv("x", "a", {4, 3, 1, 1}, 8);
  net.unary("relu", "a", "ar");
  net.conv("x", "b", {4, 3, 1, 1}, 8);
  net.unary("relu", "b", "br");
  net.op("pool2d", {{"X", "x"}}, {{"Out", "p"}},
         {{"ksize", ints({3, 3})},
          {"strides", ints({1, 1})},
          {"paddings", ints({1, 1})},
          {"pooling_type", ir::Value("max")}});
  net.activation("p", {1, 3, 8, 8});
  net.op("concat", {{"X", "ar"}, {"X", "br"}, {"X", "p"}}, {{"Out", "y"}},
         {{"axis", ir::Value(1)}});
  net.activation("y", {1, 11, 8, 8});
  net.output("y");
  // The pool was there before the convolutions were made anew with their activations.
  EXPECT_THAT(fused(net),
              ElementsAre("pool2d", "conv2d 4x3x1x1 relu", "conv2d 4x3x1x1 relu", "concat"));
  EXPECT_EQ(rule_keys(net).back(),
            "paddle_lite:concat{axis=1}(f32[1,4,8,8],f32[1,4,8,8],f32[1,3,8,8])->(f32[1,11,8,8])");
}

TEST(PaddleLiteRules, AdaptivePoolsToOneAreGlobal) {
  PaddleNet net = image();
  net.op("pool2d", {{"X", "x"}}, {{"Out", "y"}},
         {{"ksize", ints({1, 1})},
          {"strides", ints({1, 1})},
          {"paddings", ints({0, 0})},
          {"pooling_type", ir::Value("avg")},
          {"adaptive", ir::Value("true")},
          {"global_pooling", ir::Value("false")}});
  net.activation("y", {1, 3, 1, 1});
  net.output("y");
  EXPECT_THAT(rule_keys(net),
              ElementsAre("paddle_lite:pool2d{global_pooling=1,kernel_shape=[1,1],pads=[0,0,0,0],"
                          "pooling_type=avg,strides=[1,1]}(f32[1,3,8,8])->(f32[1,3,1,1])"));
}

/// A convolution whose operands go through quantise and dequantise.
void quantised_conv(PaddleNet& net, const std::string& x, const std::string& y,
                    const Dims& filter) {
  net.constant("scale", {1});
  net.constant("zero", {1});
  const auto there_and_back = [&](const std::string& from, const std::string& to) {
    net.op("quantize_linear", {{"Scale", "scale"}, {"X", from}, {"ZeroPoint", "zero"}},
           {{"Y", to + ".q"}}, {{"bit_length", ir::Value(8)}, {"quant_axis", ir::Value(-1)}});
    net.op("dequantize_linear", {{"Scale", "scale"}, {"X", to + ".q"}, {"ZeroPoint", "zero"}},
           {{"Y", to}}, {{"bit_length", ir::Value(8)}});
    net.tensor(to).shape = net.tensor(from).shape;
  };
  net.constant(y + ".f", filter);
  there_and_back(x, y + ".x");
  there_and_back(y + ".f", y + ".w");
  net.op("conv2d", {{"Filter", y + ".w"}, {"Input", y + ".x"}}, {{"Output", y}},
         {{"strides", ints({1, 1})},
          {"paddings", ints({0, 0})},
          {"dilations", ints({1, 1})},
          {"groups", ir::Value(1)}});
  net.activation(y, {1, filter[0], 8, 8});
}

TEST(PaddleLiteRules, QuantisedConvolutionsComputeOnEightBits) {
  PaddleNet net = image();
  quantised_conv(net, "x", "a", {4, 3, 1, 1});
  net.unary("relu", "a", "r");
  quantised_conv(net, "r", "b", {4, 4, 1, 1});
  net.unary("sigmoid", "b", "y");
  net.output("y");
  EXPECT_THAT(rule_keys(net),
              ElementsAre("paddle_lite:calib{}(f32[1,3,8,8])->(i8[1,3,8,8])",
                          "paddle_lite:conv2d{activation=relu,bias=false,bit_length=8,dilations=[1,"
                          "1],group=1,pads=[0,0,0,0],quant=True,strides=[1,1]}"
                          "(i8[1,3,8,8],i8c[4,3,1,1])->(i8[1,4,8,8])",
                          "paddle_lite:conv2d{activation=None,bias=false,bit_length=8,dilations=[1,"
                          "1],group=1,pads=[0,0,0,0],quant=True,strides=[1,1]}"
                          "(i8[1,4,8,8],i8c[4,4,1,1])->(f32[1,4,8,8])",
                          "paddle_lite:sigmoid{}(f32[1,4,8,8])->(f32[1,4,8,8])"));
}

TEST(PaddleLiteRules, OlderQuantisedModelsDequantiseResults) {
  PaddleNet net = image();
  net.constant("s", {1});
  net.op("fake_quantize_moving_average_abs_max", {{"InScale", "s"}, {"X", "x"}}, {{"Out", "q"}},
         {{"bit_length", ir::Value(8)}});
  net.tensor("q").shape = net.tensor("x").shape;
  net.conv("q", "c", {4, 3, 1, 1}, 8);
  net.op("fake_dequantize_max_abs", {{"Scale", "s"}, {"X", "c"}}, {{"Out", "y"}});
  net.activation("y", {1, 4, 8, 8});
  net.output("y");
  EXPECT_THAT(fused(net), ElementsAre("calib", "conv2d 4x3x1x1"));
  EXPECT_THAT(rule_keys(net).back(), HasSubstr("bit_length=8"));
}

TEST(PaddleLiteRules, HalfPrecisionIsAskedFor) {
  PaddleNet net = image();
  net.conv("x", "y", {4, 3, 1, 1}, 8);
  net.output("y");
  EXPECT_THAT(rule_keys(net, "paddle-lite", {"fp16"}),
              ElementsAre("paddle_lite:calib{}(f32[1,3,8,8])->(f16[1,3,8,8])",
                          "paddle_lite:conv2d{activation=None,bias=false,bit_length=16,dilations=["
                          "1,1],group=1,pads=[0,0,0,0],quant=True,strides=[1,1]}"
                          "(f16[1,3,8,8],f16c[4,3,1,1])->(f16[1,4,8,8])",
                          "paddle_lite:calib{}(f16[1,4,8,8])->(f32[1,4,8,8])"));
  EXPECT_THAT(rule_keys(net, "paddle-lite", {"bf16"})[0],
              HasSubstr("no option 'bf16'; they have fp16"));
}

TEST(PaddleLiteRules, PlanCountsBytes) {
  PaddleNet net = image();
  net.conv("x", "c", {4, 3, 3, 3}, 8);
  net.batch_norm("c", "n");
  net.output("n");
  const auto plan = plan_by_rules(net.graph, *built_in_rules("paddle-lite", compat::rule_sets()),
                                  compat::catalogue());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source, "rules:paddle-lite@2.12");
  EXPECT_EQ(plan->weight_bytes, 4 * (4 * 3 * 3 * 3 + 4));
  EXPECT_EQ(plan->activation_bytes, 4 * 4 * 8 * 8);
  EXPECT_EQ(plan->kernels[0].name, "conv2d0");
}

TEST(PaddleLiteRules, OtherModelsAreRefused) {
  PaddleNet net = image();
  net.unary("relu", "x", "y");
  net.graph.nodes[0].domain = "";
  EXPECT_THAT(
      fused(net)[0],
      HasSubstr("for models of the domain 'paddle'; the operator relu of this one is of ONNX"));
}

}  // namespace
}  // namespace oplat::plan::testing
