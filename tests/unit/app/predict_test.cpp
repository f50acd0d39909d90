// SPDX-License-Identifier: Apache-2.0
#include "app/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compare.hpp"
#include "app/estimate.hpp"
#include "app/table_source.hpp"
#include "runtimes/protocol.hpp"
#include "unit/app/predicted_table.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PredictTest : public ::testing::Test {
 protected:
  testing::PredictedTable made_;
  CollectedEvents events_;
};

TEST_F(PredictTest, AddsUpThePlanThatTheTableHolds) {
  const PredictResult result =
      must(predict({.model = made_.model(), .table = made_.path()}, events_));
  ASSERT_TRUE(result.prediction.latency_ns);
  EXPECT_DOUBLE_EQ(*result.prediction.latency_ns, 5000);
  EXPECT_EQ(result.prediction.model, made_.model());
  EXPECT_EQ(result.prediction.table_path, made_.path());
  EXPECT_EQ(result.prediction.plan_source, "cached");
  EXPECT_TRUE(result.measures_here);  // "replay" is a runtime of this build
  EXPECT_THAT(events_.warnings, IsEmpty());
}

TEST_F(PredictTest, WarningsAreInThePrediction) {
  const PredictResult result = must(predict(
      {.model = made_.model(), .table = made_.path(), .rows = {.build = "another"}}, events_));
  EXPECT_THAT(result.prediction.warnings, Contains(HasSubstr("another")));
  EXPECT_THAT(events_.warnings, IsEmpty());
}

TEST_F(PredictTest, TheIntervalIsOfTheAskedLevel) {
  PredictRequest request{.model = made_.model(), .table = made_.path()};
  request.options.level = 0.5;
  const auto narrow = must(predict(request, events_)).prediction.interval;
  request.options.level = 0.99;
  const auto wide = must(predict(request, events_)).prediction.interval;
  ASSERT_TRUE(narrow && wide);
  EXPECT_LT(wide->low, narrow->low);
  EXPECT_GT(wide->high, narrow->high);
}

TEST_F(PredictTest, TheIntervalHoldsWhatNetworksOfTheRuntimeMissedOfTheirSums) {
  test::SmallTable& small = made_.small();
  for (const std::int64_t threads : {1, 2}) {
    const table::Setting setting = test::setting_of(threads, "mnn");
    small.row(made_.device(), small.setting(setting), test::kCopy1000, std::nullopt,
              test::timing(3000));
    const predict::Selection selection =
        must(select_rows(small.table(), {.runtime = "mnn", .threads = threads}));
    EXPECT_EQ(selection.sum_spread.sd_log, runtimes::sum_error(setting).sd_log);
    EXPECT_EQ(selection.sum_spread.compared, threads == 1);
  }
  EXPECT_EQ(must(select_rows(small.table(), {.runtime = "replay"})).sum_spread.sd_log, 0);
}

TEST_F(PredictTest, WhatIsMeasuredStandsNextToThePrediction) {
  PredictRequest request{.model = made_.model(), .table = made_.path()};
  EXPECT_FALSE(must(predict(request, events_)).prediction.measured);
  made_.put_time(made_.model(), 5100);
  const auto near = must(predict(request, events_)).prediction;
  ASSERT_TRUE(near.measured);
  EXPECT_DOUBLE_EQ(near.measured->median_ns, 5100);
  EXPECT_FALSE(near.measured->under_load);
  EXPECT_DOUBLE_EQ(*near.latency_ns, 5000);  // what it is predicted from stays the kernels
  EXPECT_THAT(near.warnings, Not(Contains(HasSubstr("this very model"))));

  made_.put_time(made_.model(), 20'000, {table::kUnderLoad});
  const auto far = must(predict(request, events_)).prediction;
  EXPECT_TRUE(far.measured->under_load);
  EXPECT_THAT(far.warnings,
              Contains(HasSubstr("outside the interval: 20.0 us (on a busy machine) measured, "
                                 "5.00 us predicted from its kernels")));
  // It is the time of that setting alone, and of that model.
  request.rows.threads = 2;
  request.rows.allow_setting_mismatch = true;
  EXPECT_FALSE(must(predict(request, events_)).prediction.measured);
  EXPECT_FALSE(
      must(predict({.model = made_.faster(), .table = made_.path()}, events_)).prediction.measured);
}

TEST_F(PredictTest, AKernelWithoutAnEstimateIsNoErrorButNoLatency) {
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy4000, 1}});
  const PredictRequest request{.model = made_.without_plan(), .table = made_.path()};
  const PredictResult result = must(predict(request, events_));
  EXPECT_FALSE(result.prediction.latency_ns);
  EXPECT_THAT(result.prediction.missing, ElementsAre(test::kCopy4000));
  EXPECT_EQ(predict::require_complete(result.prediction).error().code, Code::Missing);
}

TEST_F(PredictTest, WithoutAPlanTheWaysToGetOneAreNamed) {
  const auto none = predict(
      {.model = made_.without_plan(), .table = made_.path(), .plan = {PlanFrom::Cached}}, events_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::Missing);
  EXPECT_THAT(none.error().message, HasSubstr("without_plan.onnx"));
  EXPECT_THAT(none.error().message, HasSubstr("profile it on the device"));
}

TEST_F(PredictTest, APlanOfAnEarlierFormatIsNotUsedAndNamed) {
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy250, 1}}, plan::kPlanFormat - 1);
  PredictRequest request{
      .model = made_.without_plan(), .table = made_.path(), .plan = {PlanFrom::Cached}};
  const auto cached = predict(request, events_);
  ASSERT_FALSE(cached);
  EXPECT_EQ(cached.error().code, Code::Missing);
  EXPECT_THAT(cached.error().message,
              HasSubstr("that an earlier oplat made (format 1, now 2), whose keys are not used"));
  EXPECT_THAT(cached.error().message, HasSubstr("profile it again on the device"));
  request.plan.from = PlanFrom::Auto;
  request.plan.program = "/nonexistent/oplat";
  const auto automatic = predict(request, events_);
  ASSERT_FALSE(automatic);
  EXPECT_EQ(automatic.error().code, Code::Runtime);
  EXPECT_THAT(automatic.error().message, HasSubstr("an earlier oplat made (format 1, now 2)"));
  EXPECT_THAT(automatic.error().message, HasSubstr("the runtime could not make one: "));
  // With one of today's, the other is of no interest.
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy1000, 1}});
  const PredictResult today = must(predict(request, events_));
  EXPECT_DOUBLE_EQ(today.prediction.latency_ns.value_or(0), 3000);
  EXPECT_THAT(today.prediction.warnings, Not(Contains(HasSubstr("an earlier oplat"))));
}

struct WrongRequest {
  const char* what;
  std::string (*model)(const testing::PredictedTable&);
  std::string (*table)(const testing::PredictedTable&);
  predict::RowFilter rows;
  Code code;
  const char* message;
};

TEST_F(PredictTest, ChecksRuntimeThenModelThenTable) {
  const auto good_model = [](const testing::PredictedTable& t) { return t.model(); };
  const auto no_model = [](const testing::PredictedTable&) { return std::string("none.onnx"); };
  const auto good_table = [](const testing::PredictedTable& t) { return t.path(); };
  const auto no_table = [](const testing::PredictedTable&) { return std::string("none.oplat"); };
  const WrongRequest wrong[] = {
      {"runtime first", no_model, no_table, {.runtime = "mind"}, Code::Runtime, "'mind'"},
      {"then model", no_model, no_table, {}, Code::Input, "none.onnx: no such file"},
      {"then table", good_model, no_table, {}, Code::Input, "none.oplat"},
      {"then rows", good_model, good_table, {.threads = 3}, Code::Refused, "threads"},
  };
  for (const WrongRequest& one : wrong) {
    SCOPED_TRACE(one.what);
    const auto result =
        predict({.model = one.model(made_), .table = one.table(made_), .rows = one.rows}, events_);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, one.code);
    EXPECT_THAT(result.error().message, HasSubstr(one.message));
  }
}

TEST_F(PredictTest, AFolderAndAnEmptyFileAreNotModels) {
  const auto folder = predict({.model = "/", .table = made_.path()}, events_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("is a folder"));
  const auto device = predict({.model = "/dev/null", .table = made_.path()}, events_);
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("is not a regular file"));
}

TEST_F(PredictTest, ANameThatIsNoTableOfPaddleSlimIsAFile) {
  const auto none = predict({.model = made_.model(), .table = "RK3288"}, events_);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("RK3288_threads_4_power_mode_0.pkl"));
}

TEST_F(PredictTest, CompareNeedsBothComplete) {
  CompareRequest request{.models = {made_.model(), made_.faster()}, .table = made_.path()};
  const CompareResult both = must(compare(request, events_));
  EXPECT_DOUBLE_EQ(both.models[0].latency_ns.value_or(0), 5000);
  EXPECT_DOUBLE_EQ(both.models[1].latency_ns.value_or(0), 1000);
  EXPECT_THAT(both.mismatch, IsEmpty());
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy4000, 1}});
  request.models[1] = made_.without_plan();
  const auto one = compare(request, events_);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, Code::Missing);
  EXPECT_THAT(one.error().message, HasSubstr("without_plan.onnx"));
}

TEST_F(PredictTest, CompareSaysWhichRowsAnswerInPlaceOfThoseAskedFor) {
  CompareRequest request{.models = {made_.model(), made_.faster()}, .table = made_.path()};
  request.rows.threads = 2;
  request.rows.allow_setting_mismatch = true;
  request.plan.from = PlanFrom::Cached;
  const CompareResult result = must(compare(request, events_));
  ASSERT_EQ(result.mismatch.size(), 1U);
  EXPECT_EQ(result.mismatch.front().field, "threads");
}

TEST_F(PredictTest, EstimateAnswersEachKeyByItself) {
  const EstimateResult result =
      must(estimate({.keys = {test::kCopy1000, test::kCopy4000}, .table = made_.path()}, events_));
  ASSERT_EQ(result.kernels.size(), 2U);
  EXPECT_EQ(result.kernels[0].latency_ns, 3000);
  EXPECT_FALSE(result.kernels[1].latency_ns);
  const Status missing = require_estimates(result, predict::MissingPolicy::Error);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::Missing);
  EXPECT_THAT(missing.error().message, HasSubstr(test::kCopy4000));
  EXPECT_THAT(missing.error().message, HasSubstr("--missing roofline"));
  EXPECT_TRUE(require_estimates(result, predict::MissingPolicy::Zero));
}

TEST_F(PredictTest, EstimateWidensBySettingsThatDiffer) {
  EstimateRequest request{.keys = {test::kCopy1000}, .table = made_.path()};
  const auto exact = must(estimate(request, events_)).kernels.front().sd_log;
  request.rows.threads = 2;
  request.rows.allow_setting_mismatch = true;
  const auto other = must(estimate(request, events_)).kernels.front().sd_log;
  ASSERT_TRUE(exact && other);
  EXPECT_GT(*other, *exact + 0.5);  // ln 2
}

TEST_F(PredictTest, EstimateRefusesWhatIsNoKey) {
  const auto wrong = estimate({.keys = {"Conv("}, .table = made_.path()}, events_);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::Usage);
  EXPECT_THAT(wrong.error().message, HasSubstr("KEY: "));
}

}  // namespace
}  // namespace oplat::app
