// SPDX-License-Identifier: Apache-2.0
/// --shape and --batch against what the model fixes and leaves open.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "unit/formats/models.hpp"

namespace oplat::formats::onnx {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the models of this folder
using ::testing::HasSubstr;

struct Input {
  std::string name;
  Names dims;
};

/// One Foo node over these inputs.
wire::Model model_with(const std::vector<Input>& inputs) {
  wire::Model model = empty_model();
  Names names;
  for (const Input& input : inputs) {
    add_input(model, input.name, input.dims);
    names.push_back(input.name);
  }
  add_node(*model.mutable_graph(), "Foo", names, {"y"});
  add_output(model, "y", {"N"});
  return model;
}

/// "a[2,3] b[2]": the inputs after specialising.
Result<std::string> specialised(const wire::Model& source, const ShapeOptions& options) {
  OPLAT_TRY(model, load(source));
  OPLAT_CHECK(model.specialise(options));
  OPLAT_TRY(infos, model.inputs());
  std::string text;
  for (const InputInfo& info : infos) {
    ir::Key key;
    key.op = "T";
    key.operands.emplace_back(ir::TensorEntry{info.dtype, false, info.shape, {}});
    const std::string printed = ir::print(key);  // T{}(f32[2,3])->()
    text += (text.empty() ? "" : " ") + info.name + printed.substr(7, printed.size() - 12);
  }
  return text;
}

void expect_usage(const wire::Model& model, const ShapeOptions& options,
                  const std::vector<std::string>& words) {
  const auto result = specialised(model, options);
  ASSERT_FALSE(result) << *result;
  EXPECT_EQ(result.error().code, Code::Usage);
  for (const std::string& word : words) EXPECT_THAT(result.error().message, HasSubstr(word));
}

TEST(Specialise, FixedModelsNeedNothing) {
  EXPECT_EQ(specialised(model_with({{"a", {"1", "3"}}}), {}), "a[1,3]");
}

TEST(Specialise, OpenDimensionsNeedAFlag) {
  expect_usage(model_with({{"a", {"1", "?"}}}), {},
               {"input 'a'", "[1, ?]", "--shape a=", "--batch"});
  expect_usage(model_with({{"a", {"N", "3"}}}), {}, {"[N, 3]"});
}

TEST(Shape, FillsWhatIsOpen) {
  EXPECT_EQ(specialised(model_with({{"a", {"?", "3", "H"}}}),
                        {.shapes = {{"a", {2, 3, 5}}}, .batch = {}}),
            "a[2,3,5]");
}

TEST(Shape, MayHaveASizeOf0) {
  // The cache of a decoder's first step.
  const wire::Model model = model_with({{"k", {"1", "8", "4"}}, {"past", {"1", "past", "4"}}});
  EXPECT_EQ(specialised(model, {.shapes = {{"past", {1, 0, 4}}}, .batch = {}}),
            "k[1,8,4] past[1,0,4]");
}

TEST(Shape, AgreesWithWhatIsFixedOrIsRefused) {
  const wire::Model model = model_with({{"a", {"1", "3"}}});
  EXPECT_EQ(specialised(model, {.shapes = {{"a", {1, 3}}}, .batch = {}}), "a[1,3]");
  expect_usage(model, {.shapes = {{"a", {1, 4}}}, .batch = {}},
               {"a=1x4", "asks for 4", "fixes 3", "dimension 1"});
}

TEST(Shape, HasTheInputsRank) {
  const wire::Model model = model_with({{"a", {"?", "3"}}});
  expect_usage(model, {.shapes = {{"a", {3}}}, .batch = {}}, {"1 dimensions", "has 2"});
  expect_usage(model, {.shapes = {{"a", {1, 3, 1}}}, .batch = {}}, {"3 dimensions", "has 2"});
}

TEST(Shape, NamesAnInput) {
  expect_usage(model_with({{"a", {"?"}}, {"b", {"?"}}}), {.shapes = {{"c", {1}}}, .batch = {}},
               {"'c'", "a, b"});
  wire::Model model =
      model_with({{"a", {"?"}}});  // an initialiser that is listed as an input is none
  add_input(model, "w", {"1"});
  add_tensor(*model.mutable_graph(), "w", kF32, {1});
  expect_usage(model, {.shapes = {{"w", {1}}}, .batch = {}}, {"'w'", "inputs are: a"});
}

TEST(Shape, OfUnknownRankMustBeGiven) {
  wire::Model model = model_with({{"a", {}}});
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  expect_usage(model, {}, {"rank unknown", "--shape a="});
  EXPECT_EQ(specialised(model, {.shapes = {{"a", {2, 3}}}, .batch = {}}), "a[2,3]");
  expect_usage(model, {.shapes = {}, .batch = 2}, {"--shape"});
}

TEST(Symbols, SharedByTwoInputsAreBoundInBoth) {
  const wire::Model model = model_with({{"a", {"N", "L"}}, {"b", {"L", "4"}}});
  EXPECT_EQ(specialised(model, {.shapes = {{"a", {2, 7}}}, .batch = {}}), "a[2,7] b[7,4]");
}

TEST(Symbols, ContradictionsAreRefused) {
  const wire::Model two = model_with({{"a", {"L"}}, {"b", {"L"}}});
  expect_usage(two, {.shapes = {{"a", {2}}, {"b", {3}}}, .batch = {}}, {"'L'", "2", "3"});
  EXPECT_EQ(specialised(two, {.shapes = {{"a", {3}}, {"b", {3}}}, .batch = {}}), "a[3] b[3]");
  expect_usage(model_with({{"a", {"L", "L"}}}), {.shapes = {{"a", {2, 3}}}, .batch = {}}, {"'L'"});
  expect_usage(model_with({{"a", {"N"}}, {"b", {"N"}}}), {.shapes = {{"a", {2}}}, .batch = 3},
               {"'N'"});
}

ShapeOptions given(std::map<std::string, std::vector<std::int64_t>> shapes) {
  return {std::move(shapes), std::nullopt};
}

/// As exporters of language models name the inputs of a decoding step.
wire::Model decoder() {
  return model_with({{"ids", {"batch", "length"}},
                     {"mask", {"batch", "past + length"}},
                     {"past", {"batch", "2", "past", "4"}},
                     {"beams", {"batch*2", "4"}}});
}

TEST(SymbolicSums, FollowFromTheOthers) {
  EXPECT_EQ(specialised(decoder(), given({{"ids", {1, 3}}, {"past", {1, 2, 8, 4}}})),
            "ids[1,3] mask[1,11] past[1,2,8,4] beams[2,4]");
  EXPECT_EQ(specialised(decoder(), given({{"ids", {1, 3}}, {"mask", {1, 11}}})),
            "ids[1,3] mask[1,11] past[1,2,8,4] beams[2,4]")
      << "a sum gives a part, too";
  EXPECT_EQ(specialised(decoder(), given({{"mask", {6, 5}}, {"past", {6, 2, 0, 4}}})),
            "ids[6,5] mask[6,5] past[6,2,0,4] beams[12,4]");
  EXPECT_EQ(
      specialised(model_with({{"a", {"n"}}, {"b", {"2 * (n + 1) - 1"}}}), given({{"b", {7}}})),
      "a[3] b[7]");
}

TEST(SymbolicSums, RefuseSizesThatDoNotFit) {
  expect_usage(decoder(), given({{"ids", {1, 3}}, {"mask", {1, 5}}, {"past", {1, 2, 8, 4}}}),
               {"'past", "give --shape values that agree"});
  expect_usage(decoder(), given({{"ids", {1, 3}}, {"mask", {1, 2}}}),
               {"'past + length' is 2 in input 'mask', which no size of 'past' gives"});
  expect_usage(decoder(), given({{"beams", {3, 4}}}), {"no size of 'batch' gives"});
  expect_usage(model_with({{"a", {"n"}}, {"b", {"n - 4"}}}), given({{"a", {3}}}),
               {"'n - 4' would be -1"});
  expect_usage(model_with({{"a", {"n"}}, {"b", {"n*n*n*n"}}}), given({{"a", {1 << 20}}}),
               {"'n*n*n*n' would be too large"});
}

TEST(SymbolicSums, OtherTextsAreNames) {
  for (const std::string name : {"batch-size", "a/b", "floor(n)", "?x + ",
                                 "(((((((((((n)))))))))))", "1x + 2", "n + 99999999999999999999"}) {
    EXPECT_EQ(specialised(model_with({{"a", {name}}, {"b", {name}}}), given({{"a", {7}}})),
              "a[7] b[7]")
        << name;
  }
}

TEST(SymbolicSums, ABatchInAProductIsNotTheBatch) {
  EXPECT_EQ(specialised(model_with({{"a", {"batch", "3"}}, {"b", {"batch * 8", "3"}}}),
                        {.shapes = {}, .batch = 2}),
            "a[2,3] b[16,3]");
}

TEST(Symbols, HostileNamesArePrintable) {
  const std::string name = "x\x1b[31m\n\xff";
  const wire::Model model = model_with({{name, {"\x1b]0;n\x07", "3"}}});
  for (const ShapeOptions& options : {ShapeOptions{}, given({{name, {1}}}), given({{"y", {1}}}),
                                      given({{name, {1, 4}}}), given({{name, {0, 4}}})}) {
    const auto refused = specialised(model, options);
    ASSERT_FALSE(refused);
    for (const char c : refused.error().message) EXPECT_GE(c, ' ') << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr("\\x1b"));
  }
}

TEST(Symbols, AreBoundInOutputs) {
  auto model = load(model_with({{"a", {"N"}}}));
  ASSERT_TRUE(model);
  ASSERT_TRUE(model->specialise({.shapes = {}, .batch = 6}));
  const auto bytes = model->bytes();
  ASSERT_TRUE(bytes);
  wire::Model back;
  ASSERT_TRUE(back.ParseFromString(*bytes));
  EXPECT_EQ(back.graph().output(0).type().tensor_type().shape().dim(0).dim_value(), 6);
}

TEST(Batch, GoesToDimensionsOfThatName) {
  EXPECT_EQ(specialised(model_with({{"a", {"batch_size", "3"}}, {"b", {"4", "batch_size"}}}),
                        {.shapes = {}, .batch = 8}),
            "a[8,3] b[4,8]");
  EXPECT_EQ(specialised(model_with({{"a", {"N", "3"}}}), {.shapes = {}, .batch = 8}), "a[8,3]");
}

TEST(Batch, IsNotANumberOfPointsOrBoxes) {
  // N, B and BS behind the first dimension are the batch where something else says so.
  for (const std::string name : {"N", "B", "BS"}) {
    const wire::Model points = model_with({{"x", {"1", "3", name}}});
    expect_usage(points, {.shapes = {}, .batch = 4},
                 {"input 'x' has open dimensions: [1, 3, " + name + "]", "--shape x=1x3x"});
    EXPECT_EQ(specialised(points, {.shapes = {{"x", {1, 3, 500}}}, .batch = 4}), "x[4,3,500]");
    expect_usage(model_with({{"a", {"?", "3"}}, {"x", {"1", name, "3"}}}),
                 {.shapes = {}, .batch = 4},
                 {"input 'x' has open dimensions: [1, " + name + ", 3]"});
    EXPECT_EQ(specialised(model_with({{"a", {name, "3"}}, {"b", {"2", name}}}),
                          {.shapes = {}, .batch = 4}),
              "a[4,3] b[2,4]")
        << "it leads another input";
    EXPECT_EQ(specialised(model_with({{"a", {name, "3"}}, {"b", {"2", name}}}),
                          {.shapes = {{"a", {4, 3}}}, .batch = 4}),
              "a[4,3] b[2,4]");
    expect_usage(model_with({{"a", {name, "3"}}, {"b", {"2", name}}}),
                 {.shapes = {{"a", {2, 3}}}, .batch = 4}, {"'" + name + "'"});
  }
}

TEST(Batch, ElseToTheLeadingOpenDimension) {
  EXPECT_EQ(specialised(model_with({{"a", {"?", "3"}}, {"b", {"?"}}}), {.shapes = {}, .batch = 8}),
            "a[8,3] b[8]");
  EXPECT_EQ(
      specialised(model_with({{"a", {"rows", "3"}}, {"b", {"5"}}}), {.shapes = {}, .batch = 8}),
      "a[8,3] b[5]");
}

TEST(Batch, LeavesOtherOpenDimensionsOpen) {
  expect_usage(model_with({{"a", {"N", "L"}}}), {.shapes = {}, .batch = 8},
               {"[8, L]", "--shape a="});
}

/// A model after its batch was set; the test ends where it cannot be.
Model with_batch(const wire::Model& source, std::int64_t batch) {
  auto model = load(source);
  if (model) {
    if (const auto set = model->specialise({.shapes = {}, .batch = batch}); !set)
      throw std::runtime_error(set.error().message);
    return *std::move(model);
  }
  throw std::runtime_error(model.error().message);
}

TEST(Batch, ThatTheModelFixesIsRewritten) {
  const wire::Model model = model_with({{"a", {"1", "3"}}});
  EXPECT_EQ(specialised(model, {.shapes = {}, .batch = 8}), "a[8,3]");
  EXPECT_EQ(specialised(model, {.shapes = {}, .batch = 1}), "a[1,3]");
  EXPECT_EQ(with_batch(model, 1).fixed_batch(), std::nullopt);
  EXPECT_EQ(with_batch(model, 8).fixed_batch(), 1);
  EXPECT_EQ(
      specialised(model_with({{"a", {"2", "3"}}, {"b", {"2", "5"}}}), {.shapes = {}, .batch = 8}),
      "a[8,3] b[8,5]");
}

TEST(Batch, ThatCannotBeRewrittenIsRefusedWithTheReason) {
  expect_usage(model_with({{"a", {"1", "3"}}, {"b", {"2", "3"}}}), {.shapes = {}, .batch = 8},
               {"fixes its batch (a[1, 3], b[2, 3])", "do not begin with one batch", "--shape"});
  expect_usage(model_with({{"a", {"1", "3"}}, {"scale", {"1"}}}), {.shapes = {}, .batch = 8},
               {"the input 'scale' has one dimension"});
  wire::Model recurrent = model_with({{"a", {"1", "3"}}});
  recurrent.mutable_graph()->mutable_node(0)->set_op_type("GRU");
  expect_usage(recurrent, {.shapes = {}, .batch = 8}, {"GRU", "time for its first dimension"});
}

TEST(Batch, IsNotThereBecauseOneInputBeginsWithItsNumber) {
  const wire::Model states =
      model_with({{"image", {"1", "3", "8", "8"}}, {"h0", {"2", "1", "16"}}});
  expect_usage(states, {.shapes = {}, .batch = 2},
               {"--batch 2", "h0[2, 1, 16]", "do not begin with one batch"});
  expect_usage(states, {.shapes = {}, .batch = 1}, {"do not begin with one batch"});
  const wire::Model scaled = model_with({{"a", {"1", "3"}}, {"scale", {"2"}}});
  expect_usage(scaled, {.shapes = {}, .batch = 2}, {"the input 'scale' has one dimension"});
  EXPECT_EQ(specialised(scaled, {.shapes = {}, .batch = 1}), "a[1,3] scale[2]");
  EXPECT_EQ(
      specialised(model_with({{"a", {"2", "3"}}, {"b", {"2", "5"}}}), {.shapes = {}, .batch = 2}),
      "a[2,3] b[2,5]");
  EXPECT_EQ(specialised(model_with({{"a", {"2"}}, {"b", {"7"}}}), {.shapes = {}, .batch = 2}),
            "a[2] b[7]");
}

TEST(Batch, IsThereWhereAShapeSetsItInTheOpenDimension) {
  for (const std::string open : {"batch", "?"}) {
    const wire::Model boxes = model_with({{"a", {open, "3"}}, {"boxes", {"100", "4"}}});
    EXPECT_EQ(specialised(boxes, {.shapes = {{"a", {2, 3}}}, .batch = 2}), "a[2,3] boxes[100,4]");
    expect_usage(boxes, {.shapes = {{"a", {2, 3}}}, .batch = 100}, {"--batch 100"});
  }
}

TEST(Batch, ThatContradictsAShapeIsRefused) {
  for (const std::string open : {"batch", "?"}) {
    const wire::Model image = model_with({{"x", {open, "3"}}});
    expect_usage(image, {.shapes = {{"x", {1, 3}}}, .batch = 2},
                 {"--batch 2 contradicts --shape, which sets dimension 0 of input 'x' to 1; give "
                  "one of the two, or the same number in both"});
    EXPECT_EQ(specialised(image, {.shapes = {{"x", {2, 3}}}, .batch = 2}), "x[2,3]");
  }
  EXPECT_EQ(specialised(model_with({{"x", {"1", "?"}}}), {.shapes = {{"x", {1, 3}}}, .batch = 2}),
            "x[2,3]")
      << "the model fixes the batch, and the shape only what it leaves open";
}

TEST(Batch, IsOpenOnlyWhereItPlainlyIsOne) {
  const auto leaves_open = [](const std::vector<Input>& inputs) {
    const std::string bytes = model_with(inputs).SerializeAsString();
    return reader().leaves_batch_open(base::Source::from_bytes("m.onnx", bytes)).value();
  };
  EXPECT_TRUE(leaves_open({{"a", {"N", "3"}}}));
  EXPECT_TRUE(leaves_open({{"a", {"?", "3"}}, {"b", {"5"}}}));
  EXPECT_TRUE(leaves_open({{"ids", {"batch", "8"}}, {"past", {"2", "batch", "4"}}}));
  EXPECT_FALSE(leaves_open({{"points", {"1", "N", "3"}}}));
  EXPECT_FALSE(leaves_open({{"signal", {"1", "3", "b"}}}));
  EXPECT_FALSE(leaves_open({{"a", {"batch", "3"}}, {"points", {"1", "N", "3"}}}));
  EXPECT_FALSE(leaves_open({{"a", {"?", "3"}}, {"points", {"1", "N", "3"}}}));
  EXPECT_FALSE(leaves_open({{"a", {"?", "3"}}, {"b", {"length", "3"}}}));
  EXPECT_FALSE(leaves_open({{"a", {"length", "3"}}}));
  EXPECT_FALSE(leaves_open({{"a", {"1", "3"}}}));
}

/// a -> Reshape to these sizes -> y.
wire::Model reshaping(const std::vector<std::int64_t>& sizes) {
  wire::Model model = empty_model();
  wire::Graph& graph = *model.mutable_graph();
  add_input(model, "a", {"1", "4", "6"});
  wire::Tensor& tensor = *graph.add_initializer();
  tensor.set_name("sizes");
  tensor.set_data_type(7);
  tensor.add_dims(static_cast<std::int64_t>(sizes.size()));
  for (const std::int64_t size : sizes) tensor.add_int64_data(size);
  add_node(graph, "Reshape", {"a", "sizes"}, {"y"});
  add_output(model, "y", {"1", "24"});
  return model;
}

/// The constant sizes of the first node after another batch was written.
std::optional<std::vector<std::int64_t>> rewritten(const std::vector<std::int64_t>& sizes) {
  const Model model = with_batch(reshaping(sizes), 8);
  return model.constant_integers(model.node_ends().front().operands.at(1), 8);
}

TEST(Batch, IsRewrittenInTheConstantSizesOfAReshape) {
  EXPECT_EQ(rewritten({1, 24}), (std::vector<std::int64_t>{8, 24}));
  EXPECT_EQ(rewritten({1, -1}), (std::vector<std::int64_t>{8, -1}));
  EXPECT_EQ(rewritten({-1, 24}), (std::vector<std::int64_t>{-1, 24}));
  EXPECT_EQ(rewritten({0, 24}), (std::vector<std::int64_t>{0, 24}));
  expect_usage(reshaping({4, 6}), {.shapes = {}, .batch = 8},
               {"Reshape", "constant sizes [4, 6]", "none is the batch"});
  expect_usage(reshaping({}), {.shapes = {}, .batch = 8}, {"Reshape", "makes a number"});
}

/// The batch of a model whose inputs are set by --shape alone.
std::optional<std::int64_t> batch_of(const wire::Model& source, const ShapeOptions& options) {
  auto model = load(source);
  EXPECT_TRUE(model);
  EXPECT_TRUE(model->specialise(options));
  return model->named_batch();
}

TEST(Batch, IsWhatLeadsAnInputOrIsCalledSo) {
  const auto shaped = [](const Names& dims) {
    ShapeOptions options;
    options.shapes["a"] = {2, 3, 500};
    return batch_of(model_with({{"a", dims}}), options);
  };
  EXPECT_EQ(shaped({"N", "3", "H"}), 2);
  EXPECT_EQ(shaped({"2", "3", "N"}), std::nullopt) << "points, not images";
  EXPECT_EQ(shaped({"2", "B", "500"}), std::nullopt);
  EXPECT_EQ(shaped({"2", "3", "batch_size"}), 500);
  EXPECT_EQ(shaped({"2", "3", "500"}), std::nullopt);
}

TEST(Batch, IsSecondWhereARecurrentOperatorReadsTimeFirst) {
  wire::Model model = empty_model();
  add_input(model, "x", {"T", "N", "8"});
  add_input(model, "w", {"1", "32", "8"});
  add_node(*model.mutable_graph(), "LSTM", {"x", "w"}, {"y"});
  add_output(model, "y", {"T"});
  EXPECT_EQ(batch_of(model, {.shapes = {{"x", {5, 4, 8}}}, .batch = {}}), 4);
  EXPECT_EQ(specialised(model, {.shapes = {{"x", {5, 4, 8}}}, .batch = 4}), "x[5,4,8] w[1,32,8]");
  expect_usage(model, {.shapes = {}, .batch = 4}, {"input 'x' has open dimensions: [T, 4, 8]"});
}

TEST(Batch, GoesWithShapes) {
  EXPECT_EQ(specialised(model_with({{"a", {"N", "L"}}, {"b", {"N", "4"}}}),
                        {.shapes = {{"a", {2, 5}}}, .batch = 2}),
            "a[2,5] b[2,4]");
}

}  // namespace
}  // namespace oplat::formats::onnx
