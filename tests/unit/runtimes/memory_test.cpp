// SPDX-License-Identifier: Apache-2.0
/// Memory that may be taken: what the system and control groups of both versions leave.
#include "runtimes/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/files.hpp"

namespace oplat::runtimes {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;

class MemoryLeft : public testing::Test {
 protected:
  void SetUp() override {
    auto made = base::TemporaryFolder::create("oplat-memory");
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
  }
  void file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::filesystem::path root() const { return folder_->path(); }

 private:
  std::optional<base::TemporaryFolder> folder_;
};

TEST_F(MemoryLeft, NobodySays) { EXPECT_FALSE(available_memory(root())); }

TEST_F(MemoryLeft, TheSystemSays) {
  file("proc/meminfo", "MemTotal:  2048 kB\nMemAvailable:    1024 kB\n");
  EXPECT_EQ(available_memory(root()), kMib);
  file("proc/meminfo", "MemAvailable: much\n");
  EXPECT_FALSE(available_memory(root()));
}

TEST_F(MemoryLeft, TheTightestGroupOfVersion2Counts) {
  file("proc/meminfo", "MemAvailable: 1048576 kB\n");
  file("proc/self/cgroup", "0::/outer/inner\n");
  file("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  file("sys/fs/cgroup/outer/inner/memory.current", "1000\n");
  EXPECT_EQ(available_memory(root()), 1024 * kMib);
  file("sys/fs/cgroup/outer/memory.max", std::to_string(100 * kMib) + "\n");
  file("sys/fs/cgroup/outer/memory.current", std::to_string(70 * kMib) + "\n");
  EXPECT_EQ(available_memory(root()), 30 * kMib);
  // Page cache that nobody uses is given up.
  file("sys/fs/cgroup/outer/memory.stat",
       "anon 5\ninactive_file " + std::to_string(20 * kMib) + "\nactive_file 9\n");
  EXPECT_EQ(available_memory(root()), 50 * kMib);
  file("sys/fs/cgroup/outer/memory.current", std::to_string(200 * kMib) + "\n");
  EXPECT_EQ(available_memory(root()), 0);
}

TEST_F(MemoryLeft, AContainerSeesItsGroupAsTheTopmost) {
  file("proc/self/cgroup", "12:cpu:/a\n4:memory:/elsewhere/on/the/host\n0::/../../x\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(64 * kMib));
  file("sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(4 * kMib));
  EXPECT_EQ(available_memory(root()), 60 * kMib);
  // Version 1 says "no limit" with a large number.
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(available_memory(root()));
  file("sys/fs/cgroup/memory.max", std::to_string(8 * kMib));
  file("sys/fs/cgroup/memory.current", "0");
  EXPECT_EQ(available_memory(root()), 8 * kMib);
}

TEST_F(MemoryLeft, ThisMachineHasSome) {
  const auto left = available_memory();
  if (!left) GTEST_SKIP() << "the system does not say";
  EXPECT_GT(*left, 0);
}

}  // namespace
}  // namespace oplat::runtimes
