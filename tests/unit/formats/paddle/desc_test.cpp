// SPDX-License-Identifier: Apache-2.0
/// ProgramDesc: what is read, and what is said about programs that are broken.
#include "unit/formats/paddle/programs.hpp"

namespace oplat::formats::paddle {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the programs of this folder
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PaddleDesc, NodesHaveSlotsAndShapesAndTellingAttributes) {
  const Maker maker = small();
  const auto best = reader_for(base::Source::from_bytes("a", maker.bytes()));
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ((*best)->name(), "paddle");
  const auto graph = maker.read(batch(2));
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->nodes.size(), 2U);
  const ir::Node& conv = graph->nodes[0];
  EXPECT_EQ(conv.domain, "paddle");
  EXPECT_THAT(conv.input_slots, ElementsAre("Filter", "Input"));
  EXPECT_THAT(conv.output_slots, ElementsAre("Output"));
  EXPECT_EQ(shown(*graph, conv.inputs[0]), "w f32c[4,3,3,3]");
  EXPECT_EQ(shown(*graph, conv.inputs[1]), "x f32[2,3,8,8]");
  EXPECT_EQ(shown(*graph, conv.outputs[0]), "y f32[2,4,4,4]");
  EXPECT_EQ(graph->tensors[static_cast<std::size_t>(conv.inputs[0])].constant_bytes, 432U);
  ASSERT_EQ(conv.attributes.size(), 2U);
  EXPECT_EQ(conv.attributes[0].first, "paddings");
  EXPECT_EQ(conv.attributes[1].first, "strides");
  EXPECT_THAT(graph->inputs, ElementsAre(conv.inputs[1]));
  EXPECT_THAT(graph->outputs, ElementsAre(graph->nodes[1].outputs[0]));
}

TEST(PaddleDesc, OpenDimensionsAreAskedForAndChecked) {
  const Maker maker = small();
  expect_refused(maker.read(), Code::Usage, "--batch N");
  expect_refused(maker.read({.shapes = {{"y", {1}}}, .batch = {}}), Code::Usage,
                 "its inputs are: x");
  expect_refused(maker.read({.shapes = {{"x", {1, 4, 8, 8}}}, .batch = {}}), Code::Usage,
                 "fixes dimension 1 to 3");
  expect_refused(maker.read({.shapes = {{"x", {1, 3, 8}}}, .batch = {}}), Code::Usage,
                 "has 4 dimensions");
  expect_refused(maker.read(batch(0)), Code::Usage, "expected 1 to");
  const auto spelt = maker.read({.shapes = {{"x", {5, 3, 8, 8}}}, .batch = {}});
  ASSERT_TRUE(spelt) << spelt.error().message;
  EXPECT_EQ(shown(*spelt, spelt->outputs[0]), "z f32[5,4,4,4]");
  const auto resolved = reader().resolve(base::Source::from_bytes("a", maker.bytes()), batch(5));
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->shapes.at("x"), (Numbers{5, 3, 8, 8}));
  EXPECT_FALSE(resolved->batch);
}

TEST(PaddleDesc, AProgramWhoseMainBlockNamesItselfAsParentIsRead) {
  Maker maker = small();
  maker.program().mutable_blocks(0)->set_parent_idx(0);
  const auto best = reader_for(base::Source::from_bytes("a", maker.bytes()));
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ((*best)->name(), "paddle");
  EXPECT_TRUE(maker.read(batch(2)));
}

TEST(PaddleDesc, TheHintForOpenDimensionsHasTheInputsNameAndRank) {
  expect_refused(small().read(), Code::Usage, "set them with --shape x=1x3x8x8 ");
  EXPECT_EQ(example_shape(Numbers{-1, -1, -1, -1}), "1x3x224x224");
  EXPECT_EQ(example_shape(Numbers{-1, -1}), "1x128");
  EXPECT_EQ(example_shape(Numbers{}), "");
}

TEST(PaddleDesc, ShapesThatArePartOfTheComputationAreFollowed) {
  Maker maker;
  maker.feed("x", {-1, 8, 4, 4}).variable("s", {4}, false, kI64).variable("b", {}, false, kI64);
  maker.variable("c", {1}, false, kI64)
      .variable("t", {3}, false, kI64)
      .variable("r", {-1, -1, -1})
      .variable("u", {1}, false, kI64);
  maker.op("shape", {{"Input", {"x"}}}, {{"Out", {"s"}}});
  wire::Operator& slice = maker.op("slice", {{"Input", {"s"}}}, {{"Out", {"b"}}});
  Maker::ints(slice, "axes", Numbers{0});
  Maker::ints(slice, "starts", Numbers{0});
  Maker::ints(slice, "ends", Numbers{1});
  Maker::ints(slice, "decrease_axis", Numbers{0});
  wire::Operator& fill = maker.op("fill_constant", {}, {{"Out", {"c"}}});
  Maker::ints(fill, "shape", Numbers{1});
  Maker::word(fill, "str_value", "-1");
  wire::Operator& eight = maker.op("fill_constant", {}, {{"Out", {"u"}}});
  Maker::ints(eight, "shape", Numbers{1});
  Maker::word(eight, "str_value", "8");
  maker.op("reshape2", {{"X", {"x"}}, {"ShapeTensor", {"b", "u", "c"}}}, {{"Out", {"r"}}});
  maker.fetch("r");
  const auto graph = maker.read(batch(6));
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->outputs[0]), "r f32[6,8,16]");
}

TEST(PaddleDesc, WhatIsBrokenIsNamed) {
  const std::string good = small().bytes();
  for (const std::size_t length : {good.size() - 1, good.size() / 2, std::size_t{20}}) {
    const auto source = base::Source::from_bytes("net.pdmodel", good.substr(0, length));
    expect_refused(reader().read(source, batch(1)), Code::Input,
                   "its bytes are invalid near offset");
  }
  expect_refused(
      reader().read(base::Source::from_bytes("a", "version https://git-lfs.github.com/spec/v1\n"),
                    {}),
      Code::Input, "git lfs pull");
  {
    Maker maker = small();
    maker.program().mutable_blocks(0)->mutable_ops()->SwapElements(1, 2);
    expect_refused(maker.read(batch(1)), Code::Input,
                   "(relu) reads 'y', which only operator 2 writes");
  }
  {
    Maker maker = small();
    maker.program().mutable_blocks(0)->mutable_vars(5)->set_name("q");
    expect_refused(maker.read(batch(1)), Code::Input,
                   "writes 'z', which the program does not describe");
  }
  {
    Maker maker = small();
    maker.program().mutable_blocks(0)->mutable_ops(2)->mutable_inputs(0)->set_arguments(0, "lost");
    expect_refused(maker.read(batch(1)), Code::Input,
                   "reads 'lost', which the program does not describe");
  }
  {
    Maker maker = small();
    maker.op("relu", {{"X", {"y"}}}, {{"Out", {"z"}}});
    expect_refused(maker.read(batch(1)), Code::Input, "which already has a value");
  }
  {
    Maker maker = small();
    maker.program()
        .mutable_blocks(0)
        ->mutable_vars(3)
        ->mutable_type()
        ->mutable_dense()
        ->mutable_tensor()
        ->set_dims(1, 5);
    expect_refused(maker.read(batch(1)), Code::Input,
                   "operator 1, which writes 'y': conv2d: a filter [4,5,3,3]");
  }
  {
    Maker maker = small();
    maker.program()
        .mutable_blocks(0)
        ->mutable_vars(3)
        ->mutable_type()
        ->mutable_dense()
        ->mutable_tensor()
        ->set_data_type(77);
    expect_refused(maker.read(batch(1)), Code::Input, "elements of type 77");
  }
  {
    Maker maker = small();
    maker.program()
        .mutable_blocks(0)
        ->mutable_vars(3)
        ->mutable_type()
        ->mutable_dense()
        ->mutable_tensor()
        ->set_dims(0, 1LL << 40);
    expect_refused(maker.read(batch(1)), Code::Input, "expected dimensions from 0 to");
  }
  {
    Maker maker = small();
    Maker::ints(*maker.program().mutable_blocks(0)->mutable_ops(1), "strides", Numbers{0, 2});
    expect_refused(maker.read(batch(1)), Code::Input, "attribute 'strides' appears twice");
  }
  {
    Maker maker = small();
    maker.program().mutable_blocks(0)->mutable_ops(1)->mutable_attrs(0)->set_ints(0, 0);
    expect_refused(maker.read(batch(1)), Code::Input, "attribute strides is [0,2]");
  }
  {
    Maker maker = small();
    maker.program().mutable_blocks(0)->clear_ops();
    expect_refused(maker.read(batch(1)), Code::Input, "holds no operators");
  }
  {
    Maker maker = small();
    maker.program().clear_blocks();
    maker.program().mutable_version()->set_version(1);
    expect_refused(maker.read(batch(1)), Code::Input, "no blocks");
  }
}

TEST(PaddleDesc, UnknownOperatorsHaveTheProgramsOwnShapes) {
  Maker fixed;
  fixed.feed("x", {1, 3}).variable("y", {1, 7}).variable("z", {1, 7});
  fixed.op("my_layer", {{"X", {"x"}}}, {{"Out", {"y"}}});
  fixed.op("relu", {{"X", {"y"}}}, {{"Out", {"z"}}});
  fixed.fetch("z");
  const auto graph = fixed.read();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(shown(*graph, graph->outputs[0]), "z f32[1,7]");
  Maker open;
  open.feed("x", {-1, 3}).variable("y", {-1, 7});
  open.op("my_layer", {{"X", {"x"}}}, {{"Out", {"y"}}});
  open.fetch("y");
  expect_refused(open.read(batch(2)), Code::Input,
                 "operator 1 (my_layer) has an unknown result shape: 'y' is [-1,7]");
  expect_refused(open.read(batch(2)), Code::Input,
                 "export the model with fixed shapes (--shape does not help here)");
}

TEST(PaddleDesc, ControlFlowIsRefusedByName) {
  Maker maker = small();
  wire::Operator& loop = maker.op("while", {{"X", {"z"}}}, {});
  wire::Attribute& body = *loop.add_attrs();
  body.set_name("sub_block");
  body.set_type(8);
  body.set_block_idx(1);
  expect_refused(maker.read(batch(1)), Code::Input,
                 "operator 4 (while) runs block 1 of the program");
}

/// A folder with a program and its parameters.
class Files {
 public:
  explicit Files(const std::vector<std::pair<std::string, std::string>>& files)
      : folder_(base::TemporaryFolder::create("paddle")) {
    EXPECT_TRUE(folder_);
    for (const auto& [name, bytes] : files)
      EXPECT_TRUE(base::write_file(folder_->path() / name, bytes));
    program_ = folder_->path() / files.front().first;
  }
  [[nodiscard]] base::Source source() const { return *base::Source::open(program_); }

 private:
  Result<base::TemporaryFolder> folder_;
  std::filesystem::path program_;
};

TEST(PaddleDesc, ParametersAreAsLongAsTheProgramSays) {
  const std::string program = small().bytes();
  // Version, levels, version, length, then two bytes of element type and two a dimension, then 108
  // floats.
  const std::string parameters(4 + 8 + 4 + 4 + 2 + 8 + 432, '\0');
  const Files good({{"net.pdmodel", program}, {"net.pdiparams", parameters}});
  const auto graph = reader().read(good.source(), batch(1));
  EXPECT_TRUE(graph) << graph.error().message;
  const auto siblings = reader().siblings(good.source());
  ASSERT_TRUE(siblings);
  EXPECT_THAT(*siblings, ElementsAre("net.pdiparams"));

  const Files old({{"__model__", program}, {"w", parameters}});
  EXPECT_TRUE(reader().read(old.source(), batch(1)));
  EXPECT_THAT(reader().siblings(old.source()).value(), ElementsAre("w"));

  const Files alone({{"net.pdmodel", program}});
  EXPECT_TRUE(reader().read(alone.source(), batch(1)));
  EXPECT_TRUE(reader().siblings(alone.source()).value().empty());

  const Files cut({{"net.pdmodel", program}, {"net.pdiparams", parameters.substr(1)}});
  expect_refused(reader().read(cut.source(), batch(1)), Code::Input,
                 "net.pdiparams: has 461 bytes, but the 1 parameters of");
  expect_refused(reader().read(cut.source(), batch(1)), Code::Input, "take 462 with their headers");
  const Files pointer({{"net.pdmodel", program},
                       {"net.pdiparams", "version https://git-lfs.github.com/spec/v1\n"}});
  expect_refused(reader().read(pointer.source(), batch(1)), Code::Input, "git lfs pull");
}

}  // namespace
}  // namespace oplat::formats::paddle
