// SPDX-License-Identifier: Apache-2.0
/// Reports of oplat fit and oplat accuracy.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "unit/report/sample_reports.hpp"

namespace oplat::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

report::FitReport sample_fit() {
  report::FitReport fit;
  fit.table = "t.oplat";
  fit.device.name = "desk";
  fit.setting = setting_of();
  fit.stored = true;
  fit.no_composition = "0 groups of whole models";
  fit.learned = report::LearnedReport{240, 2.5, 3 << 20, 7, true, 12};
  return fit;
}

report::AccuracyReport sample_accuracy() {
  report::AccuracyReport report;
  report.table = "t.oplat";
  report.device.name = "desk";
  report.setting = setting_of();
  report.split = "level:in_h=20";
  report.profile = "fast";
  report.calibrated = true;
  report.accuracy.learned_from = 192;
  report.accuracy.asked = 48;
  report.accuracy.unanswered = 2;
  report.accuracy.fit_seconds = 1.5;
  report.accuracy.microseconds_a_row = 8;
  estimate::ErrorLine all;
  all.name = "all";
  all.rows = 46;
  all.mape = 0.0123;
  all.bias = -0.004;
  all.within5 = 0.978;
  all.coverage = 0.9;
  report.accuracy.lines = {all};
  report.accuracy.networks = {{32, 200, 0.006, 0.001, 0.915}};
  return report;
}

TEST(FitReportTest, SaysWhatWasLearnedAndWhatWasNot) {
  const std::string text = rendered("text", sample_fit());
  EXPECT_THAT(text, HasSubstr("not fitted: 0 groups of whole models"));
  EXPECT_THAT(text, HasSubstr("learned from 240 rows in 2.50 s, 3.00 MiB"));
  EXPECT_THAT(text, HasSubstr("12 of the rows were measured on a busy machine"));
  EXPECT_THAT(text, Not(HasSubstr("not stored")));
  const auto doc = nlohmann::json::parse(rendered("json", sample_fit()));
  EXPECT_EQ(doc["schema"], "oplat.fit/1");
  EXPECT_TRUE(doc["composition"].is_null());
  EXPECT_EQ(doc["no_composition"], "0 groups of whole models");
  EXPECT_EQ(doc["learned"]["rows"], 240);
  EXPECT_EQ(doc["learned"]["bytes"], 3 << 20);
  EXPECT_EQ(doc["learned"]["under_load"], 12);
  EXPECT_TRUE(doc["no_learned"].is_null());
  EXPECT_THAT(rendered("csv", sample_fit()), HasSubstr("model,group"));
}

TEST(FitReportTest, ModelsThatTheFitIsNotCalibratedOnAreSaid) {
  predict::FitResult result;
  for (const char* name : {"a.onnx", "b.onnx", "c.onnx"}) {
    predict::LeftOutModel& model = result.left_out.emplace_back();
    model.name = name;
    model.measured.median_ns = 1000;
    model.predicted_ns = 1100;
    model.unfitted_ns = 1200;
    model.interval = {900, 1300};
  }
  result.left_out.back().calibrates = false;
  result.under_load = 1;
  const auto text = [&](std::vector<double> scores) {
    result.fit.scores = std::move(scores);
    report::FitReport fit = sample_fit();
    fit.no_composition.clear();
    fit.composition = report::composition_report(result);
    return rendered("text", fit);
  };
  EXPECT_THAT(text({0.1, 0.2}), HasSubstr("; calibrated on 2 whole models\n"));
  EXPECT_THAT(text({0.1}), HasSubstr("; calibrated on 1 whole model of 2 fitted to, since the time "
                                     "of the rest is known less well than predicted\n"));
  EXPECT_THAT(text({}),
              HasSubstr("; calibrated on 0 whole models of 2 fitted to, since the time of "
                        "each is known less well than predicted; intervals use start "
                        "values\n"));
  EXPECT_THAT(text({}), HasSubstr("\n1 of the whole models was measured on a busy machine\n"));
}

TEST(FitReportTest, AReasonStandsInPlaceOfWhatWasNotLearned) {
  report::FitReport fit = sample_fit();
  fit.learned.reset();
  fit.no_learned = "5 rows are too few";
  fit.stored = false;
  const auto doc = nlohmann::json::parse(rendered("json", fit));
  EXPECT_TRUE(doc["learned"].is_null());
  EXPECT_EQ(doc["no_learned"], "5 rows are too few");
  EXPECT_EQ(doc["stored"], false);
  EXPECT_THAT(rendered("text", fit), HasSubstr("kernels: not fitted: 5 rows are too few"));
  EXPECT_THAT(rendered("text", fit), HasSubstr("not stored"));
}

TEST(AccuracyReportTest, EveryFormHasTheSameNumbers) {
  const std::string text = rendered("text", sample_accuracy());
  EXPECT_THAT(text, HasSubstr("split level:in_h=20, estimator fast: learned from 192 rows in 1.50 "
                              "s, predicted 48 (2 without an answer)"));
  EXPECT_THAT(text, HasSubstr("1.23 %"));
  EXPECT_THAT(text, HasSubstr("-0.40 %"));
  EXPECT_THAT(text, HasSubstr("91.5 %"));
  EXPECT_THAT(text, Not(HasSubstr("guesses")));
  const auto doc = nlohmann::json::parse(rendered("json", sample_accuracy()));
  EXPECT_EQ(doc["schema"], "oplat.accuracy/1");
  EXPECT_EQ(doc["lines"][0]["rows_of"], "all");
  EXPECT_EQ(doc["lines"][0]["mape"], 0.0123);
  EXPECT_EQ(doc["networks"][0]["within_1_percent"], 0.915);
  EXPECT_EQ(doc["unanswered"], 2);
  EXPECT_THAT(rendered("csv", sample_accuracy()), HasSubstr("all,46,0.0123,"));
}

TEST(AccuracyReportTest, GuessedIntervalsAreCalledSo) {
  report::AccuracyReport report = sample_accuracy();
  report.calibrated = false;
  EXPECT_THAT(rendered("text", report), HasSubstr("wide guesses"));
}

}  // namespace
}  // namespace oplat::test
