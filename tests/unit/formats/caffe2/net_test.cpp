// SPDX-License-Identifier: Apache-2.0
/// What is a Caffe2 net, its inputs and parameters, what is none, and what is said about the
/// latter.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "unit/formats/caffe2/nets.hpp"

namespace oplat::formats::caffe2 {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the nets of this folder
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string binary(const std::string& text) {
  wire::Net net;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &net));
  return net.SerializeAsString();
}

const std::string kConv =
    "name: \"small\"\n" + op("Conv", {"x", "w", "b"}, {"y"}, i("kernel", 3) + i("pad", 1)) +
    op("Relu", {"y"}, {"y"}) + inputs({"x", "w", "b"}) + "external_output: \"y\"\n";
const std::string kFills = fill("GivenTensorFill", "w", "ints: 4 ints: 3 ints: 3 ints: 3") +
                           fill("GivenTensorFill", "b", "ints: 4");

void expect_refused(const Result<ir::Graph>& graph, Code code, const std::string& why) {
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, code) << graph.error().message;
  EXPECT_THAT(graph.error().message, HasSubstr(why));
}

TEST(Net, TheOwnOneHasEighteenOperators) {
  const auto source = base::Source::open(own_net("model.pbtxt"));
  ASSERT_TRUE(source) << source.error().message;
  const auto graph = reader().read(*source, shapes({{"data", {2, 3, 32, 32}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes.size(), 18U);
  EXPECT_EQ(graph->inputs.size(), 1U);
  ASSERT_EQ(graph->outputs.size(), 1U);
  EXPECT_EQ(shown(*graph, graph->outputs[0]), "softmax f32[2,10]");
  for (const ir::Node& node : graph->nodes) {
    for (const ir::TensorId id : node.outputs)
      EXPECT_TRUE(graph->tensors[static_cast<std::size_t>(id)].shape.elements()) << node.name;
  }
}

TEST(Net, TextAndBinaryAreOne) {
  const Folder text({{"model.pbtxt", kConv}, {"model_init.pbtxt", kFills}});
  const Folder bytes({{"model.pb", binary(kConv)}, {"model_init.pb", binary(kFills)}});
  const Folder mixed({{"predict_net.pb", binary(kConv)}, {"init_net.pbtxt", kFills}});
  for (const Folder* folder : {&text, &bytes, &mixed}) {
    const auto best = reader_for(folder->source());
    ASSERT_TRUE(best) << best.error().message;
    EXPECT_EQ((*best)->name(), "caffe2");
    const auto graph = folder->read(shapes({{"x", {1, 3, 8, 8}}}));
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_EQ(graph->nodes.size(), 2U);
    EXPECT_EQ(graph->name, "small");
    EXPECT_EQ(shown(*graph, graph->nodes[0].inputs[1]), "w f32c[4,3,3,3]");
    EXPECT_EQ(graph->tensors[static_cast<std::size_t>(graph->nodes[0].inputs[1])].constant_bytes,
              432U);
    // Written in place: a tensor of its own.
    EXPECT_EQ(shown(*graph, graph->nodes[0].outputs[0]), "y f32[1,4,8,8]");
    EXPECT_EQ(shown(*graph, graph->nodes[1].outputs[0]), "y.1 f32[1,4,8,8]");
    EXPECT_THAT(graph->outputs, ElementsAre(graph->nodes[1].outputs[0]));
  }
  const auto siblings = reader().siblings(mixed.source());
  ASSERT_TRUE(siblings);
  EXPECT_THAT(*siblings, ElementsAre("init_net.pbtxt"));
}

TEST(Net, RefusesWhatIsNone) {
  const auto refuse = [](const std::string& bytes, const std::string& why) {
    expect_refused(Folder({{"model.pbtxt", bytes}}).read(), Code::Input, why);
  };
  refuse("", "empty");
  refuse("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull");
  refuse("name: \"x\"\nlayer { }\n", "not a Caffe2 net");
  refuse(kConv.substr(0, kConv.size() - 3), "is truncated: line");
  refuse("op { type: 3 }", "line 1");
  refuse("op { type: \"Relu\" ", "not a Caffe2 net");
  refuse(std::string(100, '\xff'), "not a Caffe2 net");
  std::string deep = "op { ";
  for (int depth = 0; depth < 1000; ++depth) deep += "unknown { ";
  refuse(deep, "not a Caffe2 net");
}

TEST(Net, EveryPrefixIsRefusedOrANet) {
  const std::string bytes = binary(kConv);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto graph = reader().read(base::Source::from_bytes("model.pb", bytes.substr(0, length)),
                                     shapes({{"x", {1, 3, 8, 8}}}));
    ASSERT_FALSE(graph) << length;
    // Cut between two fields it is a net that lacks inputs or outputs.
    EXPECT_TRUE(graph.error().code == Code::Input || graph.error().code == Code::Usage)
        << graph.error().message;
  }
}

TEST(Net, OperatorsThatHangTogetherWrongly) {
  const auto refuse = [](const std::string& text, const std::string& why) {
    expect_refused(Folder({{"model.pbtxt", text}}).read(shapes({{"x", {1, 4}}})), Code::Input, why);
  };
  const std::string x = inputs({"x"});
  refuse(x + op("Relu", {"x"}, {"a"}) + op("Relu", {"b"}, {"c"}) + op("Relu", {"c"}, {"b"}),
         "operator 1 (Relu) reads 'b', which only operator 2 writes");
  refuse(x + op("Relu", {"x"}, {"a"}) + op("Relu", {"lost"}, {"c"}),
         "operator 1 (Relu) reads 'lost', which no operator writes");
  refuse(x + op("Sum", {"x", ""}, {"a"}), "reads ''");
  refuse(x + op("Foo", {"x"}, {"a", "a"}), "operator 0 (Foo) writes 'a' twice");
  refuse(x + op("Foo", {"x"}, {""}), "without a name");
  refuse(x + op("", {"x"}, {"a"}), "operator 0 has no type");
  refuse(x + op("Sum", std::vector<std::string>(5000, "x"), {"a"}),
         "operator 0 (Sum) has 5000 operands");
  refuse(x + op("Relu", {"x"}, {"a"}) + "external_output: \"z\"\n",
         "no operator writes the net's output 'z'");
  refuse(x + op("Relu", {"x"}, {"a"}, "arg { name: \"k\" i: 1 s: \"a\" }"),
         "holds values of 2 kinds");
  refuse(x + op("Relu", {"x"}, {"a"}, i("k", 1) + i("k", 2)), "argument 'k' appears twice");
  refuse(x + op("Relu", {"x"}, {"a"}) + op("FC", {"a", "a"}, {"f"}, i("axis", 9)),
         "operator 1, which writes 'f': FC: axis 9");
}

TEST(Net, ABlobMayBeWrittenAgain) {
  const auto graph =
      Folder({{"model.pbtxt", inputs({"x"}) + op("Relu", {"x"}, {"x"}) +
                                  op("Flatten", {"x"}, {"x"}) + op("Sum", {"x", "x"}, {"x"})}})
          .read(shapes({{"x", {2, 3, 4}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->inputs[0]), "x f32[2,3,4]");
  EXPECT_EQ(shown(*graph, graph->nodes[2].inputs[1]), "x.2 f32[2,12]");
  EXPECT_EQ(graph->nodes[2].name, "x.3");
  ASSERT_EQ(graph->outputs.size(), 1U);
  EXPECT_EQ(shown(*graph, graph->outputs[0]), "x.3 f32[2,12]");
}

TEST(Parameters, WithoutShapesAreNamedWithTheFilesLookedFor) {
  const auto alone = Folder({{"model.pb", binary(kConv)}}).read(shapes({{"x", {1, 3, 8, 8}}}));
  expect_refused(alone, Code::Input, "2 parameters (w, b)");
  expect_refused(alone, Code::Input, "model_init.pb, model_init.pbtxt, model_def.svg");
  const Folder half({{"model.pb", binary(kConv)},
                     {"model_init.pb", binary(fill("GivenTensorFill", "b", "ints: 4"))}});
  expect_refused(half.read(shapes({{"x", {1, 3, 8, 8}}})), Code::Input,
                 "model_init.pb, next to the net, gives no shape for 1 parameters: w");
}

TEST(Parameters, OfADamagedInitNet) {
  const auto read = [](const std::string& init) {
    return Folder({{"model.pbtxt", kConv}, {"model_init.pbtxt", init}})
        .read(shapes({{"x", {1, 3, 8, 8}}}));
  };
  expect_refused(read("nonsense"), Code::Input, "model_init.pbtxt: is not a Caffe2 net");
  expect_refused(read("version https://git-lfs.github.com/spec/v1\n"), Code::Input,
                 "model_init.pbtxt: is a Git LFS pointer");
  expect_refused(read(fill("GivenTensorFill", "w", "ints: -4")), Code::Input,
                 "fills 'w' with the shape [-4]");
  expect_refused(
      read(fill("GivenTensorFill", "w", "ints: 4 ints: 2 ints: 3 ints: 3") +
           fill("GivenTensorFill", "b", "ints: 4")),
      Code::Input,
      "operator 0, which writes 'y': Conv: the filter has the shape [4,2,3,3]; expected [4,3,3,3]");
}

TEST(Inputs, AreThoseThatAreNoParameters) {
  const Folder folder({{"model.pbtxt", kConv}, {"model_init.pbtxt", kFills}});
  expect_refused(folder.read(), Code::Usage,
                 "shape of its input 'x'; set it with --shape x=1x3x224x224");
  expect_refused(folder.read(shapes({{"z", {1}}})), Code::Usage,
                 "has no input 'z'; its inputs are: x");
  expect_refused(folder.read(shapes({{"w", {1}}})), Code::Usage,
                 "has no input 'w'; its inputs are: x");
  expect_refused(folder.read(shapes({{"x", {1, 0, 8, 8}}})), Code::Usage, "--shape x=1x0x8x8");
  expect_refused(folder.read({.shapes = {{"x", {1, 3, 8, 8}}}, .batch = 2}), Code::Usage,
                 "contradicts --batch 2");
  expect_refused(folder.read(shapes({{"x", {1, 5, 8, 8}}})), Code::Input, "expected [4,5,3,3]");
}

/// Exporters let the init net fill the input too.
TEST(Inputs, MayHaveAPlaceholderInTheInitNet) {
  const Folder folder({{"model.pbtxt", kConv},
                       {"model_init.pbtxt",
                        kFills + fill("ConstantFill", "x", "ints: 1 ints: 3 ints: 8 ints: 8")}});
  const auto usual = folder.read();
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ(shown(*usual, usual->inputs.at(0)), "x f32[1,3,8,8]");
  const auto batch = folder.read({.shapes = {}, .batch = 5});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(shown(*batch, batch->outputs.at(0)), "y.1 f32[5,4,8,8]");
  // --batch 1 asks what the net asks by itself.
  EXPECT_TRUE(reader().resolve(folder.source(), {.shapes = {}, .batch = 1})->shapes.empty());
  EXPECT_FALSE(reader().resolve(folder.source(), {.shapes = {}, .batch = 2})->shapes.empty());
}

TEST(Inputs, MayBeSeveral) {
  const Folder folder(
      {{"model.pbtxt", inputs({"a", "b"}) + op("Concat", {"a", "b"}, {"c"}, i("axis", 1))}});
  const auto graph = folder.read(shapes({{"a", {3, 2, 5, 5}}, {"b", {3, 4, 5, 5}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->outputs.at(0)), "c f32[3,6,5,5]");
  expect_refused(folder.read(shapes({{"a", {3, 2, 5, 5}}})), Code::Usage, "'b'");
  const auto resolved =
      reader().resolve(folder.source(), shapes({{"a", {1, 2, 5, 5}}, {"b", {1, 4, 5, 5}}}));
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->shapes.at("b"), (std::vector<std::int64_t>{1, 4, 5, 5}));
}

TEST(Unknown, OperatorsStayWithResultsOfUnknownShape) {
  const Folder folder(
      {{"model.pbtxt", inputs({"x"}) + op("Relu", {"x"}, {"a"}) +
                           op("Mystery", {"a"}, {"b"}, i("k", 7)) + op("Mystery", {"b"}, {"c"}) +
                           op("Relu", {"c"}, {"d"})}});
  const auto graph = folder.read(shapes({{"x", {2, 3}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->nodes[1].inputs[0]), "a f32[2,3]");
  EXPECT_EQ(shown(*graph, graph->nodes[1].outputs[0]), "b any[*]");
  EXPECT_EQ(graph->nodes[1].attributes, (std::vector<ir::NamedValue>{{"k", 7}}));
  EXPECT_EQ(shown(*graph, graph->outputs.at(0)), "d any[*]");
  const auto list = queries(folder.source(), shapes({{"x", {2, 3}}}));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, Code::Input);
  EXPECT_THAT(list.error().message, HasSubstr("operator 2 (Mystery)"));
  EXPECT_THAT(list.error().message, HasSubstr("Mystery (2 times)"));
}

TEST(Unknown, ResultsThatNobodyReadsNeedNoShape) {
  const Folder folder(
      {{"model.pbtxt", inputs({"x"}) + op("Relu", {"x"}, {"a"}) + op("Mystery", {"a"}, {"b"})}});
  const auto list = queries(folder.source(), shapes({{"x", {2, 3}}}));
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->at(1).op_type, "Mystery");
  EXPECT_EQ(list->at(1).input_shapes, (std::vector<std::vector<std::int64_t>>{{2, 3}}));
}

TEST(Reshape, ReadsItsShapeFromAnArgumentOrAConstant) {
  const std::string net = inputs({"x", "s"}) + op("Reshape", {"x", "s"}, {"y", "old"});
  const auto by_constant =
      Folder({{"model.pbtxt", net},
              {"model_init.pbtxt",
               op("GivenTensorInt64Fill", {}, {"s"},
                  "arg { name: \"shape\" ints: 2 } arg { name: \"values\" ints: 0 ints: -1 }")}})
          .read(shapes({{"x", {2, 3, 4}}}));
  ASSERT_TRUE(by_constant) << by_constant.error().message;
  EXPECT_EQ(shown(*by_constant, by_constant->outputs.at(0)), "y f32[2,12]");
  EXPECT_EQ(by_constant->nodes[0].outputs.size(), 1U);  // nobody reads the former shape
}

/// The nets that fuzzing begins with are read, so that what is damaged was sound.
TEST(Corpus, TextAndBinaryAskTheSame) {
  const auto corpus =
      std::filesystem::path(OPLAT_TEST_SOURCE_DIR).parent_path() / "fuzz/corpus/netdef";
  for (const auto& [name, operators] : {std::pair("int8", 38U), std::pair("fp32", 19U)}) {
    const auto list = [&, name = name](const std::string& ending) {
      const auto source = base::Source::open(corpus / (std::string(name) + ending));
      EXPECT_TRUE(source);
      auto found = queries(*source, shapes({{"data", {1, 3, 32, 32}}}));
      EXPECT_TRUE(found) << found.error().message;
      return found ? *found : std::vector<LutQuery>{};
    };
    EXPECT_EQ(list(".pb").size(), operators) << name;
    EXPECT_EQ(list(".pb"), list(".pbtxt")) << name;
  }
}

TEST(Text, MayHoldWhatOplatDoesNotRead) {
  const auto graph = Folder({{"model.pbtxt",
                              "# a comment\ntype: \"dag\" num_workers: 4 device_option { "
                              "device_type: 1 extra { a: 1 } "
                              "} future_field: 3\n" +
                                  inputs({"x"}) +
                                  op("Relu", {"x"}, {"a"},
                                     "engine: \"QNNPACK\" device_option { } debug_info: \"?\"")}})
                         .read(shapes({{"x", {2, 3}}}));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->nodes.size(), 1U);
}

}  // namespace
}  // namespace oplat::formats::caffe2
