// SPDX-License-Identifier: Apache-2.0
/// The shorter documents in each form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using nlohmann::json;
using test::rendered;
using ::testing::HasSubstr;
using ::testing::Not;

CheckReport sample_check() {
  CheckReport check;
  check.table = "t.oplat";
  check.device.name = "desk";
  check.setting = test::setting_of();
  check.rows = 3;
  check.examined = 2;
  check.sizes_unknown = 1;
  check.peak_gflops = 12.5;
  check.max_ratio = 2;
  check.suspects = {{7, test::kCopy250, 10, "too fast", "1 ns, where 2 are needed"}};
  return check;
}

ProfileReport sample_profile() {
  measure::Summary summary;
  summary.kernels = {.total = 10,
                     .precise = 6,
                     .wide = 1,
                     .few = 0,
                     .failed = 1,
                     .unsupported = 1,
                     .skipped = 0,
                     .left = 1};
  summary.views = 2;
  summary.blocks = 40;
  summary.passes = 5;
  summary.processes = 3;
  summary.seconds = 61;
  summary.refusals = {{test::kCopy250, "failed", "signal 4"}};
  return {"t.oplat", summary};
}

RuntimeList sample_runtimes() {
  RuntimeList list;
  list.runtimes = {{"here", "runs", true, "1.2", "release", {{"level", {{"0", "1"}, "1"}}}, "", ""},
                   {"away", "would run", false, "", "", {}, "apt install away", "no library"}};
  return list;
}

TEST(CheckDocument, EveryFormNamesTheSuspect) {
  const std::string text = rendered("text", sample_check());
  EXPECT_THAT(text, HasSubstr("limits: 12.5 GFLOP/s and no bound (too few rows)\n"));
  EXPECT_THAT(text, HasSubstr("row 7: too fast: 1 ns, where 2 are needed\n"));
  EXPECT_THAT(text, HasSubstr("1 of 3 rows are implausible\n"));
  const json document = json::parse(rendered("json", sample_check()));
  EXPECT_EQ(document["schema"], "oplat.check/1");
  EXPECT_EQ(document["device"], "desk");
  EXPECT_EQ(document["most_ratio"], 2);
  EXPECT_TRUE(document["peak_gb_per_s"].is_null());
  EXPECT_EQ(document["suspects"][0]["row"], 7);
  EXPECT_THAT(rendered("csv", sample_check()),
              HasSubstr("\n7,test:copy{}(f32[250])->(f32[250]),10.0,too fast,\"1 ns, where 2 are "
                        "needed\"\n"));
}

TEST(ProfileDocument, CountsAndRefusals) {
  const std::string text = rendered("text", sample_profile());
  EXPECT_THAT(text,
              HasSubstr("kernel rows: 7 of 10 measured (6 within the target, 1 wider, 0 with too "
                        "few blocks), 1 failed, 1 unsupported, 1 left; 2 views need no row\n"));
  EXPECT_THAT(text, Not(HasSubstr("whole models")));
  EXPECT_THAT(text, HasSubstr("failed: signal 4\n"));
  const json document = json::parse(rendered("json", sample_profile()));
  EXPECT_EQ(document["rows"]["wide"], 1);
  EXPECT_EQ(document["refusals"][0]["outcome"], "failed");
  EXPECT_THAT(rendered("csv", sample_profile()), HasSubstr("kernels,10,6,1,0,1,1,0,1\nmodels,0,"));
}

TEST(RuntimeDocument, SaysWhatIsThereAndHowToInstallWhatIsNot) {
  const std::string text = rendered("text", sample_runtimes());
  EXPECT_THAT(text, HasSubstr("here         runs\n"));
  EXPECT_THAT(text, HasSubstr("  --option level=0|1 (default 1)\n"));
  EXPECT_THAT(text, HasSubstr("  not available: no library\n"));
  const json document = json::parse(rendered("json", sample_runtimes()));
  EXPECT_EQ(document["runtimes"][0]["options"]["level"]["default"], "1");
  EXPECT_EQ(document["runtimes"][1]["install"], "apt install away");
  EXPECT_THAT(rendered("csv", sample_runtimes()),
              HasSubstr("away,would run,false,,,apt install away,no library\n"));
}

TEST(RuleDocument, OneLinePerSet) {
  RuleList list;
  list.rules = {{"paddle-lite@2.12", "paddle_lite", "2.12", "paddle", 4, {"fp16", "x"}, "abc"}};
  EXPECT_EQ(rendered("text", list),
            "paddle-lite@2.12         models: paddle; rows: paddle_lite; 4 passes\n");
  EXPECT_EQ(rendered("csv", list),
            "name,runtime,version,reads,passes,options,hash\n"
            "paddle-lite@2.12,paddle_lite,2.12,paddle,4,fp16;x,abc\n");
  EXPECT_EQ(json::parse(rendered("json", list))["rules"][0]["passes"], 4);
}

TEST(RulesPlanDocument, CsvHasFurtherColumns) {
  RulesPlan made;
  made.plan.model = "net";
  made.plan.kernels = {{"n", test::kCopy250, 2}};
  made.words = {{"conv2d", "8x3x3x3", "strides=2,2"}};
  EXPECT_EQ(rendered("csv", made),
            "name,key,count,op,filter,attributes\n"
            "n,test:copy{}(f32[250])->(f32[250]),2,conv2d,8x3x3x3,\"strides=2,2\"\n");
  EXPECT_EQ(rendered("json", made), rendered("json", made.plan));
  EXPECT_EQ(rendered("text", made), rendered("text", made.plan));
}

/// A document of another system, with a cell that each form has to quote.
class OddDocument final : public ForeignDocument {
 public:
  [[nodiscard]] std::string text() const override { return "odd: 1 ms\n"; }
  [[nodiscard]] nlohmann::ordered_json json() const override { return {{"schema", "odd/1"}}; }
  [[nodiscard]] Sheet sheet() const override {
    return {"Odd <things>",
            {{"file", "a&b"}, {"none", ""}},
            {{"name"}, {"latency_ms", true}},
            {{"<b>, c", "1.5"}, {"d", ""}}};
  }
};

TEST(ForeignDocument, HasEveryForm) {
  const auto odd = [] { return ForeignReport(std::make_shared<const OddDocument>()); };
  EXPECT_EQ(rendered("text", odd()), "odd: 1 ms\n");
  EXPECT_EQ(json::parse(rendered("json", odd()))["schema"], "odd/1");
  EXPECT_EQ(rendered("csv", odd()), "name,latency_ms\n\"<b>, c\",1.5\nd,\n");
  const std::string page = rendered("html", odd());
  EXPECT_THAT(page, HasSubstr("<h1>Odd &lt;things&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("<dt>file</dt><dd>a&amp;b</dd>"));
  EXPECT_THAT(page, Not(HasSubstr("<dt>none</dt>")));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;, c"));
  EXPECT_THAT(page, Not(HasSubstr("<b>, c")));
}

}  // namespace
}  // namespace oplat::report
