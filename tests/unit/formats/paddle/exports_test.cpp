// SPDX-License-Identifier: Apache-2.0
/// Networks as Paddle exports them (scripts/paddle_nets): both forms say the same, and shapes are
/// inferred as Paddle has them.
#include <algorithm>

#include "unit/formats/paddle/programs.hpp"

namespace oplat::formats::paddle {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the programs of this folder

std::vector<std::string> names() {
  std::vector<std::string> names;
  if (!std::filesystem::is_directory(exports())) return names;
  for (const auto& entry : std::filesystem::directory_iterator(exports())) {
    const std::string name = entry.path().filename().string();
    if (std::filesystem::is_regular_file(entry.path() / (name + ".pdmodel"))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// They are made where Paddle's wheel can be had (scripts/setup); elsewhere nothing can be said of
/// them.
class PaddleExports : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!names().empty()) return;
    GTEST_SKIP() << "no exports of Paddle in models/paddle; make them with scripts/models tests";
  }
};

Result<ir::Graph> read(const std::filesystem::path& path) {
  OPLAT_TRY(source, base::Source::open(path));
  auto graph = reader().read(source, {});
  return graph ? std::move(graph) : reader().read(source, batch(3));
}

ir::Shape shape(const ir::Graph& graph, ir::TensorId id) {
  return graph.tensors[static_cast<std::size_t>(id)].shape;
}

/// ProgramDesc has the sizes in numbers where PIR keeps the -1 of the call; the results' shapes are
/// compared anyway.
bool is_spelling(const ir::Node& node, const std::string& name) {
  return node.op == "reshape2" && name == "shape";
}

TEST_F(PaddleExports, BothFormsSayTheSame) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const auto desc = read(exports() / name / (name + ".pdmodel"));
    const auto pir = read(exports() / name / "pir" / (name + ".json"));
    ASSERT_TRUE(desc) << desc.error().message;
    ASSERT_TRUE(pir) << pir.error().message;
    ASSERT_EQ(desc->nodes.size(), pir->nodes.size());
    for (std::size_t i = 0; i < desc->nodes.size(); ++i) {
      const ir::Node& a = desc->nodes[i];
      const ir::Node& b = pir->nodes[i];
      SCOPED_TRACE(a.name);
      ASSERT_EQ(a.op, b.op);
      ASSERT_EQ(a.input_slots, b.input_slots);
      ASSERT_EQ(a.output_slots, b.output_slots);
      for (std::size_t j = 0; j < a.inputs.size(); ++j)
        EXPECT_EQ(shape(*desc, a.inputs[j]), shape(*pir, b.inputs[j]));
      for (std::size_t j = 0; j < a.outputs.size(); ++j)
        EXPECT_EQ(shape(*desc, a.outputs[j]), shape(*pir, b.outputs[j]));
      for (const ir::NamedValue& attribute : a.attributes) {
        if (attribute.first == "XShape") continue;  // PIR does not have that result
        const auto same = std::find_if(
            b.attributes.begin(), b.attributes.end(),
            [&](const ir::NamedValue& other) { return other.first == attribute.first; });
        ASSERT_NE(same, b.attributes.end()) << a.op << " " << attribute.first;
        if (is_spelling(a, attribute.first)) continue;
        EXPECT_EQ(attribute.second, same->second) << a.op << " " << attribute.first;
      }
    }
  }
}

/// A small network of many operators, with a batch of its own and with an open one (fuzz/corpus):
/// made of shapes at run time.
TEST(PaddleForms, SayTheSame) {
  const auto corpus =
      std::filesystem::path(OPLAT_TEST_SOURCE_DIR).parent_path() / "fuzz" / "corpus";
  for (const std::string name : {"fixed", "open"}) {
    SCOPED_TRACE(name);
    const auto desc = read(corpus / "program_desc" / (name + ".pdmodel"));
    const auto pir = read(corpus / "paddle_json" / (name + ".json"));
    ASSERT_TRUE(desc) << desc.error().message;
    ASSERT_TRUE(pir) << pir.error().message;
    ASSERT_EQ(desc->nodes.size(), pir->nodes.size());
    for (std::size_t i = 0; i < desc->nodes.size(); ++i) {
      const ir::Node& a = desc->nodes[i];
      const ir::Node& b = pir->nodes[i];
      SCOPED_TRACE(a.name);
      ASSERT_EQ(a.op, b.op);
      EXPECT_EQ(a.input_slots, b.input_slots);
      ASSERT_EQ(a.output_slots, b.output_slots);
      // A number of a shape is [1] in the one form and has no dimensions in the other.
      if (a.op == "fill_constant") continue;
      EXPECT_EQ(shape(*desc, a.outputs[0]), shape(*pir, b.outputs[0]));
    }
    EXPECT_EQ(shown(*desc, desc->outputs[0]).substr(shown(*desc, desc->outputs[0]).find(' ')),
              name == "fixed" ? " f32[1,10]" : " f32[3,10]");
  }
}

/// Every size that the program states is taken away: what is inferred must be what was there.
TEST_F(PaddleExports, ShapesAreInferredAsPaddleHasThem) {
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const auto path = exports() / name / (name + ".pdmodel");
    const auto bytes = base::read_file(path);
    ASSERT_TRUE(bytes);
    wire::Program program;
    ASSERT_TRUE(program.ParseFromString(*bytes));
    wire::Block& block = *program.mutable_blocks(0);
    std::string fed;
    for (const wire::Operator& op : block.ops()) {
      if (op.type() == "feed") fed = op.outputs(0).arguments(0);
    }
    std::map<std::string, Numbers> stated;
    for (wire::Variable& variable : *block.mutable_vars()) {
      if (variable.persistable() || variable.name() == fed || variable.type().type() != kDense)
        continue;
      wire::Tensor& tensor = *variable.mutable_type()->mutable_dense()->mutable_tensor();
      const Numbers dims(tensor.dims().begin(), tensor.dims().end());
      if (std::find(dims.begin(), dims.end(), -1) == dims.end()) stated[variable.name()] = dims;
      for (std::int64_t& dim : *tensor.mutable_dims()) dim = -1;
      if (tensor.dims_size() == 0) tensor.add_dims(-1);
    }
    const auto source = base::Source::from_bytes("open.pdmodel", program.SerializeAsString());
    auto graph = reader().read(source, {});
    if (!graph) graph = reader().read(source, batch(1));
    ASSERT_TRUE(graph) << graph.error().message;
    std::size_t compared = 0;
    for (const ir::Node& node : graph->nodes) {
      for (const ir::TensorId id : node.outputs) {
        const auto before = stated.find(graph->tensors[static_cast<std::size_t>(id)].name);
        if (before == stated.end()) continue;
        EXPECT_EQ(shape(*graph, id), ir::Shape::of(before->second))
            << node.op << " " << before->first;
        ++compared;
      }
    }
    if (!name.ends_with("-batch")) {
      EXPECT_GT(compared, graph->nodes.size() / 2);
    }
  }
}

/// A damaged twin of each: its parameters cut short.
TEST_F(PaddleExports, ParametersCutShortAreRefused) {
  for (const std::string& name : names()) {
    const auto folder = base::TemporaryFolder::create("paddle");
    ASSERT_TRUE(folder);
    const auto copy = folder->path() / (name + ".pdmodel");
    std::filesystem::copy_file(exports() / name / (name + ".pdmodel"), copy);
    ASSERT_TRUE(base::write_file(folder->path() / (name + ".pdiparams"), std::string(5000, '\0')));
    const auto source = base::Source::open(copy);
    ASSERT_TRUE(source);
    expect_refused(reader().read(*source, batch(1)), Code::Input, "5000 bytes, but the ");
  }
}

}  // namespace
}  // namespace oplat::formats::paddle
