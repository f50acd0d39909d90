// SPDX-License-Identifier: Apache-2.0
/// The shorter documents in each form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "ir/label.hpp"
#include "unit/estimate/small_table.hpp"
#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using nlohmann::json;
using test::rendered;
using ::testing::ContainsRegex;
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
  summary.min_passes = 5;
  summary.target_error = 0.03;
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

/// The last line of a profile of these counts.
std::string standing_of(const ProfileReport& profile) {
  std::string text = rendered("text", profile);
  text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(ProfileDocument, EndsWithWhatOneHas) {
  ProfileReport profile = sample_profile();
  measure::Summary& s = profile.summary;
  s.first_pass_seconds = 22;
  EXPECT_EQ(standing_of(profile),
            "incomplete: 1 row has no time yet; about 20 more seconds for one block of each");
  s.kernels = {.total = 10, .precise = 2, .few = 8};
  s.passes = 1;
  s.more_seconds = 240;
  EXPECT_EQ(standing_of(profile), "usable, rough: 1 of 5 passes; about 4 more minutes for +-3 %");
  s.kernels = {.total = 10, .precise = 8, .wide = 2};
  s.more_seconds = 0;
  EXPECT_EQ(standing_of(profile), "usable: 2 of 10 rows are not within +-3 %");
  s.kernels = {.total = 10, .precise = 10};
  EXPECT_EQ(standing_of(profile), "precise: every row is within its target");
  s.kernels = {.total = 1, .failed = 1};
  EXPECT_EQ(standing_of(profile), "nothing was measured");
  EXPECT_EQ(json::parse(rendered("json", profile))["standing"], "nothing was measured");
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
  EXPECT_THAT(text, HasSubstr("a load took 40 to 60 ns at 1.00 MiB: other processes or "));
  EXPECT_THAT(text, Not(HasSubstr("others bring"))) << "nobody looked";
  MachineReport shared = sample_machine();
  constexpr std::int64_t kPool = 5 << 20;
  shared.memory->hierarchy.waits = {{kPool, 0, 40}, {kPool, 4e6, 100}, {kPool, 32e6, 170}};
  EXPECT_THAT(rendered("text", shared),
              ContainsRegex("others bring [0-9.]+ GB/s into the last level: a load from "
                            "5.00 MiB takes 40 ns at once and 170 ns after 32.0 ms\n"));
  EXPECT_THAT(rendered("html", shared), HasSubstr("into the last level: a load from 5.00"));
  const json waited = json::parse(rendered("json", shared));
  EXPECT_EQ(waited["memory"]["waits"][1]["load_ns"], 100);
  EXPECT_GT(waited["memory"]["others_gb_per_s"], 0);
  EXPECT_TRUE(
      json::parse(rendered("json", sample_machine()))["memory"]["others_gb_per_s"].is_null());
  for (table::MemoryWait& wait : shared.memory->hierarchy.waits) wait.chase_ns = 40;
  EXPECT_THAT(rendered("text", shared),
              HasSubstr("others bring next to nothing into the last level"));
  MachineReport quiet = sample_machine();
  for (table::MemoryPoint& point : quiet.memory->hierarchy.points) point.chase_high_ns = 42;
  EXPECT_THAT(rendered("text", quiet), Not(HasSubstr("other processes")));
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

PredictionList sample_list() {
  PredictionList list;
  list.models.push_back({"a.onnx", test::report_of(test::sample_prediction()), std::nullopt});
  list.models.push_back({"b.onnx", test::report_of(test::sample_missing()),
                         Error{Code::Missing, "b.onnx: 1 of 3 kernels is not in t.oplat"}});
  list.models.push_back({"c.onnx", std::nullopt, Error{Code::Input, "c.onnx: no such file"}});
  return list;
}

TEST(PredictionListDocument, EveryModelHasItsAnswerOrItsError) {
  EXPECT_EQ(rendered("text", sample_list()),
            "model   latency    interval 90 %  in table  result\n"
            "a.onnx  12.0 ms  11.5 to 12.6 ms    80.0 %  ok\n"
            "b.onnx        -                -    80.0 %  kernels missing\n"
            "c.onnx        -                -         -  bad file\n"
            "\n"
            "b.onnx: 1 of 3 kernels is not in t.oplat\n"
            "c.onnx: no such file\n");
  const json document = json::parse(rendered("json", sample_list()));
  EXPECT_EQ(document["schema"], "oplat.predictions/1");
  ASSERT_EQ(document["models"].size(), 3U);
  EXPECT_TRUE(document["models"][0]["error"].is_null());
  EXPECT_EQ(document["models"][0]["prediction"]["schema"], "oplat.prediction/1");
  EXPECT_EQ(document["models"][1]["error"]["code"], "missing");
  EXPECT_TRUE(document["models"][1]["prediction"]["latency_ns"].is_null());
  EXPECT_EQ(document["models"][2]["error"],
            (json{{"code", "input"}, {"message", "c.onnx: no such file"}}));
  EXPECT_TRUE(document["models"][2]["prediction"].is_null());
  EXPECT_EQ(rendered("csv", sample_list()),
            "model,latency_ns,interval_lo_ns,interval_hi_ns,batch,in_table,code,error\n"
            "a.onnx,1.2e+07,11500000.0,12600000.0,1,0.8,,\n"
            "b.onnx,,,,1,0.8,missing,b.onnx: 1 of 3 kernels is not in t.oplat\n"
            "c.onnx,,,,,,input,c.onnx: no such file\n");
}

TEST(PredictionListDocument, LinesHoldOneModelEach) {
  std::istringstream lines(rendered("jsonl", sample_list()));
  const json whole = json::parse(rendered("json", sample_list()));
  std::size_t at = 0;
  for (std::string line; std::getline(lines, line); ++at)
    EXPECT_EQ(json::parse(line), whole["models"][at]);
  EXPECT_EQ(at, 3U);
  std::ostringstream out;
  EXPECT_EQ(render("jsonl", {test::sample_comparison(), {}}, out).error().code, Code::Usage);
}

TEST(PlanListDocument, PlansStandBelowEachOther) {
  table::Plan plan;
  plan.model = "a.onnx";
  plan.kernels = {{"n", test::kCopy250, 2}};
  PlanList list;
  list.models.push_back({"a.onnx", RulesPlan{plan, {}}, std::nullopt});
  list.models.push_back({"b.onnx", std::nullopt, Error{Code::Runtime, "b.onnx: no plan"}});
  EXPECT_THAT(rendered("text", list), ::testing::EndsWith("\n\nb.onnx: no plan\n"));
  const json document = json::parse(rendered("json", list));
  EXPECT_EQ(document["models"][0]["plan"]["kernels"][0]["count"], 2);
  EXPECT_EQ(document["models"][1]["error"]["code"], "runtime");
  EXPECT_THAT(rendered("csv", list), HasSubstr("\nb.onnx,,,,runtime,b.onnx: no plan\n"));
}

AdviceReport sample_advice() {
  AdviceReport advice;
  advice.models = {"net.onnx"};
  advice.device.name = "desk";
  advice.table = "t.oplat";
  advice.max_latency_ns = 5e6;
  AdviceReport::Choice fast;
  fast.model = "net.onnx";
  fast.setting = test::setting_of(2);
  fast.batch = 2;
  fast.latency_ns = 4e6;
  fast.interval = base::Interval{3.8e6, 4.2e6};
  fast.meets = Meets::Yes;
  AdviceReport::Choice open;
  open.model = "net.onnx";
  open.setting = test::setting_of(4);
  open.batch = 2;
  open.why = "the table has no rows of 4 threads";
  open.code = Code::Refused;
  open.command = "oplat profile --threads 4";
  advice.choices = {fast, open};
  return advice;
}

TEST(AdviceDocument, RanksChoicesAndSaysWhatIsNotKnown) {
  EXPECT_EQ(rendered("text", sample_advice()),
            "net.onnx on desk, target 5.00 ms a run\n"
            "best: 2 threads, batch 2: 2.00 ms an image\n"
            "\n"
            "meets  threads  batch  latency    interval 90 %  per image  images/s\n"
            "yes          2      2  4.00 ms  3.80 to 4.20 ms    2.00 ms       500\n"
            "\n"
            "not known yet\n"
            "  4 threads, batch 2: the table has no rows of 4 threads\n"
            "    oplat profile --threads 4\n");
  const json document = json::parse(rendered("json", sample_advice()));
  EXPECT_EQ(document["choices"][0]["per_image_ns"], 2e6);
  EXPECT_EQ(document["choices"][0]["meets"], "yes");
  EXPECT_TRUE(document["choices"][0]["command"].is_null());
  EXPECT_EQ(document["choices"][1]["error"]["code"], "refused");
  EXPECT_TRUE(document["choices"][1]["latency_ns"].is_null());
  EXPECT_THAT(
      rendered("csv", sample_advice()),
      HasSubstr("\nyes,net.onnx,replay,1.0,model,2,,2,4e+06,3800000.0,4200000.0,2e+06,,\n"));
}

TEST(AdviceDocument, NamesWhatTheChoicesDifferIn) {
  AdviceReport advice = sample_advice();
  advice.choices[0].meets = Meets::Likely;
  advice.choices[1].model = "other.onnx";
  advice.choices[1].setting.precision = "fp16";
  const std::string text = rendered("text", advice);
  EXPECT_THAT(text, HasSubstr("best: net.onnx, 2 threads, model, batch 2: 2.00 ms an image; the "
                              "upper end of its interval is above\n"));
  EXPECT_THAT(text, HasSubstr("\nmeets   model     threads  precision  batch"));
  advice.choices[0].latency_ns = 41.1e3 * 2;
  EXPECT_THAT(rendered("text", advice), HasSubstr("    24300\n"));
  advice.choices[0].meets = Meets::No;
  EXPECT_THAT(rendered("text", advice), HasSubstr("no choice with a latency meets it\n"));
}

TEST(InspectionDocument, CountsAndSaysWhatIsUnknown) {
  InspectionReport report;
  report.model = "net.onnx";
  report.sizes_from = "the file";
  report.total = {"", 0, 3, 1, 3.5e9, 25.6e6, 102.4e6, 4096};
  report.operators = {{"Conv", 0, 2, 0, 3.5e9, 25.6e6, 102.4e6, 3072},
                      {"Odd", 0, 1, 1, 0, 0, 0, 1024}};
  report.modules = {{"stem", 1, 2, 0, 3.5e9, 25.6e6, 102.4e6, 3072},
                    {"stem/0", 2, 1, 0, 1e6, 0, 0, 1024},
                    {"", 0, 1, 1, 0, 0, 0, 1024}};
  report.peak_activation_bytes = 2048;
  report.peak_node = "/stem/conv";
  const std::string text = rendered("text", report);
  EXPECT_THAT(text,
              HasSubstr("net.onnx, batch 1, sizes from the file\n"
                        "3.50 G FLOPs (a multiply-add is two), 25.6 M parameters (97.7 MiB)\n"
                        "4.00 KiB of activations in one run, at most 2.00 KiB at once (at "
                        "/stem/conv)\npeak memory: 97.7 MiB with parameters\n"
                        "FLOPs leave out 1 of 3 calls, whose operators have no formula (+)\n"));
  EXPECT_THAT(text, HasSubstr("\nConv          2  3.50 G  100.0 %      25.6 M     3.00 KiB\n"
                              "Odd           1       -    0.0 %           0     1.00 KiB\n"));
  EXPECT_THAT(text, HasSubstr("\n  stem/0  "));
  EXPECT_THAT(text, HasSubstr("\n(no module) "));
  report.peak_activation_bytes.reset();
  EXPECT_THAT(rendered("text", report),
              HasSubstr("\npeak memory: unknown, since some results have no known size\n"));
  const json document = json::parse(rendered("json", report));
  EXPECT_TRUE(document["peak_bytes"].is_null());
  EXPECT_EQ(document["by_module"][1]["name"], "stem/0");
  EXPECT_THAT(rendered("csv", report), HasSubstr("\noperator,Odd,1,1,0.0,0.0,0.0,1024.0\n"));
}

TEST(ModuleParts, SplitsAtSlashesElseAtDots) {
  using ::testing::ElementsAre;
  EXPECT_THAT(module_parts("/features/features.0/conv/Conv"),
              ElementsAre("features", "features.0", "conv"));
  EXPECT_THAT(module_parts("layer1.0.conv1"), ElementsAre("layer1", "0"));
  EXPECT_THAT(module_parts("Conv_0"), ElementsAre());
  EXPECT_THAT(module_parts(""), ElementsAre());
}

/// Two numbers of threads, two batches; one of the four failed.
Sweep sample_sweep() {
  Sweep sweep;
  sweep.device.name = "desk";
  sweep.setting.runtime = "onnxruntime";
  sweep.setting.version = "1.31.1";
  const auto point = [](std::int64_t threads, std::int64_t batch, double ns) {
    Sweep::Point made{.path = "nets/a.onnx", .threads = threads, .batch = batch, .latency_ns = ns};
    made.inferences = table::InferenceTimes{200, 5, ns, 0.9 * ns, 1.2 * ns, 1.5 * ns, 2 * ns};
    return made;
  };
  sweep.points = {point(1, 1, 2e6),
                  point(1, 4, 6e6),
                  point(2, 1, 1.5e6),
                  {.path = "nets/a.onnx", .threads = 2, .batch = 4, .error = "out of memory"}};
  return sweep;
}

TEST(SweepDocument, MarksWhatIsBest) {
  EXPECT_EQ(rendered("text", sample_sweep()),
            "a.onnx, measured, onnxruntime 1.31.1 on desk\n"
            "threads  batch     mean      p50      p99  per image  images/s  best\n"
            "      1      1  2.00 ms  1.80 ms  3.00 ms    2.00 ms       500\n"
            "      1      4  6.00 ms  5.40 ms  9.00 ms    1.50 ms       667  most images/s\n"
            "      2      1  1.50 ms  1.35 ms  2.25 ms    1.50 ms       667  lowest latency\n"
            "      2      4        -        -        -          -         -  see below\n"
            "threads 2, batch 4: out of memory\n");
  Sweep sweep = sample_sweep();
  sweep.points[1].latency_ns = 5e6;
  const json document = json::parse(rendered("json", sweep));
  EXPECT_EQ(document["schema"], "oplat.sweep/1");
  EXPECT_EQ(document["statistic"], "mean of single inferences");
  EXPECT_EQ(document["points"][1]["most_images_per_s"], true);
  EXPECT_EQ(document["points"][1]["images_per_s"], 800.0);
  EXPECT_EQ(document["points"][2]["lowest_latency"], true);
  EXPECT_EQ(document["points"][2]["most_images_per_s"], false);
  EXPECT_TRUE(document["points"][3]["latency_ns"].is_null());
  EXPECT_EQ(document["points"][3]["error"], "out of memory");
  EXPECT_THAT(rendered("csv", sweep),
              HasSubstr("\nnets/a.onnx,2,4,,,,,,,,,,,false,false,out of memory\n"));
}

TEST(SweepDocument, PlacesThatNothingSaysAreLeftOut) {
  Sweep sweep = sample_sweep();
  sweep.points[3].batch.reset();
  EXPECT_THAT(rendered("text", sweep), HasSubstr("\n      2      -        -"));
  EXPECT_THAT(rendered("text", sweep), HasSubstr("\nthreads 2: out of memory\n"));
  EXPECT_TRUE(json::parse(rendered("json", sweep))["points"][3]["batch"].is_null());
  EXPECT_THAT(rendered("csv", sweep), HasSubstr("\nnets/a.onnx,2,,,"));
  sweep.points[3].threads.reset();
  EXPECT_THAT(rendered("text", sweep), HasSubstr("\na.onnx: out of memory\n"));
  EXPECT_EQ(sweep.points[3].place(), "");
  EXPECT_EQ(sweep.points[2].place(" and "), "threads 2 and batch 1");
}

TEST(SweepDocument, ErrorsOfSeveralModelsNameThem) {
  Sweep sweep = sample_sweep();
  sweep.points[3].path = "nets/b.onnx";
  EXPECT_THAT(rendered("text", sweep), HasSubstr("\nb.onnx, threads 2, batch 4: out of memory\n"));
  EXPECT_THAT(rendered("text", sweep), HasSubstr(" mean "));
  sweep.means = false;
  EXPECT_THAT(rendered("text", sweep), Not(HasSubstr(" mean ")));
}

TEST(SweepDocument, PredictionsHaveIntervals) {
  Sweep sweep = sample_sweep();
  sweep.measured = false;
  sweep.points.resize(2);
  for (Sweep::Point& point : sweep.points) {
    point.inferences.reset();
    point.interval = base::Interval{0.9 * *point.latency_ns, 1.1 * *point.latency_ns};
  }
  sweep.points[1].path = "nets/b.onnx";
  EXPECT_EQ(rendered("text", sweep),
            "predicted, onnxruntime 1.31.1 on desk\n"
            "model   threads  batch  latency             90 %  per image  images/s  best\n"
            "a.onnx        1      1  2.00 ms  1.80 to 2.20 ms    2.00 ms       500\n"
            "b.onnx        1      4  6.00 ms  5.40 to 6.60 ms    1.50 ms       667\n");
}

TEST(Columns, TablesAndLinesFitATerminal) {
  RowListing listing;
  table::Row row{
      test::kCopy1000 + std::string(60, 'x'), std::nullopt, "own", test::round_timing(1e6), {}};
  listing.rows = {{"desk", {}, {1, 1, 1, std::nullopt, row}}};
  for (const std::size_t columns : {80UL, 120UL}) {
    std::istringstream text(rendered("text", listing, {.columns = columns}));
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), columns) << line;
  }
  const std::string wide = rendered("text", listing);
  EXPECT_THAT(wide, HasSubstr(row.key)) << "piped: whole";
}

TEST(KernelLists, ATerminalGetsLabelsUnlessKeysAreAskedFor) {
  const ir::Catalogue catalogue;
  table::Plan plan;
  plan.model = "a.onnx";
  plan.kernels = {{"n", test::kMatMul, 2}};
  test::SmallTable small;
  small.row(small.device(), small.setting(), test::kMatMul, std::nullopt, test::timing(1000));
  const RowListing rows = test::must(table_rows(small.table()));
  const std::string label = ir::label_of(test::kMatMul, catalogue).text;
  const auto text_of = [](ReportModel model, const ir::Catalogue* labels, bool keys) {
    model.options.labels = labels;
    model.options.keys = keys;
    std::ostringstream out;
    test::must(render("text", model, out));
    return out.str();
  };
  for (const ReportModel& model :
       {ReportModel{plan, {}}, ReportModel{RulesPlan{plan, {}}, {}}, ReportModel{rows, {}},
        ReportModel{PlanList{{{"a.onnx", RulesPlan{plan, {}}, std::nullopt}}}, {}}}) {
    const std::string labelled = text_of(model, &catalogue, false);
    EXPECT_THAT(labelled, HasSubstr("  kernel\n"));
    EXPECT_THAT(labelled, HasSubstr(label + "\n"));
    EXPECT_THAT(labelled, Not(HasSubstr(test::kMatMul)));
    const std::string keyed = text_of(model, nullptr, false);
    EXPECT_THAT(keyed, HasSubstr("  key\n"));
    EXPECT_THAT(keyed, HasSubstr(std::string(test::kMatMul) + "\n"));
    EXPECT_EQ(text_of(model, &catalogue, true), keyed);
  }
}

TEST(PlanDocument, ARuntimesPlanHasNoFurtherColumns) {
  table::Plan plan;
  plan.source = "onnxruntime";
  const auto csv = [&] { return rendered("csv", RulesPlan{plan, {}}); };
  EXPECT_EQ(csv(), "name,key,count\n");
  plan.kernels = {{"n", test::kCopy250, 2}};
  EXPECT_EQ(csv(), rendered("csv", plan));
}

}  // namespace
}  // namespace oplat::report
