// SPDX-License-Identifier: Apache-2.0
/// Reading with bounds, writing that leaves old or new, temporary folders.
#include "base/files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace oplat::base {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryFolder::create("oplat_files");
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
  }
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_->path() / name; }
  void put(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  [[nodiscard]] std::ptrdiff_t entries(const fs::path& path) const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(Files, ReadsEveryByte) {
  const std::string bytes("a\0\r\n\xff", 5);
  put("f", bytes);
  put("empty", "");
  EXPECT_EQ(read_file(at("f")), bytes);
  EXPECT_EQ(read_file(at("empty")), "");
}

TEST_F(Files, ReadsUpToItsBound) {
  put("f", "12345");
  EXPECT_EQ(read_file(at("f"), 5), "12345");
  const auto result = read_file(at("f"), 4);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Input);
  EXPECT_NE(result.error().message.find("has 5 bytes; the limit is 4"), std::string::npos)
      << result.error().message;
}

// /proc announces 0 bytes for files that hold some: the bound is for what arrives.
TEST_F(Files, BoundHoldsForWhatArrives) {
  if (!fs::exists("/proc/self/status")) GTEST_SKIP() << "no /proc";
  ASSERT_TRUE(read_file("/proc/self/status"));
  const auto result = read_file("/proc/self/status", 16);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Input);
}

TEST_F(Files, RefusesWhatIsNoRegularFile) {
  const auto absent = read_file(at("absent"));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Code::Input);
  EXPECT_NE(absent.error().message.find("No such file"), std::string::npos);
  const auto folder = read_file(folder_->path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, Code::Input);
  EXPECT_NE(folder.error().message.find("folder"), std::string::npos);
}

TEST_F(Files, DoesNotWaitForTheWriterOfAPipe) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  ASSERT_FALSE(read_file(at("pipe")));
  EXPECT_EQ(read_file(at("pipe")).error().code, Code::Input);
  EXPECT_FALSE(hash_file(at("pipe")));
  EXPECT_FALSE(Source::open(at("pipe")));
}

TEST_F(Files, HashOfAFileIsThatOfItsBytes) {
  const std::string bytes(3 << 20, 'x');
  put("f", bytes);
  EXPECT_EQ(hash_file(at("f")), hash128(bytes));
  ASSERT_FALSE(hash_file(at("absent")));
  EXPECT_EQ(hash_file(at("absent")).error().code, Code::Input);
}

TEST_F(Files, WritesAndReplaces) {
  ASSERT_TRUE(write_file(at("f"), "old and longer"));
  EXPECT_EQ(read_file(at("f")), "old and longer");
  ASSERT_TRUE(write_file(at("f"), "new"));
  EXPECT_EQ(read_file(at("f")), "new");
  EXPECT_EQ(entries(folder_->path()), 1);
}

// Whoever holds the old file open keeps the old bytes: the name moves, the bytes do not change.
TEST_F(Files, ReaderOfTheOldFileSeesOldBytes) {
  put("f", "old");
  std::ifstream reader(at("f"));
  ASSERT_TRUE(write_file(at("f"), "new"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "old");
}

TEST_F(Files, WritesWhatALinkNamesAndKeepsTheLink) {
  put("f", "old");
  fs::create_symlink("f", at("link"));
  ASSERT_TRUE(write_file(at("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("f")), "new");
}

TEST_F(Files, WritesIntoAPipeAndKeepsIt) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  // Open for both, so that nobody waits for the other end.
  const int pipe = ::open(at("pipe").c_str(), O_RDWR);
  ASSERT_GE(pipe, 0);
  ASSERT_TRUE(write_file(at("pipe"), "new"));
  char bytes[8] = {};
  EXPECT_EQ(::read(pipe, bytes, sizeof(bytes)), 3);
  EXPECT_EQ(std::string_view(bytes, 3), "new");
  ::close(pipe);
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(Files, FullDeviceIsSaidAndKept) {
  // A node of our own: nothing may happen to the machine's.
  if (::mknod(at("full").c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0)
    GTEST_SKIP() << "no device can be made here";
  const int device = ::open(at("full").c_str(), O_WRONLY);
  if (device < 0) GTEST_SKIP() << "no device can be opened here";
  ::close(device);
  const auto status = write_file(at("full"), "new");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Write);
  EXPECT_TRUE(fs::is_character_file(at("full")));
}

TEST_F(Files, WriteIntoAnAbsentFolderFails) {
  const auto status = write_file(at("no/such/f"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Write);
  EXPECT_EQ(entries(folder_->path()), 0);
}

TEST_F(Files, WriteOverAFolderFailsAndLeavesNothing) {
  fs::create_directory(at("taken"));
  put("taken/inside", "kept");
  const auto status = write_file(at("taken"), "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Write);
  EXPECT_EQ(entries(folder_->path()), 1);
  EXPECT_EQ(read_file(at("taken/inside")), "kept");
}

TEST_F(Files, WriteIntoAReadOnlyFolderFailsAndKeepsTheOldFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes into read-only folders";
  fs::create_directory(at("locked"));
  put("locked/f", "old");
  fs::permissions(at("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  const auto status = write_file(at("locked/f"), "new");
  fs::permissions(at("locked"), fs::perms::owner_all);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Write);
  EXPECT_EQ(read_file(at("locked/f")), "old");
  EXPECT_EQ(entries(at("locked")), 1);
}

TEST(TemporaryFolder, GoesWithWhatItHolds) {
  fs::path path;
  {
    auto folder = TemporaryFolder::create("oplat_test");
    ASSERT_TRUE(folder);
    path = folder->path();
    EXPECT_TRUE(path.filename().string().starts_with("oplat_test."));
    fs::create_directories(path / "a/b");
    std::ofstream(path / "a/b/f") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, MovedFromLeavesItAlone) {
  auto first = TemporaryFolder::create("oplat_test");
  ASSERT_TRUE(first);
  const fs::path path = first->path();
  {
    const TemporaryFolder second = std::move(*first);
    EXPECT_EQ(second.path(), path);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, TwoAreTwo) {
  const auto first = TemporaryFolder::create("oplat_test");
  const auto second = TemporaryFolder::create("oplat_test");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->path(), second->path());
}

// What a link inside points at belongs to somebody else.
TEST(TemporaryFolder, RemovesLinksNotTheirTargets) {
  const auto other = TemporaryFolder::create("oplat_test");
  ASSERT_TRUE(other);
  std::ofstream(other->path() / "kept") << "x";
  {
    const auto folder = TemporaryFolder::create("oplat_test");
    ASSERT_TRUE(folder);
    fs::create_directory_symlink(other->path(), folder->path() / "link");
  }
  EXPECT_TRUE(fs::exists(other->path() / "kept"));
}

TEST_F(Files, TwoPathsMayLeadToOneFile) {
  const fs::path file = at("one");
  put("one", "x");
  EXPECT_TRUE(is_same_file(file, folder_->path() / "." / "one"));
  fs::create_symlink("one", at("link"));
  fs::create_hard_link(file, at("hard"));
  EXPECT_TRUE(is_same_file(file, at("link")));
  EXPECT_TRUE(is_same_file(at("hard"), file));
  put("other", "x");
  EXPECT_FALSE(is_same_file(file, at("other"))) << "of the same bytes";
  EXPECT_TRUE(is_same_file(at("new"), folder_->path() / "a" / ".." / "new")) << "neither is there";
  EXPECT_FALSE(is_same_file(at("new"), file));
}

}  // namespace
}  // namespace oplat::base
