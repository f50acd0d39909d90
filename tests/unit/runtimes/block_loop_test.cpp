// SPDX-License-Identifier: Apache-2.0
#include "runtimes/block_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "runtimes/messages.hpp"
#include "unit/runtimes/busy_cpu.hpp"

namespace oplat::runtimes {
namespace {

using measure::BlockRequest;
using measure::BlockSamples;
using measure::Handle;

/// Notes its calls; the time of a call is ten times its number.
class NotingWorker final : public Worker {
 public:
  explicit NotingWorker(bool is_virtual) : is_virtual_(is_virtual) {}
  Result<Hello> hello() override { return Hello{}; }
  Result<table::Plan> plan(const PlanRequest&) override { return table::Plan{}; }
  Result<measure::OpenOutcome> open(const measure::OpenRequest&) override {
    return table::Unsupported{"nothing"};
  }
  Result<double> run(Handle handle) override {
    calls.push_back(handle);
    if (calls.size() == fails_at) return fail(Code::Runtime, "kernel returned error 7");
    if (time) return *time;
    return 10.0 * static_cast<double>(calls.size());
  }
  Status close(Handle) override { return {}; }
  [[nodiscard]] bool virtual_time() const override { return is_virtual_; }

  std::vector<Handle> calls;
  std::size_t fails_at = 0;
  std::optional<double> time;

 private:
  bool is_virtual_;
};

BlockRequest rounds(std::vector<Handle> handles, std::int64_t least) {
  BlockRequest request;
  request.handles = std::move(handles);
  request.duration = std::chrono::nanoseconds(0);
  request.min_rounds = least;
  request.warmup_rounds = 0;
  request.references = false;
  request.core_exclusive = false;
  return request;
}

TEST(BlockLoopTest, RoundsVisitTheHandlesInOrder) {
  NotingWorker worker(false);
  const auto outcome = run_block(worker, rounds({7, 3}, 3));
  ASSERT_TRUE(outcome);
  EXPECT_THAT(worker.calls, testing::ElementsAre(7, 3, 7, 3, 7, 3));
  const auto& samples = std::get<BlockSamples>(*outcome);
  EXPECT_EQ(samples.ns, (std::vector<std::vector<double>>{{10, 30, 50}, {20, 40, 60}}));
  EXPECT_FALSE(samples.reference_compute_ns);
  EXPECT_FALSE(samples.reference_memory_ns);
}

TEST(BlockLoopTest, WarmUpRoundsAreNotReported) {
  NotingWorker worker(false);
  auto request = rounds({1}, 2);
  request.warmup_rounds = 3;
  const auto outcome = run_block(worker, request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(worker.calls.size(), 5U);
  EXPECT_EQ(std::get<BlockSamples>(*outcome).ns, (std::vector<std::vector<double>>{{40, 50}}));
}

TEST(BlockLoopTest, ABlockCountsAsStolenWhereAnotherProgramHasOneOfItsCores) {
  auto request = rounds({1}, 1);
  request.cores_distinct = 2;
  std::optional<measure::BlockOutcome> outcome;
  {
    const BusyCpu busy;
    if (!busy.works())
      GTEST_SKIP() << "made for two cores and a user who may run real-time threads";
    NotingWorker worker(false);
    outcome = *run_block(worker, request);
  }
  ASSERT_TRUE(outcome);
  EXPECT_GT(std::get<BlockSamples>(*outcome).steal_ticks, 0);
}

TEST(BlockLoopTest, ABlockWaitsNoLongerThanItMayForBetterCores) {
  NotingWorker worker(false);
  auto request = rounds({1}, 1);
  request.cores_distinct = 2;
  request.max_wait = std::chrono::milliseconds(50);
  request.best_cores = {1e-3, 1e-3};  // that no core will ever be
  const auto outcome = run_block(worker, request);
  ASSERT_TRUE(outcome);
  const auto& samples = std::get<BlockSamples>(*outcome);
  EXPECT_EQ(samples.best_cores, request.best_cores);
  if (samples.waited_ns == 0) GTEST_SKIP() << "made for two cores";
  EXPECT_GE(samples.waited_ns, request.max_wait.count());
  EXPECT_GT(samples.steal_ticks, 0);
}

// A neighbour on the core may stay for longer than a process lasts.
TEST(BlockLoopTest, ACoreThatWasFasterElsewhereIsShared) {
  NotingWorker worker(false);
  auto request = rounds({1}, 3);
  request.core_exclusive = true;
  const auto first = run_block(worker, request);
  ASSERT_TRUE(first);
  const auto seen = std::get<BlockSamples>(*first).best_cores;
  EXPECT_GT(seen.issue_ns, 0);

  // So fast that looks in this process can only be slower.
  request.best_cores.issue_ns = seen.issue_ns / 1.8;
  const auto second = run_block(worker, request);
  ASSERT_TRUE(second);
  EXPECT_GT(std::get<BlockSamples>(*second).steal_ticks, 0);
  EXPECT_NEAR(std::get<BlockSamples>(*second).best_cores.issue_ns, seen.issue_ns / 1.8, 1);
  // Of another kind of core, or a lie.
  request.best_cores.issue_ns = seen.issue_ns / 5;
  const auto other = run_block(worker, request);
  ASSERT_TRUE(other);
  EXPECT_GE(std::get<BlockSamples>(*other).best_cores.issue_ns, seen.issue_ns / 2);

  // What one request tells is not kept for the next.
  request.best_cores.issue_ns = 0;
  const auto third = run_block(worker, request);
  ASSERT_TRUE(third);
  EXPECT_GE(std::get<BlockSamples>(*third).best_cores.issue_ns, seen.issue_ns / 2);
}

TEST(BlockLoopTest, ReferencesAreTimedWhereAsked) {
  NotingWorker worker(false);
  auto request = rounds({1}, 1);
  request.references = true;
  request.scrub_bytes = 1 << 20;
  const auto outcome = run_block(worker, request);
  ASSERT_TRUE(outcome);
  const auto& samples = std::get<BlockSamples>(*outcome);
  ASSERT_TRUE(samples.reference_compute_ns && samples.reference_memory_ns);
  EXPECT_GT(*samples.reference_compute_ns, 0);
  EXPECT_GT(*samples.reference_memory_ns, 0);
}

TEST(BlockLoopTest, MostRoundsEndALongBlock) {
  NotingWorker worker(false);
  auto request = rounds({1}, 2);
  request.duration = std::chrono::hours(1);
  request.max_rounds = 5;
  const auto outcome = run_block(worker, request);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<BlockSamples>(*outcome).ns[0].size(), 5U);
}

TEST(BlockLoopTest, OneAnswerHoldsABoundedNumberOfTimes) {
  NotingWorker worker(false);
  auto request = rounds(std::vector<Handle>(4000, 1), 1);
  request.duration = std::chrono::hours(1);
  const auto outcome = run_block(worker, request);
  ASSERT_TRUE(outcome);
  const auto& samples = std::get<BlockSamples>(*outcome);
  EXPECT_EQ(samples.ns.size() * samples.ns[0].size(), static_cast<std::size_t>(kMaxSamples));
}

TEST(BlockLoopTest, VirtualTimeEndsAtTheVirtualDurationOrByRounds) {
  NotingWorker slow(true);
  slow.time = 4.0e7;
  auto request = rounds({1, 2}, 1);
  request.duration = std::chrono::milliseconds(200);
  request.references = true;
  const auto three = run_block(slow, request);
  ASSERT_TRUE(three);
  const auto& samples = std::get<BlockSamples>(*three);
  EXPECT_EQ(samples.ns[0].size(), 3U);  // 2 x 40 ms a round: 80, 160, 240
  EXPECT_FALSE(samples.reference_compute_ns);
  NotingWorker quick(true);
  quick.time = 1.0;
  const auto many = run_block(quick, request);
  ASSERT_TRUE(many);
  EXPECT_EQ(std::get<BlockSamples>(*many).ns[0].size(), static_cast<std::size_t>(kVirtualRounds));
  request.min_rounds = 100;
  const auto more = run_block(quick, request);
  ASSERT_TRUE(more);
  EXPECT_EQ(std::get<BlockSamples>(*more).ns[0].size(), 100U);
}

TEST(BlockLoopTest, AFailingRunIsAFailedBlock) {
  NotingWorker worker(false);
  worker.fails_at = 4;
  const auto outcome = run_block(worker, rounds({1}, 10));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<table::Failed>(*outcome).reason, "kernel returned error 7");
}

TEST(BlockLoopTest, ATimeThatIsNoneIsAFailedBlock) {
  for (const double time :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    NotingWorker worker(false);
    worker.time = time;
    const auto outcome = run_block(worker, rounds({1}, 1));
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(std::holds_alternative<table::Failed>(*outcome)) << time;
  }
}

TEST(BlockLoopTest, AScrubBeyondTheMemoryIsAFailedBlock) {
  NotingWorker worker(false);
  auto request = rounds({1}, 1);
  request.scrub_bytes = std::int64_t{1} << 49;
  const auto outcome = run_block(worker, request);
  ASSERT_TRUE(outcome);
  EXPECT_THAT(std::get<table::Failed>(*outcome).reason, testing::HasSubstr("scrub"));
}

TEST(BlockLoopTest, NoHandlesIsAnError) {
  NotingWorker worker(false);
  const auto outcome = run_block(worker, rounds({}, 1));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::Usage);
}

}  // namespace
}  // namespace oplat::runtimes
