// SPDX-License-Identifier: Apache-2.0
/// What becomes of results: the documents made of them, and what they fail with although they are
/// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/accuracy.hpp"
#include "app/check.hpp"
#include "app/compare.hpp"
#include "app/estimate.hpp"
#include "app/import_table.hpp"
#include "app/plan.hpp"
#include "app/profile.hpp"
#include "app/rules.hpp"
#include "app/sweep.hpp"
#include "app/validate.hpp"
#include "app/verify.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string message_of(const Status& status, Code code) {
  EXPECT_FALSE(status);
  if (status) return {};
  EXPECT_EQ(status.error().code, code);
  return status.error().message;
}

TEST(Endings, AProfileOfWhichEveryKernelFailedHasNone) {
  ProfileResult result{"t.oplat", {}};
  EXPECT_TRUE(require_kernels(result)) << "there was nothing to measure";
  result.summary.kernels = {.total = 2, .failed = 2};
  EXPECT_THAT(message_of(require_kernels(result), Code::Runtime), HasSubstr("every kernel failed"));
  result.summary.kernels = {.total = 2, .precise = 1, .failed = 1};
  EXPECT_TRUE(require_kernels(result));
  EXPECT_EQ(check_sources({}).error().code, Code::Usage);
  ProfileRequest keys;
  keys.keys_file = "keys.txt";
  EXPECT_TRUE(check_sources(keys));
}

TEST(Endings, ASweepIsStoppedOrWithoutTimes) {
  SweepResult result;
  EXPECT_EQ(message_of(require_points(result, "go on"), Code::Runtime),
            "no model could be measured");
  result.sweep.points.push_back({.path = "a.onnx", .latency_ns = 1e6});
  EXPECT_TRUE(require_points(result, "go on"));
  result.interrupted = true;
  EXPECT_EQ(message_of(require_points(result, "go on"), Code::Interrupted), "stopped; go on");
}

TEST(Endings, ASweepOfProfilesCountsSettings) {
  SweepResult result;
  result.profiled = 3;
  EXPECT_TRUE(require_profiled(result));
  result.without_kernels = 2;
  EXPECT_THAT(message_of(require_profiled(result), Code::Runtime),
              HasSubstr("every kernel failed in 2 of 3 settings"));
  result.first_error = Error{Code::Input, "a.onnx: no such file"};
  EXPECT_EQ(message_of(require_profiled(result), Code::Input), "a.onnx: no such file");
}

TEST(Endings, ASweepOfProfilesNeedsModels) {
  Events events;
  ProfileRequest request;
  request.keys_file = "keys.txt";
  EXPECT_THAT(profile_sweep(request, {{1, 2}, {}}, events).error().message,
              HasSubstr("need models"));
  request.space = "general-cpu";
  EXPECT_THAT(profile_sweep(request, {{1, 2}, {}}, events).error().message,
              HasSubstr("--space and --like take one number of threads"));
}

TEST(Endings, ModelsThatWereNotMeasuredComeBeforeMissingKernels) {
  ValidateRequest request;
  request.models = {"a.onnx", "b.onnx"};
  ValidateResult result;
  result.validation.models.resize(1);
  EXPECT_TRUE(require_validated(request, result));
  result.incomplete = 1;
  EXPECT_THAT(message_of(require_validated(request, result), Code::Missing),
              HasSubstr("1 of 1 models have kernels"));
  result.unmeasured = 1;
  EXPECT_THAT(message_of(require_validated(request, result), Code::Runtime),
              HasSubstr("1 of 2 models could not be measured"));
}

TEST(Endings, ATableThatDoesNotHoldFails) {
  VerifyRequest request;
  request.table = "t.oplat";
  VerifyResult result;
  EXPECT_THAT(message_of(require_same(request, result), Code::Runtime),
              HasSubstr("set a larger --budget"));
  result.verification.refused = 1;
  EXPECT_THAT(message_of(require_same(request, result), Code::Runtime),
              HasSubstr("no row could be measured again"));
  result.verification.compared = 5;
  result.verification.verdict = "slower by 20 %";
  result.verdict = measure::TableVerdict::Unclear;
  EXPECT_EQ(message_of(require_same(request, result), Code::GateNotMet), "t.oplat: slower by 20 %");
  result.verdict = measure::TableVerdict::Same;
  EXPECT_TRUE(require_same(request, result));
}

TEST(Endings, AListOfPlansHasTheFirstErrorUnlessItWasStopped) {
  std::vector<PlannedFile> planned;
  planned.push_back({"a.onnx", table::Plan{}});
  EXPECT_EQ(first_error(plan_list(planned)), std::nullopt);
  planned.push_back({"b.onnx", fail(Code::Input, "b.onnx: no such file")});
  planned.push_back({"c.onnx", fail(Code::Runtime, "c.onnx: it crashed")});
  report::PlanList list = plan_list(planned);
  ASSERT_EQ(list.models.size(), 3U);
  EXPECT_TRUE(list.models[0].plan);
  EXPECT_EQ(list.models[1].error->message, "b.onnx: no such file");
  EXPECT_EQ(first_error(list), Code::Input);
  planned.push_back({"d.onnx", fail(Code::Interrupted, "d.onnx: stopped")});
  EXPECT_EQ(first_error(plan_list(planned)), Code::Interrupted);
}

TEST(Endings, TheWarningsOfACompareAreSaidOnce) {
  CompareResult result;
  EXPECT_THAT(result.warnings(), IsEmpty());
  result.models[0].warnings = {"one", "two"};
  result.models[1].warnings = {"two", "three"};
  EXPECT_THAT(result.warnings(), ElementsAre("one", "two", "three"));
}

TEST(Endings, ReportsSayWhatWasAskedFor) {
  CheckRequest check{.table = "t.oplat"};
  check.limits.max_ratio = 3;
  CheckResult checked;
  checked.rows = 7;
  checked.suspects = {{4, "key", 5e3, estimate::Fault::TooFast, "why"}};
  const report::CheckReport check_said = check_report(check, checked);
  EXPECT_EQ(check_said.table, "t.oplat");
  EXPECT_EQ(check_said.max_ratio, 3);
  EXPECT_EQ(check_said.rows, 7U);
  ASSERT_EQ(check_said.suspects.size(), 1U);
  EXPECT_EQ(check_said.suspects[0].fault, "too fast");

  AccuracyRequest accuracy{.table = "t.oplat", .split = "twin", .network_seed = 9};
  accuracy.learn.seed = 8;
  AccuracyResult measured;
  measured.accuracy.calibrated = true;
  const report::AccuracyReport accuracy_said = accuracy_report(accuracy, "fast", measured);
  EXPECT_EQ(accuracy_said.split, "twin");
  EXPECT_EQ(accuracy_said.profile, "fast");
  EXPECT_EQ(accuracy_said.seed, 8U);
  EXPECT_EQ(accuracy_said.network_seed, 9U);
  EXPECT_TRUE(accuracy_said.calibrated) << "as it was, not as it was asked for";

  EstimateRequest estimate;
  estimate.options.level = 0.5;
  EstimateResult estimated;
  estimated.kernels.resize(2);
  estimated.selection.device.name = "desk";
  estimated.selection.warnings = {"old"};
  const report::EstimateListing listing = estimate_listing(estimate, estimated);
  EXPECT_EQ(listing.level, 0.5);
  EXPECT_EQ(listing.kernels.size(), 2U);
  EXPECT_EQ(listing.device.name, "desk");
  EXPECT_THAT(listing.warnings, ElementsAre("old"));

  plan::RuleSet set;
  set.name = "mine@1";
  set.options = {"int8"};
  const report::RuleList rules = rule_list({set});
  ASSERT_EQ(rules.rules.size(), 1U);
  EXPECT_EQ(rules.rules[0].name, "mine@1");
  EXPECT_THAT(rules.rules[0].options, ElementsAre("int8"));
}

TEST(Endings, AnImportSaysWhatBecameOfTheRows) {
  const ImportTableRequest request{.file = "f", .format = "tinynas", .table = "t.oplat"};
  ImportTableResult result;
  result.devices = {"V100"};
  result.setting = test::setting_of();
  result.rows = 5;
  result.timed = 3;
  EXPECT_THAT(import_text(request, result),
              HasSubstr("t.oplat: 5 rows, 3 with a time and 2 failed, of "));
  EXPECT_THAT(import_text(request, result), HasSubstr(" on device V100\n"));
  result.outcome = table::ImportOutcome::Replaced;
  EXPECT_THAT(import_text(request, result),
              HasSubstr("; they replace earlier rows of this file\n"));
  result.outcome = table::ImportOutcome::Unchanged;
  EXPECT_THAT(import_text(request, result), HasSubstr("already holds these rows of "));
}

}  // namespace
}  // namespace oplat::app
