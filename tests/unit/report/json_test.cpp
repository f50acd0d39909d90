// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using nlohmann::json;
using test::rendered;

std::set<std::string> names(const json& object) {
  std::set<std::string> all;
  for (const auto& [name, value] : object.items()) all.insert(name);
  return all;
}

TEST(PredictionJson, HoldsEveryFieldOfTheContract) {
  const json doc = json::parse(rendered("json", test::sample_prediction()));
  EXPECT_EQ(names(doc),
            (std::set<std::string>{"schema",      "model",       "by_operator", "missing_commands",
                                   "latency_ns",  "interval_ns", "level",       "statistic",
                                   "measured",    "batch",       "composition", "coverage",
                                   "missing",     "kernels",     "device",      "setting",
                                   "mismatch",    "warnings",    "table",       "plan",
                                   "uncertainty", "inserted",    "ceilings"}));
  EXPECT_EQ(doc["schema"], "oplat.prediction/1");
  EXPECT_TRUE(doc["latency_ns"].is_number());
  EXPECT_EQ(doc["latency_ns"], 12e6);
  EXPECT_EQ(doc["interval_ns"], json::array({11.5e6, 12.6e6}));
  EXPECT_EQ(doc["level"], 0.9);
  EXPECT_EQ(doc["statistic"], "median");
  EXPECT_TRUE(doc["measured"].is_null());
  EXPECT_TRUE(doc["batch"].is_number_integer());
  EXPECT_EQ(
      names(doc["composition"]),
      (std::set<std::string>{"c0_ns", "c1_ns", "c2_ns_per_byte", "scale", "scale_int8", "n_kernels",
                             "result_bytes", "foreign_bytes", "fitted", "calibration_models"}));
  EXPECT_EQ(doc["composition"]["foreign_bytes"], 0);
  EXPECT_TRUE(doc["composition"]["fitted"].is_boolean());
  EXPECT_EQ(doc["composition"]["n_kernels"], 4);
  EXPECT_EQ(names(doc["coverage"]), (std::set<std::string>{"time", "count"}));
  EXPECT_EQ(names(doc["coverage"]["time"]),
            (std::set<std::string>{"measured", "physics", "free", "overhead"}));
  double sum = 0;
  for (const auto& share : doc["coverage"]["time"]) sum += share.get<double>();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(doc["coverage"]["count"]["measured"], 3);
  EXPECT_TRUE(doc["missing"].is_array() && doc["missing"].empty());
  ASSERT_EQ(doc["kernels"].size(), 3U);
  EXPECT_EQ(names(doc["kernels"][0]),
            (std::set<std::string>{"name", "key", "label", "count", "latency_ns", "sd_log",
                                   "source", "why", "in_model_ns", "flops", "bytes", "gflops_per_s",
                                   "gbytes_per_s", "bound", "bound_share", "uncertainty_share",
                                   "movement", "by_runtime"}));
  EXPECT_EQ(doc["kernels"][0]["name"], "conv, \"first\"");
  EXPECT_EQ(doc["kernels"][0]["source"], "measured");
  EXPECT_EQ(doc["device"]["name"], "desk");
  EXPECT_TRUE(doc["device"]["llc_bytes"].is_null());
  EXPECT_EQ(doc["setting"]["runtime"], "replay");
  EXPECT_EQ(doc["setting"]["threads"], 1);
  EXPECT_TRUE(doc["setting"]["options"].is_object());
  EXPECT_TRUE(doc["mismatch"].is_array());
  EXPECT_EQ(doc["table"], (json{{"path", "t.oplat"}, {"schema_version", 1}}));
  EXPECT_EQ(doc["plan"], (json{{"source", "runtime"}, {"hash", "abc"}}));
}

TEST(PredictionJson, KernelsHoldRatesBoundAndUncertainty) {
  const json doc = json::parse(rendered("json", test::sample_prediction()));
  const json& conv = doc["kernels"][0];
  EXPECT_TRUE(conv["flops"].is_null() && conv["gflops_per_s"].is_null() &&
              conv["movement"].is_null() && conv["by_runtime"].is_null());
  EXPECT_EQ(conv["bytes"], 2000);
  EXPECT_EQ(conv["gbytes_per_s"], 0.001);
  EXPECT_EQ(conv["bound"], "memory");
  EXPECT_NEAR(conv["bound_share"].get<double>(), 1, 1e-12);
  // Parts of the spread: 0.01 of the measured kernel, 5/12 of the guessed one, 0.07 of the
  // composition.
  const double variance = 0.01 * 0.01 + 25.0 / 144 + 0.07 * 0.07;
  EXPECT_NEAR(conv["uncertainty_share"].get<double>(), 0.0001 / variance, 1e-12);
  EXPECT_EQ(names(doc["uncertainty"]), (std::set<std::string>{"kernels", "composition", "moments",
                                                              "control", "mismatch", "most"}));
  EXPECT_NEAR(doc["uncertainty"]["composition"].get<double>(), 0.0049 / variance, 1e-12);
  EXPECT_EQ(doc["uncertainty"]["mismatch"], 0);
  ASSERT_EQ(doc["uncertainty"]["most"].size(), 2U);
  EXPECT_EQ(doc["uncertainty"]["most"][0]["key"], test::kCopy1000);
  EXPECT_EQ(doc["uncertainty"]["most"][0]["remedy"], "measure");
  EXPECT_NEAR(doc["uncertainty"]["most"][0]["share"].get<double>(), 25.0 / 144 / variance, 1e-12);
  EXPECT_EQ(doc["ceilings"],
            (json{{"node_ns", nullptr},
                  {"gflops_per_s", json::object()},
                  {"memory", json::array({{{"up_to_bytes", nullptr}, {"gbytes_per_s", 0.001}}})},
                  {"rows", 7}}));
}

TEST(PredictionJson, InsertedTellsWhatOnlyARuntimePutsIn) {
  predict::Prediction p = test::sample_prediction();
  EXPECT_EQ(json::parse(rendered("json", p))["inserted"], json::array());
  p.kernels[0].key = "com.microsoft.nchwc:ReorderInput/1{}(f32[1,3,8,8])->(f32[1,16,8,8])";
  p.kernels[1].key = "Cast/13{to=10}(f32[1])->(f16[1])";
  const json inserted = json::parse(rendered("json", p))["inserted"];
  ASSERT_EQ(inserted.size(), 2U);
  EXPECT_EQ(inserted[0], (json{{"kind", "reorder"},
                               {"by_runtime", true},
                               {"kernels", 3},
                               {"time_ns", 6e6},
                               {"time_share", 0.5}}));
  EXPECT_EQ(inserted[1]["kind"], "cast");
  EXPECT_TRUE(inserted[1]["by_runtime"].is_null());
  p.kernels[1].inserted_by_runtime = false;
  const json told = json::parse(rendered("json", p));
  EXPECT_EQ(told["inserted"][1]["by_runtime"], false);
  EXPECT_EQ(told["kernels"][0]["by_runtime"], true);
  EXPECT_EQ(told["kernels"][1]["by_runtime"], false);
}

TEST(PredictionJson, MissingKernelsGiveNulls) {
  const json doc = json::parse(rendered("json", test::sample_missing()));
  EXPECT_TRUE(doc["latency_ns"].is_null());
  EXPECT_TRUE(doc["interval_ns"].is_null());
  EXPECT_EQ(doc["missing"], json::array({test::kCopy1000}));
  EXPECT_TRUE(doc["kernels"][1]["latency_ns"].is_null());
  EXPECT_TRUE(doc["kernels"][1]["sd_log"].is_null());
  EXPECT_EQ(doc["kernels"][1]["source"], "missing");
  EXPECT_TRUE(doc["kernels"][1]["gbytes_per_s"].is_null() &&
              doc["kernels"][1]["uncertainty_share"].is_null());
  EXPECT_EQ(doc["kernels"][1]["bytes"], 8000);
  EXPECT_TRUE(doc["uncertainty"].is_null());
  EXPECT_FALSE(doc["coverage"]["time"].contains("missing"));
  EXPECT_EQ(doc["coverage"]["count"]["missing"], 1);
}

TEST(PredictionJson, MismatchNamesFieldAskedAndUsed) {
  predict::Prediction p = test::sample_prediction();
  p.mismatch = {{"threads", "2", "4", 0.7}};
  const json doc = json::parse(rendered("json", p));
  EXPECT_EQ(doc["mismatch"],
            (json::array({{{"field", "threads"}, {"asked", "2"}, {"used", "4"}}})));
}

TEST(PredictionJson, NamesThatAreNoUtf8StayADocument) {
  predict::Prediction p = test::sample_prediction();
  p.kernels[0].name = "bad \xff name";
  EXPECT_EQ(json::parse(rendered("json", p))["kernels"][0]["name"], "bad \xef\xbf\xbd name");
}

TEST(ValidationJson, Fields) {
  const json doc = json::parse(rendered("json", test::sample_validation()));
  EXPECT_EQ(doc["schema"], "oplat.validation/1");
  ASSERT_EQ(doc["models"].size(), 2U);
  EXPECT_NEAR(doc["models"][0]["signed_error"].get<double>(), 0.04, 1e-12);
  EXPECT_EQ(doc["models"][0]["inside_interval"], true);
  EXPECT_EQ(doc["models"][0]["measured"]["ci_ns"], json::array({980000.0, 1020000.0}));
  EXPECT_TRUE(doc["models"][1]["predicted_ns"].is_null());
  EXPECT_TRUE(doc["models"][1]["inside_interval"].is_null());
  EXPECT_EQ(doc["models"][1]["missing"], json::array({test::kCopy250}));
  EXPECT_TRUE(doc["models"][1]["inferences"].is_null());
  predict::Validation with_inferences = test::sample_validation();
  with_inferences.models[0].inferences = *test::sample_measurement().models[0].inferences;
  EXPECT_EQ(json::parse(rendered("json", with_inferences))["models"][0]["inferences"]["p99_ns"],
            1.9e6);
  EXPECT_EQ(doc["summary"]["models"], 2);
  EXPECT_EQ(doc["summary"]["predicted"], 1);
  EXPECT_NEAR(doc["summary"]["mape"].get<double>(), 0.04, 1e-12);
  EXPECT_TRUE(doc["summary"]["rank_correlation"].is_null());
}

TEST(OtherJson, Comparison) {
  const json doc = json::parse(rendered("json", test::sample_comparison()));
  EXPECT_EQ(doc["schema"], "oplat.comparison/1");
  EXPECT_EQ(names(doc), (std::set<std::string>{"schema", "models", "ratio", "intervals_apart"}));
  EXPECT_EQ(doc["ratio"], 1.5);
  EXPECT_EQ(doc["intervals_apart"], true);
  EXPECT_EQ(doc["models"][1], (json{{"model", "big.onnx"},
                                    {"latency_ns", 18e6},
                                    {"interval_ns", {17e6, 19e6}},
                                    {"mismatch", json::array()},
                                    {"warnings", {"a warning"}}}));
}

TEST(OtherJson, Measurement) {
  const json doc = json::parse(rendered("json", test::sample_measurement()));
  EXPECT_EQ(doc["schema"], "oplat.measurement/1");
  EXPECT_EQ(doc["device"], "desk");
  EXPECT_EQ(doc["runtime"], "replay");
  EXPECT_EQ(doc["threads"], 1);
  const json times = {{"count", 200},    {"blocks", 5},     {"mean_ns", 1.25e6}, {"p50_ns", 1.1e6},
                      {"p90_ns", 1.5e6}, {"p99_ns", 1.9e6}, {"max_ns", 4e6}};
  EXPECT_EQ(doc["models"], (json::array({{{"model", "models/a.onnx"},
                                          {"batch", 2},
                                          {"inferences", times},
                                          {"inferences_per_s", 800.0},
                                          {"image_ns", 0.625e6},
                                          {"images_per_s", 1600.0},
                                          {"latency_ns", 1e6},
                                          {"ci_ns", {0.98e6, 1.02e6}},
                                          {"ci_level", 0.95},
                                          {"min_ns", 0.9e6},
                                          {"p10_ns", 0.95e6},
                                          {"p90_ns", 1.1e6},
                                          {"sd_log", 0.02},
                                          {"blocks", 5},
                                          {"processes", 1},
                                          {"flags", {"ci_not_reached", "disturbed"}},
                                          {"by_operator", nullptr},
                                          {"kernels", nullptr},
                                          {"error", nullptr}}})));
}

TEST(OtherJson, MeasurementHasAnEntryForEveryModelThatFailed) {
  const json doc = json::parse(rendered("json", test::sample_measurement_with_failures()));
  ASSERT_EQ(doc["models"].size(), 3U);
  EXPECT_EQ(doc["models"][0]["model"], "nets/gone.onnx");
  EXPECT_EQ(doc["models"][0]["error"],
            (json{{"code", "input"}, {"message", "nets/gone.onnx: no such file"}}));
  EXPECT_TRUE(doc["models"][0]["latency_ns"].is_null());
  EXPECT_EQ(doc["models"][0].size(), doc["models"][1].size()) << "the same fields";
  EXPECT_EQ(doc["models"][1]["latency_ns"], 1e6);
  EXPECT_EQ(doc["models"][2]["error"]["code"], "runtime");
  const std::string lines = rendered("jsonl", test::sample_measurement_with_failures());
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_EQ(json::parse(lines.substr(0, lines.find('\n'))), doc["models"][0]);
}

TEST(OtherJson, MeasurementWithoutSingleInferencesHasNone) {
  report::Measurement measurement = test::sample_measurement();
  measurement.models[0].inferences.reset();
  const json doc = json::parse(rendered("json", measurement));
  EXPECT_TRUE(doc["models"][0]["inferences"].is_null());
  EXPECT_EQ(doc["models"][0]["inferences_per_s"], 1000.0);
}

TEST(OtherJson, PlanEstimatesAndTable) {
  table::Plan plan;
  plan.model = "net.onnx";
  plan.identity = "abc";
  plan.kernels = {{"n1", test::kCopy250, 2, {}, 4096.0},
                  {"n2", "Cast/13{to=10}(f32[1])->(f16[1])", 1, true}};
  const json p = json::parse(rendered("json", plan));
  EXPECT_EQ(p["schema"], "oplat.plan/1");
  EXPECT_EQ(p["warnings"], json::array());
  std::ostringstream warned;
  ASSERT_TRUE(render("json", {plan, {}, {"input 'n' was made up as 1"}}, warned));
  EXPECT_EQ(json::parse(warned.str())["warnings"], json::array({"input 'n' was made up as 1"}));
  EXPECT_EQ(p["kernels"], (json::array({{{"name", "n1"},
                                         {"key", test::kCopy250},
                                         {"count", 2},
                                         {"by_runtime", nullptr},
                                         {"input_bytes", 4096.0}},
                                        {{"name", "n2"},
                                         {"key", "Cast/13{to=10}(f32[1])->(f16[1])"},
                                         {"count", 1},
                                         {"by_runtime", true},
                                         {"input_bytes", nullptr}}})));

  EstimateListing listing;
  listing.kernels = test::sample_prediction().kernels;
  EXPECT_EQ(json::parse(rendered("json", listing))["kernels"].size(), 3U);

  test::SmallTable small;
  small.row(small.device(), small.setting(), test::kCopy250, 1024.0, test::round_timing(1500));
  small.row(small.device(), small.setting(), test::kCopy1000, std::nullopt, table::Failed{"crash"});
  const json info = json::parse(rendered("json", test::must(table_info(small.table()))));
  EXPECT_EQ(info["schema"], "oplat.table/1");
  ASSERT_EQ(info["populations"].size(), 1U);
  EXPECT_EQ(info["populations"][0]["rows"], 2);
  EXPECT_EQ(info["populations"][0]["timings"], 1);
  const json rows = json::parse(rendered("json", test::must(table_rows(small.table(), 1))));
  EXPECT_EQ(rows["rows"].size(), 1U);
  EXPECT_EQ(rows["cut"], true);
  EXPECT_EQ(rows["rows"][0]["timing"]["median_ns"], 1500.0);
  EXPECT_EQ(rows["rows"][0]["reuse_bytes"], 1024.0);
}

}  // namespace
}  // namespace oplat::report
