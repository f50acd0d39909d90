// SPDX-License-Identifier: Apache-2.0
#include "measure/patient_instrument.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace oplat::measure {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Notes what it is asked; takes 20 ms a block, of which it says it waited `waited`.
class NotingInstrument final : public measure::Instrument {
 public:
  NotingInstrument(std::vector<measure::BlockRequest>& asked, const measure::BlockSamples& answer)
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

TEST(PatientInstrument, HandsTheBestCoresToTheNextProcess) {
  std::vector<measure::BlockRequest> asked;
  Patience patience;
  measure::BlockSamples answer;
  answer.best_cores = {3000, 90};
  ASSERT_TRUE(
      PatientInstrument(std::make_unique<NotingInstrument>(asked, answer), patience).block({}));
  answer.best_cores = {};  // of a worker that does not look
  PatientInstrument next(std::make_unique<NotingInstrument>(asked, answer), patience);
  ASSERT_TRUE(next.block({}));
  ASSERT_TRUE(next.block({}));
  EXPECT_EQ(asked[0].best_cores, measure::Cores{});
  EXPECT_EQ(asked[1].best_cores, (measure::Cores{3000, 90}));
  EXPECT_EQ(asked[2].best_cores, (measure::Cores{3000, 90}));
}

TEST(PatientInstrument, ABlockThatFailsHasSpentItsPatience) {
  class Failing final : public measure::Instrument {
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
  Patience patience{{}, nanoseconds(0), milliseconds(10)};
  ASSERT_TRUE(PatientInstrument(std::make_unique<Failing>(), patience).block({}));
  EXPECT_EQ(patience.waited, milliseconds(10));
  EXPECT_GE(patience.measured, milliseconds(20));
}

TEST(PatientInstrument, WaitingTakesNoLongerThanMeasuring) {
  std::vector<measure::BlockRequest> asked;
  Patience patience;
  measure::BlockSamples answer;
  PatientInstrument measuring(std::make_unique<NotingInstrument>(asked, answer), patience);
  ASSERT_TRUE(measuring.block({}));
  EXPECT_EQ(asked[0].patience, nanoseconds(0)) << "nothing was measured yet";
  EXPECT_GE(patience.left(), milliseconds(20));
  answer.waited_ns =
      1'000'000'000'000;  // more than the block took: from a worker whose clock is wrong
  PatientInstrument waiting(std::make_unique<NotingInstrument>(asked, answer), patience);
  ASSERT_TRUE(waiting.block({}));
  EXPECT_GE(asked[1].patience, milliseconds(20));
  EXPECT_LE(patience.waited, patience.measured + milliseconds(500));
  ASSERT_TRUE(waiting.block({}));
  EXPECT_LT(asked[2].patience, asked[1].patience);
  EXPECT_EQ((Patience{{}, milliseconds(5), milliseconds(3)}.left()), nanoseconds(0));
  EXPECT_EQ((Patience{{}, milliseconds(0), std::chrono::hours(1)}.left()),
            std::chrono::seconds(10));
  EXPECT_EQ((Patience{{}, milliseconds(0), std::chrono::hours(1), milliseconds(7)}.left()),
            milliseconds(7))
      << "the budget ends";
}

}  // namespace
}  // namespace oplat::measure
