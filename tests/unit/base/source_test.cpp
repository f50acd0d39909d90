// SPDX-License-Identifier: Apache-2.0
/// A model's siblings: only those that lie in its folder.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include "base/files.hpp"

namespace oplat::base {
namespace {

namespace fs = std::filesystem;

/// top/secret, top/models/{net, weights, sub/part, in, out, up}: "in" links to weights, "out" to
/// ../secret, "up" to top.
class Siblings : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::create("oplat_source");
    ASSERT_TRUE(made);
    top_.emplace(std::move(*made));
    const fs::path models = top_->path() / "models";
    fs::create_directories(models / "sub");
    put(top_->path() / "secret", "secret");
    put(models / "net", "net");
    put(models / "weights", "weights");
    put(models / "sub/part", "part");
    fs::create_symlink("weights", models / "in");
    fs::create_symlink("../secret", models / "out");
    fs::create_directory_symlink("..", models / "up");
    auto opened = Source::open(models / "net");
    ASSERT_TRUE(opened) << opened.error().message;
    source_.emplace(std::move(*opened));
  }
  static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  void expect_refused(const std::string& name, const std::string& why) const {
    const auto bytes = source_->sibling(name);
    ASSERT_FALSE(bytes) << name;
    EXPECT_EQ(bytes.error().code, Code::Input);
    EXPECT_NE(bytes.error().message.find(why), std::string::npos) << bytes.error().message;
    EXPECT_FALSE(source_->sibling_path(name)) << name;
  }

  std::optional<TemporaryFolder> top_;
  std::optional<Source> source_;
};

TEST_F(Siblings, AreReadFromTheFolderAndBelow) {
  EXPECT_EQ(source_->bytes(), "net");
  EXPECT_EQ(source_->sibling("weights"), "weights");
  EXPECT_EQ(source_->sibling("./weights"), "weights");
  EXPECT_EQ(source_->sibling("sub/part"), "part");
  EXPECT_EQ(source_->sibling("in"), "weights");
}

TEST_F(Siblings, DoNotLeadOut) {
  expect_refused((top_->path() / "secret").string(), "absolute");
  expect_refused((top_->path() / "models/weights").string(), "absolute");
  expect_refused("../secret", "leads out");
  expect_refused("sub/../../secret", "leads out");
  expect_refused("sub/../weights", "leads out");
  expect_refused("out", "link that leaves");
  expect_refused("up/secret", "link that leaves");
}

TEST_F(Siblings, AbsentOrNamelessAreErrors) {
  expect_refused("absent", "is not next to the model");
  expect_refused("", "not a file name");
  expect_refused(std::string("weights\0.txt", 12), "not a file name");
  const auto folder = source_->sibling("sub");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::Input);
}

TEST_F(Siblings, MessageNamesTheModel) {
  const auto bytes = source_->sibling("../secret");
  ASSERT_FALSE(bytes);
  EXPECT_TRUE(bytes.error().message.starts_with((top_->path() / "models/net").string() + ": "))
      << bytes.error().message;
}

// A folder whose name begins like the model's own is another folder; so is a file there.
TEST_F(Siblings, SimilarNamesAreOtherFolders) {
  fs::create_directory(top_->path() / "models2");
  put(top_->path() / "models2/w", "other");
  fs::create_symlink("../models2/w", top_->path() / "models/similar");
  expect_refused("similar", "link that leaves");
  put(top_->path() / "models/..dots", "dots");
  EXPECT_EQ(source_->sibling("..dots"), "dots");
}

/// As the cache of a model hub: snapshots/a/net links to blobs/1, its weights to blobs/2.
class LinkedModel : public Siblings {
 protected:
  void SetUp() override {
    Siblings::SetUp();
    fs::create_directories(top_->path() / "blobs/deep");
    fs::create_directories(top_->path() / "snapshots/a");
    put(top_->path() / "blobs/1", "net");
    put(top_->path() / "blobs/2", "weights");
    put(top_->path() / "blobs/deep/3", "deep");
    link("../../blobs/1", "net");
    link("../../blobs/2", "weights");
    link("../../blobs/deep/3", "deep");
    link("../../secret", "secret");
    link("weights", "twice");
    link("../../blobs/none", "dangling");
    auto opened = Source::open(top_->path() / "snapshots/a/net");
    ASSERT_TRUE(opened) << opened.error().message;
    source_.emplace(std::move(*opened));
  }
  void link(const std::string& target, const std::string& name) {
    fs::create_symlink(target, top_->path() / "snapshots/a" / name);
  }
};

TEST_F(LinkedModel, ReadsWhatLiesBeneathTheFolderThatItsLinkLeadsTo) {
  EXPECT_EQ(source_->sibling("weights"), "weights");
  EXPECT_EQ(source_->sibling("deep"), "deep");
  EXPECT_EQ(source_->sibling("twice"), "weights");
  EXPECT_EQ(source_->sibling("2"), "weights") << "next to what the link names";
}

TEST_F(LinkedModel, ReadsNothingElse) {
  expect_refused("secret", "link that leaves");
  expect_refused("../../blobs/2", "leads out");
  expect_refused((top_->path() / "blobs/2").string(), "absolute");
  expect_refused("dangling", "is not next to the model");
  // The model is a file of its own: links to the blobs lead out.
  fs::remove(top_->path() / "snapshots/a/net");
  put(top_->path() / "snapshots/a/net", "net");
  source_.emplace(std::move(*Source::open(top_->path() / "snapshots/a/net")));
  expect_refused("weights", "cp -L");
}

TEST(Source, OfBytesHasNoSiblings) {
  const Source source = Source::from_bytes("memory", "bytes");
  EXPECT_EQ(source.bytes(), "bytes");
  EXPECT_EQ(source.name(), "memory");
  const auto sibling = source.sibling("weights");
  ASSERT_FALSE(sibling);
  EXPECT_EQ(sibling.error().code, Code::Input);
}

TEST(Source, AbsentFileIsAnError) {
  const auto source = Source::open("/nowhere/at/all.onnx");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, Code::Input);
  EXPECT_NE(source.error().message.find("/nowhere/at/all.onnx"), std::string::npos);
}

}  // namespace
}  // namespace oplat::base
