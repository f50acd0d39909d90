// SPDX-License-Identifier: Apache-2.0
/// The main program of every GoogleTest suite: OPLAT_TEST_REQUIRE=1 makes a failure of each skip
/// that a fresh clone could avoid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace {

/// What the reason of a skip may name: data of others that are not part of the sources, and what
/// the machine is. Everything else, scripts/setup and scripts/models make.
constexpr std::array<std::string_view, 9> kUnavoidable = {
    OPLAT_SHARED_DIR "/",   "one CPU",           "two CPUs", "the CPUs are",    "two cores",
    "on this architecture", "on this processor", "no /proc", "no device can be"};
constexpr std::array<std::string_view, 2> kUnavoidableForRoot = {"root writes", "root here"};

bool is_unavoidable(std::string_view reason) {
  for (const std::string_view word : kUnavoidable) {
    if (reason.find(word) != std::string_view::npos) return true;
  }
  for (const std::string_view word : kUnavoidableForRoot) {
    if (reason.find(word) != std::string_view::npos) return ::geteuid() == 0;
  }
  // The wheels of some runtimes are not to be had everywhere: scripts/setup goes on without them.
  for (const std::string_view runtime : {"paddle", "mnn"}) {
    const auto folder =
        std::filesystem::path(OPLAT_TEST_SOURCE_DIR) / ".." / (".venv-" + std::string(runtime));
    if (reason.find(runtime) != std::string_view::npos && !std::filesystem::exists(folder))
      return true;
  }
  return false;
}

class NoAvoidableSkip : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult& part = result.GetTestPartResult(i);
      if (!part.skipped() || is_unavoidable(part.message())) continue;
      ADD_FAILURE_AT(part.file_name() != nullptr ? part.file_name() : "", part.line_number())
          << "OPLAT_TEST_REQUIRE is set, but this was skipped: " << part.message();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  const char* required = std::getenv("OPLAT_TEST_REQUIRE");
  if (required != nullptr && std::string_view(required) == "1")
    testing::UnitTest::GetInstance()->listeners().Append(new NoAvoidableSkip);
  return RUN_ALL_TESTS();
}
