// SPDX-License-Identifier: Apache-2.0
/// Weights in files next to the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "unit/formats/models.hpp"

namespace oplat::formats::onnx {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the models of this folder
using ::testing::HasSubstr;

struct Entry {
  std::string location = "net.data";
  std::string offset;
  std::string length;
};

wire::Tensor& add_external(wire::Model& model, const std::string& name,
                           const std::vector<std::int64_t>& dims, const Entry& entry) {
  wire::Tensor& tensor = add_tensor(*model.mutable_graph(), name, kF32, dims);
  tensor.set_data_location(1);
  const auto add = [&](const std::string& key, const std::string& value) {
    if (value.empty()) return;
    wire::StringEntry& e = *tensor.add_external_data();
    e.set_key(key);
    e.set_value(value);
  };
  add("location", entry.location);
  add("offset", entry.offset);
  add("length", entry.length);
  return tensor;
}

/// A folder with net.data: 8 floats, 0 to 7.
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TemporaryFolder::create("oplat_external");
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    std::ofstream(path("net.data"), std::ios::binary)
        << raw(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return folder_->path() / name;
  }

  /// The values of weight "e" of a model that keeps it by this entry.
  [[nodiscard]] Result<ir::Value> weight(const std::vector<std::int64_t>& dims,
                                         const Entry& entry) const {
    wire::Model model = small_model();
    add_external(model, "e", dims, entry);
    return value_of(model);
  }
  [[nodiscard]] Result<ir::Value> value_of(const wire::Model& model) const {
    std::ofstream(path("net.onnx"), std::ios::binary) << model.SerializeAsString();
    OPLAT_TRY(source, base::Source::open(path("net.onnx")));
    OPLAT_TRY(loaded, Model::load(source));
    OPLAT_TRY(graph, loaded.graph());
    for (const ir::TensorInfo& tensor : graph.tensors) {
      if (tensor.name == "e") return tensor.small_value.value_or(ir::Value());
    }
    return fail(Code::Internal, "no e");
  }
  void expect_refused(const std::vector<std::int64_t>& dims, const Entry& entry,
                      const std::string& why) const {
    const auto value = weight(dims, entry);
    ASSERT_FALSE(value) << why;
    EXPECT_EQ(value.error().code, Code::Input);
    EXPECT_THAT(value.error().message, HasSubstr(why));
  }

  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(ExternalData, IsTakenIn) {
  EXPECT_EQ(weight({2}, {}), ir::Value(ir::List{0.0, 1.0}));
  EXPECT_EQ(weight({2}, {"net.data", "8", "8"}), ir::Value(ir::List{2.0, 3.0}));
  EXPECT_EQ(weight({1, 2}, {"net.data", "24", ""}), ir::Value(ir::List{6.0, 7.0}));
  std::filesystem::create_directory(path("sub"));
  std::filesystem::copy_file(path("net.data"), path("sub/w"));
  EXPECT_EQ(weight({1}, {"sub/w", "4", "4"}), ir::Value(ir::List{1.0}));
}

TEST_F(ExternalData, LoadedModelStandsAlone) {
  wire::Model model = small_model();
  add_external(model, "e", {2}, {"net.data", "8", "8"});
  ASSERT_TRUE(value_of(model));
  const auto source = base::Source::open(path("net.onnx"));
  ASSERT_TRUE(source);
  EXPECT_EQ(reader().siblings(*source), Names{"net.data"});
  const auto loaded = Model::load(*source);
  ASSERT_TRUE(loaded);
  const auto bytes = loaded->bytes();
  ASSERT_TRUE(bytes);
  wire::Model back;
  ASSERT_TRUE(back.ParseFromString(*bytes));
  const wire::Tensor& e = back.graph().initializer(1);
  EXPECT_EQ(e.raw_data(), raw(std::vector<float>{2, 3}));
  EXPECT_EQ(e.external_data_size(), 0);
  EXPECT_EQ(e.data_location(), 0);
}

TEST_F(ExternalData, StaysWithinItsFile) {
  expect_refused({2}, {"net.data", "28", "8"}, "beyond the file's end at 32");
  expect_refused({9}, {}, "beyond the file's end at 32");
  expect_refused({2}, {"net.data", "9223372036854775807", "8"}, "beyond the file's end");
  expect_refused({2}, {"net.data", "-4", "8"}, "is not a number");
  expect_refused({2}, {"net.data", "four", "8"}, "is not a number");
  expect_refused({2}, {"net.data", "0", "99999999999999999999"}, "is not a number");
}

TEST_F(ExternalData, AgreesWithItsDimensions) {
  expect_refused({2}, {"net.data", "0", "12"}, "12 bytes announced, 8 needed");
  expect_refused({2}, {"net.data", "0", "4"}, "4 bytes announced, 8 needed");
  expect_refused({1LL << 40, 1LL << 40}, {}, "have no size");
  expect_refused({-2}, {}, "have no size");
}

TEST_F(ExternalData, LiesInTheModelsFolder) {
  expect_refused({2}, {"absent.data", "", ""}, "not next to the model");
  expect_refused({2}, {path("net.data").string(), "", ""}, "absolute path");
  expect_refused({2}, {"../net.data", "", ""}, "leads out");
  expect_refused({2}, {"", "", ""}, "not a file name");
}

TEST_F(ExternalData, MayBeALinkWhereTheModelIsOne) {
  // As caches of model hubs lay models out.
  namespace fs = std::filesystem;
  fs::create_directories(path("cache/blobs"));
  fs::create_directories(path("cache/snapshots/abc"));
  fs::copy_file(path("net.data"), path("cache/blobs/1"));
  wire::Model model = small_model();
  add_external(model, "e", {2}, {"net.data", "8", "8"});
  std::ofstream(path("cache/blobs/2"), std::ios::binary) << model.SerializeAsString();
  const fs::path link = path("cache/snapshots/abc/net.onnx");
  fs::create_symlink("../../blobs/2", link);
  const auto loaded = [&](const std::string& data) -> Result<Model> {
    fs::remove(path("cache/snapshots/abc/net.data"));
    fs::create_symlink(data, path("cache/snapshots/abc/net.data"));
    OPLAT_TRY(source, base::Source::open(link));
    return Model::load(source);
  };
  const auto beneath = loaded("../../blobs/1");
  EXPECT_TRUE(beneath) << beneath.error().message;
  const auto elsewhere = loaded("../../../net.data");
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, Code::Input);
  EXPECT_THAT(elsewhere.error().message, HasSubstr("net.data"));
}

TEST_F(ExternalData, AboveTwoGiBStaysInItsFile) {
  constexpr std::int64_t kBytes = std::int64_t{3} << 30;
  std::ofstream(path("large.data"), std::ios::binary) << "";
  std::filesystem::resize_file(path("large.data"), kBytes);  // a hole, which takes no space
  wire::Model model = small_model();
  add_external(model, "e", {kBytes / 4}, {"large.data", "", ""});
  std::ofstream(path("net.onnx"), std::ios::binary) << model.SerializeAsString();
  const auto source = base::Source::open(path("net.onnx"));
  ASSERT_TRUE(source);
  const auto loaded = Model::load(*source);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->data_bytes(), kBytes);
  EXPECT_EQ(std::filesystem::path(loaded->data_folder()),
            std::filesystem::canonical(folder_->path()));
  const auto bytes = loaded->bytes();
  ASSERT_TRUE(bytes);
  EXPECT_LT(bytes->size(), 10'000U);
}

TEST_F(ExternalData, OfManyTensorsMayShareButNotMultiply) {
  wire::Model tied = small_model();
  for (const char* name : {"a", "e"}) add_external(tied, name, {8}, {});
  EXPECT_TRUE(value_of(tied));
  wire::Model bomb = tied;
  for (int i = 0; i < 20; ++i) add_external(bomb, "b" + std::to_string(i), {8}, {});
  const auto value = value_of(bomb);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, Code::Input);
}

TEST_F(ExternalData, MayLieInManyFilesButNotInAnyNumber) {
  wire::Model model = small_model();
  constexpr std::size_t kMaxFiles = std::size_t{1} << 16U;
  for (std::size_t i = 0; i < kMaxFiles; ++i)
    add_external(model, "e", {2}, {std::to_string(i), "", ""});
  const auto names = [&] {
    return reader().siblings(base::Source::from_bytes("net.onnx", model.SerializeAsString()));
  };
  const auto all = names();
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->size(), kMaxFiles);
  EXPECT_EQ(all->back(), "65535");
  add_external(model, "e", {2}, {"more", "", ""});
  const auto refused = names();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Input);
  EXPECT_THAT(refused.error().message,
              HasSubstr("net.onnx: keeps its data in more than 65536 files; save them in one"));
}

TEST_F(ExternalData, OfABodysTensorsIsTakenInToo) {
  wire::Model model = nested_model(1);
  wire::Graph& body = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  wire::Model carrier;
  body.add_initializer()->CopyFrom(add_external(carrier, "inner", {9}, {}));
  const auto value = value_of(model);
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, HasSubstr("tensor 'inner' in 'net.data'"));
}

TEST_F(ExternalData, NeedsAFolder) {
  wire::Model model = small_model();
  add_external(model, "e", {2}, {});
  const auto loaded = load(model);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Code::Input);
}

}  // namespace
}  // namespace oplat::formats::onnx
