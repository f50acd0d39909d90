// SPDX-License-Identifier: Apache-2.0
/// The client against workers on liboplat_worker, one in C and one in Python: what it makes of
/// their kernels, and of a crash, a hang and another version of the library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtimes/worker_client.hpp"

namespace oplat::runtimes {
namespace {

using testing::HasSubstr;

struct Language {
  std::string name;
  std::vector<std::string> command;
};

class WorkerLibraryTest : public testing::TestWithParam<Language> {
 protected:
  void SetUp() override { ::setenv("OPLAT_WORKER_LIBRARY", OPLAT_WORKER_LIBRARY, 1); }

  static WorkerOptions options(const std::string& mode) {
    WorkerOptions options;
    options.command = GetParam().command;
    options.arguments = {mode};
    return options;
  }
  static measure::OpenRequest kernel(const std::string& op) {
    measure::OpenRequest request;
    request.key = op + "{}(f32[1])->(&0)";
    return request;
  }
  static measure::BlockRequest block(measure::Handle handle) {
    measure::BlockRequest request;
    request.handles = {handle};
    request.duration = std::chrono::nanoseconds(0);
    request.references = false;
    request.core_exclusive = false;
    return request;
  }
  /// The reason why a block of one kernel of `op` failed.
  static std::string failure(WorkerClient& client, const std::string& op) {
    const auto opened = client.open(kernel(op));
    if (!opened) return opened.error().message;
    const auto* ready = std::get_if<measure::Opened>(&*opened);
    if (ready == nullptr) return "not opened";
    const auto outcome = client.block(block(ready->handle));
    if (!outcome) return outcome.error().message;
    const auto* failed = std::get_if<table::Failed>(&*outcome);
    return failed == nullptr ? "not failed" : failed->reason;
  }
};

TEST_P(WorkerLibraryTest, AKernelIsPlannedOpenedAndTimed) {
  const auto client = WorkerClient::start("fake", options("real"));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ((*client)->hello().runtime, "fake");
  EXPECT_FALSE((*client)->hello().device.architecture.empty());
  const auto plan = (*client)->plan({"net", {}, {}, {}, {}});
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->kernels.size(), 1U);
  EXPECT_EQ(plan->kernels[0].key, "Conv/11{alpha=0.5,ceil=true,pads=[1,1]}(f32[1,3,8],-,&0)->(&0)");
  const auto opened = (*client)->open(kernel("Relu"));
  ASSERT_TRUE(opened && std::holds_alternative<measure::Opened>(*opened));
  const auto outcome = (*client)->block(block(std::get<measure::Opened>(*opened).handle));
  ASSERT_TRUE(outcome);
  EXPECT_THAT(std::get<measure::BlockSamples>(*outcome).ns[0],
              testing::ElementsAre(1001.0, 1001.5, 1002.0));
}

TEST_P(WorkerLibraryTest, ACrashInAKernelIsItsFailureAndAFreshProcessGoesOn) {
  const auto client = WorkerClient::start("fake", options("real"));
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_THAT(failure(**client, "Crash"), HasSubstr("worker ended: signal 6"));
  EXPECT_TRUE((*client)->dead());
  ASSERT_TRUE((*client)->restart());
  EXPECT_EQ(failure(**client, "Relu"), "not failed");
}

TEST_P(WorkerLibraryTest, AKernelThatHangsMeetsItsDeadline) {
  auto impatient = options("real");
  impatient.request_deadline = std::chrono::seconds(2);
  const auto client = WorkerClient::start("fake", impatient);
  ASSERT_TRUE(client) << client.error().message;
  EXPECT_EQ(failure(**client, "Hang"), "time limit of 2 s");
  EXPECT_TRUE((*client)->dead());
}

TEST_P(WorkerLibraryTest, AWorkerOfAnotherVersionSaysSo) {
  const auto client = WorkerClient::start("fake", options("old"));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::Runtime);
  EXPECT_THAT(client.error().message, HasSubstr("version 2 of liboplat_worker, this is version 1"));
}

TEST_P(WorkerLibraryTest, ARuntimeThatIsAbsentSaysSo) {
  const auto client = WorkerClient::start("fake", options("absent"));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::Runtime);
  EXPECT_EQ(client.error().message, "libfake is not installed");
}

INSTANTIATE_TEST_SUITE_P(Languages, WorkerLibraryTest,
                         testing::Values(Language{"C", {OPLAT_FAKE_KERNELS}},
                                         Language{
                                             "Python",
                                             {OPLAT_PYTHON, "-B",
                                              OPLAT_TEST_SOURCE_DIR "/python/fake_kernels.py"}}),
                         [](const auto& language) { return language.param.name; });

}  // namespace
}  // namespace oplat::runtimes
