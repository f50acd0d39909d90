// SPDX-License-Identifier: Apache-2.0
/// What the rules for ONNX Runtime make of small graphs, one fusion each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "compat/registry.hpp"
#include "plan/rules.hpp"
#include "unit/plan/net.hpp"

namespace oplat::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// A graph in operator set 17, whose tensors of type f32 have their sizes given.
class Model : public testing::Net {
 public:
  Model() { graph.opsets[""] = 17; }
  void sized(const std::string& name, const testing::Dims& dims, ir::Dtype dtype = ir::Dtype::F32) {
    tensor(name).dtype = dtype;
    tensor(name).shape = ir::Shape::of(dims);
  }
  void feed(const std::string& name, const testing::Dims& dims) {
    sized(name, dims);
    input(name);
  }
  void ints(const std::string& name, const std::vector<std::int64_t>& numbers) {
    constant(name, {static_cast<std::int64_t>(numbers.size())}, ir::Dtype::I64).small_value =
        ir::Value(ir::List(numbers.begin(), numbers.end()));
  }
  void reals(const std::string& name, const std::vector<double>& numbers) {
    constant(name, {static_cast<std::int64_t>(numbers.size())}).small_value =
        ir::Value(ir::List(numbers.begin(), numbers.end()));
  }
  void index(const std::string& name, std::int64_t number) {
    constant(name, {}, ir::Dtype::I64).small_value = ir::Value(ir::List{ir::Value(number)});
  }
  void number(const std::string& name, double number) {
    constant(name, {}).small_value = ir::Value(ir::List{ir::Value(number)});
  }
  void conv(const std::string& x, const std::string& y, const testing::Dims& weight,
            std::int64_t group = 1) {
    constant(y + ".w", weight);
    constant(y + ".b", {weight[0]});
    auto& made = node("Conv", {x, y + ".w", y + ".b"}, {y}, "conv " + y);
    if (group != 1) made.attributes.emplace_back("group", group);
  }
};

RuleSet rules() { return *built_in_rules("onnxruntime", compat::rule_sets()); }

Result<Plan> plan_of(const Model& model, const std::string& block = "block16") {
  return plan_by_rules(model.graph, rules(), compat::catalogue(), {block});
}

/// "Conv Gemm nchwc:Conv ..." in the order of execution.
std::string ops(const Model& model, const std::string& block = "block16") {
  const auto plan = plan_of(model, block);
  if (!plan) return plan.error().message;
  Words words;
  for (const PlanKernel& kernel : plan->kernels) {
    const auto key = ir::parse(kernel.key);
    if (!key) return key.error().message;
    const std::size_t dot = key->domain.rfind('.');
    words.push_back((key->domain.empty() ? "" : key->domain.substr(dot + 1) + ":") + key->op);
  }
  return base::join(words, " ");
}

std::string key(const Model& model, std::size_t i, const std::string& block = "block16") {
  const auto plan = plan_of(model, block);
  if (!plan) return plan.error().message;
  return i < plan->kernels.size() ? plan->kernels[i].key : "no such kernel";
}

TEST(OnnxRuntimeRules, ConvolutionTakesItsActivationAndIsBlocked) {
  Model model;
  model.feed("x", {1, 3, 8, 8});
  model.conv("x", "y", {24, 3, 3, 3});
  model.node("Relu", {"y"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "nchwc:Conv nchwc:ReorderOutput");
  EXPECT_EQ(key(model, 0),
            "com.microsoft.nchwc:Conv/1@block=16{activation=Relu,dilations=[1,1],group=1,"
            "kernel_shape=[3,3],pads=[0,0,0,0],strides=[1,1]}(f32[1,3,8,8],f32c[32,3,3,3],f32c[32])"
            "->(f32[1,32,6,6])");
  EXPECT_EQ(key(model, 1),
            "com.microsoft.nchwc:ReorderOutput/1@block=16{channels=24,channels_last=0}"
            "(f32[1,32,6,6])->(f32[1,24,6,6])");
  EXPECT_THAT(key(model, 0, "block8"), HasSubstr("@block=8")) << "AVX2";
  EXPECT_THAT(key(model, 0, "block8"), HasSubstr("f32c[24,3,3,3]"))
      << "24 channels fill blocks of 8";
}

TEST(OnnxRuntimeRules, ResidualSumGoesIntoTheConvolution) {
  Model model;
  model.feed("x", {1, 16, 8, 8});
  model.conv("x", "a", {16, 16, 1, 1});
  model.node("Relu", {"a"}, {"b"}, "first");
  model.conv("b", "c", {16, 16, 1, 1});
  model.conv("c", "d", {16, 16, 1, 1});
  model.node("Add", {"d", "b"}, {"e"});
  model.node("Relu", {"e"}, {"f"}, "second");
  model.output("f");
  EXPECT_EQ(ops(model), "nchwc:ReorderInput nchwc:Conv nchwc:Conv nchwc:Conv nchwc:ReorderOutput");
  EXPECT_THAT(key(model, 3), HasSubstr("{activation=Relu,"));
  EXPECT_THAT(key(model, 3), HasSubstr(",f32[1,16,8,8])->(")) << "the other summand";
}

TEST(OnnxRuntimeRules, ChannelsThatFillNoBlocksStayAsTheyAre) {
  Model model;
  model.feed("x", {1, 58, 8, 8});
  model.conv("x", "y", {58, 58, 1, 1});
  model.node("Relu", {"y"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "microsoft:FusedConv");
}

TEST(OnnxRuntimeRules, NormalisationPaddingAndScaleGoIntoTheConvolution) {
  Model model;
  model.feed("x", {1, 3, 8, 8});
  model.ints("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  model.node("Pad", {"x", "pads"}, {"p"});
  model.conv("p", "y", {16, 3, 3, 3});
  model.graph.nodes.back().attributes.emplace_back("pads", ir::Value::ints({0, 0, 0, 0}));
  for (const char* name : {"s", "b", "m", "v"}) model.constant(name, {16});
  model.node("BatchNormalization", {"y", "s", "b", "m", "v"}, {"n"});
  model.constant("by", {16, 1, 1});
  model.node("Mul", {"n", "by"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "nchwc:Conv nchwc:ReorderOutput");
  EXPECT_THAT(key(model, 0), HasSubstr("pads=[1,1,1,1]"));
}

TEST(OnnxRuntimeRules, ANormalisationBehindASumBecomesAConvolutionOfItsOwn) {
  Model model;
  model.feed("x", {1, 3, 8, 8});
  model.conv("x", "y", {16, 3, 1, 1});
  model.node("MaxPool", {"y"}, {"p"}).attributes = {{"kernel_shape", ir::Value::ints({2, 2})},
                                                    {"strides", ir::Value::ints({2, 2})}};
  for (const char* name : {"s", "b", "m", "v"}) model.constant(name, {16});
  model.node("BatchNormalization", {"p", "s", "b", "m", "v"}, {"n"}).attributes = {
      {"epsilon", 1e-5}};
  model.node("Relu", {"n"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "nchwc:Conv nchwc:MaxPool nchwc:Conv nchwc:ReorderOutput");
  EXPECT_THAT(key(model, 2), HasSubstr("{activation=Relu,dilations=[1,1],group=16,"));
}

TEST(OnnxRuntimeRules, WhatComputesNothingGoes) {
  Model model;
  model.feed("x", {2, 4});
  model.node("Identity", {"x"}, {"a"});
  model.node("Dropout", {"a"}, {"b"});
  model.node("Cast", {"b"}, {"c"}).attributes = {{"to", 1}};
  model.number("one", 1);
  model.node("Mul", {"c", "one"}, {"d"});
  model.ints("zero", {0});
  model.ints("end", {std::numeric_limits<std::int64_t>::max()});
  model.node("Slice", {"d", "zero", "end"}, {"e"});
  model.ints("size", {2, 4});
  model.node("Expand", {"e", "size"}, {"f"});
  model.node("Tanh", {"f"}, {"g"});
  model.output("g");
  EXPECT_EQ(ops(model), "Tanh");
}

TEST(OnnxRuntimeRules, ConstantsAndSizesAreFolded) {
  Model model;
  model.feed("x", {2, 3, 4});
  model.node("Shape", {"x"}, {"s"});
  model.index("zero", 0);
  model.node("Gather", {"s", "zero"}, {"n"});
  model.ints("axes", {0});
  model.node("Unsqueeze", {"n", "axes"}, {"front"});
  model.ints("rest", {-1});
  model.node("Concat", {"front", "rest"}, {"to"}).attributes = {{"axis", 0}};
  model.node("Reshape", {"x", "to"}, {"y"});
  model.node("Relu", {"y"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "Reshape Relu");
  EXPECT_EQ(key(model, 0), "Reshape{}(f32[2,3,4],i64c[2]=[2,-1])->(f32[2,12])");
}

TEST(OnnxRuntimeRules, EqualNodesAreComputedOnce) {
  Model model;
  model.feed("x", {2, 3});
  model.node("Exp", {"x"}, {"a"}, "one");
  model.node("Exp", {"x"}, {"b"}, "other");
  model.node("Add", {"a", "b"}, {"y"});
  model.output("y");
  EXPECT_EQ(ops(model), "Exp Add");
  EXPECT_THAT(key(model, 1), HasSubstr("(f32[2,3],&0)"));
}

TEST(OnnxRuntimeRules, ProductAndBiasBecomeAGemmOfARow) {
  Model model;
  model.feed("x", {1, 5, 8});
  model.constant("w", {8, 4});
  model.constant("b", {4});
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Add", {"m", "b"}, {"y"});
  model.ints("size", {1, 5, 2, 2});
  model.node("Reshape", {"y", "size"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "Reshape Gemm Reshape") << "the reshape behind it is the model's";
  EXPECT_THAT(key(model, 0), HasSubstr("i64c[2]=[5,8]"));
  EXPECT_THAT(key(model, 2), HasSubstr("i64c[4]=[1,5,2,2]"));
}

TEST(OnnxRuntimeRules, GemmTakesItsActivation) {
  Model model;
  model.feed("x", {5, 8});
  model.constant("w", {4, 8});
  model.constant("b", {4});
  model.node("Gemm", {"x", "w", "b"}, {"g"}).attributes = {{"transB", 1}};
  model.node("Tanh", {"g"}, {"y"});
  model.output("y");
  EXPECT_EQ(ops(model), "microsoft:FusedGemm");
  EXPECT_THAT(key(model, 0), HasSubstr("activation=Tanh"));
}

TEST(OnnxRuntimeRules, ProductTakesTransposeAndScale) {
  Model model;
  model.feed("q", {1, 2, 5, 8});
  model.feed("k", {1, 2, 6, 8});
  model.node("Transpose", {"k"}, {"t"}).attributes = {{"perm", ir::Value::ints({0, 1, 3, 2})}};
  model.node("MatMul", {"q", "t"}, {"m"});
  model.number("root", 4);
  model.node("Div", {"m", "root"}, {"s"});
  model.node("Softmax", {"s"}, {"y"}).attributes = {{"axis", -1}};
  model.output("y");
  EXPECT_EQ(ops(model), "microsoft:FusedMatMul Softmax");
  EXPECT_THAT(key(model, 0),
              HasSubstr("{alpha=0.25,transA=0,transB=1,transBatchA=0,transBatchB=0}"));
}

void add_gelu(Model& model, const std::string& x, const std::string& y) {
  model.number("root", 1.4142135381698608);
  model.number("one", 1);
  model.number("half", 0.5);
  model.node("Div", {x, "root"}, {y + "1"}, "div");
  model.node("Erf", {y + "1"}, {y + "2"}, "erf");
  model.node("Add", {y + "2", "one"}, {y + "3"}, "plus");
  model.node("Mul", {x, y + "3"}, {y + "4"}, "times");
  model.node("Mul", {y + "4", "half"}, {y}, "halve");
}

TEST(OnnxRuntimeRules, ErrorFunctionsBecomeGeluWithTheirBias) {
  Model model;
  model.feed("x", {2, 8});
  add_gelu(model, "x", "y");
  model.output("y");
  EXPECT_EQ(ops(model), "microsoft:Gelu");

  Model biased;
  biased.feed("x", {2, 8});
  biased.constant("b", {8});
  biased.node("Add", {"x", "b"}, {"s"}, "bias");
  add_gelu(biased, "s", "y");
  biased.output("y");
  EXPECT_EQ(ops(biased), "microsoft:BiasGelu");
}

TEST(OnnxRuntimeRules, SigmoidTimesItsOperandIsQuickGelu) {
  Model model;
  model.feed("x", {2, 8});
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Mul", {"x", "s"}, {"y"});
  model.output("y");
  EXPECT_EQ(ops(model), "microsoft:QuickGelu");
  EXPECT_THAT(key(model, 0), HasSubstr("alpha=1.0"));
}

void add_norm(Model& model, const std::string& x, const std::string& y) {
  model.number("two", 2);
  model.number("epsilon", 1e-5);
  model.constant("gain", {8});
  model.constant("shift", {8});
  const auto mean = [&](const std::string& from, const std::string& to) {
    model.node("ReduceMean", {from}, {to}, "mean " + to).attributes = {
        {"axes", ir::Value::ints({-1})}};
  };
  mean(x, "m");
  model.node("Sub", {x, "m"}, {"d"});
  model.node("Pow", {"d", "two"}, {"p"});
  mean("p", "v");
  model.node("Add", {"v", "epsilon"}, {"e"}, "add epsilon");
  model.node("Sqrt", {"e"}, {"r"});
  model.node("Div", {"d", "r"}, {"n"});
  model.node("Mul", {"n", "gain"}, {"g"}, "times gain");
  model.node("Add", {"g", "shift"}, {y}, "plus shift");
}

TEST(OnnxRuntimeRules, NormalisationsOfSmallOperatorsAreOneKernel) {
  Model model;
  model.feed("x", {1, 5, 8});
  add_norm(model, "x", "y");
  model.output("y");
  EXPECT_EQ(
      key(model, 0),
      "LayerNormalization/17{axis=-1,stash_type=1}(f32[1,5,8],f32c[8],f32c[8])->(f32[1,5,8])");

  Model skip;
  skip.feed("a", {1, 5, 8});
  skip.feed("b", {1, 5, 8});
  skip.node("Add", {"a", "b"}, {"x"}, "sum");
  add_norm(skip, "x", "y");
  skip.output("y");
  EXPECT_EQ(ops(skip), "microsoft:SkipLayerNormalization");
}

TEST(OnnxRuntimeRules, PartsOfAWholeBecomeASplit) {
  Model model;
  model.feed("x", {4, 6});
  model.node("Exp", {"x"}, {"e"});
  model.ints("axis", {1});
  model.ints("n0", {0});
  model.ints("n3", {3});
  model.ints("n6", {6});
  model.node("Slice", {"e", "n0", "n3", "axis"}, {"a"}, "first");
  model.node("Slice", {"e", "n3", "n6", "axis"}, {"b"}, "second");
  model.node("Mul", {"a", "b"}, {"y"});
  model.output("y");
  EXPECT_EQ(ops(model), "Exp Split Mul");
}

TEST(OnnxRuntimeRules, TransposesThatCancelGo) {
  Model model;
  model.feed("x", {1, 4, 5, 6});
  model.node("Transpose", {"x"}, {"t"}, "there").attributes = {
      {"perm", ir::Value::ints({0, 2, 3, 1})}};
  model.node("Relu", {"t"}, {"r"});
  model.constant("c", {4});
  model.node("Mul", {"r", "c"}, {"m"});
  model.node("Transpose", {"m"}, {"y"}, "back").attributes = {
      {"perm", ir::Value::ints({0, 3, 1, 2})}};
  model.node("Exp", {"y"}, {"z"});
  model.output("z");
  EXPECT_EQ(ops(model), "Relu Mul Exp");
  EXPECT_THAT(key(model, 1), HasSubstr("f32c[1,4,1,1]")) << "the constant is turned";
}

TEST(OnnxRuntimeRules, EightBitsAroundAnOperatorBecomeItsQuantisedKernel) {
  Model model;
  model.feed("x", {1, 4});
  model.number("scale", 0.5);
  model.constant("zero", {}, ir::Dtype::U8).small_value = ir::Value(ir::List{ir::Value(3)});
  const auto pair = [&](const std::string& from, const std::string& to) {
    model.node("QuantizeLinear", {from, "scale", "zero"}, {to + ".q"}, "q " + to);
    model.node("DequantizeLinear", {to + ".q", "scale", "zero"}, {to}, "dq " + to);
  };
  pair("x", "a");
  model.node("Sigmoid", {"a"}, {"s"});
  pair("s", "b");
  model.node("Softmax", {"b"}, {"m"});
  pair("m", "c");
  model.output("c");
  EXPECT_EQ(ops(model),
            "QuantizeLinear microsoft:QLinearSigmoid microsoft:QLinearSoftmax DequantizeLinear");
}

TEST(OnnxRuntimeRules, WhatCannotBeToldIsRefusedWithTheNodesName) {
  Model data;
  data.feed("x", {4});
  data.node("NonZero", {"x"}, {"y"}, "where the numbers are");
  data.output("y");
  EXPECT_THAT(ops(data), HasSubstr("the node 'where the numbers are': the rules do not know the "
                                   "operator NonZero; use --plan runtime"));
  Model open;
  open.feed("x", {4});
  open.sized("to", {2}, ir::Dtype::I64);
  open.input("to");
  open.node("Reshape", {"x", "to"}, {"y"}, "into what?");
  open.output("y");
  EXPECT_THAT(ops(open),
              HasSubstr("the node 'into what?' (Reshape): the rules cannot tell the size"));
}

TEST(OnnxRuntimeRules, NodesWithoutAFirstResultAreRefused) {
  const auto refusal = [](const std::string& op, const Words& results) {
    Model model;
    model.feed("x", {1, 4, 8, 8});
    model.node(op, {"x"}, results, "nothing").attributes = {
        {"kernel_shape", ir::Value::ints({2, 2})}, {"to", 1}};
    model.node("Exp", {"x"}, {"y"});
    model.output("y");
    return ops(model);
  };
  EXPECT_THAT(refusal("Split", {}), HasSubstr("the node 'nothing' (Split) has no name for any "
                                              "result, which the runtime does not accept"));
  for (const char* op : {"Relu", "Cast", "Split", "Constant"})
    EXPECT_THAT(refusal(op, {""}), HasSubstr("no name for any result")) << op;
  EXPECT_THAT(refusal("MaxPool", {"", "places"}), HasSubstr("no name for its first result"));

  Model last;
  last.feed("x", {5, 2, 3});
  last.constant("w", {1, 16, 3});
  last.constant("r", {1, 16, 4});
  last.node("LSTM", {"x", "w", "r"}, {"", "h"}).attributes = {{"hidden_size", 4}};
  last.output("h");
  EXPECT_EQ(ops(last), "LSTM") << "its states alone";
}

/// A model of one node.
Model model_of(const std::string& op, const std::vector<testing::Dims>& fed,
               const std::vector<testing::Dims>& constants,
               const std::vector<ir::NamedValue>& attributes = {}) {
  Model model;
  Words inputs;
  for (const testing::Dims& dims : fed) {
    inputs.push_back("x" + std::to_string(inputs.size()));
    model.feed(inputs.back(), dims);
  }
  for (const testing::Dims& dims : constants) {
    inputs.push_back("c" + std::to_string(inputs.size()));
    model.constant(inputs.back(), dims);
  }
  model.node(op, inputs, {"y"}).attributes = attributes;
  model.output("y");
  return model;
}

TEST(OnnxRuntimeRules, SizesThatDoNotFitEachOtherAreRefused) {
  const ir::NamedValue groups{"group", 2}, along{"axis", 1};
  EXPECT_EQ(ops(model_of("Conv", {{1, 6, 8, 8}}, {{4, 3, 3, 3}}, {groups})), "Conv");
  EXPECT_EQ(ops(model_of("ConvTranspose", {{1, 4, 8, 8}}, {{4, 3, 3, 3}}, {groups})),
            "ConvTranspose");
  EXPECT_EQ(ops(model_of("Concat", {{2, 3}, {2, 4}}, {}, {along})), "Concat");
  EXPECT_EQ(ops(model_of("GRU", {{5, 2, 3}}, {{1, 12, 3}, {1, 12, 4}})), "GRU");
  EXPECT_EQ(ops(model_of("DepthToSpace", {{1, 8, 4, 4}}, {}, {{"blocksize", 2}})), "DepthToSpace");
  for (const Model& model : {model_of("Conv", {{1, 4, 8, 8}}, {{4, 3, 3, 3}}),
                             model_of("Conv", {{1, 3, 8, 8}}, {{4, 3, 3, 3}}, {groups}),
                             model_of("Conv", {{1, 6, 8, 8}}, {{3, 3, 3, 3}}, {groups}),
                             model_of("ConvTranspose", {{1, 4, 8, 8}}, {{3, 4, 3, 3}}),
                             model_of("Concat", {{2, 3}, {3, 4}}, {}, {along}),
                             model_of("GRU", {{5, 2, 3}}, {{1, 12, 4}, {1, 12, 4}}),
                             model_of("DepthToSpace", {{1, 6, 4, 4}}, {}, {{"blocksize", 2}}),
                             model_of("Gather", {{2, 3}}, {})})
    EXPECT_THAT(ops(model), HasSubstr("the rules cannot tell the size of its result"));

  const auto split = [](std::int64_t first, std::int64_t second) {
    Model model;
    model.feed("x", {5, 3});
    model.ints("sizes", {first, second});
    model.node("Split", {"x", "sizes"}, {"a", "b"});
    model.output("a");
    model.output("b");
    return ops(model);
  };
  EXPECT_EQ(split(2, 3), "Split");
  EXPECT_THAT(split(2, 2), HasSubstr("cannot tell the size"));
  EXPECT_THAT(split(6, -1), HasSubstr("cannot tell the size"));
}

TEST(OnnxRuntimeRules, AResizeByScalesRoundsIn32Bits) {
  Model model;
  model.feed("x", {1, 1, 20, 10});
  model.reals("scales", {1, 1, static_cast<double>(1.3F), static_cast<double>(0.7F)});
  model.node("Resize", {"x", "", "scales"}, {"y"}).attributes = {{"mode", "nearest"}};
  model.output("y");
  EXPECT_THAT(key(model, 0), HasSubstr("->(f32[1,1,26,7])"));
}

/// A convolution, whose 16 channels fill blocks, of 8x8 places and a Resize of version 10 behind
/// it.
Model early_resize(const std::string& mode, double scale) {
  Model model;
  model.graph.opsets[""] = 10;
  model.feed("x", {1, 3, 8, 8});
  model.conv("x", "c", {16, 3, 1, 1});
  model.reals("scales", {1, 1, scale, scale});
  model.node("Resize", {"c", "scales"}, {"y"}).attributes = {{"mode", mode}};
  model.output("y");
  return model;
}

TEST(OnnxRuntimeRules, AnEarlyResizeStaysInBlocksByWholeScales) {
  EXPECT_EQ(ops(early_resize("nearest", 2)), "nchwc:Conv nchwc:Upsample nchwc:ReorderOutput");
  EXPECT_THAT(key(early_resize("nearest", 2), 1), HasSubstr("scales=[1,1,2,2]"));
  EXPECT_EQ(ops(early_resize("linear", 2)), "nchwc:Conv nchwc:Upsample nchwc:ReorderOutput");
  EXPECT_EQ(ops(early_resize("nearest", 1.05)), "nchwc:Conv nchwc:ReorderOutput Resize");
}

TEST(OnnxRuntimeRules, AResizeToAndFromNothingIsNotInBlocks) {
  Model model;
  model.feed("x", {1, 3, 8, 8});
  model.conv("x", "c", {16, 3, 1, 1});
  model.ints("none", {1, 16, 0, 8});
  model.ints("some", {1, 16, 8, 8});
  const auto resize = [&](const std::string& from, const std::string& size, const std::string& to) {
    model.node("Resize", {from, "", "", size}, {to}, to).attributes = {
        {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}};
  };
  resize("c", "none", "empty");
  resize("empty", "some", "y");
  model.output("y");
  EXPECT_EQ(ops(model), "nchwc:Conv nchwc:ReorderOutput Resize Resize");
}

TEST(OnnxRuntimeRules, AProductOfTheModelsOwnMayLackOperands) {
  const auto product = [](const Words& operands) {
    Model model;
    model.feed("x", {2, 8});
    model.node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
    model.constant("w", {8, 4}, ir::Dtype::U8);
    model.number("ws", 0.5);
    model.node("MatMulIntegerToFloat", operands, {"y"}).domain = "com.microsoft";
    if (operands.size() < 5) model.node("Cast", {"z"}, {"of z"}).attributes = {{"to", 6}};
    model.output("y");
    if (operands.size() < 5) model.output("of z");
    return ops(model);
  };
  EXPECT_THAT(product({"q", "w", "s", "ws"}),
              HasSubstr("DynamicQuantizeLinear microsoft:MatMulIntegerToFloat"));
  EXPECT_EQ(product({"q", "w", "s", "ws", "z"}), "microsoft:DynamicQuantizeMatMul");
}

TEST(OnnxRuntimeRules, AClipTakesTheReluBeforeIt) {
  const auto clipped = [](std::int64_t opset, const Words& bounds,
                          const std::vector<ir::NamedValue>& attributes) {
    Model model;
    model.graph.opsets[""] = opset;
    model.feed("x", {2, 8});
    model.number("-1", -1);
    model.number("1", 1);
    model.number("6", 6);
    model.node("Relu", {"x"}, {"r"});
    Words inputs = {"r"};
    inputs.insert(inputs.end(), bounds.begin(), bounds.end());
    model.node("Clip", inputs, {"y"}).attributes = attributes;
    model.output("y");
    return ops(model) + ": " + key(model, 0);
  };
  const std::string of_three = "Clip: Clip{}(f32[2,8],f32c[],f32c[])->(f32[2,8])";
  for (const Words& bounds : {Words{"1", "6"}, Words{"-1", "6"}, Words{"", "6"}})
    EXPECT_EQ(clipped(12, bounds, {}), of_three);
  const std::string of_two = "Clip: Clip{}(f32[2,8],f32c[])->(f32[2,8])";
  for (const Words& bounds : {Words{}, Words{"-1"}}) EXPECT_EQ(clipped(12, bounds, {}), of_two);
  const std::string of_one = "Clip: Clip{}(f32[2,8])->(f32[2,8])";
  EXPECT_EQ(clipped(6, {}, {{"min", -1.0}, {"max", 6.0}}), of_one);
  EXPECT_EQ(clipped(6, {}, {{"min", 1.0}}), of_one);
  EXPECT_EQ(clipped(6, {}, {{"max", 6.0}}), of_one);
}

TEST(OnnxRuntimeRules, HalfPrecisionIsRefused) {
  Model model;
  model.sized("x", {2, 8}, ir::Dtype::F16);
  model.input("x");
  model.node("Cast", {"x"}, {"c"}).attributes = {{"to", 1}};
  model.node("Exp", {"c"}, {"y"});
  model.output("y");
  EXPECT_EQ(ops(model), "Cast Exp");
  model.node("Exp", {"x"}, {"h"}, "in halves");
  EXPECT_THAT(ops(model), HasSubstr("the node 'in halves' (Exp) computes in f16, for which the "
                                    "runtime inserts casts; ask the runtime for the plan"));
}

TEST(OnnxRuntimeRules, AQuantisationNamesItsType) {
  const auto quantised = [](const std::string& op, std::int64_t number) {
    Model model;
    model.graph.opsets[""] = 23;
    model.sized("x", {2, 8}, op == "QuantizeLinear" ? ir::Dtype::F32 : ir::Dtype::U8);
    model.input("x");
    model.number("s", 0.5);
    model.node(op, {"x", "s"}, {"y"}).attributes = {{"output_dtype", number}};
    model.output("y");
    return key(model, 0);
  };
  EXPECT_THAT(quantised("QuantizeLinear", 0), HasSubstr("->(u8[2,8])"));
  EXPECT_THAT(quantised("QuantizeLinear", 3), HasSubstr("->(i8[2,8])"));
  EXPECT_THAT(quantised("QuantizeLinear", 5), HasSubstr("->(i16[2,8])"));
  EXPECT_THAT(quantised("QuantizeLinear", 99), HasSubstr("cannot tell the size"));
  EXPECT_THAT(quantised("DequantizeLinear", 1), HasSubstr("->(f32[2,8])"));
  EXPECT_THAT(quantised("DequantizeLinear", 99), HasSubstr("cannot tell the size"));
}

TEST(OnnxRuntimeRules, WholeNumbersThatAreRoundedAreNotKnown) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const auto sliced = [&](const std::string& op, const Words& of) {
    Model model;
    model.feed("x", {7});
    model.ints("0", {0});
    model.ints("5", {5});
    model.ints("max", {kMax});
    model.node(op, of, {"end"}).attributes = {{"axis", 0}};
    model.node("Slice", {"x", "0", "end"}, {"s"});
    model.node("Exp", {"s"}, {"y"});
    model.output("y");
    return ops(model);
  };
  EXPECT_EQ(sliced("Concat", {"max"}), "Exp") << "the whole of it";
  EXPECT_EQ(sliced("Max", {"5", "0"}), "Slice Exp");
  for (const char* op : {"Add", "Max"})
    EXPECT_THAT(sliced(op, {"max", "0"}), HasSubstr("(Slice): the rules cannot tell the size"));
}

TEST(OnnxRuntimeRules, APartThatIsQuantisedTwiceGivesResultsInTurn) {
  Model model;
  model.sized("x", {4, 6}, ir::Dtype::U8);
  model.input("x");
  model.number("scale", 0.5);
  model.constant("zero", {}, ir::Dtype::U8).small_value = ir::Value(ir::List{ir::Value(3)});
  model.node("DequantizeLinear", {"x", "scale", "zero"}, {"d"});
  model.node("Split", {"d"}, {"a", "b"});
  for (const std::string name : {"one", "two"}) {
    model.node("QuantizeLinear", {"a", "scale", "zero"}, {name}, name);
    model.output(name);
  }
  EXPECT_EQ(key(model, 0), "Split{}(u8[4,6])->(u8[2,6],u8[2,6])");
}

TEST(OnnxRuntimeRules, TheBlockIsAFactOfTheMachine) {
  const RuleSet set = rules();
  EXPECT_EQ(**block_option(set, "x86_64", "avx avx2 avx512f"), "block16");
  EXPECT_EQ(**block_option(set, "x86_64", "avx avx2 fma"), "block8");
  for (const auto& [architecture, isa] :
       {std::pair("aarch64", "neon"), std::pair("x86_64", ""), std::pair("", "avx512f")}) {
    const auto refused = block_option(set, architecture, isa);
    ASSERT_FALSE(refused) << architecture;
    EXPECT_EQ(refused.error().code, Code::Refused);
  }
  EXPECT_FALSE(*block_option(*built_in_rules("paddle-lite", compat::rule_sets()), "", ""));
  Model model;
  model.feed("x", {4});
  model.node("Relu", {"x"}, {"y"});
  model.output("y");
  const auto neither = plan_by_rules(model.graph, set, compat::catalogue(), {});
  ASSERT_FALSE(neither);
  EXPECT_THAT(neither.error().message, HasSubstr("how many channels are in a block"));
}

TEST(OnnxRuntimeRules, OtherModelsAreRefused) {
  testing::Net net;
  net.input("x");
  net.node("relu", {"x"}, {"y"}).domain = "paddle";
  net.output("y");
  const auto refused = plan_by_rules(net.graph, rules(), compat::catalogue(), {"block16"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("are for models in ONNX's format"));
}

Words rule_file_errors(const std::string& passes) {
  const std::string head =
      "format: oplat.rules/1\nname: mine\nruntime: onnxruntime\nversions: [\"1\"]\nreads: onnx\n"
      "makes: onnx\npasses:\n";
  const auto read = read_rules(base::Source::from_bytes("mine.yaml", head + passes));
  return read ? Words() : Words{read.error().message};
}

TEST(OnnxRuntimeRules, AFileNamesTheNewestOperatorSets) {
  const auto error = [](const std::string& opsets) {
    const auto read = read_rules(base::Source::from_bytes(
        "mine.yaml",
        "format: oplat.rules/1\nname: mine\nruntime: onnxruntime\nversions: [\"1\"]\n"
        "reads: onnx\nmakes: onnx\nopsets: " +
            opsets + "\npasses: [{name: one, native: [gelu]}]\n"));
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error("{ai.onnx: 17, of.mine: 2}"), "");
  EXPECT_THAT(error("[17]"), HasSubstr("mine.yaml:7: 'opsets' is a list; expected a map from "));
  EXPECT_THAT(error("{ai.onnx: new}"), HasSubstr("a version of 'opsets'"));
  EXPECT_THAT(error("{ai.onnx: 0}"), HasSubstr("a version of 'opsets'"));
}

TEST(OnnxRuntimeRules, AFileOfOnesOwnChoosesThePasses) {
  EXPECT_THAT(rule_file_errors("- {name: one, native: [gelu, reshapes], rounds: 3}\n"),
              ElementsAre());
  EXPECT_THAT(rule_file_errors("- {name: one, native: [gelu, reshapes], once: [gelu]}\n"),
              ElementsAre());
  EXPECT_THAT(rule_file_errors("- {name: one, native: [gelu], once: [reshapes]}\n"),
              ElementsAre(HasSubstr("'once' names 'reshapes', which is not in 'native'")));
  EXPECT_THAT(rule_file_errors("- {name: one, native: [jelly]}\n"),
              ElementsAre(HasSubstr(
                  "mine.yaml:8: there is no native pass 'jelly'; there are rewrite-nodes,")));
  EXPECT_THAT(rule_file_errors("- {name: one, native: gelu}\n"),
              ElementsAre(HasSubstr("expected a list of names")));
  EXPECT_THAT(rule_file_errors("- {name: one, native: [gelu], rounds: 0}\n"),
              ElementsAre(HasSubstr("'rounds'")));
  EXPECT_THAT(rule_file_errors("- {name: one, native: [gelu], match: [{node: a, op: b}]}\n"),
              ElementsAre(HasSubstr("'native' next to 'match'")));
  EXPECT_THAT(
      rule_file_errors("- {name: one, native: [gelu]}\n- {name: two, match: [{node: a, op: Relu}], "
                       "remove: all, forward: {from: a.out0, to: a.in0}}\n"),
      ElementsAre(HasSubstr("passes with 'native' and with patterns in one file")));
}

TEST(OnnxRuntimeRules, OperatorsThatWereNeverComparedAreNamed) {
  Model model;
  model.feed("x", {2, 8});
  model.node("Relu", {"x"}, {"y"});
  model.node("Selu", {"y"}, {"z"});
  model.output("z");
  EXPECT_THAT(not_compared(model.graph, rules()), ElementsAre("Selu"));
  // Networks in 8 bits were compared, too.
  for (const char* op : {"QuantizeLinear", "DequantizeLinear"})
    EXPECT_TRUE(rules().compared.contains(op)) << op;
}

/// One node over x of 1x8x4x4 in this operator set, and an Exp behind it.
Model model_of(const std::string& op, std::int64_t opset, ir::Dtype dtype = ir::Dtype::F32) {
  Model model;
  model.graph.opsets[""] = opset;
  model.sized("x", {1, 8, 4, 4}, dtype);
  model.input("x");
  model.node(op, {"x"}, {"y"}, "it");
  model.node("Exp", {"y"}, {"z"});
  model.output("z");
  return model;
}

TEST(OnnxRuntimeRules, OperatorsWithoutAKernelBecomeTheNodesOfTheirDefinition) {
  EXPECT_EQ(ops(model_of("Mish", 18)), "Softplus Tanh Mul Exp");
  EXPECT_EQ(ops(model_of("HardSwish", 14)), "HardSigmoid Mul Exp");
  Model swish = model_of("Swish", 24);
  EXPECT_EQ(ops(swish), "Cast Mul Sigmoid Mul Exp");
  EXPECT_EQ(key(swish, 0), "Cast/24{round_mode=up,saturate=1,to=1}(f32c[])->(f32[])");
  EXPECT_EQ(key(swish, 1), "Mul/14{}(f32[],f32[1,8,4,4])->(f32[1,8,4,4])");
}

TEST(OnnxRuntimeRules, AGroupNormalisationBecomesTheNodesOfItsVersion) {
  const auto normalised = [](std::int64_t opset, std::int64_t groups) {
    Model model = model_of("GroupNormalization", opset);
    for (const char* name : {"scale", "bias"}) model.constant(name, {opset < 21 ? groups : 8});
    auto& node = model.graph.nodes.front();
    node.inputs = {model.id("x"), model.id("scale"), model.id("bias")};
    node.attributes = {{"num_groups", groups}};
    return model;
  };
  // As ONNX Runtime 1.31.1 executes such a model.
  EXPECT_EQ(ops(normalised(18, 2)),
            "Shape Cast Reshape Cast Shape Div Shape Shape Concat Reshape Reshape Mul ReduceMean "
            "ReduceMean Mul Sub Add Sqrt Sub Div Cast Reshape Mul Add Reshape Exp");
  EXPECT_EQ(ops(normalised(21, 2)),
            "Cast Reshape Cast Shape Cast Shape Div Shape Shape Concat Reshape Reshape Mul "
            "ReduceMean ReduceMean Mul Sub Add Sqrt Sub Div Reshape Reshape Cast Cast Reshape Mul "
            "Add Reshape Exp");
  EXPECT_THAT(key(normalised(18, 2), 9), HasSubstr("(f32[1,8,4,4],i64[5])->(f32[1,2,4,4,4])"));
  EXPECT_THAT(key(normalised(18, 2), 12), HasSubstr("(f32[1,2,64],i64c[1]=[2])->(f32[1,2,1])"));
  EXPECT_THAT(ops(normalised(18, 3)),
              HasSubstr("the node 'it' (GroupNormalization of f32): the runtime has no kernel"))
      << "8 channels are not in 3 groups";
}

TEST(OnnxRuntimeRules, OtherOperatorsWithoutAKernelAreRefused) {
  for (const auto& [op, opset] :
       {std::pair("CastLike", 19), std::pair("Bernoulli", 15), std::pair("CenterCropPad", 18)})
    EXPECT_THAT(ops(model_of(op, opset)),
                HasSubstr("the runtime has no kernel for it and expands it into other operators, "
                          "which the rules do not know; use --plan runtime"))
        << op;
  // Types that the kernel is not for.
  EXPECT_THAT(ops(model_of("Softplus", 17, ir::Dtype::F64)), HasSubstr("(Softplus of f64)"));
  EXPECT_THAT(ops(model_of("Mish", 18, ir::Dtype::F64)), HasSubstr("(Mish of f64)"));
  EXPECT_EQ(ops(model_of("Softmax", 17, ir::Dtype::F64)), "Softmax Exp");
  EXPECT_EQ(ops(model_of("LeakyRelu", 15, ir::Dtype::F64)), "LeakyRelu Exp")
      << "is a function from 16 on";
}

TEST(OnnxRuntimeRules, OperatorSetsThatTheRuntimeDoesNotKnowAreRefused) {
  EXPECT_EQ(ops(model_of("Relu", 26)), "Relu Exp");
  EXPECT_EQ(ops(model_of("Relu", 27)),
            "the model uses operator set 27, but onnxruntime 1.31.1 supports at most 26; export it "
            "with that one or an earlier one");
  Model classes = model_of("Relu", 17);
  classes.graph.opsets["ai.onnx.ml"] = 6;
  EXPECT_THAT(ops(classes),
              HasSubstr("operator set 6 of ai.onnx.ml, but onnxruntime 1.31.1 supports "
                        "at most 5"));
  classes.graph.opsets["ai.onnx.ml"] = 5;
  classes.graph.opsets["of.mine"] = 99;
  EXPECT_EQ(ops(classes), "Relu Exp");
}

TEST(OnnxRuntimeRules, VersionsOfOperatorsFromBeforeTheRuntimesKernelsAreRefused) {
  EXPECT_EQ(ops(model_of("Relu", 6)), "Relu Exp");
  EXPECT_THAT(ops(model_of("Relu", 5)),
              HasSubstr("the node 'it' (Relu): the runtime has no kernel for this operator before "
                        "operator set 6, and the model uses 5"));
  Model sum = model_of("Add", 6);
  sum.graph.nodes.front().inputs = {sum.id("x"), sum.id("x")};
  EXPECT_THAT(ops(sum),
              HasSubstr("(Add): the runtime has no kernel for this operator before operator set 7, "
                        "and the model uses 6"));
}

TEST(OnnxRuntimeRules, AHardSwishThatIsTheModelsResultStaysBehindItsConvolution) {
  const auto model = [](bool last) {
    Model made;
    made.feed("x", {1, 16, 8, 8});
    made.conv("x", "c", {16, 16, 1, 1});
    made.node("HardSwish", {"c"}, {"h"});
    if (!last) made.node("Exp", {"h"}, {"y"});
    made.output(last ? "h" : "y");
    return ops(made);
  };
  EXPECT_EQ(model(false), "nchwc:ReorderInput nchwc:Conv nchwc:ReorderOutput Exp");
  EXPECT_THAT(model(true), HasSubstr("HardSigmoid Mul"));
}

/// `op` with these constants behind x, between a dequantisation and a quantisation.
struct QuantisedModel : Model {
  QuantisedModel(const std::string& op, const testing::Dims& x, const testing::Dims& weight,
                 std::int64_t bias) {
    feed("x", x);
    number("scale", 0.5);
    constant("zero", {}, ir::Dtype::U8).small_value = ir::Value(ir::List{ir::Value(3)});
    pair("x", "a");
    if (!weight.empty()) constant("w", weight);
    if (bias > 0) constant("b", {bias});
    node(op, bias > 0 ? Words{"a", "w", "b"} : Words{"a", "w"}, {"r"}, "it");
    pair("r", "y");
    output("y");
  }
  void pair(const std::string& from, const std::string& to) {
    node("QuantizeLinear", {from, "scale", "zero"}, {to + ".q"}, "q " + to);
    node("DequantizeLinear", {to + ".q", "scale", "zero"}, {to}, "dq " + to);
  }
  /// Weights of eight bits with a scale for each place of an axis.
  void quantised_weight(const testing::Dims& dims, std::int64_t axis) {
    constant("w.q", dims, ir::Dtype::I8);
    constant("w.s", {dims[static_cast<std::size_t>(axis)]});
    constant("w.z", {dims[static_cast<std::size_t>(axis)]}, ir::Dtype::I8);
    node("DequantizeLinear", {"w.q", "w.s", "w.z"}, {"w"}, "dq w").attributes = {{"axis", axis}};
    std::rotate(graph.nodes.begin(), graph.nodes.end() - 1, graph.nodes.end());
  }
};

TEST(OnnxRuntimeRules, WeightsOfFloatsBetweenEightBitsAreQuantised) {
  const QuantisedModel turned("ConvTranspose", {1, 8, 4, 4}, {8, 4, 2, 2}, 0);
  EXPECT_EQ(ops(turned),
            "QuantizeLinear DequantizeLinear DequantizeLinear ConvTranspose QuantizeLinear "
            "DequantizeLinear");
  EXPECT_EQ(key(turned, 2),
            "DequantizeLinear/13{axis=1}(i8c[8,4,2,2],f32c[],i8c[])->(f32[8,4,2,2])");
  EXPECT_THAT(key(turned, 3), HasSubstr("(f32[1,8,4,4],f32[8,4,2,2])->(f32[1,4,5,5])"));
  EXPECT_THAT(ops(QuantisedModel("ConvTranspose", {1, 8, 4, 4}, {8, 4, 2, 2}, 4)),
              HasSubstr("DequantizeLinear DequantizeLinear DequantizeLinear ConvTranspose"));
  EXPECT_THAT(ops(QuantisedModel("Conv", {1, 8, 4, 4}, {4, 8, 1, 1}, 4)), HasSubstr("QLinearConv"));
  EXPECT_THAT(ops(QuantisedModel("Gemm", {2, 8}, {8, 4}, 4)), HasSubstr("QGemm"));
  EXPECT_EQ(ops(QuantisedModel("MatMul", {2, 8}, {8, 4}, 0)),
            "QuantizeLinear DequantizeLinear MatMul QuantizeLinear DequantizeLinear");
}

TEST(OnnxRuntimeRules, BiasesFollowWeightsWithAScaleForEachResult) {
  const auto model = [](const std::string& op, const testing::Dims& x, const testing::Dims& weight,
                        std::int64_t axis) {
    QuantisedModel made(op, x, {}, weight[static_cast<std::size_t>(axis)]);
    made.quantised_weight(weight, axis);
    return ops(made);
  };
  EXPECT_THAT(model("Conv", {1, 8, 4, 4}, {4, 8, 1, 1}, 0), HasSubstr("QLinearConv"));
  EXPECT_THAT(model("Gemm", {2, 8}, {8, 4}, 1), HasSubstr("QGemm"));
  const auto dequantisations = [](const std::string& words) {
    std::size_t count = 0;
    for (std::size_t at = words.find("DequantizeLinear"); at != std::string::npos;
         at = words.find("DequantizeLinear", at + 1))
      ++count;
    return count;
  };
  // Of the operand, the weight, the result and, of the right axis, the bias.
  EXPECT_EQ(dequantisations(model("ConvTranspose", {1, 4, 4, 4}, {4, 4, 2, 2}, 1)), 4U);
  EXPECT_EQ(dequantisations(model("ConvTranspose", {1, 4, 4, 4}, {4, 4, 2, 2}, 0)), 3U);
  EXPECT_EQ(dequantisations(model("Gemm", {2, 4}, {4, 4}, 0)), 3U);
}

}  // namespace
}  // namespace oplat::plan
