// SPDX-License-Identifier: Apache-2.0
/// Kernels re-created from their keys: wiring, weights, values, refusals; the bytes read back as a
/// model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
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

// A runtime frees what was read, and one copy costs as much for the reads as three.
TEST(KernelModel, ReadsOfResultsAreAsManyInOneCopyAsInSeveral) {
  constexpr const char* kTwo = "Split/13{axis=0}(f32[8,4],i64c[2]=[4,4])->(f32[4,4],f32[4,4])";
  for (const char* key : {kMatMul, kTwo}) {
    const int results = key == kTwo ? 2 : 1;
    for (const std::int64_t copies : {1, 3}) {
      WRITE(fan, key, {.copies = copies, .force_fan = true, .reads = 3});
      EXPECT_EQ(fan->count("Shape"), 3 * results) << key << copies;
      ASSERT_EQ(fan->wire.graph().output_size(), 1);
      EXPECT_EQ(fan->wire.graph().output(0).name(), copies == 1 ? "shape0_0" : "shape2_0");
      // Each result once: a runtime may make as many nodes as a result has readers.
      std::map<std::string, int> readers;
      for (const auto& node : fan->wire.graph().node())
        if (node.op_type() == "Shape") ++readers[node.input(0)];
      for (std::int64_t copy = 0; copy < copies; ++copy) {
        EXPECT_EQ(readers[fmt::format("y0_{}", copy)], 1) << key << copies;
        EXPECT_EQ(readers[fmt::format("y1_{}", copy)], results - 1) << key << copies;
      }
      EXPECT_EQ(readers["around0"], 3 - copies) << key << copies;
    }
  }
  // Copies that have operands of their own are not chained, and neither is one copy.
  for (const std::int64_t copies : {1, 3}) {
    WRITE(own, "PRelu/16{}(f32[4,8],f32c[8])->(f32[4,8])",
          {.copies = copies, .distinct_operands = true, .reads = 3});
    EXPECT_EQ(own->count("Shape"), 3) << copies;
  }
  // What a Shape does not read stays as it was.
  WRITE(unknown, "Split/13{axis=0}(f32[8,4],i64c[2]=[4,4])->(f32[4,4],any[4,4])",
        {.copies = 3, .force_fan = true, .reads = 3});
  EXPECT_EQ(unknown->count("Shape"), 1);
  // The next copy takes the result of a chain.
  for (const std::int64_t copies : {1, 3}) {
    WRITE(chain, kMatMul, {.copies = copies, .reads = 3});
    EXPECT_EQ(chain->count("Shape"), 1);
    ASSERT_EQ(chain->wire.graph().output_size(), 1);
    EXPECT_EQ(chain->node(chain->wire.graph().node_size() - 1).input(0),
              fmt::format("y0_{}", copies - 1));
  }
}

TEST(KernelModel, ResultsOfTheLastCopyLeaveTheGraphOnRequest) {
  WRITE(one, kMatMul, {.results_as_outputs = true});
  EXPECT_EQ(one->count("Shape"), 0);
  EXPECT_EQ(one->wire.graph().node_size(), 1);
  ASSERT_EQ(one->wire.graph().output_size(), 1);
  EXPECT_EQ(one->wire.graph().output(0).name(), one->node(0).output(0));
  WRITE(chain, kMatMul, {.copies = 3, .results_as_outputs = true});
  ASSERT_EQ(chain->wire.graph().output_size(), 1);
  EXPECT_EQ(chain->wire.graph().output(0).name(), chain->node(2).output(0));
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

TEST(KernelModel, CopiesHaveOtherDataOnRequest) {
  const char* prelu = "PRelu/16{}(f32[4,8],f32c[8])->(f32[4,8])";
  WRITE(w, prelu, {.copies = 3, .distinct_operands = true});
  EXPECT_EQ(w->model.wiring, Wiring::Fan);
  EXPECT_EQ(w->inputs_of(0), (Names{"x0", "w1"}));
  EXPECT_EQ(w->inputs_of(1), (Names{"x0_1", "w1"}));
  EXPECT_EQ(w->inputs_of(2), (Names{"x0_2", "w1"}));
  EXPECT_EQ(w->model.inputs.size(), 1U) << "only the first is fed";
  // The runtime takes initialisers that are inputs too for operands.
  std::set<std::string> inputs;
  for (const auto& input : w->wire.graph().input()) inputs.insert(input.name());
  EXPECT_EQ(inputs, (std::set<std::string>{"x0", "x0_1", "x0_2"}));
  std::set<std::string> data;
  for (const auto& tensor : w->wire.graph().initializer())
    if (tensor.name() != "w1") data.insert(tensor.raw_data());
  EXPECT_EQ(data.size(), 2U);
  for (const std::string& bytes : data) EXPECT_EQ(bytes.size(), 128U);
  // Of the signs that the first one has.
  WRITE(many, "PRelu/16{}(f32[64,64],f32c[1])->(f32[64,64])",
        {.copies = 2, .distinct_operands = true});
  std::vector<float> values(4096);
  for (const auto& tensor : many->wire.graph().initializer()) {
    if (tensor.name() != "x0_1") continue;
    ASSERT_EQ(tensor.raw_data().size(), values.size() * sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
  }
  const auto negative =
      std::count_if(values.begin(), values.end(), [](float value) { return value < 0; });
  EXPECT_NEAR(static_cast<double>(negative), 4096 * 3.0 / 16, 100);
  // Twice the same operand stays that; one copy needs none, and a copy that writes over its operand
  // must have one that was computed.
  WRITE(twice, "Mod/13{fmod=0}(i32[4],&0)->(i32[4])", {.copies = 2, .distinct_operands = true});
  EXPECT_EQ(twice->inputs_of(1), (Names{"x0_1", "x0_1"}));
  WRITE(one, prelu, {.distinct_operands = true});
  EXPECT_EQ(one->wire.graph().input_size(), 1);
  WRITE(over, "Shrink/9{}(f32[4])->(&0)", {.copies = 2, .distinct_operands = true});
  EXPECT_EQ(over->model.wiring, Wiring::Chain);
  const auto huge = ir::parse("PRelu/16{}(f32[200000000],f32c[1])->(f32[200000000])");
  EXPECT_FALSE(write_kernel_model(*huge, {.copies = 4, .distinct_operands = true}));
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
                 "copies of its attributes need more than 2 GiB");
  expect_refused(R"(Foo{t="tensor:f32c[4294967296,4294967296]=1.0"}(f32[4])->(f32[4]))",
                 Code::Refused, "attribute");
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
                 "operand 1 is not a tensor, or one of unknown rank");
  expect_refused("Foo{a=?}(f32[3])->(f32[3])", Code::Missing, "attribute a");
  expect_refused("Foo{a=[1,?]}(f32[3])->(f32[3])", Code::Missing, "attribute a");
  expect_refused("Relu/14{}(f32[3])->(-)", Code::Missing, "no result");
  expect_refused("SequenceConstruct/11{}(f32[3])->(any[*])", Code::Missing,
                 "result 0 is not a tensor");
  expect_refused("Cast/24{to=26}(f32[3])->(any[3])", Code::Missing,
                 "result 0 is of an element type that keys do not name");
  expect_refused(R"(Foo{t="tensor:f32c[2]"}(f32[3])->(f32[3]))", Code::Refused, "attribute t");
  expect_refused(R"(Foo{t="hash:i64[2000]=00112233"}(f32[3])->(f32[3]))", Code::Refused,
                 "attribute t of Foo is too long for a key (hash:i64[2000])");
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

// A result that nobody uses still has a name where the runtime writes it all the same.
TEST(KernelModel, OnlyOptionalResultsAreLeftOut) {
  WRITE(top, "TopK/11{axis=1,largest=1,sorted=1}(f32[1,9],i64c[1]=[3])->(f32[1,3],-)");
  EXPECT_EQ(top->outputs_of(0), (Names{"y0_0", "y1_0"}));
  EXPECT_EQ(top->node(1).input(0), "y0_0");
  WRITE(indices, "TopK/11{axis=1,largest=1,sorted=1}(f32[1,9],i64c[1]=[3])->(-,i64[1,3])");
  EXPECT_EQ(indices->outputs_of(0), (Names{"y0_0", "y1_0"}));
  EXPECT_EQ(indices->node(1).input(0), "y1_0");
  WRITE(split, "Split/13{axis=1}(f32[1,9],i64c[3]=[3,3,3])->(-,f32[1,3],-)", {.copies = 2});
  EXPECT_EQ(split->outputs_of(1), (Names{"y0_1", "y1_1", "y2_1"}));
  WRITE(lstm,
        "LSTM/14{direction=forward,hidden_size=4}(f32[2,1,4],f32c[1,16,4],f32c[1,16,4])->"
        "(-,f32[1,1,4],-)");
  EXPECT_EQ(lstm->outputs_of(0), (Names{"", "y1_0", ""}));
  WRITE(pool, "MaxPool/12{kernel_shape=[2,2]}(f32[1,1,4,4])->(f32[1,1,3,3],-)");
  EXPECT_EQ(pool->outputs_of(0), (Names{"y0_0", ""}));
  WRITE(sum,
        "com.microsoft:SkipLayerNormalization/1{}(f32[1,2,4],f32[1,2,4],f32c[4])->"
        "(-,-,-,f32[1,2,4])");
  EXPECT_EQ(sum->outputs_of(0), (Names{"y0_0", "", "", "y3_0"}));
  WRITE(foreign, "somewhere:Foo/1{}(f32[4])->(-,f32[4])");
  EXPECT_EQ(foreign->outputs_of(0), (Names{"y0_0", "y1_0"}));
}

// The runtime writes the statistics of a batch through whatever pointer it has.
TEST(KernelModel, TrainingNeedsNamesForItsStatistics) {
  const std::string head = "BatchNormalization/15{training_mode=";
  const std::string tail = "}(f32[1,2,4],f32c[2],f32c[2],f32c[2],f32c[2])->";
  WRITE(named, head + "1" + tail + "(f32[1,2,4],-,-)");
  EXPECT_EQ(named->outputs_of(0), (Names{"y0_0", "y1_0", "y2_0"}));
  WRITE(bare, head + "1" + tail + "(f32[1,2,4])");
  EXPECT_EQ(bare->outputs_of(0), (Names{"y0_0", "y1_0", "y2_0"}));
  WRITE(inference, head + "0" + tail + "(f32[1,2,4],-,-)");
  EXPECT_EQ(inference->outputs_of(0), (Names{"y0_0", "", ""}));
}

// The runtime has no Shape of 8-bit floats and 4-bit integers, but converts them.
TEST(KernelModel, SmallTypesAreWidenedBeforeTheirShapeIsRead) {
  for (const char* type : {"f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "i4", "u4"}) {
    const std::string name(type);
    WRITE(w, "QuantizeLinear/21{axis=1}(f32[4],f32c[]," + name + "c[])->(" + name + "[4])");
    EXPECT_EQ(w->node(1).op_type(), "Cast");
    EXPECT_EQ(w->node(1).input(0), "y0_0");
    EXPECT_EQ(w->node(2).op_type(), "Shape");
    EXPECT_EQ(w->node(2).input(0), w->node(1).output(0));
  }
  WRITE(f8, "QuantizeLinear/19{axis=1}(f32[4],f32c[],f8e5m2c[])->(f8e5m2[4])");
  EXPECT_EQ(f8->weight("w2")->raw_data(), std::string(1, '\0')) << "no other zero point is legal";
  WRITE(own, "com.microsoft:DequantizeLinear/1{}(i4[4],f32c[])->(f32[4])");
  EXPECT_EQ(own->graph.opsets.at(""), 21);
}

TEST(KernelModel, ConstantsOfEveryIntegerTypeAreWritten) {
  WRITE(u64, "Add/14{}(u64[2],u64c[2]=[5,-1])->(u64[2])");
  EXPECT_EQ(u64->weight("w1")->raw_data(), raw<std::int64_t>({5, -1}));
  WRITE(i4, "Foo{}(i4[3],i4c[3]=[-8,7,1])->(i4[3])");
  EXPECT_EQ(i4->weight("w1")->raw_data(), "\x78\x01");
  WRITE(u4, "Foo{}(u4[3],u4c[3]=15)->(u4[3])");
  EXPECT_EQ(u4->weight("w1")->raw_data(), "\xFF\x0F");
  WRITE(words, "StringConcat/20{}(string[2],stringc[2])->(string[2])");
  EXPECT_EQ(words->weight("w1")->string_data_size(), 2);
  EXPECT_EQ(words->model.inputs.size(), 1U);
}

/// What the key of the first node of a kernel model says of its attributes.
std::vector<ir::NamedValue> planned_attributes(const Written& written) {
  std::vector<ir::NamedValue> attributes = written.graph.nodes[0].attributes;
  std::sort(attributes.begin(), attributes.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return attributes;
}

// What is built from the sums of a forest has the same sums again.
TEST(KernelModel, ForestsHaveTheSumsOfTheirKeys) {
  for (const char* sums :
       {"forest_depth=6,forest_features=20,forest_ids=1,forest_modes=[BRANCH_LEQ],"
        "forest_nodes=63500,forest_trees=500,forest_weights=32000",
        "forest_depth=9,forest_features=3,forest_ids=3,forest_modes=[BRANCH_LEQ,BRANCH_LT],"
        "forest_nodes=63,forest_trees=3,forest_weights=33",
        "forest_depth=5,forest_features=7,forest_ids=4,forest_modes=[BRANCH_GT],"
        "forest_nodes=20,forest_trees=10,forest_type=f64,forest_weights=62",
        "forest_depth=0,forest_features=0,forest_ids=1,forest_modes=[],forest_nodes=2,"
        "forest_trees=2,forest_weights=2"}) {
    const std::string key = std::string("ai.onnx.ml:TreeEnsembleRegressor/3{") + sums +
                            ",n_targets=4}(f32[8,20])->(f32[8,4])";
    WRITE(w, key);
    EXPECT_EQ(planned_attributes(*w), ir::parse(key)->attributes) << key;
    const std::string classifier =
        "ai.onnx.ml:TreeEnsembleClassifier/3{" + std::string(sums) + "}(f32[8,20])->(-,f32[8,4])";
    WRITE(classes, classifier);
    EXPECT_EQ(planned_attributes(*classes), ir::parse(classifier)->attributes) << classifier;
  }
}

TEST(KernelModel, ForestsThatCannotBeAreRefused) {
  const auto refused = [](const std::string& sums, const std::string& why) {
    expect_refused("ai.onnx.ml:TreeEnsembleRegressor/3{" + sums + "}(f32[8,20])->(f32[8,1])",
                   Code::Refused, why);
  };
  const std::string rest = ",forest_features=20,forest_ids=1,forest_modes=[BRANCH_LEQ],";
  refused("forest_depth=2" + rest + "forest_nodes=9,forest_trees=1,forest_weights=1",
          "too many for this depth");
  refused("forest_depth=6" + rest + "forest_nodes=9,forest_trees=1,forest_weights=1",
          "too few for this depth");
  refused("forest_depth=2" + rest + "forest_nodes=8,forest_trees=1,forest_weights=1",
          "two children");
  refused("forest_depth=2" + rest + "forest_nodes=9,forest_trees=0,forest_weights=1", "a root");
  refused(
      "forest_depth=50" + rest + "forest_nodes=9000000000000001,forest_trees=1,forest_weights=1",
      "more than is made up");
  refused("forest_depth=2000" + rest + "forest_nodes=9001,forest_trees=1,forest_weights=1",
          "deeper than is made up");
}

// Trained again, the same model does the same work.
TEST(KernelModel, CoefficientsAreCountedAndLabelsDiffer) {
  const std::string key =
      R"(ai.onnx.ml:LinearClassifier/1{classlabels_ints="values:i64[70]",)"
      R"(coefficients="values:f32[210]",intercepts="values:f32[70]",multi_class=0,)"
      R"(post_transform=SOFTMAX}(f32[2,3])->(i64[2],f32[2,70]))";
  WRITE(w, key);
  EXPECT_EQ(planned_attributes(*w), ir::parse(key)->attributes);
  EXPECT_EQ(w->model.weight_bytes, 210 * 4 + 70 * 4 + 70 * 8);
  std::set<std::int64_t> labels;
  for (const wire::Attribute& a : w->node(0).attribute()) {
    if (a.name() == "classlabels_ints") labels.insert(a.ints().begin(), a.ints().end());
    if (a.name() == "coefficients") {
      EXPECT_EQ(a.floats_size(), 210);
    }
  }
  EXPECT_EQ(labels.size(), 70U);
  expect_refused(R"(ai.onnx.ml:Scaler/1{scale="values:f32[90000000000]"}(f32[2,3])->(f32[2,3]))",
                 Code::Refused, "2 GiB");
  WRITE(encoder, R"(ai.onnx.ml:LabelEncoder/4{keys_tensor="tensor:i64c[100]",)"
                 R"(values_strings="values:string[100]"}(i64[5])->(string[5]))");
  EXPECT_EQ(encoder->node(0).attribute(0).t().raw_data().size(), 800U);
  EXPECT_EQ(encoder->node(0).attribute(1).strings(99), "99");
}

TEST(KernelModel, InputsSayWhatTheyMayHold) {
  WRITE(gather, "Gather/13{axis=1}(f32[5,7],i64[3])->(f32[5,3])");
  ASSERT_EQ(gather->model.inputs.size(), 2U);
  ASSERT_TRUE(gather->model.inputs[1].fill);
  EXPECT_EQ(gather->model.inputs[1].fill->high, 6);
  WRITE(back, "Gather/13{axis=-2}(f32[5,7],i64[3])->(f32[3,7])");
  ASSERT_TRUE(back->model.inputs[1].fill);
  EXPECT_EQ(back->model.inputs[1].fill->high, 4);
  WRITE(log, "Log/13{}(f32[4])->(f32[4])");
  EXPECT_EQ(log->model.inputs[0].signs, Signs::Positive);
  WRITE(relu, "Relu/14{}(f32[4])->(f32[4])");
  EXPECT_EQ(relu->model.inputs[0].signs, Signs::Any);
  WRITE(leaky, "LeakyRelu/16{alpha=0.01}(f32[4])->(&0)");
  EXPECT_EQ(leaky->model.inputs[0].signs, Signs::Positive) << "a chain shrinks negative numbers";
  WRITE(prelu, "PRelu/16{}(f32[2,4],f32[4])->(f32[2,4])");
  ASSERT_EQ(prelu->model.inputs.size(), 2U);
  EXPECT_EQ(prelu->model.inputs[0].signs, Signs::FewNegative) << "it branches by the sign";
  EXPECT_EQ(prelu->model.inputs[1].signs, Signs::Any);
}

TEST(KernelModel, ViewsThatAreCopiedAreOutputsThemselves) {
  KernelModelOptions three;
  three.copies = 3;
  const auto written = write("Flatten/13@copied=1{axis=1}(f32[2,3,4])->(f32[2,12])", three);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->model.wiring, Wiring::Fan);
  EXPECT_EQ(written->count("Flatten"), 3);
  EXPECT_EQ(written->count("Shape"), 0);
  ASSERT_EQ(written->wire.graph().output_size(), 3);
  EXPECT_EQ(written->wire.graph().output(2).name(), written->outputs_of(2).at(0));
  expect_refused("Flatten/13@copied=1{axis=1}(f32[2,3,4])->(f32[2,?])", Code::Missing,
                 "unknown dimension");
}

TEST(KernelModel, LoopsTakeTheStepsOfTheirTag) {
  const auto written =
      write("Loop/16@ends=data@steps=9{}(i64[],boolc[]=1,f32[2,3])->(f32[2,3],f32[9,5])");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(written->model.inputs.size() == 1U) << "the state alone is fed";
  const wire::Tensor* count = written->weight("w0");
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->raw_data(), raw(std::vector<std::int64_t>{9}));
  // No constant for the runtime, as the key says, but a value of its own.
  const ir::Node& loop = written->graph.nodes[0];
  EXPECT_TRUE(written->graph.tensors[static_cast<std::size_t>(loop.inputs[0])].overridable);
  EXPECT_TRUE(written->graph.tensors[static_cast<std::size_t>(loop.inputs[1])].constant);
  ASSERT_EQ(loop.bodies.size(), 1U);
  const ir::Graph& body = *loop.bodies[0].second;
  EXPECT_TRUE(body.nodes.empty()) << "a body costs nothing itself";
  ASSERT_EQ(body.outputs.size(), 3U);
  EXPECT_EQ(body.outputs[0], body.inputs[1]);
  EXPECT_EQ(body.outputs[1], body.inputs[2]);
  EXPECT_EQ(body.tensors[static_cast<std::size_t>(body.outputs[2])].shape, ir::Shape::of({5}));
}

TEST(KernelModel, CopiesOfALoopHaveBodiesOfOtherNames) {
  KernelModelOptions two;
  two.copies = 2;
  const auto written = write("Loop/16@steps=4{}(i64c[]=4,-,i64[])->(i64[],i64[4])", two);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->model.wiring, Wiring::Fan) << "a state is not the count of the next";
  std::set<std::string> names;
  for (int i = 0; i < 2; ++i) {
    for (const wire::ValueInfo& input : written->node(i).attribute(0).g().input())
      EXPECT_TRUE(names.insert(input.name()).second) << input.name();
  }
}

TEST(KernelModel, LoopsWithoutStepsAreNotMadeUp) {
  expect_refused("Loop/16{}(i64c[]=4,-,f32[2])->(f32[2])", Code::Missing, "@steps=N");
  expect_refused("Loop/16@steps=3{}(i64c[2]=[1,2],-,f32[2])->(f32[2])", Code::Missing, "is one");
  expect_refused("Loop/16@steps=3{}(i64c[]=3,-,any[*])->(any[*])", Code::Missing, "operand 2");
}

TEST(KernelModel, ScansHandTheirSlicesOn) {
  const auto written =
      write("Scan/16{num_scan_inputs=1}(f32[4],f32[10,3])->(f32[4],f32[10,3],f32[10,7])");
  ASSERT_TRUE(written) << written.error().message;
  const ir::Graph& body = *written->graph.nodes[0].bodies[0].second;
  EXPECT_TRUE(body.nodes.empty());
  ASSERT_EQ(body.inputs.size(), 2U);
  ASSERT_EQ(body.outputs.size(), 3U);
  EXPECT_EQ(body.outputs[0], body.inputs[0]);
  EXPECT_EQ(body.outputs[1], body.inputs[1]);
  EXPECT_EQ(body.tensors[static_cast<std::size_t>(body.outputs[2])].shape, ir::Shape::of({7}));
  const auto axes =
      write("Scan/16{num_scan_inputs=1,scan_input_axes=[1]}(f32[4],f32[3,10])->(f32[4],f32[10,3])");
  ASSERT_TRUE(axes) << axes.error().message;
  EXPECT_EQ(axes->graph.nodes[0].bodies[0].second->inputs.size(), 2U);
  expect_refused("Scan/8{num_scan_inputs=1}(-,f32[1,4],f32[1,10,3])->(f32[1,4],f32[1,10,3])",
                 Code::Missing, "operator set before 9");
  expect_refused("Scan/16{num_scan_inputs=5}(f32[4],f32[10,3])->(f32[4])", Code::Missing,
                 "num_scan_inputs");
}

TEST(KernelModel, IfsHaveTwoBranchesThatGiveTheLeast) {
  const auto written = write("If/16{}(bool[])->(f32[64,4096],i64[2])");
  ASSERT_TRUE(written) << written.error().message;
  const ir::Node& node = written->graph.nodes[0];
  ASSERT_EQ(node.bodies.size(), 2U);
  for (const auto& [name, body] : node.bodies) {
    EXPECT_TRUE(body->nodes.empty());
    ASSERT_EQ(body->outputs.size(), 2U);
    EXPECT_EQ(body->tensors[static_cast<std::size_t>(body->outputs[0])].shape,
              ir::Shape::of({1, 1}));
  }
}

// The key of an optional value says what is in it.
TEST(KernelModel, OptionalValuesAreMadeAndReadAsSuch) {
  WRITE(made, "Optional/15{}(f32[4,8])->(f32[4,8])", {.copies = 3});
  EXPECT_EQ(made->model.wiring, Wiring::Fan) << "an optional value is no tensor";
  EXPECT_EQ(made->count("OptionalGetElement"), 1) << "the tail reads what is in the last one";
  WRITE(output, "Optional/15{}(f32[4,8])->(f32[4,8])", {.results_as_outputs = true});
  EXPECT_EQ(output->node(1).op_type(), "OptionalGetElement") << "an output has the key's type";
  EXPECT_EQ(output->wire.graph().output(0).name(), output->node(1).output(0));
  WRITE(read, "OptionalGetElement/15{}(f32[4,8])->(f32[4,8])", {.copies = 3});
  EXPECT_EQ(read->model.wiring, Wiring::Fan);
  EXPECT_EQ(read->count("Optional"), 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read->inputs_of(1 + i), read->outputs_of(0));
  WRITE(has, "OptionalHasElement/15{}(f32[4,8])->(bool[])");
  EXPECT_EQ(has->count("Optional"), 1);
  WRITE(tensor, "OptionalGetElement/18{}(f32[4,8])->(f32[4,8])");
  EXPECT_EQ(tensor->count("Optional"), 0) << "since version 18 it reads tensors, too";
}

// In a chain of 200 such copies a tenth would compute with denormal numbers.
TEST(KernelModel, WhatHalvesSmallNumbersIsNotChained) {
  for (const char* key :
       {"com.microsoft:QuickGelu/1{alpha=1.0}(f32[1,1280])->(f32[1,1280])",
        "HardSwish/14{}(f32[1,1280])->(f32[1,1280])", "Gelu/20{}(f32[64])->(f32[64])"}) {
    WRITE(w, key, {.copies = 200});
    EXPECT_EQ(w->model.wiring, Wiring::Fan) << key;
  }
}

// A sixth square of 0.75 to 1.25 is denormal in a quarter of the places, and a tangent of a tangent
// is any number.
TEST(KernelModel, WhatWouldComputeWithOtherNumbersIsNotChained) {
  for (const char* key :
       {"Pow/15{}(f32[64],f32c[]=2.0)->(f32[64])", "Pow/15{}(f32[64],f32c[]=1.7)->(f32[64])",
        "Pow/15{}(f32[64],f32[64])->(f32[64])", "Mul/14{}(f32[64],&0)->(f32[64])",
        "Einsum/12{equation=\"ij,ij->ij\"}(f32[8,8],&0)->(f32[8,8])", "Tan/7{}(f32[64])->(f32[64])",
        "Sinh/9{}(f32[64])->(f32[64])"}) {
    WRITE(w, key, {.copies = 16});
    EXPECT_EQ(w->model.wiring, Wiring::Fan) << key;
  }
  for (const char* key :
       {"Mul/14{}(f32[64],f32[64])->(f32[64])", "Mul/14{}(f32[64],f32c[1])->(f32[64])",
        "Add/14{}(f32[64],&0)->(f32[64])", "Sqrt/13{}(f32[64])->(f32[64])",
        "Einsum/12{equation=\"ij,ij->ij\"}(f32[8,8],f32[8,8])->(f32[8,8])",
        "Reciprocal/13{}(f32[64])->(f32[64])", "Erf/13{}(f32[64])->(f32[64])",
        // In place there must be a chain, whatever becomes of the numbers.
        "Softplus/1{}(f32[64])->(&0)"}) {
    WRITE(w, key, {.copies = 16});
    EXPECT_EQ(w->model.wiring, Wiring::Chain) << key;
  }
}

// A Trilu copies its operand unless it may write over it.
TEST(KernelModel, OperatorsThatWorkInPlaceAreChainedOnlyWhereTheKeySaysSo) {
  const std::vector<std::pair<std::string, std::string>> heads = {
      {"Trilu/14{upper=1}(f32[2,8,8])", "f32[2,8,8]"},
      {"com.microsoft:Trilu/1{upper=1}(f32[2,8,8])", "f32[2,8,8]"},
      {"ScatterElements/18{axis=0,reduction=none}(f32[8,8],i64[2,8],f32[2,8])", "f32[8,8]"},
      {"TensorScatter/24{axis=-2,mode=linear}(f32[2,8,8],f32[2,1,8],i64[2])", "f32[2,8,8]"}};
  for (const auto& [head, result] : heads) {
    WRITE(copying, head + "->(" + result + ")", {.copies = 3});
    EXPECT_EQ(copying->model.wiring, Wiring::Fan) << head;
    WRITE(in_place, head + "->(&0)", {.copies = 3});
    EXPECT_EQ(in_place->model.wiring, Wiring::Chain) << head;
  }
  WRITE(copies_always, "ScatterND/16{reduction=none}(f32[8,8],i64[2,1],f32[2,8])->(f32[8,8])",
        {.copies = 3});
  EXPECT_EQ(copies_always->model.wiring, Wiring::Chain);
}

// A factor is not a matrix: a chain of 200 copies of it stays far from 0.
TEST(KernelModel, ConstantFactorsAreNearOneWhateverTheirRank) {
  WRITE(w, "Mul/14{}(f32[1,12,64,64],f32c[1,1,64,64])->(f32[1,12,64,64])", {.copies = 3});
  EXPECT_EQ(w->model.wiring, Wiring::Chain);
  const std::string& bytes = w->wire.graph().initializer(0).raw_data();
  ASSERT_EQ(bytes.size(), 64U * 64 * 4);
  double log_sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    log_sum += std::log(std::abs(value));
  }
  EXPECT_NEAR(log_sum / (64 * 64), 0, 0.02);
}

TEST(KernelModel, CastsAreNotChained) {
  KernelModelOptions four;
  four.copies = 4;
  const auto written = write("Cast/13{to=1}(f32[64])->(f32[64])", four);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->model.wiring, Wiring::Fan) << "the runtime joins casts that follow each other";
}

}  // namespace
}  // namespace oplat::formats::onnx
