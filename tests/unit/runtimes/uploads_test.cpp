// SPDX-License-Identifier: Apache-2.0
#include "runtimes/uploads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace oplat::runtimes {
namespace {

namespace fs = std::filesystem;

class UploadsTest : public testing::Test {
 protected:
  UploadsTest() : folder_(base::TemporaryFolder::create("oplat-test")) {}

  PutRequest piece(std::int64_t offset, std::string bytes) const {
    return {std::string(32, 'a'), "net.onnx", base::hash128("hello world").hex(), offset, 11,
            std::move(bytes)};
  }
  fs::path root() const { return folder_->path() / "cache"; }

  Result<base::TemporaryFolder> folder_;
};

TEST_F(UploadsTest, PiecesBecomeAFile) {
  const Uploads uploads(root());
  const auto first = uploads.put(piece(0, "hello "));
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->complete);
  const auto last = uploads.put(piece(6, "world"));
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_TRUE(last->complete);
  EXPECT_EQ(fs::path(last->path), root() / std::string(32, 'a') / "net.onnx");
  EXPECT_EQ(base::read_file(last->path).value_or(""), "hello world");
  const auto again = uploads.put(piece(0, "h"));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->complete) << "a file that is there needs no second upload";
}

TEST_F(UploadsTest, BeginningAnewDropsWhatWasThere) {
  const Uploads uploads(root());
  ASSERT_TRUE(uploads.put(piece(0, "heXXo ")));
  ASSERT_TRUE(uploads.put(piece(0, "hello ")));
  const auto last = uploads.put(piece(6, "world"));
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_TRUE(last->complete);
}

TEST_F(UploadsTest, GapsAndWrongBytesAreRefused) {
  const Uploads uploads(root());
  const auto gap = uploads.put(piece(6, "world"));
  ASSERT_FALSE(gap);
  EXPECT_EQ(gap.error().code, Code::Input);
  const auto wrong = uploads.put(piece(0, "hello_world"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, testing::HasSubstr("hash"));
  EXPECT_FALSE(fs::exists(root() / std::string(32, 'a') / "net.onnx"));
  EXPECT_FALSE(uploads.put(piece(8, "world")));
}

TEST_F(UploadsTest, NoNameLeavesTheCache) {
  const Uploads uploads(root());
  for (const char* name : {"../net.onnx", "a/b", "..", ".hidden", "", "/etc/x"}) {
    auto request = piece(0, "hello world");
    request.name = name;
    const auto outcome = uploads.put(request);
    ASSERT_FALSE(outcome) << name;
    EXPECT_EQ(outcome.error().code, Code::Input);
  }
  auto request = piece(0, "hello world");
  request.folder = "../../../../../../../../elsewhere";
  EXPECT_FALSE(uploads.put(request));
}

TEST_F(UploadsTest, LinksAreNotFollowed) {
  const Uploads uploads(root());
  fs::create_directories(root() / std::string(32, 'a'));
  const fs::path victim = folder_->path() / "victim";
  ASSERT_TRUE(base::write_file(victim, "keep"));
  fs::create_symlink(victim, root() / std::string(32, 'a') / "net.onnx.part");
  EXPECT_FALSE(uploads.put(piece(0, "hello world")));
  EXPECT_EQ(base::read_file(victim).value_or(""), "keep");
}

}  // namespace
}  // namespace oplat::runtimes
