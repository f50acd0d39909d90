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

/// A machine that reports more than it has.
MachineReport sample_machine() {
  MachineReport machine;
  machine.device.name = "<desk>";
  machine.device.cores = 2;
  machine.device.l2_bytes = 2 << 20;
  machine.device.llc_bytes = 480 << 20;
  machine.worker = "reference";
  measure::MeasuredMemory memory;
  table::MemoryHierarchy& found = memory.hierarchy;
  for (std::int64_t bytes = 1 << 20; bytes <= 256 << 20; bytes *= 2)
    found.points.push_back({bytes, 2, 40, 4, 60});
  found.levels = {{1e6, 0.8, 4.5}, {16.0 * (1 << 20), 2, 40}, {std::nullopt, 4, 170}};
  found.own = table::MemoryRamp{1e6, 4e6};
  found.last = table::Eviction{{11e6, 32e6}, table::MemoryRamp{64e6, 90e6}, {12e6, 80e6}, {}};
  found.scrub_bytes = 128 << 20;
  memory.passes = 12;
  memory.seconds = 14;
  memory.wanted_pool_bytes = std::int64_t{1920} << 20;
  memory.max_pool_bytes = std::int64_t{256} << 20;
  machine.memory = memory;
  return machine;
}

TEST(MachineDocument, ReportedSizesStandNextToMeasuredOnes) {
  const std::string text = rendered("text", sample_machine());
  EXPECT_THAT(text, HasSubstr("last level   480 MiB  16.0 MiB   40 ns   32 GB/s\n"));
  EXPECT_THAT(text,
              HasSubstr("the last level loses data from 11.4 MiB to 76.3 MiB (loads that "
                        "wait: 10.5 MiB to 30.5 MiB; reads in order: 61.0 MiB to 85.8 MiB)\n"));
  EXPECT_THAT(text, HasSubstr("reading 128 MiB empties every cache\n"));
  EXPECT_THAT(text, HasSubstr("memory allowed pools of up to 256 MiB instead of 1.88 GiB"));
  const json document = json::parse(rendered("json", sample_machine()));
  EXPECT_EQ(document["schema"], "oplat.machine/1");
  EXPECT_EQ(document["levels"][1]["reported_bytes"], 480 << 20);
  EXPECT_EQ(document["levels"][1]["usable_bytes"], 16 << 20);
  EXPECT_EQ(document["levels"][2]["name"], "memory");
  EXPECT_TRUE(document["levels"][2]["usable_bytes"].is_null());
  EXPECT_EQ(document["memory"]["last"]["middle"]["lo_bytes"], 12e6);
  EXPECT_TRUE(document["memory"]["last"]["disturbed"].is_null());
  EXPECT_EQ(document["memory"]["points"].size(), 9);
  EXPECT_THAT(rendered("csv", sample_machine()), HasSubstr("\n1048576,40.0,60.0,32.0,16.0\n"));
  const std::string page = rendered("html", sample_machine());
  EXPECT_THAT(page, HasSubstr("<h1>&lt;desk&gt;</h1>"));
  EXPECT_THAT(page, HasSubstr("<polyline"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(MachineDocument, WhatWasNotMeasuredIsAssumed) {
  MachineReport machine = sample_machine();
  machine.memory->hierarchy = {};
  machine.memory->hierarchy.points = {{1 << 20, 2, 60, 2, 60}};
  machine.memory->hierarchy.levels = {{std::nullopt, 2, 60}};
  EXPECT_THAT(rendered("text", machine), HasSubstr("the curve is flat; sizes are assumed"));
  EXPECT_THAT(rendered("html", machine), Not(HasSubstr("nan")));
  machine.memory.reset();
  machine.why = "the worker cannot look";
  EXPECT_THAT(rendered("text", machine), HasSubstr("nothing was measured: the worker cannot look; "
                                                   "sizes are assumed to be as reported\n"));
  EXPECT_THAT(rendered("text", machine), HasSubstr("last level   480 MiB"));
  const json document = json::parse(rendered("json", machine));
  EXPECT_FALSE(document["measured"]);
  EXPECT_TRUE(document["memory"].is_null());
  EXPECT_EQ(document["assumptions"].size(), 1);
  EXPECT_THAT(rendered("html", machine), HasSubstr("Warnings"));
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
