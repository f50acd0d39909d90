// SPDX-License-Identifier: Apache-2.0
/// Fused nodes of Paddle-Lite as keys, and the texts of PaddleSlim's tables for them.
#include <gmock/gmock.h>

#include "compat/paddleslim/kernel.hpp"
#include "compat/paddleslim/key.hpp"

namespace oplat::compat::paddleslim {

using namespace ir;  // NOLINT: the file is about keys

namespace {

using ::testing::HasSubstr;
using Operands = std::vector<std::pair<std::string, std::string>>;  // slot, tensor as in a key

/// A graph of one node; operands and results in the words of keys: "f32[1,3,8,8]", "f32c[4]".
struct One {
  Graph graph;
  Node node;

  One(const std::string& op, const Operands& in, const Operands& out,
      std::vector<NamedValue> attributes = {}) {
    node.name = "node";
    node.domain = "paddle_lite";
    node.op = op;
    node.attributes = std::move(attributes);
    for (const auto& [slot, text] : in) {
      node.inputs.push_back(tensor(text));
      node.input_slots.push_back(slot);
    }
    for (const auto& [slot, text] : out) {
      node.outputs.push_back(tensor(text));
      node.output_slots.push_back(slot);
    }
  }
  TensorId tensor(const std::string& text) {
    const auto key = parse("t:t{}(" + text + ")->()");
    EXPECT_TRUE(key) << text;
    const TensorEntry& entry = *key->operand(0);
    TensorInfo info;
    info.dtype = entry.dtype;
    info.shape = entry.shape;
    info.constant = entry.constant;
    graph.tensors.push_back(info);
    return static_cast<TensorId>(graph.tensors.size() - 1);
  }
  [[nodiscard]] std::string key() const {
    const auto made = paddle_kernel_key(graph, node);
    return made ? print(*made) : made.error().message;
  }
};

Value ints(const std::vector<std::int64_t>& numbers) { return Value::ints(numbers); }

One conv(std::vector<NamedValue> more = {}) {
  std::vector<NamedValue> attributes = {{"strides", ints({2, 1})},
                                        {"paddings", ints({1, 2})},
                                        {"dilations", ints({1, 1})},
                                        {"groups", Value(1)}};
  attributes.insert(attributes.end(), more.begin(), more.end());
  return {"conv2d",
          {{"Filter", "f32c[4,3,3,5]"}, {"Input", "f32[1,3,8,8]"}},
          {{"Output", "f32[1,4,4,8]"}},
          attributes};
}

TEST(PaddleKernel, ConvolutionsSayAllThatTheModelSays) {
  EXPECT_EQ(conv().key(),
            "paddle_lite:conv2d{activation=None,bias=false,bit_length=None,dilations=[1,1],group=1,"
            "pads=[1,1,2,2],quant=None,strides=[2,1]}"
            "(f32[1,3,8,8],f32c[4,3,3,5])->(f32[1,4,4,8])");
  EXPECT_THAT(conv({{"with_act", Value("true")}, {"act_type", Value("relu6")}}).key(),
              HasSubstr("{activation=relu6,"));
  EXPECT_THAT(conv({{"enable_int8", Value("true")}, {"bit_length", Value(8)}}).key(),
              HasSubstr("bit_length=8,dilations=[1,1],group=1,pads=[1,1,2,2],quant=True"));
  EXPECT_THAT(conv({{"padding_algorithm", Value("SAME")}}).key(),
              HasSubstr("padding_algorithm=SAME"));
  EXPECT_THAT(conv({{"padding_algorithm", Value("EXPLICIT")}}).key(),
              ::testing::Not(HasSubstr("algorithm")));
}

TEST(PaddleKernel, FourPaddingsStayFour) {
  One one = conv();
  one.node.attributes[1].second = ints({0, 1, 2, 3});
  EXPECT_THAT(one.key(), HasSubstr("pads=[0,1,2,3]"));
}

TEST(PaddleKernel, AFilterHasTheChannelsOfTheResult) {
  One one("conv2d", {{"Bias", "f32c[9]"}, {"Filter", "f32c[4,3,1,1]"}, {"Input", "f32[1,3,8,8]"}},
          {{"Output", "f32[1,9,8,8]"}},
          {{"strides", ints({1, 1})},
           {"paddings", ints({0, 0})},
           {"dilations", ints({1, 1})},
           {"groups", Value(1)}});
  EXPECT_THAT(one.key(), HasSubstr("bias=true"));
  EXPECT_THAT(one.key(), HasSubstr("(f32[1,3,8,8],f32c[9,3,1,1])->(f32[1,9,8,8])"));
}

TEST(PaddleKernel, WhatIsAbsentIsAnError) {
  One one = conv();
  one.node.inputs.pop_back();
  one.node.input_slots.pop_back();
  EXPECT_EQ(one.key(), "the node node (conv2d) has no operand Input");
  EXPECT_THAT(One("relu", {{"X", "f32[1]"}}, {}).key(), HasSubstr("has no result"));
  EXPECT_THAT(One("scale", {}, {{"Out", "f32[1]"}}).key(), HasSubstr("has no operand"));
}

TEST(PaddleKernel, OperatorsWithoutATextAreKeyedInFull) {
  EXPECT_EQ(One("grid_sampler", {{"Grid", "f32[1,2,2,2]"}, {"X", "f32[1,3,4,4]"}},
                {{"Output", "f32[1,3,2,2]"}}, {{"mode", Value("bilinear")}})
                .key(),
            "paddle_lite:grid_sampler{mode=bilinear}(f32[1,2,2,2],f32[1,3,4,4])->(f32[1,3,2,2])");
}

TEST(PaddleKernel, RecurrentOperatorsSayTheirLayersWhichTheTextDoesNot) {
  const One rnn("rnn", {{"Input", "f32[20,4,64]"}, {"WeightList", "f32c[512,64]"}},
                {{"Out", "f32[20,4,256]"}},
                {{"mode", Value("LSTM")},
                 {"hidden_size", Value(128)},
                 {"num_layers", Value(2)},
                 {"is_bidirec", Value("true")}});
  EXPECT_EQ(rnn.key(),
            "paddle_lite:rnn{hidden_size=128,is_bidirec=true,mode=LSTM,num_layers=2}(f32[20,4,64])-"
            ">(f32[20,4,256])");
  const auto key = paddle_kernel_key(rnn.graph, rnn.node);
  ASSERT_TRUE(key);
  EXPECT_EQ(paddle_text_of(*key), "rnn in=(20, 4, 64) out=(20, 4, 256)");
}

struct Text {
  One one;
  std::string text;
};

TEST(PaddleKernel, TextsAreThoseOfPaddleSlim) {
  const Operands x = {{"X", "f32[1,8,4,4]"}}, y = {{"Out", "f32[1,8,4,4]"}};
  const std::string in_out = " in=(1, 8, 4, 4) out=(1, 8, 4, 4)";
  const std::vector<Text> texts = {
      {conv(),
       "conv2d in=(1, 3, 8, 8) weight=(4, 3, 3, 5) out=(1, 4, 4, 8) pad=2 stride=1 group=1 "
       "dilation=1 quant=None bit_length=None"},
      {conv({{"enable_int8", Value("true")}, {"bit_length", Value(8)}}),
       "conv2d in=(1, 3, 8, 8) weight=(4, 3, 3, 5) out=(1, 4, 4, 8) pad=2 stride=1 group=1 "
       "dilation=1 quant=True bit_length=8"},
      {One("hard_swish", x, y), "hard_swish" + in_out},
      {One("transpose2", x, y, {{"axis", ints({0, 1, 3, 2})}}), "transpose2" + in_out},
      {One("nearest_interp_v2", x, y), "nearest_interp_v2" + in_out},
      {One("reshape2", {{"X", "f32[8]"}}, {{"Out", "f32[1,8,1,1]"}}),
       "reshape2 in=(8,) out=(1, 8, 1, 1)"},
      {One("batch_norm",
           {{"Bias", "f32c[8]"},
            {"Mean", "f32c[8]"},
            {"Scale", "f32c[8]"},
            {"Variance", "f32c[8]"},
            {"X", "f32[1,8,4,4]"}},
           {{"Y", "f32[1,8,4,4]"}}),
       "batch_norm" + in_out},
      {One("elementwise_mul", {{"X", "f32[1,8,4,4]"}, {"Y", "f32[1,8,1,1]"}}, y,
           {{"axis", Value(-1)}}),
       "elementwise_mul X=(1, 8, 4, 4) Y=(1, 8, 1, 1) axis=-1 out=(1, 8, 4, 4)"},
      {One("fusion_elementwise_add_activation", {{"X", "f32[1,9]"}, {"Y", "f32c[9]"}},
           {{"Out", "f32[1,9]"}}, {{"axis", Value(1)}, {"act_type", Value("relu")}}),
       "fusion_elementwise_add_activation X=(1, 9) Y=(9,) axis=1 out=(1, 9)"},
      {One("concat", {{"X", "f32[1,8,4,4]"}, {"X", "f32[1,2,4,4]"}}, {{"Out", "f32[1,10,4,4]"}},
           {{"axis", Value(1)}}),
       "concat in=(1, 8, 4, 4)(1, 2, 4, 4) axis=1 out=(1, 10, 4, 4)"},
      {One("split", x, {{"Out", "f32[1,4,4,4]"}, {"Out", "f32[1,4,4,4]"}},
           {{"axis", Value(1)}, {"sections", ints({4, 4})}}),
       "split in=(1, 8, 4, 4) axis=1 sections=[4, 4]"},
      {One("shuffle_channel", x, y, {{"group", Value(2)}}),
       "shuffle_channel in=(1, 8, 4, 4) group=2  out=(1, 8, 4, 4)"},
      {One("squeeze2", {{"X", "f32[1,8,1,1]"}}, {{"Out", "f32[1,8]"}}, {{"axes", ints({2, 3})}}),
       "squeeze2 in=(1, 8, 1, 1) axes=[2, 3]  out=(1, 8)"},
      {One("flatten_contiguous_range", {{"X", "f32[1,8,1,1]"}}, {{"Out", "f32[1,8]"}},
           {{"start_axis", Value(1)}, {"stop_axis", Value(3)}}),
       "flatten_contiguous_range in=(1, 8, 1, 1) start_axis=1 stop_axis=None out=(1, 8)"},
      {One("fc", {{"Bias", "f32c[10]"}, {"Input", "f32[1,8,1,1]"}, {"W", "f32c[8,10]"}},
           {{"Out", "f32[1,10]"}}),
       "fc in=(1, 8, 1, 1) weight=(8, 10) out=(1, 10)"},
      {One("matmul_v2", {{"X", "f32[1,8]"}, {"Y", "f32c[8,10]"}}, {{"Out", "f32[1,10]"}},
           {{"trans_x", Value("false")}}),
       "matmul_v2 X=(1, 8) Y=(8, 10) out=(1, 10) quant=None bit_length=None"},
      {One("pool2d", x, {{"Out", "f32[1,8,1,1]"}},
           {{"ksize", ints({1, 1})},
            {"strides", ints({1, 1})},
            {"paddings", ints({0, 0})},
            {"pooling_type", Value("avg")},
            {"global_pooling", Value("true")}}),
       "pool2d in=(1, 8, 4, 4) out=(1, 8, 1, 1) stride=1 kernel=1x1 pad=0 flag_global=1 type=avg)"},
      {One("dropout", x, y), "dropout in=(1, 8, 4, 4)"},
      {One("slice", {{"Input", "f32[1,8,4,4]"}}, y, {{"axes", ints({2, 3})}}),
       "slice in=(1, 8, 4, 4) axes=[2, 3]"},
      {One("shape", {{"Input", "f32[1,8,4,4]"}}, {{"Out", "i32[4]"}}),
       "shape in=(1, 8, 4, 4) out=(4,)"},
      {One("calib", {{"Input", "f32[1,8,4,4]"}}, {{"Out", "i8[1,8,4,4]"}}), "calib" + in_out},
      {One("sum", {{"X", "f32[1,8,4,4]"}, {"X", "f32[1,8,4,4]"}}, y),
       "sum X=(1, 8, 4, 4) Y=(1, 8, 4, 4)  out=(1, 8, 4, 4)"},
      {One("reduce_mean", x, {{"Out", "f32[1,8]"}}, {{"dim", ints({2, 3})}}),
       "reduce_mean in=(1, 8, 4, 4) out=(1, 8) dim=[2, 3]"},
      {One("fill_constant", {}, {{"Out", "f32[1]"}}, {{"value", Value(1.0)}}), "fill_constant"},
      {One("cast", x, y), "cast"},
      {One("relu", {{"X", "f32[?,8,4,4]"}}, {{"Out", "f32[?,8,4,4]"}}),
       "relu in=(-1, 8, 4, 4) out=(-1, 8, 4, 4)"},
  };
  for (const Text& one : texts) {
    const auto key = paddle_kernel_key(one.one.graph, one.one.node);
    ASSERT_TRUE(key) << one.text << ": " << key.error().message;
    EXPECT_EQ(paddle_text_of(*key).value_or("no text for " + print(*key)), one.text);
    EXPECT_EQ(parse(print(*key)).value(), *key);
  }
}

}  // namespace
}  // namespace oplat::compat::paddleslim
