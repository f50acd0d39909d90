// SPDX-License-Identifier: Apache-2.0
#include "app/predict_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/advise.hpp"
#include "app/compare.hpp"
#include "app/estimate.hpp"
#include "app/suggestions.hpp"
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

TEST_F(PredictTest, AnOpenTableIsReadOnceForAllPredictions) {
  PredictRequest request{.model = made_.model(), .table = made_.path()};
  OpenedTable table = must(open_table_of(request, events_));
  PredictMemo memo;
  const double first = *must(predict(request, table, memo, events_)).prediction.latency_ns;
  EXPECT_EQ(*must(predict(request, table, memo, events_)).prediction.latency_ns, first);
  request.model = made_.faster();
  const PredictResult kept = must(predict(request, table, memo, events_));
  EXPECT_EQ(memo.selections(), 1);
  EXPECT_EQ(memo.predictors(), 1);
  // What was kept answers as a table that was never asked.
  const PredictResult fresh = must(predict(request, events_));
  EXPECT_EQ(kept.prediction.latency_ns, fresh.prediction.latency_ns);
  EXPECT_EQ(kept.prediction.interval->high, fresh.prediction.interval->high);
  EXPECT_EQ(kept.diagnosis.ceilings.rows, fresh.diagnosis.ceilings.rows);
}

TEST_F(PredictTest, WhatWasKeptAnswersNoOtherQuestion) {
  PredictRequest request{.model = made_.model(), .table = made_.path()};
  OpenedTable table = must(open_table_of(request, events_));
  PredictMemo memo;
  must(predict(request, table, memo, events_));
  request.rows.build = "another";
  const PredictResult other = must(predict(request, table, memo, events_));
  EXPECT_THAT(other.prediction.warnings, Contains(HasSubstr("another")));
  request.options.estimator = estimate::Profile::Fast;
  must(predict(request, table, memo, events_));
  EXPECT_EQ(memo.selections(), 2);
  EXPECT_EQ(memo.predictors(), 3);
  request.rows.threads = 99;
  EXPECT_FALSE(predict(request, table, memo, events_));
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
  for (const std::int64_t threads : {1, 4}) {
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

TEST_F(PredictTest, WhatIsMissingIsCountedAndHowToMeasureItIsSaid) {
  made_.put_plan(made_.without_plan(),
                 {{"a", test::kCopy4000, 1}, {"b", test::kCopy4000, 1}, {"c", test::kCopy250, 1}});
  PredictRequest request{.model = made_.without_plan(), .table = made_.path()};
  request.rows.device = "desk";
  const predict::Prediction p = must(predict(request, events_)).prediction;
  EXPECT_EQ(predict::missing_text(p), "1 of 2 kernels is not in the table: 1 copy");
  EXPECT_EQ(p.help.by_fit, 0);  // two rows teach nothing
  EXPECT_THAT(predict::missing_remedies(p),
              ElementsAre("measure them: oplat profile --model " + made_.without_plan() +
                          " --table " + made_.path() + " --runtime replay --device desk"));
  EXPECT_THAT(predict::require_complete(p).error().message,
              ::testing::AllOf(HasSubstr("1 of 2 kernels is not in " + made_.path() + ": 1 copy; "),
                               HasSubstr("; or use --missing roofline")));
  EXPECT_EQ(predict::require_complete(p, true).error().message,
            p.model +
                ": no latency without the missing kernels; measure or estimate them as "
                "above; or use --missing roofline");
}

TEST_F(PredictTest, AFitIsSaidToHelpWhereRowsOfTheOperatorsWaitForOne) {
  for (int i = 1; i <= 40; ++i)
    made_.small().row(made_.device(), made_.setting(),
                      fmt::format("test:copy{{}}(f32[{0}])->(f32[{0}])", 100'000 + i), std::nullopt,
                      test::timing(1000 + i));
  made_.put_plan(made_.without_plan(),
                 {{"a", test::kCopy4000, 1}, {"b", "test:other{}(f32[1])->(f32[1])", 1}});
  const predict::Prediction p =
      must(predict({.model = made_.without_plan(), .table = made_.path()}, events_)).prediction;
  EXPECT_EQ(p.help.by_fit, 1);
  EXPECT_THAT(predict::missing_remedies(p),
              Contains("estimate 1 of them: oplat fit " + made_.path()));
}

TEST_F(PredictTest, SuggestedCommandsSayTheInputsAndAreQuoted) {
  ModelInputs inputs;
  inputs.shapes.batch = 4;
  inputs.shapes.shapes["a=b"] = {1, 3};
  inputs.data["lengths"] = "two words.npy";
  table::Setting setting = test::setting_of(2);
  setting.precision = "fp16";
  EXPECT_EQ(
      profile_command("my net.onnx", inputs, "t.oplat", setting, {}),
      "oplat profile --model 'my net.onnx' --shape '\"a=b\"=1x3' --batch 4 --input "
      "'lengths=two words.npy' --table t.oplat --runtime replay --threads 2 --precision fp16");
  setting.runtime = "no such runtime";
  EXPECT_EQ(profile_command("net.onnx", {}, "t.oplat", setting, {}), "");
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
  const auto empty = estimate({.keys = {""}, .table = made_.path()}, events_);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::Usage);
  EXPECT_THAT(empty.error().message, HasSubstr("KEY is empty"));
  const auto impossible = estimate(
      {.keys = {"MatMul/13{}(f32[64,32],f32c[99,50])->(f32[64,50])"}, .table = made_.path()},
      events_);
  ASSERT_FALSE(impossible);
  EXPECT_EQ(impossible.error().code, Code::Usage);
  EXPECT_THAT(impossible.error().message,
              HasSubstr("no operator computes this: MatMul: the inner dimensions are 32 and 99"));
}

/// All answers, and how it ended.
std::pair<std::vector<ModelPrediction>, Status> predict_all(const PredictModelsRequest& request,
                                                            Events& events) {
  std::vector<ModelPrediction> answers;
  Status status = predict_models(
      request,
      [&](ModelPrediction&& one) -> Status {
        answers.push_back(std::move(one));
        return {};
      },
      events);
  return {std::move(answers), std::move(status)};
}

TEST_F(PredictTest, OfSeveralModelsTheHealthyAreAnswered) {
  const auto [made, status] = predict_all(
      {{made_.model(), "none.onnx", made_.faster()}, {.model = "", .table = made_.path()}},
      events_);
  EXPECT_TRUE(status);
  ASSERT_EQ(made.size(), 3U);
  EXPECT_DOUBLE_EQ(made[0].result->prediction.latency_ns.value_or(0), 5000);
  ASSERT_FALSE(made[1].result);
  EXPECT_EQ(made[1].result.error().code, Code::Input);
  EXPECT_EQ(made[1].model, "none.onnx");
  EXPECT_DOUBLE_EQ(made[2].result->prediction.latency_ns.value_or(0), 1000);
}

TEST_F(PredictTest, WhatSeveralModelsLackAlikeIsOneError) {
  const auto code_of = [&](const std::string& table, std::optional<std::int64_t> threads) {
    PredictModelsRequest request{{made_.model()}, {.model = "", .table = table}};
    request.each.rows.threads = threads;
    return predict_all(request, events_).second.error().code;
  };
  EXPECT_EQ(code_of("none.oplat", std::nullopt), Code::Input);
  EXPECT_EQ(code_of(made_.path(), 9), Code::Refused);
}

TEST_F(PredictTest, WhoeverInterruptsAListHasWhatWasDone) {
  class Stopped : public Events {
   public:
    bool cancelled() override { return ++asked_ > 1; }

   private:
    int asked_ = 0;
  } stopped;
  const auto [made, status] = predict_all(
      {{made_.model(), made_.faster(), made_.model()}, {.model = "", .table = made_.path()}},
      stopped);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_TRUE(made[0].result);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Interrupted);
  EXPECT_THAT(status.error().message, HasSubstr("1 of 3 models"));
}

/// The table of the fixture, with the same kernels at twice the speed on 2 threads.
class AdviseTest : public PredictTest {
 protected:
  AdviseTest() {
    test::SmallTable& small = made_.small();
    const auto two = small.setting(test::setting_of(2));
    small.row(made_.device(), two, test::kCopy250, std::nullopt, test::timing(500));
    small.row(made_.device(), two, test::kCopy1000, std::nullopt, test::timing(1500));
    table::Plan plan = must(small.table().plans()).front();
    plan.identity =
        plan::identity(must(plan::model_hash(made_.model())), {}, test::setting_of(2), "", {});
    must(small.table().put_plan(plan));
  }
  AdviseRequest request(double max_ns) const {
    AdviseRequest request{.models = {made_.model()}, .table = made_.path()};
    request.max_latency_ns = max_ns;
    request.plan.from = PlanFrom::Cached;
    return request;
  }
};

TEST_F(AdviseTest, SettingsThatMeetTheTargetComeFirst) {
  const report::AdviceReport advice = must(advise(request(2600), events_));
  ASSERT_EQ(advice.choices.size(), 2U);
  EXPECT_EQ(advice.choices[0].setting.threads, 2);
  EXPECT_DOUBLE_EQ(advice.choices[0].latency_ns.value_or(0), 2500);
  EXPECT_EQ(advice.choices[0].meets, report::Meets::Likely);  // its interval ends above
  EXPECT_EQ(advice.choices[1].setting.threads, 1);
  EXPECT_EQ(advice.choices[1].meets, report::Meets::No);
  EXPECT_EQ(must(advise(request(1e9), events_)).choices[0].meets, report::Meets::Yes);
  EXPECT_EQ(must(advise(request(1), events_)).choices[0].meets, report::Meets::No);
}

TEST_F(AdviseTest, AnOpenTableAnswersAndItsNameIsThatOfCommands) {
  OpenedTable table = must(open_table(made_.path(), {}, events_));
  AdviseRequest asked = request(2600);
  asked.table = "named.oplat";
  asked.threads = {1, 4};
  const report::AdviceReport advice = must(advise(asked, table, events_));
  ASSERT_EQ(advice.choices.size(), 2U);
  EXPECT_EQ(advice.choices[0].meets, report::Meets::No);
  EXPECT_THAT(advice.choices[1].command, HasSubstr("--table named.oplat "));
}

TEST_F(AdviseTest, WhatIsNotKnownSaysWhatMeasuresIt) {
  AdviseRequest asked = request(2600);
  asked.threads = {2, 4};
  asked.models.push_back(made_.without_plan());
  const report::AdviceReport advice = must(advise(asked, events_));
  ASSERT_EQ(advice.choices.size(), 4U);
  EXPECT_EQ(advice.choices[0].setting.threads, 2);
  for (std::size_t i = 1; i < 4; ++i) {
    const auto& choice = advice.choices[i];
    EXPECT_EQ(choice.meets, report::Meets::Unknown);
    EXPECT_FALSE(choice.why.empty());
    EXPECT_THAT(choice.command,
                HasSubstr("oplat profile --model " + choice.model + " --table " + made_.path() +
                          " --runtime replay --threads " + std::to_string(choice.setting.threads)));
  }
}

TEST_F(AdviseTest, AFitIsAdvisedWhereItAnswersAllThatIsMissing) {
  for (int i = 1; i <= 40; ++i)
    made_.small().row(made_.device(), made_.setting(),
                      fmt::format("test:copy{{}}(f32[{0}])->(f32[{0}])", 100'000 + i), std::nullopt,
                      test::timing(1000 + i));
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy4000, 1}});
  AdviseRequest asked = request(1);
  asked.models = {made_.without_plan()};
  asked.threads = {1};
  const report::AdviceReport advice = must(advise(asked, events_));
  ASSERT_EQ(advice.choices.size(), 1U);
  EXPECT_EQ(advice.choices[0].code, Code::Missing);
  EXPECT_EQ(advice.choices[0].command, "oplat fit " + made_.path() + " --threads 1");
}

TEST_F(AdviseTest, KernelsThatCountAsZeroMeetNothingAndWarningsAreKept) {
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy4000, 1}});
  AdviseRequest asked = request(1e9);
  asked.models = {made_.without_plan(), made_.model()};
  asked.threads = {1};
  asked.options.missing = predict::MissingPolicy::Zero;
  const report::AdviceReport advice = must(advise(asked, events_));
  ASSERT_EQ(advice.choices.size(), 2U);
  EXPECT_EQ(advice.choices[0].model, made_.model());
  EXPECT_EQ(advice.choices[1].meets, report::Meets::Unknown);
  EXPECT_TRUE(advice.choices[1].latency_ns);
  EXPECT_EQ(advice.choices[1].code, Code::Missing);
  EXPECT_THAT(advice.warnings,
              Contains(::testing::AllOf(HasSubstr("without_plan.onnx, 1 thread, batch 1: "),
                                        HasSubstr("count as zero"))));
  // What is too slow without them is too slow.
  asked.max_latency_ns = -1;
  EXPECT_EQ(must(advise(asked, events_)).choices[1].meets, report::Meets::No);
}

TEST_F(AdviseTest, ADeviceIsChosenWhereThereAreSeveral) {
  made_.small().row(made_.small().device("phone"), made_.setting(), test::kCopy250, std::nullopt,
                    test::timing(1));
  const auto several = advise(request(1), events_);
  ASSERT_FALSE(several);
  EXPECT_EQ(several.error().code, Code::Usage);
  EXPECT_THAT(several.error().message, HasSubstr("choose one with --device: desk, phone"));
  AdviseRequest asked = request(1);
  asked.rows.device = "desk";
  EXPECT_EQ(must(advise(asked, events_)).choices.size(), 2U);
  asked.rows.device = "laptop";
  EXPECT_EQ(advise(asked, events_).error().code, Code::Refused);
}

TEST_F(PredictTest, AListHasAnEntryForEachModelAndStopsWhereItsAnswerFails) {
  PredictModelsRequest request{{made_.model(), made_.without_plan(), made_.faster()}};
  request.each.table = made_.path();
  request.each.plan.from = PlanFrom::Cached;
  const auto gate = must(parse_gate("2us", "", GateOn::Point));  // 5 us, no plan, 1 us
  std::vector<report::PredictionList::Entry> entries;
  const auto take = [&](report::PredictionList::Entry&& entry) -> Status {
    entries.push_back(std::move(entry));
    return {};
  };
  const PredictListResult result = must(predict_list(request, gate, take, events_));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_TRUE(entries[0].report) << "a limit that is not met leaves the latency in the document";
  EXPECT_EQ(entries[0].error->code, Code::GateNotMet);
  EXPECT_FALSE(entries[1].report);
  EXPECT_EQ(entries[1].error->code, Code::Missing);
  EXPECT_FALSE(entries[2].error);
  EXPECT_EQ(result.first_error, Code::GateNotMet);
  EXPECT_FALSE(result.stopped);
  const auto full = [](report::PredictionList::Entry&&) { return fail(Code::Write, "full"); };
  EXPECT_EQ(predict_list(request, gate, full, events_).error().code, Code::Write);
}

TEST_F(PredictTest, AnInterruptedListSaysSoNextToWhatItHas) {
  class Cancels : public CollectedEvents {
   public:
    bool cancelled() override { return true; }
  } cancels;
  const auto take = [](report::PredictionList::Entry&&) -> Status { return {}; };
  PredictModelsRequest request{{made_.model()}};
  request.each.table = made_.path();
  const PredictListResult result = must(predict_list(request, std::nullopt, take, cancels));
  ASSERT_TRUE(result.stopped);
  EXPECT_EQ(result.stopped->code, Code::Interrupted);
}

TEST(ModelWarnings, EachTextIsSaidOnceWithItsModelOrHowMany) {
  ModelWarnings warnings;
  warnings.add("a.onnx", {"busy", "old"});
  warnings.add("b.onnx", {"old"});
  EXPECT_THAT(warnings.lines(), ElementsAre("a.onnx: busy", "2 models: old"));
}

}  // namespace
}  // namespace oplat::app
