// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/interval.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"
#include "report/text_width.hpp"
#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

using nlohmann::json;
using test::rendered;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TextTable, AlignsColumnsAndLeavesNoBlanksAtLineEnds) {
  TextTable table({{"name"}, {"n", Align::Right}, {"last"}});
  table.add({"a", "1", "x"});
  table.add({"l\xc3\xa4nger", "123", ""});
  std::ostringstream out;
  table.print(out);
  EXPECT_EQ(out.str(),
            "name      n  last\n"
            "a         1  x\n"
            "l\xc3\xa4nger  123\n");
}

TEST(TextTable, OnAStreamWithAWidthColumnsThatAreNotNeededGiveWayAndThenWords) {
  TextTable table({{"model"}, {"time", Align::Right}, {"range", Align::Right, false}, {"ok"}});
  table.add({"a_model_with_a_long_name", "1.00 ms", "0.90 to 1.10 ms", "yes"});
  const auto at = [&](std::size_t width) {
    std::ostringstream out;
    set_text_width(out, width);
    table.print(out);
    return out.str();
  };
  EXPECT_EQ(at(0), at(100));
  EXPECT_THAT(at(55), HasSubstr("a_model_with_a_long_name  1.00 ms  0.90 to 1.10 ms  yes\n"));
  EXPECT_EQ(at(54),
            "model                        time  ok\n"
            "a_model_with_a_long_name  1.00 ms  yes\n");
  EXPECT_EQ(at(30),
            "model                time  ok\n"
            "a_model...g_name  1.00 ms  yes\n");
}

TEST(TextValues, LatencyWithItsInterval) {
  EXPECT_EQ(latency_text(12.3e6, base::Interval{11.9e6, 12.8e6}, 0.9),
            "12.3 ms (11.9 to 12.8 ms, 90 %)");
  EXPECT_EQ(latency_text(1e6, base::Interval{0.95e6, 1.1e6}, 0.995),
            "1.00 ms (950 us to 1.10 ms, 99.5 %)");
  EXPECT_EQ(latency_text(812, std::nullopt, 0.9), "812 ns");
}

TEST(Text, PredictionSaysTotalCoverageAndCostliest) {
  const std::string text = rendered("text", test::sample_prediction());
  EXPECT_THAT(text, HasSubstr("\n12.0 ms (11.5 to 12.6 ms, 90 %)\n"));
  EXPECT_THAT(text, HasSubstr("measured      3  6.00 ms  50.0 %\n"));
  EXPECT_THAT(text, HasSubstr("overhead         1.00 ms   8.3 %\n"));
  // 2000 bytes in 2 ms; no formula for the operations of an operator that the catalogue does not
  // know.
  EXPECT_THAT(text,
              HasSubstr("50.0 %  6.00 ms  copy 250\n"
                        "                   3 calls, 0.001 GB/s, memory 100 %, measured; conv, "
                        "\"first\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("test:copy{}")));
  EXPECT_THAT(rendered("text", test::sample_prediction(), {.keys = true}),
              HasSubstr("\n                   test:copy{}(f32[250])->(f32[250])\n"));
  EXPECT_THAT(text, HasSubstr("not fitted"));
  EXPECT_THAT(text, Not(HasSubstr("kernels in order of execution")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[")));
}

TEST(Text, PredictionSaysWhatOthersBringIn) {
  predict::Prediction p = test::sample_prediction();
  EXPECT_THAT(rendered("text", p), Not(HasSubstr("others")));
  EXPECT_THAT(rendered("html", p), Not(HasSubstr("<dt>others")));
  p.composition.foreign_bytes = 3 << 20;
  EXPECT_THAT(rendered("text", p),
              HasSubstr("\nothers: other programs are taken to bring 3.00 MiB into the last-level "
                        "cache during one run\n"));
  EXPECT_THAT(rendered("html", p),
              HasSubstr("<dt>others</dt><dd>other programs are taken to bring 3.00 MiB"));
}

TEST(Text, FactsOfAKernelAreNotShortenedForItsName) {
  predict::Prediction p = test::sample_prediction();
  p.kernels[0].name = "/encoder/layers.0/attention/output/LayerNormalization";
  const auto at = [&](std::size_t columns, bool per_op = false) {
    return rendered("text", p, {.per_op = per_op, .columns = columns});
  };
  const std::string facts = "\n                   3 calls, 0.001 GB/s, memory 100 %, measured";
  EXPECT_THAT(at(100), HasSubstr(facts + "; ...on/output/LayerNormalization\n"));
  EXPECT_THAT(at(80), HasSubstr(facts + "; ...Normalization\n"));
  EXPECT_THAT(at(72), HasSubstr(facts + "\n                   ...on/output/LayerNormalization\n"));
  EXPECT_THAT(at(72, true), HasSubstr(facts + "\n                   ...on/output/Layer"));
}

TEST(Text, WhatATableHoldsIsCountedInPlainEnglish) {
  TableInfo info;
  info.path = "t.oplat";
  info.schema_version = 4;
  info.campaigns = 1;
  info.plans = 2;
  EXPECT_EQ(rendered("text", info), "t.oplat: schema 4, 1 campaign, 2 plans, 0 whole models\n");
}

TEST(Text, ABatchIsAlsoSaidPerImage) {
  predict::Prediction p = test::sample_prediction();
  EXPECT_THAT(rendered("text", p), Not(HasSubstr("per image")));
  p.batch = 4;
  EXPECT_THAT(rendered("text", p),
              HasSubstr("12.0 ms (11.5 to 12.6 ms, 90 %)\n3.00 ms per image\n"));
}

TEST(Text, PredictionOpensWithOperators) {
  const std::string text = rendered("text", test::sample_prediction());
  EXPECT_THAT(text, HasSubstr("\n\noperator  calls     time   share          rate  bound\n"
                              "copy          4  11.0 ms  91.7 %  0.00127 GB/s  memory\n\n"
                              "costliest kernels\n"));
}

TEST(Text, ManyOperatorsEndInOneLine) {
  predict::Prediction p = test::sample_prediction();
  p.kernels.clear();
  for (int i = 0; i < 15; ++i)
    p.kernels.push_back({"n", fmt::format("Op{}/1{{}}(f32[1])->(f32[1])", i), 2, 1e3, 0.02,
                         estimate::Source::Measured, "measured", "row"});
  const std::string text = rendered("text", p);
  EXPECT_THAT(text, HasSubstr("\n3 others      6  6.00 us  "));
  EXPECT_THAT(text, HasSubstr("\nOp11 "));
  EXPECT_EQ(json::parse(rendered("json", p))["by_operator"].size(), 15U);
}

TEST(Text, PredictionSaysWhatMakesItUnsureAndWhatToDo) {
  predict::Prediction prediction = test::sample_prediction();
  prediction.help.profile_command = "oplat profile --model net.onnx --table t.oplat";
  const std::string text = rendered("text", prediction);
  // Parts of the spread: 0.01 of the measured kernel, 0.41667 of the guessed one, 0.05 of the
  // composition.
  EXPECT_THAT(text, HasSubstr("shares of the variance: kernels 97.3 %, composition 2.7 %\n"));
  EXPECT_THAT(text, HasSubstr("97.2 %  100.0 %      1  roofline  measure  gemm"));
  EXPECT_THAT(text, HasSubstr(" 0.1 %    2.0 %      3  measured  nothing  conv, \"first\""));
  EXPECT_THAT(text, HasSubstr("a narrower interval needs the kernels above measured: oplat profile "
                              "--model net.onnx --table t.oplat\n"));
  EXPECT_THAT(text, Not(HasSubstr("whole models: oplat profile")));
  EXPECT_THAT(rendered("text", test::sample_missing()), Not(HasSubstr("shares of the variance")));
}

TEST(Text, AFitThatCalibratedOnNothingSaysWhatTheIntervalIsOf) {
  predict::Prediction p = test::sample_prediction();
  p.composition.fitted = true;
  p.composition.calibration_models = 0;
  EXPECT_THAT(rendered("text", p),
              HasSubstr("fitted, calibrated on 0 whole models: the interval uses start values\n"));
  p.composition.calibration_models = 1;
  EXPECT_THAT(rendered("text", p), HasSubstr("fitted, calibrated on 1 whole model\n"));
}

TEST(Text, AFitIsAdvisedWhereTheCompositionIsMuchOfTheVariance) {
  predict::Prediction p = test::sample_prediction();
  p.kernels[1].sd_log = 0.01;
  EXPECT_THAT(rendered("text", p), HasSubstr("a narrower interval needs whole models"));
  p.composition.fitted = true;
  EXPECT_THAT(rendered("text", p), HasSubstr("a narrower interval needs more whole models"));
  // What one moment of a machine differs by from another no further model mends.
  const auto alone = p;
  p.moment_sd_log = p.composition_sd_log;
  const std::string of_moments = rendered("text", p);
  EXPECT_THAT(of_moments, HasSubstr("a narrower interval needs a machine that nobody shares"));
  EXPECT_THAT(of_moments, Not(HasSubstr("more whole models")));
  p = alone;
  p.mismatch = {{"threads", "2", "4", 0.7}};
  EXPECT_THAT(rendered("text", p),
              HasSubstr("a narrower interval needs rows of the device and setting asked for"));
}

TEST(Text, WhatIsMeasuredIsShown) {
  predict::Prediction p = test::sample_prediction();
  EXPECT_THAT(rendered("text", p), Not(HasSubstr("measured:")));
  predict::set_measured(p, {11.8e6, {11.7e6, 11.9e6}});
  EXPECT_THAT(rendered("text", p),
              HasSubstr("12.0 ms (11.5 to 12.6 ms, 90 %)\n"
                        "measured: 11.8 ms (11.7 to 11.9 ms, 95 % CI of the median)\n"));
  EXPECT_THAT(rendered("text", p), Not(HasSubstr("outside the interval")));
  predict::set_measured(p, {20e6, {19e6, 21e6}, true});
  EXPECT_THAT(rendered("text", p), HasSubstr("of the median), on a busy machine\nwarning: the "
                                             "table holds a time of this very model, and it is "
                                             "outside the interval: 20.0 ms (on a busy machine) "
                                             "measured, 12.0 ms predicted from its kernels"));
  const json doc = json::parse(rendered("json", p));
  EXPECT_EQ(doc["measured"],
            (json{{"median_ns", 20e6}, {"ci_ns", {19e6, 21e6}}, {"under_load", true}}));
  EXPECT_THAT(rendered("html", p), HasSubstr("<p>measured: 20.0 ms"));
}

TEST(Text, WhoseDataMovementIsIsSaidWhereItIsKnown) {
  predict::Prediction p = test::sample_prediction();
  EXPECT_THAT(rendered("text", p), Not(HasSubstr("data movement")));
  p.kernels[0].key = "com.microsoft.nchwc:ReorderInput/1{}(f32[1,3,8,8])->(f32[1,16,8,8])";
  p.kernels[1].key = "Cast/13{to=10}(f32[1])->(f16[1])";
  const std::string text = rendered("text", p);
  EXPECT_THAT(text,
              HasSubstr("\ndata movement inserted by the runtime: 3 layout reorders (50.0 %)\n"));
  EXPECT_THAT(text, HasSubstr("\ndata movement of unknown origin: 1 cast (41.7 %)\n"));
  p.kernels[1].inserted_by_runtime = true;
  EXPECT_THAT(rendered("text", p), HasSubstr("\ndata movement inserted by the runtime: 3 layout "
                                             "reorders (50.0 %), 1 cast (41.7 %)\n"));
  p.kernels[1].inserted_by_runtime = false;
  EXPECT_THAT(rendered("text", p),
              HasSubstr("\ndata movement of the model itself: 1 cast (41.7 %)\n"));
}

TEST(Text, ComparisonSaysTheRatioAndWhetherTheOrderIsSure) {
  report::Comparison comparison = test::sample_comparison();
  EXPECT_EQ(rendered("text", comparison),
            "A  net.onnx  12.0 ms (11.5 to 12.6 ms, 90 %)\n"
            "B  big.onnx  18.0 ms (17.0 to 19.0 ms, 90 %)\n"
            "B takes 1.500 times as long as A\n");
  comparison.models[1].interval->low = 12e6;
  EXPECT_THAT(rendered("text", comparison),
              HasSubstr("as A; the intervals overlap, so the order is uncertain\n"));
  comparison.models[0].latency_ns.reset();
  EXPECT_THAT(rendered("text", comparison), HasSubstr("A  net.onnx  no latency\n"));
}

TEST(Text, MeasurementSaysWhatSingleInferencesTake) {
  EXPECT_EQ(
      rendered("text", test::sample_measurement()),
      "model      mean      p50      p90      p99      max  batch  per image  images/s\n"
      "a.onnx  1.25 ms  1.10 ms  1.50 ms  1.90 ms  4.00 ms      2     625 us      1600\n"
      "a.onnx: 200 inferences of 5 blocks in 1 process; undisturbed [1] 1.00 ms (980 us to 1.02 "
      "ms, 95 %)\n"
      "[1] median over blocks of each block's lower quartile of single inferences, with its "
      "confidence interval; predictions are of this time\n");
}

TEST(Text, MeasurementNamesEveryModelThatFailedInItsPlace) {
  EXPECT_THAT(
      rendered("text", test::sample_measurement_with_failures()),
      HasSubstr(
          "gone.onnx        -        -        -        -        -      -          -         -\n"
          "a.onnx     1.25 ms  1.10 ms  1.50 ms  1.90 ms  4.00 ms      2     625 us      1600\n"
          "odd.onnx         -        -        -        -        -      -          -         -\n"
          "nets/gone.onnx: no such file\n"
          "a.onnx: 200 inferences of 5 blocks in 1 process; "));
  EXPECT_THAT(rendered("text", test::sample_measurement_with_failures()),
              HasSubstr("\nnets/odd.onnx: failed: no kernel \"Ralu\"\n[1] median over"));
}

TEST(Text, MeasurementFlagsWhatItsInferencesDoNotSay) {
  report::Measurement measurement = test::sample_measurement();
  measurement.models[0].batch = 1;
  measurement.models[0].inferences = table::InferenceTimes{25, 3, 2e6, 1.9e6, 3e6, {}, 3.5e6};
  EXPECT_THAT(rendered("text", measurement),
              HasSubstr("model      mean      p50      p90  p99      max  inferences/s\n"
                        "a.onnx  2.00 ms  1.90 ms  3.00 ms    -  3.50 ms           500\n"
                        "a.onnx: 25 inferences of 3 of 5 blocks in 1 process (p99 needs 100); "));
  measurement.models[0].inferences.reset();
  EXPECT_THAT(rendered("text", measurement),
              HasSubstr("a.onnx     -    -    -    -    -          1000\n"
                        "a.onnx: undisturbed [1] 1.00 ms (980 us to 1.02 ms, 95 %), 5 blocks in 1 "
                        "process; times of single inferences were not kept\n"));
}

TEST(Text, PerOpListsEveryKernel) {
  const std::string text = rendered("text", test::sample_prediction(), {.per_op = true});
  EXPECT_THAT(text, HasSubstr("kernels in order of execution"));
  EXPECT_THAT(text, HasSubstr("a view: the runtime moves nothing"));
  EXPECT_THAT(text, HasSubstr("name           count     each       +-   share  GFLOP/s    GB/s  "
                              "bound         of variance"));
  EXPECT_THAT(text, HasSubstr("gemm               1  5.00 ms  100.0 %  41.7 %        -  0.0016  "
                              "memory 160 %       97.2 %"));
}

TEST(Text, PerOpOfATerminalHasLinesForEachKernel) {
  const std::string text =
      rendered("text", test::sample_prediction(), {.per_op = true, .keys = true, .columns = 80});
  const std::string kernels = text.substr(text.find("kernels in order of execution\n"));
  EXPECT_THAT(kernels, HasSubstr("\n share     time  kernel\n"));
  EXPECT_THAT(kernels, Not(HasSubstr("GFLOP/s    GB/s")));
  EXPECT_THAT(kernels, HasSubstr("\n41.7 %  5.00 ms  "));
  EXPECT_THAT(kernels, HasSubstr("+-100.0 %, 97.2 % of the variance\n"));
  EXPECT_THAT(kernels, HasSubstr("a view: the runtime moves nothing"));
}

TEST(Text, ColourOnlyIfAsked) {
  EXPECT_THAT(rendered("text", test::sample_prediction(), {.colour = true}),
              HasSubstr("\x1b[1m12.0 ms"));
}

TEST(Text, MissingKernelsAreCountedAndWhatHelpsIsSaid) {
  predict::Prediction p = test::sample_missing();
  p.help = {83,
            {{"Conv", 45}, {"Mul", 12}},
            1,
            "oplat fit t.oplat",
            "oplat profile --model net.onnx --table t.oplat"};
  const std::string text = rendered("text", p);
  EXPECT_THAT(text, HasSubstr("\nno latency: 1 of 83 kernels is not in the table: 45 Conv, 12 Mul\n"
                              "estimate them: oplat fit t.oplat\n"
                              "measure them: oplat profile --model net.onnx --table t.oplat\n"));
  EXPECT_THAT(text, Not(HasSubstr(test::kCopy1000)));
  // There is no total that times would be shares of.
  EXPECT_THAT(text, HasSubstr("measured      3  6.00 ms\n"));
  EXPECT_THAT(text, HasSubstr("\noperator  calls     time  missing kernels        rate  bound\n"
                              "copy          4  6.00 ms           1 of 2  0.001 GB/s  memory\n"));
  EXPECT_THAT(text, HasSubstr("\n   time  kernel\n6.00 ms  copy 250\n"));
  EXPECT_THAT(text, Not(HasSubstr("%\n")));
  EXPECT_THAT(rendered("text", p, {.per_op = true}),
              HasSubstr("\nmissing kernels\n  " + std::string(test::kCopy1000) + "\n"));
  const json doc = json::parse(rendered("json", p));
  EXPECT_EQ(doc["missing_commands"],
            (json{"oplat fit t.oplat", "oplat profile --model net.onnx --table t.oplat"}));
  EXPECT_EQ(doc["by_operator"][0]["missing"], 1);
  EXPECT_TRUE(doc["by_operator"][0]["time_share"].is_null());
}

TEST(Text, KernelsThatCountAsZeroAreSaidNextToTheLatency) {
  predict::Prediction p = test::sample_missing();
  p.latency_ns = 7e6;
  p.help = {2, {{"copy", 1}}, 0, "", ""};
  EXPECT_THAT(rendered("text", p),
              HasSubstr("\n7.00 ms\n1 of 2 kernels is not in the table: 1 copy\n"));
}

TEST(Text, ControlCharactersOfAStrangerDoNotReachTheTerminal) {
  predict::Prediction p = test::sample_prediction();
  p.kernels[0].name = "\x1b[2Jgone";
  p.model = "\x1b[2Jgone";
  EXPECT_THAT(rendered("text", p, {.per_op = true}), Not(HasSubstr("\x1b")));
}

TEST(Text, ValidationSaysErrorsAndSummary) {
  const std::string text = rendered("text", test::sample_validation());
  EXPECT_THAT(text, HasSubstr("+4.0 %  yes\n"));
  EXPECT_THAT(text,
              HasSubstr("1 of 2 models predicted: MAPE 4.0 %, bias +4.0 %, within 5 % 100.0 %"));
  EXPECT_THAT(text, HasSubstr("rank correlation -\n"));
}

TEST(Costliest, CountsExecutionsAndLeavesOutWhatTakesNoTime) {
  const auto two = costliest(test::sample_prediction(), 5);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].first, 0U);
  EXPECT_EQ(two[0].count, 3);
  EXPECT_DOUBLE_EQ(two[0].time_ns, 6e6);
  EXPECT_EQ(two[1].first, 1U);
  EXPECT_EQ(costliest(test::sample_prediction(), 1).size(), 1U);
  EXPECT_EQ(costliest(test::sample_missing(), 5).size(), 1U);
}

TEST(Costliest, EqualKeysAreOneKernelInSeveralPlaces) {
  predict::Prediction p = test::sample_prediction();
  p.kernels.push_back(p.kernels[1]);  // the gemm a second time: 2 x 5 ms beats 3 x 2 ms
  const auto costly = costliest(p, 5);
  ASSERT_EQ(costly.size(), 2U);
  EXPECT_EQ(costly[0].first, 1U);
  EXPECT_EQ(costly[0].places, 2U);
  EXPECT_EQ(costly[0].count, 2);
  EXPECT_DOUBLE_EQ(costly[0].time_ns, 10e6);
  EXPECT_THAT(rendered("text", p), HasSubstr("gemm and 1 more"));
}

TEST(Costliest, LongNamesKeepTheirEnd) {
  predict::Prediction p = test::sample_prediction();
  p.kernels[1].name = "/encoder/layers/encoder_layer_0/mlp/mlp.0/\xc3\xa9/MatMul";
  EXPECT_THAT(rendered("text", p), HasSubstr(" ..._layer_0/mlp/mlp.0/\xc3\xa9/MatMul\n"));
  p.kernels[1].name = std::string(100, 'a') + "\xc3\xa9" + std::string(27, 'b');
  EXPECT_THAT(rendered("text", p), HasSubstr(" ..." + std::string(27, 'b') + "\n"));
  p.kernels[1].name = std::string(100, '\n');
  EXPECT_THAT(rendered("text", p), HasSubstr(" ...\\x0a\\x0a"));
}

TEST(Renderers, AreListedAndUnknownOnesRefused) {
  std::vector<std::string> names;
  for (const auto& entry : renderers()) {
    names.emplace_back(entry.name);
    EXPECT_EQ(entry.create()->name(), entry.name);
  }
  EXPECT_THAT(names, ElementsAre("text", "json", "csv", "jsonl", "html"));
  const auto unknown = find_renderer("yaml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::Usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("text, json, csv, jsonl, html"));
}

TEST(Renderers, AStreamThatFailsIsAWriteError) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(render("json", {test::report_of(test::sample_prediction()), {}}, out).error().code,
            Code::Write);
}

}  // namespace
}  // namespace oplat::report
