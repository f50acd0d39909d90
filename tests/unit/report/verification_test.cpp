// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

Verification sample() {
  Verification v;
  v.table = "t.oplat";
  v.verdict = "slower";
  v.reasons = {"times changed by a common factor of 1.200"};
  v.compared = 1;
  v.refused = 1;
  v.left = 1;
  v.under_load = 1;
  v.ratio = 1.2;
  v.ratio_low = 1.18;
  v.ratio_high = 1.22;
  v.scatter = 0.01;
  v.noise = 0.02;
  v.classes = {{"Conv", "cold", 1, 1.2, true}, {"Relu", "hot", 1, 1.01, false}};
  v.facts = {{"memory", "16.0 GiB", "32.0 GiB", false}};
  v.references = {{"compute", 50e3, 60e3}, {"memory", std::nullopt, 300e3}};
  Verification::Row timed;
  timed.key = test::kCopy250;
  timed.op = "Conv";
  timed.state = "cold";
  timed.reuse_bytes = 1e8;
  timed.before = test::round_timing(1e6);
  timed.after = test::round_timing(1.2e6);
  timed.ratio = 1.2;
  timed.ratio_low = 1.1;
  timed.ratio_high = 1.3;
  timed.verdict = "slower";
  timed.under_load = true;
  Verification::Row failed = timed;
  failed.key = test::kCopy1000;
  failed.after = table::Failed{"worker ended: signal 4"};
  failed.ratio.reset();
  failed.ratio_low.reset();
  failed.ratio_high.reset();
  failed.verdict.clear();
  Verification::Row left = failed;
  left.after.reset();
  v.rows = {timed, failed, left};
  v.blocks = 5;
  v.processes = 5;
  v.seconds = 61;
  v.budget_ended = true;
  v.device.name = "desk";
  v.setting = test::setting_of();
  return v;
}

TEST(VerificationText, VerdictReasonsWhatMovedAndRows) {
  const std::string text = test::rendered("text", sample());
  EXPECT_TRUE(
      text.starts_with("slower: this machine takes longer than the table says\n"
                       "  times changed by a common factor of 1.200\n"))
      << text;
  EXPECT_THAT(text, HasSubstr("now / table: median 1.200 (1.180 to 1.220)"));
  EXPECT_THAT(text, HasSubstr("moved: Conv cold 1.20x (1 row)\n"));
  EXPECT_THAT(text, HasSubstr("compute reference 1.200, 1 of 1 rows measured while it was busy\n"));
  EXPECT_THAT(text, Not(HasSubstr("memory reference")));
  EXPECT_THAT(
      text,
      HasSubstr("1 of 3 rows measured again, 5 blocks in 5 processes, 1:01, the budget ended\n"));
  EXPECT_THAT(text, HasSubstr("1.200  1.00 ms  1.20 ms  slower"));
  EXPECT_THAT(text, HasSubstr("-  1.00 ms        -  failed"));
  EXPECT_THAT(text, HasSubstr("not measured"));
  EXPECT_THAT(text, HasSubstr("failed: worker ended: signal 4\n"));
}

TEST(VerificationJson, HoldsEveryFieldOfTheContract) {
  const json doc = json::parse(test::rendered("json", sample()));
  std::set<std::string> names;
  for (const auto& [name, value] : doc.items()) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{
                       "schema",       "verdict",   "reasons", "ratio",     "ratio_interval",
                       "scatter_log",  "noise_log", "counts",  "classes",   "facts",
                       "references",   "rows",      "blocks",  "processes", "seconds",
                       "budget_ended", "device",    "setting", "warnings",  "table"}));
  EXPECT_EQ(doc["schema"], "oplat.verify/1");
  EXPECT_EQ(doc["ratio_interval"], json::array({1.18, 1.22}));
  EXPECT_EQ(doc["counts"], (json{{"chosen", 3},
                                 {"compared", 1},
                                 {"refused", 1},
                                 {"left", 1},
                                 {"outlying", 0},
                                 {"under_load", 1}}));
  EXPECT_EQ(
      doc["classes"][0],
      (json{
          {"operator", "Conv"}, {"state", "cold"}, {"rows", 1}, {"ratio", 1.2}, {"moved", true}}));
  EXPECT_EQ(
      doc["facts"][0],
      (json{{"fact", "memory"}, {"table", "16.0 GiB"}, {"here", "32.0 GiB"}, {"decides", false}}));
  EXPECT_EQ(doc["references"]["compute"], (json{{"table_ns", 50e3}, {"now_ns", 60e3}}));
  EXPECT_TRUE(doc["references"]["memory"]["table_ns"].is_null());
  ASSERT_EQ(doc["rows"].size(), 3U);
  EXPECT_EQ(doc["rows"][0]["now"]["median_ns"], 1.2e6);
  EXPECT_EQ(doc["rows"][0]["table"]["median_ns"], 1e6);
  EXPECT_EQ(doc["rows"][0]["verdict"], "slower");
  EXPECT_EQ(doc["rows"][1]["outcome"], "failed");
  EXPECT_EQ(doc["rows"][1]["reason"], "worker ended: signal 4");
  EXPECT_TRUE(doc["rows"][1]["now"].is_null() && doc["rows"][1]["ratio"].is_null() &&
              doc["rows"][1]["verdict"].is_null());
  EXPECT_TRUE(doc["rows"][2]["outcome"].is_null());
}

TEST(VerificationCsv, OneLinePerRow) {
  const std::string text = test::rendered("csv", sample());
  EXPECT_THAT(
      text,
      HasSubstr(
          "key,state,reuse_bytes,table_ns,now_ns,ratio,ratio_low,ratio_high,verdict,outcome\n"));
  EXPECT_THAT(text, HasSubstr(",cold,1e+08,1e+06,1200000.0,1.2,1.1,1.3,slower,timing\n"));
  EXPECT_THAT(text, HasSubstr(",cold,1e+08,1e+06,,,,,,failed\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

}  // namespace
}  // namespace oplat::report
