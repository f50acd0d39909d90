// SPDX-License-Identifier: Apache-2.0
/// The model as an ir::Graph: constants, bodies, broken references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/formats/models.hpp"

namespace oplat::formats::onnx {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the models of this folder
using ::testing::HasSubstr;

/// The graph of a model whose one node reads the tensors that `fill` adds as "t".
template <class Fill>
Result<ir::TensorInfo> constant(Fill fill) {
  wire::Model model = empty_model();
  fill(*model.mutable_graph());
  add_node(*model.mutable_graph(), "Foo", {"t"}, {"y"});
  add_output(model, "y");
  OPLAT_TRY(graph, graph_of(model));
  for (const ir::TensorInfo& tensor : graph.tensors) {
    if (tensor.name == "t") return tensor;
  }
  return fail(Code::Internal, "no t");
}

void expect_broken(const wire::Model& model, const std::string& why) {
  const auto graph = graph_of(model);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, Code::Input);
  EXPECT_THAT(graph.error().message, HasSubstr(why));
}

TEST(Graph, SmallModel) {
  const auto graph = graph_of(small_model());
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 2U);
  EXPECT_EQ(graph->nodes[0].op, "MatMul");
  EXPECT_EQ(graph->nodes[0].since, 13);  // MatMul was last defined in operator set 13, Relu in 14
  EXPECT_EQ(graph->nodes[1].since, 14);
  EXPECT_EQ(graph->nodes[0].outputs, graph->nodes[1].inputs);
  EXPECT_EQ(graph->outputs, graph->nodes[1].outputs);
  const ir::TensorInfo& w = graph->tensors[static_cast<std::size_t>(graph->nodes[0].inputs[1])];
  EXPECT_TRUE(w.constant);
  EXPECT_EQ(w.constant_bytes, 32U);
  EXPECT_EQ(w.small_value, ir::Value(ir::List{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}));
}

/// small_model() with its weights listed among the inputs.
Result<ir::TensorInfo> listed_weights(std::int64_t ir_version) {
  wire::Model model = small_model();
  model.set_ir_version(ir_version);
  add_input(model, "w", {"4", "2"});
  OPLAT_TRY(loaded, load(model));
  OPLAT_TRY(inputs, loaded.inputs());
  EXPECT_EQ(inputs.size(), 1U) << "a caller need not give it";
  OPLAT_TRY(graph, loaded.graph());
  EXPECT_EQ(graph.inputs.size(), 1U);
  return graph.tensors[static_cast<std::size_t>(graph.nodes[0].inputs[1])];
}

TEST(Graph, ListedInitialisersAreConstantsUpToIrVersion3) {
  const auto replaceable = listed_weights(4);
  ASSERT_TRUE(replaceable) << replaceable.error().message;
  EXPECT_FALSE(replaceable->constant);
  EXPECT_TRUE(replaceable->overridable);
  EXPECT_EQ(replaceable->constant_bytes, 32U);
  EXPECT_EQ(replaceable->dtype, ir::Dtype::F32);
  EXPECT_EQ(replaceable->shape, ir::Shape::of({4, 2}));
  const auto constant = listed_weights(3);
  ASSERT_TRUE(constant);
  EXPECT_TRUE(constant->constant);
  EXPECT_FALSE(constant->overridable);
}

TEST(Graph, ListedInitialisersOfBodiesAreNoConstantsEither) {
  wire::Model model = empty_model();
  add_input(model, "c", {}, kBool);
  add_output(model, "y");
  wire::Graph& body =
      *add_attribute(add_node(*model.mutable_graph(), "If", {"c"}, {"y"}), "then_branch", 5)
           .mutable_g();
  add_tensor(body, "w", kF32, {2}).set_raw_data(std::string(8, '\0'));
  add_value(*body.add_input(), "w", kF32, {"2"});
  add_node(body, "Relu", {"w"}, {"z"});
  body.add_output()->set_name("z");
  const auto graph = graph_of(model);
  ASSERT_TRUE(graph) << graph.error().message;
  const ir::Graph& branch = *graph->nodes[0].bodies[0].second;
  EXPECT_TRUE(branch.tensors[static_cast<std::size_t>(branch.nodes[0].inputs[0])].overridable);
}

TEST(Graph, WithoutNodesHandsItsInputsOn) {
  wire::Model model = empty_model();
  add_input(model, "x", {"4"});
  add_output(model, "x", {"4"});
  const auto graph = graph_of(model);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(graph->nodes.empty());
  EXPECT_EQ(graph->outputs, graph->inputs);
  expect_broken(empty_model(), "neither nodes nor outputs");
}

/// A sparse f32 "t" of these dimensions.
wire::SparseTensor sparse(const std::vector<std::int64_t>& dims, const std::vector<float>& values,
                          const std::vector<std::int64_t>& indices,
                          const std::vector<std::int64_t>& index_dims) {
  wire::SparseTensor tensor;
  tensor.mutable_values()->set_name("t");
  tensor.mutable_values()->set_data_type(kF32);
  tensor.mutable_values()->add_dims(static_cast<std::int64_t>(values.size()));
  tensor.mutable_values()->set_raw_data(raw(values));
  tensor.mutable_indices()->set_data_type(kI64);
  for (const std::int64_t dim : index_dims) tensor.mutable_indices()->add_dims(dim);
  for (const std::int64_t index : indices) tensor.mutable_indices()->add_int64_data(index);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

Result<ir::TensorInfo> sparse_constant(const wire::SparseTensor& tensor) {
  return constant([&](wire::Graph& g) { *g.add_sparse_initializer() = tensor; });
}

TEST(SparseTensors, AreConstantsOfTheirDenseForm) {
  const auto flat = sparse_constant(sparse({2, 3}, {5, 7}, {1, 5}, {2}));
  const auto pairs = sparse_constant(sparse({2, 3}, {5, 7}, {0, 1, 1, 2}, {2, 2}));
  ASSERT_TRUE(flat && pairs);
  EXPECT_TRUE(flat->constant);
  EXPECT_EQ(flat->shape, ir::Shape::of({2, 3}));
  EXPECT_EQ(flat->constant_bytes, 24U);
  EXPECT_EQ(flat->small_value, ir::Value(ir::List{0.0, 5.0, 0.0, 0.0, 0.0, 7.0}));
  EXPECT_EQ(pairs->small_value, flat->small_value);
  const auto large = sparse_constant(sparse({64, 128}, {5, 7}, {1, 8191}, {2}));
  ASSERT_TRUE(large);
  EXPECT_EQ(large->constant_bytes, 32768U);
}

TEST(SparseTensors, OfConstantNodesAreConstants) {
  wire::Model model = empty_model();
  wire::Node& node = add_node(*model.mutable_graph(), "Constant", {}, {"t"});
  *add_attribute(node, "sparse_value", 11).mutable_sparse_tensor() = sparse({4}, {3}, {2}, {1});
  add_node(*model.mutable_graph(), "Foo", {"t"}, {"y"});
  add_output(model, "y");
  const auto graph = graph_of(model);
  ASSERT_TRUE(graph) << graph.error().message;
  const ir::TensorInfo& t = graph->tensors[static_cast<std::size_t>(graph->nodes.back().inputs[0])];
  EXPECT_TRUE(t.constant);
  EXPECT_EQ(t.small_value, ir::Value(ir::List{0.0, 0.0, 3.0, 0.0}));
}

TEST(SparseTensors, ThatAreNoneAreRefusedByName) {
  const auto why = [](const wire::SparseTensor& tensor) {
    const auto info = sparse_constant(tensor);
    return info ? std::string("accepted") : info.error().message;
  };
  EXPECT_THAT(why(sparse({64, 1LL << 35}, {1}, {7}, {1})), HasSubstr("the limit is 2048"));
  EXPECT_THAT(why(sparse({1LL << 40, 1LL << 40}, {1}, {7}, {1})), HasSubstr("have no size"));
  EXPECT_THAT(why(sparse({-1}, {1}, {0}, {1})), HasSubstr("have no size"));
  EXPECT_THAT(why(sparse({4}, {1, 2}, {0}, {1})), HasSubstr("sparse tensor 't' of [4]"));
  EXPECT_THAT(why(sparse({4}, {1}, {4}, {1})), HasSubstr("outside its dimensions"));
  EXPECT_THAT(why(sparse({4}, {1}, {-1}, {1})), HasSubstr("outside its dimensions"));
  EXPECT_THAT(why(sparse({2, 2}, {1}, {0, 2}, {1, 2})), HasSubstr("outside its dimensions"));
  EXPECT_THAT(why(sparse({2, 2}, {1}, {0, 1, 1}, {1, 3})), HasSubstr("do not fit each other"));
  wire::SparseTensor announced = sparse({4}, {1}, {0}, {1});
  announced.mutable_indices()->clear_int64_data();
  EXPECT_THAT(why(announced), HasSubstr("do not fit each other")) << "indices that are not there";
}

TEST(Constants, RawAndTypedStorageAreTheSame) {
  const auto raw64 = constant([](wire::Graph& g) {
    add_tensor(g, "t", kI64, {2}).set_raw_data(raw(std::vector<std::int64_t>{-5, 7}));
  });
  const auto typed64 = constant([](wire::Graph& g) {
    wire::Tensor& t = add_tensor(g, "t", kI64, {2});
    t.add_int64_data(-5);
    t.add_int64_data(7);
  });
  const auto raw8 =
      constant([](wire::Graph& g) { add_tensor(g, "t", kU8, {2}).set_raw_data("\xff\x07"); });
  const auto typed8 = constant([](wire::Graph& g) {
    wire::Tensor& t = add_tensor(g, "t", kU8, {2});
    t.add_int32_data(255);
    t.add_int32_data(7);
  });
  const auto flags = constant([](wire::Graph& g) {
    add_tensor(g, "t", kBool, {3}).set_raw_data(std::string("\1\0\1", 3));
  });
  ASSERT_TRUE(raw64 && typed64 && raw8 && typed8 && flags);
  EXPECT_EQ(raw64->small_value, ir::Value(ir::List{-5, 7}));
  EXPECT_EQ(typed64->small_value, raw64->small_value);
  EXPECT_EQ(raw8->small_value, ir::Value(ir::List{255, 7}));
  EXPECT_EQ(typed8->small_value, raw8->small_value);
  EXPECT_EQ(flags->small_value, ir::Value(ir::List{1, 0, 1}));
  EXPECT_EQ(raw64->constant_bytes, 16U);
  EXPECT_EQ(typed8->constant_bytes, 2U);
}

TEST(Constants, ValuesAreKeptUpTo64IntegersAnd16Floats) {
  const auto of = [](std::int32_t type, std::int64_t count, std::size_t size) {
    const auto tensor = constant([&](wire::Graph& g) {
      std::string bytes(static_cast<std::size_t>(count) * size, '\0');
      bytes.back() = '\1';
      add_tensor(g, "t", type, {count}).set_raw_data(bytes);
    });
    return tensor && tensor->constant && tensor->small_value.has_value();
  };
  EXPECT_TRUE(of(kI64, 64, 8));
  EXPECT_FALSE(of(kI64, 65, 8));
  EXPECT_TRUE(of(kF32, 16, 4));
  EXPECT_FALSE(of(kF32, 17, 4));
}

TEST(Constants, LargeOnesOfEqualIntegersKeepTheOneValue) {
  const auto of = [](std::string bytes) {
    return constant([&](wire::Graph& g) { add_tensor(g, "t", kU8, {144}).set_raw_data(bytes); });
  };
  const auto equal = of(std::string(144, '\x80'));
  ASSERT_TRUE(equal);
  EXPECT_EQ(equal->small_value, ir::Value(ir::List{128}));
  const auto typed = constant([](wire::Graph& g) {
    wire::Tensor& t = add_tensor(g, "t", kU8, {70});
    for (int i = 0; i < 70; ++i) t.add_int32_data(3);
  });
  ASSERT_TRUE(typed);
  EXPECT_EQ(typed->small_value, ir::Value(ir::List{3}));
  EXPECT_FALSE(of(std::string(143, '\x80') + '\x81')->small_value);
  const auto floats = constant(
      [](wire::Graph& g) { add_tensor(g, "t", kF32, {70}).set_raw_data(std::string(280, '\0')); });
  EXPECT_FALSE(floats->small_value) << "weights";
}

TEST(Constants, NumbersThatDisagreeWithDimensionsGiveNoValue) {
  const auto missing =
      constant([](wire::Graph& g) { add_tensor(g, "t", kI64, {2}).add_int64_data(1); });
  const auto huge = constant([](wire::Graph& g) {
    add_tensor(g, "t", kI64, {1LL << 40, 1LL << 40});
  });
  const auto negative = constant([](wire::Graph& g) { add_tensor(g, "t", kI64, {-1}); });
  for (const auto& tensor : {missing, huge, negative}) {
    ASSERT_TRUE(tensor) << tensor.error().message;
    EXPECT_TRUE(tensor->constant);
    EXPECT_FALSE(tensor->small_value);
  }
}

TEST(Constants, AConstantNodeIsOne) {
  const auto from = [](auto fill) {
    return constant([&](wire::Graph& g) { fill(add_node(g, "Constant", {}, {"t"})); });
  };
  const auto tensor = from([](wire::Node& n) {
    wire::Tensor& t = *add_attribute(n, "value", 4).mutable_t();
    t.set_data_type(kI64);
    t.add_dims(1);
    t.add_int64_data(9);
  });
  const auto one = from([](wire::Node& n) { add_attribute(n, "value_int", 2).set_i(-3); });
  const auto list = from([](wire::Node& n) {
    wire::Attribute& a = add_attribute(n, "value_ints", 7);
    a.add_ints(4);
    a.add_ints(5);
  });
  const auto real = from([](wire::Node& n) { add_attribute(n, "value_float", 1).set_f(0.5F); });
  ASSERT_TRUE(tensor && one && list && real);
  EXPECT_TRUE(tensor->constant && one->constant && list->constant && real->constant);
  EXPECT_EQ(tensor->small_value, ir::Value(ir::List{9}));
  EXPECT_EQ(one->small_value, ir::Value(ir::List{-3}));
  EXPECT_EQ(one->shape, ir::Shape{});
  EXPECT_EQ(list->small_value, ir::Value(ir::List{4, 5}));
  EXPECT_EQ(list->shape, ir::Shape::of({2}));
  EXPECT_EQ(real->small_value, ir::Value(ir::List{0.5}));
  EXPECT_EQ(real->dtype, ir::Dtype::F32);
}

TEST(Graph, ReadsAttributesOfEveryKind) {
  wire::Model model = small_model();
  wire::Node& node = *model.mutable_graph()->mutable_node(1);
  add_attribute(node, "i", 2).set_i(3);
  add_attribute(node, "f", 1).set_f(0.25F);
  add_attribute(node, "s", 3).set_s("same");
  add_attribute(node, "is", 7).add_ints(1);
  add_attribute(node, "ss", 8).add_strings("a");
  wire::Tensor& t = *add_attribute(node, "t", 4).mutable_t();
  t.set_data_type(kF32);
  t.add_dims(1);
  t.add_float_data(0.5F);
  const auto graph = graph_of(model);
  ASSERT_TRUE(graph);
  const std::vector<ir::NamedValue> expected = {{"i", 3},
                                                {"f", 0.25},
                                                {"s", "same"},
                                                {"is", ir::List{1}},
                                                {"ss", ir::List{"a"}},
                                                {"t", "tensor:f32c[1]=[0.5]"}};
  EXPECT_EQ(graph->nodes[1].attributes, expected);
}

TEST(Graph, BrokenReferencesAreNamed) {
  wire::Model undefined = small_model();
  undefined.mutable_graph()->mutable_node(0)->set_input(1, "nowhere\n");
  expect_broken(undefined, "reads 'nowhere\\x0a'");
  wire::Model late = small_model();  // nodes in an order that nobody can execute
  late.mutable_graph()->mutable_node()->SwapElements(0, 1);
  expect_broken(late, "reads 'h'");
  wire::Model twice = small_model();
  twice.mutable_graph()->mutable_node(1)->set_output(0, "h");
  expect_broken(twice, "'h' is produced twice");
  wire::Model over_weights = small_model();
  over_weights.mutable_graph()->mutable_node(1)->set_output(0, "w");
  expect_broken(over_weights, "'w' is produced twice");
  wire::Model output = small_model();
  add_output(output, "z");
  expect_broken(output, "output 'z'");
}

TEST(Graph, AbsentOperandsKeepTheirPlace) {
  wire::Model model = small_model();
  add_node(*model.mutable_graph(), "Clip", {"y", "", "y"}, {"z", ""});
  const auto graph = graph_of(model);
  ASSERT_TRUE(graph);
  const ir::Node& clip = graph->nodes[2];
  ASSERT_EQ(clip.inputs.size(), 3U);
  EXPECT_EQ(clip.inputs[1], ir::kNoTensor);
  EXPECT_EQ(clip.inputs[0], clip.inputs[2]);
  EXPECT_EQ(clip.outputs[1], ir::kNoTensor);
}

TEST(Bodies, CaptureWhatTheyReadOfTheirOuterGraphs) {
  const auto graph = graph_of(nested_model(2));
  ASSERT_TRUE(graph) << graph.error().message;
  const ir::Node& outer = graph->nodes[0];
  ASSERT_EQ(outer.bodies.size(), 1U);
  EXPECT_EQ(outer.bodies[0].first, "then_branch");
  // c is read by the inner If, x by the Identity within: both belong to the outermost graph.
  std::vector<std::string> names;
  for (const ir::TensorId id : outer.captured)
    names.push_back(graph->tensors[static_cast<std::size_t>(id)].name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Names{"c", "x"}));
  const ir::Graph& innermost = *outer.bodies[0].second->nodes[0].bodies.at(0).second;
  const ir::TensorInfo& x =
      innermost.tensors[static_cast<std::size_t>(innermost.nodes[0].inputs[0])];
  EXPECT_TRUE(x.outer);
  EXPECT_EQ(x.shape, ir::Shape::of({4}));
  EXPECT_EQ(x.dtype, ir::Dtype::F32);
}

TEST(Bodies, OfWeightsKeepThem) {
  wire::Model model = nested_model(1);
  wire::Graph& body = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  add_tensor(*model.mutable_graph(), "k", kI64, {1}).add_int64_data(2);
  body.mutable_node(0)->add_input("k");
  const auto graph = graph_of(model);
  ASSERT_TRUE(graph) << graph.error().message;
  const ir::Graph& inner = *graph->nodes[0].bodies[0].second;
  const ir::TensorInfo& k = inner.tensors[static_cast<std::size_t>(inner.nodes[0].inputs.at(1))];
  EXPECT_TRUE(k.constant && k.outer);
  EXPECT_EQ(k.small_value, ir::Value(ir::List{2}));
}

}  // namespace
}  // namespace oplat::formats::onnx
