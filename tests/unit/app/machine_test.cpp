// SPDX-License-Identifier: Apache-2.0
/// What a look at the memory of a machine reports, and what a worker says that cannot look.
#include "app/machine.hpp"

#include <gmock/gmock.h>

#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

class MachineTest : public RecordingTest {
 protected:
  /// A worker of a machine of 1 and 16 MiB, or of one that does not let itself be looked at.
  static MachineRequest request_to(const char* mode) {
    MachineRequest request;
    request.runtime.runtime = "reference";  // a name that is known
    request.runtime.worker_command = {OPLAT_FAKE_WORKER, mode};
    return request;
  }
};

/// Is cancelled at its second step.
class CancelledSoon final : public Events {
 public:
  void progress(const Progress&) override { ++steps_; }
  bool cancelled() override { return steps_ > 1; }

 private:
  int steps_ = 0;
};

TEST_F(MachineTest, LevelsAreFoundWhateverTheSystemReports) {
  const auto report = measure_machine(request_to("memory"), events_);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->memory) << report->why;
  EXPECT_TRUE(report->why.empty());
  const std::vector<report::NamedLevel> levels = named_levels(*report);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[1].name, "last level");
  EXPECT_EQ(levels[1].reported_bytes, 480 << 20);
  ASSERT_TRUE(levels[1].measured && levels[1].measured->capacity_bytes);
  EXPECT_NEAR(*levels[1].measured->capacity_bytes, 16 << 20, 4 << 20);
}

TEST_F(MachineTest, AWorkerThatCannotLookSaysWhy) {
  const auto report = measure_machine(request_to("memory-unknown"), events_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->memory);
  EXPECT_THAT(report->why, HasSubstr("the worker of reference cannot look: "));
}

TEST_F(MachineTest, AWorkerThatCrashesIsAnError) {
  const auto report = measure_machine(request_to("memory-lost"), events_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::Runtime);
  EXPECT_THAT(report.error().message, HasSubstr("worker ended"));
}

TEST_F(MachineTest, CanBeCancelled) {
  CancelledSoon events;
  const auto report = measure_machine(request_to("memory"), events);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::Interrupted);
}

TEST(ParseMachine, TheReferenceRuntimeLooksUnlessOneIsNamed) {
  const auto request = parse_machine({});
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->runtime.runtime, "reference");
  EXPECT_EQ(request->budget_s, 20);
  const auto wrong = parse_machine({.runtime = {}, .budget = "soon"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::Usage);
  EXPECT_THAT(wrong.error().message, HasSubstr("soon"));
}

}  // namespace
}  // namespace oplat::app
