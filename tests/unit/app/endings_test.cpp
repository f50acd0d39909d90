// SPDX-License-Identifier: Apache-2.0
/// What becomes of results: the documents made of them, and what they fail with although they are
/// there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/accuracy.hpp"
#include "app/advise.hpp"
#include "app/check.hpp"
#include "app/compare.hpp"
#include "app/estimate.hpp"
#include "app/import_table.hpp"
#include "app/list_table.hpp"
#include "app/machine.hpp"
#include "app/measure_models.hpp"
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
  keys.inputs.shapes.batch = 4;
  EXPECT_THAT(message_of(check_sources(keys), Code::Usage), HasSubstr("--batch, --shape"));
  keys.models = {"net.onnx"};
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

TEST(Endings, ASweepHasNoPagesLinesOrOperators) {
  for (const char* form : {"text", "json", "csv"}) EXPECT_TRUE(check_sweep_form(form));
  EXPECT_THAT(message_of(check_sweep_form("html"), Code::Usage), HasSubstr("--format html: "));
  EXPECT_THAT(message_of(check_sweep_form("jsonl"), Code::Usage), HasSubstr("--format jsonl: "));
  EXPECT_THAT(message_of(check_sweep_form("text", "--keys"), Code::Usage), HasSubstr("--keys: "));
}

TEST(Endings, AMeasurementIsKeptInATableAlone) {
  MeasureRequest request;
  EXPECT_EQ(end_of(request).kept, "give --table to keep what is measured");
  EXPECT_THAT(std::string(end_of(request).way_on), HasSubstr("set a larger budget, or --table"));
  request.table = "t.oplat";
  EXPECT_EQ(end_of(request).kept, "what was measured is kept");
  EXPECT_EQ(end_of(request).way_on, "run the same command to resume");
}

TEST(Endings, ModelsWithoutATimeAreLinesOnlyIfNoModelHasOne) {
  report::Measurement measurement;
  EXPECT_EQ(failures_of(measurement).code, std::nullopt);
  measurement.failed.push_back({0, "a.onnx", {Code::Input, "a.onnx: no such file"}});
  measurement.failed.push_back({1, "b.onnx", {Code::Runtime, "b.onnx: it crashed"}});
  const Failures none = failures_of(measurement);
  EXPECT_EQ(none.code, Code::Input) << "that of the first";
  EXPECT_THAT(none.lines, ElementsAre("a.onnx: no such file", "b.onnx: it crashed",
                                      "no model could be measured"));
  measurement.models.emplace_back();
  const Failures some = failures_of(measurement);
  EXPECT_EQ(some.code, Code::Input);
  EXPECT_THAT(some.lines, IsEmpty()) << "the document lists them";
}

TEST(Endings, AProfileThatWasStoppedGoesOn) {
  EXPECT_TRUE(require_finished(false));
  EXPECT_EQ(message_of(require_finished(true), Code::Interrupted),
            "stopped; what was measured is kept; run the same command to resume");
}

TEST(Endings, WhatAVerificationIsToldIsReadOrRefused) {
  VerifyRequest request;
  EXPECT_TRUE(read_into(VerifyTexts{}, request));
  EXPECT_EQ(request.budget_s, 60);
  EXPECT_FALSE(request.remote);
  EXPECT_TRUE(read_into(VerifyTexts{"ssh host oplat worker replay", "2m"}, request));
  EXPECT_EQ(request.budget_s, 120);
  EXPECT_TRUE(request.remote);
  EXPECT_THAT(request.worker_command, ElementsAre("ssh", "host", "oplat", "worker", "replay"));
  EXPECT_EQ(read_into(VerifyTexts{std::nullopt, "soon"}, request).error().code, Code::Usage);
  EXPECT_EQ(read_into(VerifyTexts{"'open", "2m"}, request).error().code, Code::Usage);
}

TEST(Endings, AMachineIsLookedAtByTheReferenceUnlessSomethingElseIsNamed) {
  MachineTexts texts;
  const MachineRequest own = test::must(parse_machine(texts));
  EXPECT_EQ(own.runtime.runtime, "reference");
  EXPECT_EQ(own.budget_s, 20);
  texts.runtime.request.runtime = "onnxruntime";
  texts.budget = "1m";
  EXPECT_EQ(test::must(parse_machine(texts)).runtime.runtime, "onnxruntime");
  EXPECT_EQ(test::must(parse_machine(texts)).budget_s, 60);
  texts.runtime.request.runtime.clear();
  texts.runtime.worker = "ssh host oplat worker onnxruntime";
  EXPECT_EQ(test::must(parse_machine(texts)).runtime.runtime, "") << "its worker says";
  texts.budget = "soon";
  EXPECT_EQ(parse_machine(texts).error().code, Code::Usage);
}

TEST(Endings, ATargetIsAdvisedAbout) {
  AdviseRequest request;
  EXPECT_THAT(read_into(AdviseTexts{}, request).error().message, HasSubstr("--max-latency"));
  const Gate gate = test::must(read_into(AdviseTexts{"1,2", "4", "5ms", "upper"}, request));
  EXPECT_EQ(gate.on, GateOn::Upper);
  EXPECT_EQ(request.max_latency_ns, 5e6);
  EXPECT_THAT(request.threads, ElementsAre(1, 2));
  EXPECT_THAT(request.batches, ElementsAre(4));
  EXPECT_EQ(read_into(AdviseTexts{"0", "", "5ms", ""}, request).error().code, Code::Usage);
}

TEST(Endings, ATableIsListedByItsPath) {
  test::SmallTable small;
  small.row(small.device(), small.setting(), test::kCopy250, std::nullopt, test::timing(1000));
  const std::string path = small.table().path().string();
  EXPECT_EQ(test::must(table_info(path)).contexts.size(), 1U);
  const report::RowListing rows = test::must(table_rows(path));
  ASSERT_EQ(rows.rows.size(), 1U);
  EXPECT_EQ(rows.rows[0].row.row.key, test::kCopy250);
  EXPECT_EQ(table_rows(path + ".gone").error().code, Code::Input);
  EXPECT_EQ(table_info(path + ".gone").error().code, Code::Input);
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
