// SPDX-License-Identifier: Apache-2.0
#include "app/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.hpp"
#include "unit/app/convolution_rows.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::HasSubstr;

class FitTest : public ::testing::Test {
 protected:
  FitRequest request() {
    FitRequest request;
    request.table = made_.path();
    request.composition = false;
    request.learn.jobs = 1;
    request.learn.calibrate = false;
    return request;
  }
  bool has_stored_fit() {
    return must(made_.table().find_fit(estimate::kLearnedFormat, made_.device(), made_.setting()))
        .has_value();
  }
  testing::ConvolutionRows made_;
};

/// Counts progress, and cancels after some steps.
class Watcher : public Events {
 public:
  void progress(const Progress& progress) override {
    ++steps;
    last_done = progress.done;
    last_total = progress.total;
  }
  [[nodiscard]] bool cancelled() override { return cancel_after && steps >= *cancel_after; }
  std::optional<int> cancel_after;
  int steps = 0;
  std::int64_t last_done = 0;
  std::int64_t last_total = 0;
};

TEST(RowsOf, ASessionIsNotAnsweredByRowsOfAPinnedOne) {
  Session session;
  session.device.name = "desk";
  session.setting = test::setting_of();
  session.setting.options = {{"level", "99"}};
  table::Setting pinned = session.setting;
  pinned.options["affinity"] = "0";
  const predict::RowFilter filter = rows_of(session);
  EXPECT_TRUE(predict::matches(filter, session.device, session.setting));
  EXPECT_FALSE(predict::matches(filter, session.device, pinned));
  session.setting = pinned;
  EXPECT_TRUE(predict::matches(rows_of(session), session.device, pinned));
}

TEST_F(FitTest, LearnsFromRowsAndStoresTheFit) {
  Watcher events;
  FitRequest dry = request();
  dry.store = false;
  const FitResult result = must(fit(dry, events));
  ASSERT_TRUE(result.kernels);
  EXPECT_EQ(result.kernels->rows, testing::ConvolutionRows::kRows);
  EXPECT_GT(result.kernels->bytes, 0);
  EXPECT_TRUE(result.kernels->calibrated) << "a model of scattered rows always is";
  EXPECT_FALSE(result.stored);
  EXPECT_FALSE(has_stored_fit());
  EXPECT_GT(events.steps, 0);
  EXPECT_LE(events.last_done, events.last_total);
  made_.close();
  EXPECT_TRUE(must(fit(request(), events)).stored);
  made_.reopen();
  EXPECT_TRUE(has_stored_fit());
}

/// Remembers the first and every time that was said to be left.
class FirstWords : public Events {
 public:
  void progress(const Progress& progress) override {
    if (first.empty()) first = progress.item;
    if (progress.total == 0) without_total = true;
  }
  std::string first;
  bool without_total = false;
};

TEST_F(FitTest, SaysWhatItDoesBeforeTheFirstStep) {
  FirstWords events;
  FitRequest dry = request();
  dry.store = false;
  must(fit(dry, events));
  EXPECT_EQ(events.first, fmt::format("{} rows of the table", testing::ConvolutionRows::kRows));
  EXPECT_TRUE(events.without_total) << "how many steps there are is not known yet";
}

TEST(Pace, SaysNothingBeforeStepsWereWatchedForSeconds) {
  using std::chrono::seconds;
  const Pace::Clock::time_point start{};
  Pace pace;
  EXPECT_EQ(pace.eta_s(1, 1000, start), std::nullopt) << "one step has no pace";
  EXPECT_EQ(pace.eta_s(3, 1000, start + seconds(2)), std::nullopt);
  EXPECT_DOUBLE_EQ(pace.eta_s(4, 1000, start + seconds(3)).value(), 996);
  // Only what was done lately counts: here two steps a second.
  for (int i = 1; i <= 40; ++i)
    static_cast<void>(pace.eta_s(4 + 2 * i, 1000, start + seconds(3 + i)));
  EXPECT_NEAR(pace.eta_s(86, 1000, start + seconds(44)).value(), 914 / 2.0, 1);
}

TEST(Pace, StepsThatTakeLongSayNothingBeforeOneInAThousandWasSeen) {
  using std::chrono::seconds;
  const Pace::Clock::time_point start{};
  Pace pace;
  EXPECT_EQ(pace.eta_s(0, 10'000, start), std::nullopt);
  EXPECT_EQ(pace.eta_s(9, 10'000, start + seconds(9)), std::nullopt);
  EXPECT_DOUBLE_EQ(pace.eta_s(10, 10'000, start + seconds(10)).value(), 9990);
}

TEST(Pace, StepsThatAStoppedFitHadFinishedSayNothing) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const Pace::Clock::time_point start{};
  Pace pace;
  // Half of them within half a second, then ten a second; later some more in between.
  for (int i = 0; i <= 50; ++i)
    EXPECT_EQ(pace.eta_s(10 * i, 1000, start + milliseconds(10 * i)), std::nullopt);
  for (int i = 1; i <= 9; ++i) {
    const auto eta = pace.eta_s(500 + 10 * i, 1000, start + milliseconds(500 + 1000 * i));
    EXPECT_EQ(eta.has_value(), i >= 3) << i;
    EXPECT_NEAR(eta.value_or((500 - 10 * i) / 10.0), (500 - 10 * i) / 10.0, 1) << i;
  }
  EXPECT_NEAR(pace.eta_s(890, 1000, start + milliseconds(10'500)).value(), 11, 0.2);
  EXPECT_NEAR(pace.eta_s(900, 1000, start + milliseconds(11'500)).value(), 10, 0.2);
}

TEST_F(FitTest, CancelledItStoresNothing) {
  made_.close();
  Watcher events;
  events.cancel_after = 1;
  const auto stopped = fit(request(), events);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  made_.reopen();
  EXPECT_FALSE(has_stored_fit());
}

TEST_F(FitTest, CancelledItKeepsWhatIsFinishedAndTheNextGoesOn) {
  const auto parts = [&] {
    return must(
        made_.table().find_fit(estimate::kFinishedPartsFormat, made_.device(), made_.setting()));
  };
  const auto learned = [&] {
    return must(made_.table().find_fit(estimate::kLearnedFormat, made_.device(), made_.setting()))
        ->fit.blob;
  };
  made_.close();
  Watcher whole;
  must(fit(request(), whole));
  made_.reopen();
  const std::string blob = learned();
  EXPECT_FALSE(parts()) << "nothing was stopped";
  must(made_.table().erase_fit(estimate::kLearnedFormat, made_.device(), made_.setting()));
  made_.close();

  Watcher events;
  events.cancel_after = whole.steps - 1;
  const auto stopped = fit(request(), events);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  EXPECT_THAT(stopped.error().message, HasSubstr("parts of it are kept"));
  made_.reopen();
  EXPECT_FALSE(has_stored_fit());
  ASSERT_TRUE(parts());
  estimate::FinishedParts kept;
  must(kept.load(parts()->fit.blob));
  EXPECT_GT(kept.size(), 1U);
  made_.close();

  Watcher again;
  must(fit(request(), again));
  made_.reopen();
  EXPECT_EQ(learned(), blob) << "as if nothing had been stopped";
  EXPECT_FALSE(parts()) << "a finished fit needs no parts";
}

/// Cancels at one of the times that it is asked.
class CancelsLate : public Events {
 public:
  [[nodiscard]] bool cancelled() override { return ++asked == cancel_at; }
  int asked = 0;
  int cancel_at = 0;
};

TEST_F(FitTest, CancelledWhenAllIsLearnedItStoresNothing) {
  CancelsLate counting;
  FitRequest dry = request();
  dry.store = false;
  must(fit(dry, counting));
  made_.close();
  CancelsLate events;
  events.cancel_at = counting.asked + 1;  // what is asked because it is about to be stored
  const auto stopped = fit(request(), events);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Interrupted);
  made_.reopen();
  EXPECT_FALSE(has_stored_fit());
}

TEST_F(FitTest, WithoutModelsTheCompositionSaysWhyThereIsNone) {
  FitRequest both = request();
  both.composition = true;
  both.store = false;
  Events events;
  const FitResult result = must(fit(both, events));
  EXPECT_FALSE(result.composition);
  EXPECT_THAT(result.no_composition, HasSubstr("model"));
  EXPECT_TRUE(result.kernels);
  both.kernels = false;
  const auto neither = fit(both, events);
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.error().code, Code::Refused);
  EXPECT_EQ(neither.error().message, result.no_composition);
}

}  // namespace
}  // namespace oplat::app
