// SPDX-License-Identifier: Apache-2.0
/// When two questions about a plan are the same question.
#include "plan/identity.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "unit/formats/models.hpp"

namespace oplat::plan {
namespace {

namespace fs = std::filesystem;

struct Question {
  std::string model = "00";
  formats::ShapeOptions shapes = {.shapes = {{"x", {1, 3}}}, .batch = 2};
  Setting setting = {.runtime = "onnxruntime",
                     .version = "1.20",
                     .build = "abc",
                     .precision = "model",
                     .threads = 4,
                     .options = {{"affinity", "compact"}}};
  std::string isa = "avx2";
  [[nodiscard]] std::string identity() const { return plan::identity(model, shapes, setting, isa); }
};

TEST(Identity, IsThatOfEqualQuestions) {
  EXPECT_EQ(Question().identity(), Question().identity());
  EXPECT_EQ(Question().identity().size(), 32U);
}

TEST(Identity, ChangesWithEveryField) {
  std::vector<Question> questions(16);
  questions[1].model = "01";
  questions[2].shapes.shapes["x"] = {1, 4};
  questions[3].shapes.shapes["x"] = {13};
  questions[4].shapes.shapes["z"] = {1, 3};
  questions[5].shapes.batch = 3;
  questions[6].shapes.batch.reset();
  questions[7].setting.runtime = "mnn";
  questions[8].setting.version = "1.21";
  questions[9].setting.build = "abd";
  questions[10].setting.precision = "fp16";
  questions[11].setting.threads = 1;
  questions[12].setting.options["affinity"] = "spread";
  questions[13].setting.options["spinning"] = "off";
  questions[14].setting.options.clear();
  questions[15].isa = "avx512f";
  std::set<std::string> identities;
  for (const Question& question : questions) identities.insert(question.identity());
  EXPECT_EQ(identities.size(), questions.size());
}

TEST(Identity, FieldsDoNotRunIntoOneAnother) {
  Question a;
  Question b;
  a.setting.runtime = "ab", a.setting.version = "c";
  b.setting.runtime = "a", b.setting.version = "bc";
  EXPECT_NE(a.identity(), b.identity());
}

class ModelHash : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TemporaryFolder::create("oplat_hash");
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    formats::onnx::wire::Model model = formats::onnx::testing::small_model();
    put("plain.onnx", model.SerializeAsString());
    auto& weight = *model.mutable_graph()->mutable_initializer(0);
    weight.clear_raw_data();
    weight.set_data_location(1);
    auto& entry = *weight.add_external_data();
    entry.set_key("location");
    entry.set_value("net.data");
    put("external.onnx", model.SerializeAsString());
    put("net.data", std::string(32, 'w'));
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_->path() / name; }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }

  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(ModelHash, IsThatOfTheBytesNotOfTheName) {
  const auto hash = model_hash(path("plain.onnx"));
  ASSERT_TRUE(hash) << hash.error().message;
  EXPECT_EQ(hash->size(), 32U);
  fs::copy_file(path("plain.onnx"), path("copy.onnx"));
  EXPECT_EQ(model_hash(path("copy.onnx")), *hash);
  EXPECT_NE(model_hash(path("external.onnx")), *hash);
}

TEST_F(ModelHash, CoversTheFilesThatTheModelRefersTo) {
  const auto before = model_hash(path("external.onnx"));
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(model_hash(path("external.onnx")), *before);
  put("net.data", std::string(31, 'w') + 'v');
  const auto after = model_hash(path("external.onnx"));
  ASSERT_TRUE(after);
  EXPECT_NE(*before, *after);
}

TEST_F(ModelHash, NeedsAllOfThem) {
  fs::remove(path("net.data"));
  const auto hash = model_hash(path("external.onnx"));
  ASSERT_FALSE(hash);
  EXPECT_EQ(hash.error().code, Code::Input);
  put("text.onnx", "no model");
  ASSERT_FALSE(model_hash(path("text.onnx")));
  EXPECT_EQ(model_hash(path("absent.onnx")).error().code, Code::Input);
}

/// Whether a scan of the bytes, in pieces of this size, says that they name no other file.
bool names_none(std::string_view bytes, std::size_t piece) {
  const auto scan = formats::onnx::reader().scan_siblings();
  for (std::size_t at = 0; at < bytes.size(); at += piece) scan->add(bytes.substr(at, piece));
  return scan->names_none();
}

/// A model that has a tensor wherever one may stand.
formats::onnx::wire::Model rich_model(int external) {
  using namespace formats::onnx::testing;  // NOLINT(google-build-using-namespace)
  int next = 0;
  const auto fill = [&](formats::onnx::wire::Tensor& tensor) {
    tensor.set_data_type(kF32);
    tensor.set_raw_data(std::string(1000, 'r'));
    if (next++ == external) tensor.set_data_location(1);
  };
  formats::onnx::wire::Model model = small_model();
  auto& graph = *model.mutable_graph();
  fill(*graph.add_initializer());
  fill(*graph.add_sparse_initializer()->mutable_values());
  fill(*graph.mutable_sparse_initializer(0)->mutable_indices());
  auto& attribute = *graph.mutable_node(0)->add_attribute();
  fill(*attribute.mutable_t());
  fill(*attribute.add_tensors());
  fill(*attribute.mutable_sparse_tensor()->mutable_values());
  fill(*attribute.mutable_g()->add_initializer());
  fill(*attribute.add_graphs()->add_node()->add_attribute()->mutable_t());
  return model;
}
constexpr int kTensors = 8;

TEST_F(ModelHash, InPiecesIsThatOfTheWhole) {
  const std::string bytes = rich_model(-1).SerializeAsString();
  put("rich.onnx", bytes);
  EXPECT_EQ(model_hash(path("rich.onnx")), base::hash128(bytes).hex());
  const auto source = base::Source::open(path("external.onnx"));
  ASSERT_TRUE(source);
  const auto whole = model_hash(*source);
  ASSERT_TRUE(whole);
  EXPECT_EQ(model_hash(path("external.onnx")), *whole);
}

TEST(SiblingScan, FindsExternalDataWhereverATensorStands) {
  const std::string without = rich_model(-1).SerializeAsString();
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::size_t{1000}, without.size()})
    EXPECT_TRUE(names_none(without, piece)) << piece;
  for (int external = 0; external < kTensors; ++external)
    EXPECT_FALSE(names_none(rich_model(external).SerializeAsString(), 64)) << external;
}

TEST(SiblingScan, LeavesOddBytesToTheParser) {
  const std::string whole = rich_model(-1).SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); size += 11)
    EXPECT_FALSE(names_none(std::string_view(whole).substr(0, size), 100)) << size;
  EXPECT_FALSE(names_none(whole + std::string("\x0b", 1), 100));      // a group
  EXPECT_FALSE(names_none(whole + std::string("\x3a\x7f", 2), 100));  // past the end
  EXPECT_FALSE(names_none(whole + std::string(12, '\xff'), 100));     // no number
  EXPECT_FALSE(names_none("", 1));
  EXPECT_FALSE(names_none(formats::onnx::testing::nested_model(60).SerializeAsString(), 100));
}

}  // namespace
}  // namespace oplat::plan
