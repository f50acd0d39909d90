// SPDX-License-Identifier: Apache-2.0
/// Kernels re-created from their keys: wiring, weights, values, refusals; the bytes read back as a
/// model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/formats/models.hpp"

namespace oplat::formats::onnx {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the models of this folder
using ::testing::HasSubstr;

/// A kernel model, the message in it and the graph that Model::load() makes of it.
struct Written {
  KernelModel model;
  wire::Model wire;
  ir::Graph graph;

  [[nodiscard]] const wire::Node& node(int i) const { return wire.graph().node(i); }
  [[nodiscard]] Names inputs_of(int i) const {
    return {node(i).input().begin(), node(i).input().end()};
  }
  [[nodiscard]] Names outputs_of(int i) const {
    return {node(i).output().begin(), node(i).output().end()};
  }
  [[nodiscard]] const wire::Tensor* weight(const std::string& name) const {
    for (const wire::Tensor& tensor : wire.graph().initializer()) {
      if (tensor.name() == name) return &tensor;
    }
    return nullptr;
  }
  [[nodiscard]] int count(const std::string& op) const {
    int found = 0;
    for (const wire::Node& n : wire.graph().node()) found += n.op_type() == op ? 1 : 0;
    return found;
  }
};

Result<Written> write(const std::string& text, const KernelModelOptions& options = {}) {
  OPLAT_TRY(key, ir::parse(text));
  OPLAT_TRY(model, write_kernel_model(key, options));
  Written out;
  out.model = std::move(model);
  OPLAT_TRY(loaded, Model::load(base::Source::from_bytes("kernel", out.model.bytes)));
  OPLAT_TRY(graph, loaded.graph());
  out.graph = std::move(graph);
  if (!out.wire.ParseFromString(out.model.bytes)) return fail(Code::Internal, "bytes do not parse");
  return out;
}

void expect_refused(const std::string& text, Code code, const std::string& why,
                    const KernelModelOptions& options = {}) {
  const auto written = write(text, options);
  ASSERT_FALSE(written) << text;
  EXPECT_EQ(static_cast<int>(written.error().code), static_cast<int>(code))
      << written.error().message;
  EXPECT_THAT(written.error().message, HasSubstr(why));
}

#define WRITE(name, ...)                \
  const auto name = write(__VA_ARGS__); \
  ASSERT_TRUE(name) << name.error().message

constexpr const char* kMatMul = "MatMul/13{}(f32[8,8],f32c[8,8])->(f32[8,8])";

TEST(KernelModel, OneCopyHasNoTopology) {
  WRITE(w, kMatMul);
  EXPECT_EQ(w->model.wiring, Wiring::Single);
  EXPECT_EQ(w->graph.nodes.size(), 2U);  // the kernel and the tail that reads its result
  EXPECT_EQ(w->node(0).op_type(), "MatMul");
  EXPECT_EQ(w->node(1).op_type(), "Shape");
  EXPECT_EQ(w->node(1).input(0), w->node(0).output(0));
  ASSERT_EQ(w->wire.graph().output_size(), 1);
  EXPECT_EQ(w->wire.graph().output(0).name(), w->node(1).output(0));
  ASSERT_EQ(w->model.inputs.size(), 1U);
  EXPECT_EQ(w->model.inputs[0].dims, (std::vector<std::int64_t>{8, 8}));
  EXPECT_EQ(w->model.inputs[0].dtype, ir::Dtype::F32);
  EXPECT_EQ(w->model.weight_bytes, 8 * 8 * 4);
  EXPECT_EQ(w->graph.opsets.at(""), 13);
  EXPECT_EQ(w->graph.nodes[0].since, 13);
}

TEST(KernelModel, ChainsThroughTheOperandThatIsOverwritten) {
  WRITE(
      w,
      "com.microsoft.nchwc:Conv/1@block=16{group=1,kernel_shape=[1,1],pads=[0,0,0,0],strides=[1,1]}"
      "(f32[1,16,4,4],f32c[16,16,1,1],f32c[16],f32[1,16,4,4])->(&3)",
      {.copies = 3});
  EXPECT_EQ(w->model.wiring, Wiring::Chain);
  EXPECT_EQ(w->inputs_of(0), (Names{"x0", "w1", "w2", "x3"}));
  EXPECT_EQ(w->inputs_of(1), (Names{"x0", "w1", "w2", w->node(0).output(0)}));
  EXPECT_EQ(w->inputs_of(2), (Names{"x0", "w1", "w2", w->node(1).output(0)}));
  EXPECT_EQ(w->node(0).domain(), "com.microsoft.nchwc");
  EXPECT_EQ(w->graph.opsets.at("com.microsoft.nchwc"), 1);
  EXPECT_EQ(w->model.inputs.size(), 2U);
  EXPECT_EQ(w->count("Shape"), 1);
}

TEST(KernelModel, ChainsThroughAnOperandOfTheResultsShape) {
  WRITE(w, kMatMul, {.copies = 3});
  EXPECT_EQ(w->model.wiring, Wiring::Chain);
  EXPECT_EQ(w->inputs_of(1), (Names{w->node(0).output(0), "w1"}));
  EXPECT_EQ(w->inputs_of(2), (Names{w->node(1).output(0), "w1"}));
  WRITE(second, "MatMul/13{}(f32[8,4],f32[4,4])->(f32[8,4])", {.copies = 2});
  EXPECT_EQ(second->inputs_of(1), (Names{second->node(0).output(0), "x1"}));
}

// A chained Relu would be run in place; the key says that it is not.
TEST(KernelModel, FansWhereAChainWouldBeAnotherKernel) {
  WRITE(w, "Relu/14{}(f32[4])->(f32[4])", {.copies = 3});
  EXPECT_EQ(w->model.wiring, Wiring::Fan);
  std::set<std::string> results;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(w->inputs_of(i), Names{"x0"});
    results.insert(w->node(i).output(0));
  }
  EXPECT_EQ(results.size(), 3U);
  WRITE(in_place, "Relu/14{}(f32[4])->(&0)", {.copies = 3});
  EXPECT_EQ(in_place->model.wiring, Wiring::Chain);
  EXPECT_EQ(in_place->inputs_of(2), Names{in_place->node(1).output(0)});
}

TEST(KernelModel, FansWhereShapesOrTypesDifferAndOnRequest) {
  WRITE(narrower, "MatMul/13{}(f32[8,8],f32c[8,4])->(f32[8,4])", {.copies = 2});
  EXPECT_EQ(narrower->model.wiring, Wiring::Fan);
  WRITE(other_type, "Cast/13{to=10}(f32[4])->(f16[4])", {.copies = 2});
  EXPECT_EQ(other_type->model.wiring, Wiring::Fan);
  WRITE(forced, kMatMul, {.copies = 2, .force_fan = true});
  EXPECT_EQ(forced->model.wiring, Wiring::Fan);
  EXPECT_EQ(forced->inputs_of(1), (Names{"x0", "w1"}));
}

TEST(KernelModel, ResultsOfEveryCopyAreReadOnRequest) {
  WRITE(last, kMatMul, {.copies = 3, .force_fan = true});
  EXPECT_EQ(last->count("Shape"), 1);
  WRITE(every, kMatMul, {.copies = 3, .force_fan = true, .consume_results = true});
  EXPECT_EQ(every->count("Shape"), 3);
  // In a chain the next copy reads it; a second reader would make another kernel of it.
  WRITE(chain, kMatMul, {.copies = 3, .consume_results = true});
  EXPECT_EQ(chain->count("Shape"), 1);
}

TEST(KernelModel, WeightsAreSharedOrDistinct) {
  WRITE(shared, kMatMul, {.copies = 3});
  EXPECT_EQ(shared->wire.graph().initializer_size(), 1);
  EXPECT_EQ(shared->model.weight_bytes, 256);
  WRITE(distinct, kMatMul, {.copies = 3, .distinct_weights = true});
  ASSERT_EQ(distinct->wire.graph().initializer_size(), 3);
  EXPECT_EQ(distinct->model.weight_bytes, 3 * 256);
  std::set<std::string> bytes;
  for (int i = 0; i < 3; ++i) {
    const wire::Tensor* weight = distinct->weight(distinct->node(i).input(1));
    ASSERT_NE(weight, nullptr);
    EXPECT_EQ(weight->raw_data().size(), 256U);
    bytes.insert(weight->raw_data());
  }
  EXPECT_EQ(bytes.size(), 3U);
}

TEST(KernelModel, SeedsReproduceBytes) {
  WRITE(one, kMatMul, {.copies = 2, .distinct_weights = true, .seed = 5});
  WRITE(again, kMatMul, {.copies = 2, .distinct_weights = true, .seed = 5});
  WRITE(other, kMatMul, {.copies = 2, .distinct_weights = true, .seed = 6});
  EXPECT_EQ(one->model.bytes, again->model.bytes);
  EXPECT_NE(one->model.bytes, other->model.bytes);
}

TEST(KernelModel, RepeatedOperandsAreOneTensor) {
  WRITE(w, "Mul/14{}(f32[4],&0)->(f32[4])", {.copies = 2, .force_fan = true});
  EXPECT_EQ(w->inputs_of(0), (Names{"x0", "x0"}));
  EXPECT_EQ(w->model.inputs.size(), 1U);
  WRITE(chain, "MatMul/13{}(f32[4,4],&0)->(f32[4,4])", {.copies = 2});
  EXPECT_EQ(chain->inputs_of(1), (Names{chain->node(0).output(0), chain->node(0).output(0)}));
}

TEST(KernelModel, AbsentOperandsAndResultsKeepTheirPlace) {
  WRITE(w,
        "LSTM/"
        "14{hidden_size=8}(f32[5,1,4],f32c[1,32,4],f32c[1,32,8],-,-,f32c[1,1,8])->(-,f32[1,1,8],-)",
        {.copies = 2});
  EXPECT_EQ(w->inputs_of(1), (Names{"x0", "w1", "w2", "", "", "w5"}));
  const Names outputs = w->outputs_of(1);
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0], "");
  EXPECT_NE(outputs[1], "");
  EXPECT_EQ(outputs[2], "");
  EXPECT_EQ(w->node(2).input(0), outputs[1]);
}

TEST(KernelModel, AttributesOfEveryKind) {
  WRITE(
      w,
      R"(Foo{f=0.5,fs=[0.5,1.0],i=-3,is=[1,2],s=same,ss=[a,"b c"],t="tensor:f32c[2]=[0.5,2.0]"}(f32[4])->(f32[4]))");
  const auto attribute = [&](int i) -> const wire::Attribute& { return w->node(0).attribute(i); };
  ASSERT_EQ(w->node(0).attribute_size(), 7);
  EXPECT_EQ(attribute(0).type(), 1);
  EXPECT_EQ(attribute(0).f(), 0.5F);
  EXPECT_EQ(attribute(1).type(), 6);
  EXPECT_EQ(attribute(1).floats_size(), 2);
  EXPECT_EQ(attribute(2).type(), 2);
  EXPECT_EQ(attribute(2).i(), -3);
  EXPECT_EQ(attribute(3).type(), 7);
  EXPECT_EQ(attribute(3).ints(1), 2);
  EXPECT_EQ(attribute(4).type(), 3);
  EXPECT_EQ(attribute(4).s(), "same");
  EXPECT_EQ(attribute(5).type(), 8);
  EXPECT_EQ(attribute(5).strings(1), "b c");
  EXPECT_EQ(attribute(6).type(), 4);
  EXPECT_EQ(attribute(6).t().data_type(), kF32);
  EXPECT_EQ(attribute(6).t().dims(0), 2);
  EXPECT_EQ(attribute(6).t().raw_data(), raw(std::vector<float>{0.5F, 2.0F}));
}

TEST(KernelModel, PrintedConstantsAreWrittenExactly) {
  WRITE(w,
        "Slice/"
        "13{}(f32[1,7,14,384],i64c[1]=[1],i64c[1]=[9223372036854775807],i64c[1]=[-2],i64c[3]=7)->("
        "f32[1,7,7,384])",
        {.copies = 2, .distinct_weights = true});
  ASSERT_EQ(w->wire.graph().initializer_size(), 4);  // printed values are the same in every copy
  EXPECT_EQ(w->weight("w1")->raw_data(), raw(std::vector<std::int64_t>{1}));
  EXPECT_EQ(w->weight("w2")->raw_data(), raw(std::vector<std::int64_t>{9223372036854775807}));
  EXPECT_EQ(w->weight("w3")->raw_data(), raw(std::vector<std::int64_t>{-2}));
  EXPECT_EQ(w->weight("w4")->raw_data(), raw(std::vector<std::int64_t>{7, 7, 7}));
  WRITE(types,
        "Foo{}(f32[4],i32c[2]=[-1,2],u8c[2]=[255,0],boolc[2]=[1,0],f32c[2]=[0.5,-2.0],f32c[]=0.1)->"
        "(f32[4])");
  EXPECT_EQ(types->weight("w1")->raw_data(), raw(std::vector<std::int32_t>{-1, 2}));
  EXPECT_EQ(types->weight("w2")->raw_data(), std::string("\xff\0", 2));
  EXPECT_EQ(types->weight("w3")->raw_data(), std::string("\1\0", 2));
  EXPECT_EQ(types->weight("w4")->raw_data(), raw(std::vector<float>{0.5F, -2.0F}));
  EXPECT_EQ(types->weight("w5")->raw_data(), raw(std::vector<float>{0.1F}));
  EXPECT_EQ(types->weight("w5")->dims_size(), 0);
}

TEST(KernelModel, MoreOrFewerValuesThanElementsAreRefused) {
  expect_refused("Slice/13{}(f32[4],i64c[3]=[1,2])->(f32[4])", Code::Missing,
                 "3 elements has 2 values");
  expect_refused("Slice/13{}(f32[4],i64c[1]=[1.5])->(f32[4])", Code::Missing, "no integer");
  expect_refused("Slice/13{}(f32[4],i64c[1]=[nan])->(f32[4])", Code::Missing, "no integer");
  expect_refused("Slice/13{}(f32[4],i64c[1]=word)->(f32[4])", Code::Missing, "no integer");
}

TEST(KernelModel, AbsurdSizesAreRefused) {
  expect_refused("Relu/14{}(f32[2147483647,2147483647])->(f32[2147483647,2147483647])",
                 Code::Refused, "operand 0");
  expect_refused("Relu/14{}(f32[9223372036854775807,2])->(f32[4])", Code::Refused, "operand 0");
  expect_refused("MatMul/13{}(f32[4,40000],f32c[40000,40000])->(f32[4,40000])", Code::Refused,
                 "operand 1");
  expect_refused("MatMul/13{}(f32[4,8192],f32c[8192,8192])->(f32[4,8192])", Code::Refused,
                 "100 copies", {.copies = 100, .distinct_weights = true});
  expect_refused(R"(Foo{t="tensor:f32c[1099511627776]=1.0"}(f32[4])->(f32[4]))", Code::Refused,
                 "attribute t");
  expect_refused(R"(Foo{t="tensor:f32c[4294967296,4294967296]=1.0"}(f32[4])->(f32[4]))",
                 Code::Refused, "attribute t");
}

TEST(KernelModel, CopiesHaveBounds) {
  for (const std::int64_t copies : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{100'001}}) {
    expect_refused(kMatMul, Code::Usage, "copies", {.copies = copies});
  }
}

TEST(KernelModel, WhatTheKeyDoesNotSayIsMissing) {
  expect_refused("Relu/14{}(f32[?,3])->(f32[?,3])", Code::Missing,
                 "operand 0 has an unknown dimension");
  expect_refused("Add/14{}(f32[3],f32[*])->(f32[3])", Code::Missing,
                 "operand 1 has an unknown rank");
  expect_refused("Foo{a=?}(f32[3])->(f32[3])", Code::Missing, "attribute a");
  expect_refused("Foo{a=[1,?]}(f32[3])->(f32[3])", Code::Missing, "attribute a");
  expect_refused("Foo{}(string[3])->(f32[3])", Code::Missing, "string");
  expect_refused("Relu/14{}(f32[3])->(-)", Code::Missing, "no result");
  expect_refused(R"(Foo{t="tensor:f32c[2]"}(f32[3])->(f32[3]))", Code::Missing, "attribute t");
}

TEST(KernelModel, SmallIntegerConstantsNeedTheirValueWhereItMatters) {
  expect_refused("Reshape/14{}(f32[2,3],i64c[1])->(f32[6])", Code::Missing, "operand 1");
  expect_refused("Foo{}(f32[2,3],boolc[2])->(f32[6])", Code::Missing, "operand 1");
  // A zero point changes no time; 65 integers are a table that no key prints.
  WRITE(zero_point, "QuantizeLinear/13{}(f32[4],f32c[],u8c[])->(u8[4])");
  EXPECT_EQ(zero_point->weight("w2")->raw_data().size(), 1U);
  WRITE(table, "Gather/13{axis=0}(i64c[65],i64[3])->(i64[3])");
  EXPECT_EQ(table->weight("w0")->raw_data().size(), 65U * 8);
}

TEST(KernelModel, InputsSayWhatTheyMayHold) {
  WRITE(gather, "Gather/13{axis=1}(f32[5,7],i64[3])->(f32[5,3])");
  ASSERT_EQ(gather->model.inputs.size(), 2U);
  EXPECT_EQ(gather->model.inputs[1].integer_limit, 7);
  WRITE(back, "Gather/13{axis=-2}(f32[5,7],i64[3])->(f32[3,7])");
  EXPECT_EQ(back->model.inputs[1].integer_limit, 5);
  WRITE(log, "Log/13{}(f32[4])->(f32[4])");
  EXPECT_TRUE(log->model.inputs[0].positive);
  WRITE(relu, "Relu/14{}(f32[4])->(f32[4])");
  EXPECT_FALSE(relu->model.inputs[0].positive);
}

}  // namespace
}  // namespace oplat::formats::onnx
