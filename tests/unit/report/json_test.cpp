// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(names(doc), (std::set<std::string>{"schema", "latency_ns", "interval_ns", "level", "statistic", "batch",
                                               "composition", "coverage", "missing", "kernels", "device", "setting",
                                               "mismatch", "warnings", "table", "plan"}));
  EXPECT_EQ(doc["schema"], "oplat.prediction/1");
  EXPECT_TRUE(doc["latency_ns"].is_number());
  EXPECT_EQ(doc["latency_ns"], 12e6);
  EXPECT_EQ(doc["interval_ns"], json::array({11.5e6, 12.6e6}));
  EXPECT_EQ(doc["level"], 0.9);
  EXPECT_EQ(doc["statistic"], "median");
  EXPECT_TRUE(doc["batch"].is_number_integer());
  EXPECT_EQ(names(doc["composition"]),
            (std::set<std::string>{"c0_ns", "c1_ns", "n_kernels", "fitted", "calibration_models"}));
  EXPECT_TRUE(doc["composition"]["fitted"].is_boolean());
  EXPECT_EQ(doc["composition"]["n_kernels"], 4);
  EXPECT_EQ(names(doc["coverage"]), (std::set<std::string>{"time", "count"}));
  EXPECT_EQ(names(doc["coverage"]["time"]), (std::set<std::string>{"measured", "physics", "free", "overhead"}));
  double sum = 0;
  for (const auto& share : doc["coverage"]["time"]) sum += share.get<double>();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(doc["coverage"]["count"]["measured"], 3);
  EXPECT_TRUE(doc["missing"].is_array() && doc["missing"].empty());
  ASSERT_EQ(doc["kernels"].size(), 3U);
  EXPECT_EQ(names(doc["kernels"][0]),
            (std::set<std::string>{"name", "key", "count", "latency_ns", "sd_log", "source", "why"}));
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

TEST(PredictionJson, MissingKernelsGiveNulls) {
  const json doc = json::parse(rendered("json", test::sample_missing()));
  EXPECT_TRUE(doc["latency_ns"].is_null());
  EXPECT_TRUE(doc["interval_ns"].is_null());
  EXPECT_EQ(doc["missing"], json::array({test::kCopy1000}));
  EXPECT_TRUE(doc["kernels"][1]["latency_ns"].is_null());
  EXPECT_TRUE(doc["kernels"][1]["sd_log"].is_null());
  EXPECT_EQ(doc["kernels"][1]["source"], "missing");
  EXPECT_FALSE(doc["coverage"]["time"].contains("missing"));
  EXPECT_EQ(doc["coverage"]["count"]["missing"], 1);
}

TEST(PredictionJson, MismatchNamesFieldAskedAndUsed) {
  predict::Prediction p = test::sample_prediction();
  p.mismatch = {{"threads", "2", "4", 0.7}};
  const json doc = json::parse(rendered("json", p));
  EXPECT_EQ(doc["mismatch"], (json::array({{{"field", "threads"}, {"asked", "2"}, {"used", "4"}}})));
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
  EXPECT_EQ(doc["summary"]["models"], 2);
  EXPECT_EQ(doc["summary"]["predicted"], 1);
  EXPECT_NEAR(doc["summary"]["mape"].get<double>(), 0.04, 1e-12);
  EXPECT_TRUE(doc["summary"]["rank_correlation"].is_null());
}

TEST(OtherJson, PlanEstimatesAndTable) {
  table::Plan plan;
  plan.model = "net.onnx";
  plan.identity = "abc";
  plan.kernels = {{"n1", test::kCopy250, 2}};
  const json p = json::parse(rendered("json", plan));
  EXPECT_EQ(p["schema"], "oplat.plan/1");
  EXPECT_EQ(p["kernels"], (json::array({{{"name", "n1"}, {"key", test::kCopy250}, {"count", 2}}})));

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
