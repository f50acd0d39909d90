// SPDX-License-Identifier: Apache-2.0
#include "measure/waiting_runner.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace oplat::measure {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Notes what it is asked; takes 20 ms a block, of which it says it waited `waited`.
class NotingRunner final : public measure::KernelRunner {
 public:
  NotingRunner(std::vector<measure::BlockRequest>& asked, const measure::BlockSamples& answer)
      : asked_(&asked), answer_(answer) {}
  Result<measure::OpenOutcome> open(const measure::OpenRequest&) override {
    return measure::OpenOutcome(measure::Opened{});
  }
  Result<measure::BlockOutcome> block(const measure::BlockRequest& request) override {
    asked_->push_back(request);
    std::this_thread::sleep_for(milliseconds(20));
    return measure::BlockOutcome(answer_);
  }
  Status close(measure::Handle) override { return {}; }

 private:
  std::vector<measure::BlockRequest>* asked_;
  measure::BlockSamples answer_;
};

TEST(WaitingRunner, HandsTheBestCoresToTheNextProcess) {
  std::vector<measure::BlockRequest> asked;
  WaitBudget wait;
  measure::BlockSamples answer;
  answer.best_cores = {3000, 90};
  ASSERT_TRUE(WaitingRunner(std::make_unique<NotingRunner>(asked, answer), wait).block({}));
  answer.best_cores = {};  // of a worker that does not look
  WaitingRunner next(std::make_unique<NotingRunner>(asked, answer), wait);
  ASSERT_TRUE(next.block({}));
  ASSERT_TRUE(next.block({}));
  EXPECT_EQ(asked[0].best_cores, measure::Cores{});
  EXPECT_EQ(asked[1].best_cores, (measure::Cores{3000, 90}));
  EXPECT_EQ(asked[2].best_cores, (measure::Cores{3000, 90}));
}

TEST(WaitingRunner, ABlockThatFailsHasSpentItsWait) {
  class Failing final : public measure::KernelRunner {
   public:
    Result<measure::OpenOutcome> open(const measure::OpenRequest&) override {
      return measure::OpenOutcome(measure::Opened{});
    }
    Result<measure::BlockOutcome> block(const measure::BlockRequest&) override {
      std::this_thread::sleep_for(milliseconds(20));
      return measure::BlockOutcome(table::Failed{"crashed"});
    }
    Status close(measure::Handle) override { return {}; }
  };
  WaitBudget wait{{}, std::chrono::seconds(10), milliseconds(10)};
  ASSERT_TRUE(WaitingRunner(std::make_unique<Failing>(), wait).block({}));
  EXPECT_EQ(wait.waited, milliseconds(10'010));
  EXPECT_GE(wait.measured, milliseconds(20));
}

TEST(WaitingRunner, WaitingTakesNoLongerThanMeasuring) {
  std::vector<measure::BlockRequest> asked;
  WaitBudget wait;
  measure::BlockSamples answer;
  WaitingRunner measuring(std::make_unique<NotingRunner>(asked, answer), wait);
  ASSERT_TRUE(measuring.block({}));
  EXPECT_EQ(asked[0].max_wait, std::chrono::seconds(10)) << "nothing was measured yet";
  answer.waited_ns =
      1'000'000'000'000;  // more than the block took: from a worker whose clock is wrong
  WaitingRunner waiting(std::make_unique<NotingRunner>(asked, answer), wait);
  ASSERT_TRUE(waiting.block({}));
  EXPECT_LE(wait.waited, wait.measured + milliseconds(500));
  ASSERT_TRUE(waiting.block({}));
  EXPECT_EQ((WaitBudget{{}, milliseconds(10'005), milliseconds(3)}.left()), nanoseconds(0));
  EXPECT_EQ((WaitBudget{{}, milliseconds(10'000), milliseconds(3)}.left()), milliseconds(3));
  EXPECT_EQ((WaitBudget{{}, milliseconds(0), std::chrono::hours(1)}.left()),
            std::chrono::seconds(10));
  EXPECT_EQ((WaitBudget{{}, milliseconds(0), std::chrono::hours(1), milliseconds(7)}.left()),
            milliseconds(7))
      << "the budget ends";
}

}  // namespace
}  // namespace oplat::measure
