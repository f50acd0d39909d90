// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/text_table.hpp"
#include "report/text_values.hpp"
#include "unit/report/sample_reports.hpp"

namespace oplat::report {
namespace {

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

TEST(TextValues, LatencyWithItsInterval) {
  EXPECT_EQ(latency_text(12.3e6, predict::Interval{11.9e6, 12.8e6}, 0.9), "12.3 ms (11.9 to 12.8 ms, 90 %)");
  EXPECT_EQ(latency_text(1e6, predict::Interval{0.95e6, 1.1e6}, 0.995), "1.00 ms (950 us to 1.10 ms, 99.5 %)");
  EXPECT_EQ(latency_text(812, std::nullopt, 0.9), "812 ns");
}

TEST(Text, PredictionSaysTotalCoverageAndCostliest) {
  const std::string text = rendered("text", test::sample_prediction());
  EXPECT_THAT(text, HasSubstr("\n12.0 ms (11.5 to 12.6 ms, 90 %)\n"));
  EXPECT_THAT(text, HasSubstr("measured        3  6.00 ms  50.0 %\n"));
  EXPECT_THAT(text, HasSubstr("overhead           1.00 ms   8.3 %\n"));
  EXPECT_THAT(text,
              HasSubstr("50.0 %  6.00 ms      3  measured  conv, \"first\"  test:copy{}(f32[250])->(f32[250])\n"));
  EXPECT_THAT(text, HasSubstr("not fitted"));
  EXPECT_THAT(text, Not(HasSubstr("kernels in order of execution")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[")));
}

TEST(Text, PerOpListsEveryKernel) {
  const std::string text = rendered("text", test::sample_prediction(), {.per_op = true});
  EXPECT_THAT(text, HasSubstr("kernels in order of execution"));
  EXPECT_THAT(text, HasSubstr("a view: the runtime moves nothing"));
}

TEST(Text, ColourOnlyIfAsked) {
  EXPECT_THAT(rendered("text", test::sample_prediction(), {.colour = true}), HasSubstr("\x1b[1m12.0 ms"));
}

TEST(Text, MissingKernelsAreNamed) {
  const std::string text = rendered("text", test::sample_missing());
  EXPECT_THAT(text, HasSubstr("no latency: distinct kernels missing: 1"));
  EXPECT_THAT(text, HasSubstr(std::string("\n  ") + test::kCopy1000 + "\n"));
  EXPECT_THAT(text, HasSubstr("measured        3  6.00 ms  85.7 %\n"));
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
  EXPECT_THAT(text, HasSubstr("1 of 2 models predicted: MAPE 4.0 %, bias +4.0 %, within 5 % 100.0 %"));
  EXPECT_THAT(text, HasSubstr("rank correlation -\n"));
}

TEST(Costliest, CountsExecutionsAndLeavesOutWhatTakesNoTime) {
  EXPECT_THAT(costliest(test::sample_prediction(), 5), ElementsAre(0U, 1U));
  EXPECT_THAT(costliest(test::sample_prediction(), 1), ElementsAre(0U));
  EXPECT_THAT(costliest(test::sample_missing(), 5), ElementsAre(0U));
}

TEST(Renderers, AreListedAndUnknownOnesRefused) {
  std::vector<std::string> names;
  for (const auto& entry : renderers()) {
    names.emplace_back(entry.name);
    EXPECT_EQ(entry.create()->name(), entry.name);
  }
  EXPECT_THAT(names, ElementsAre("text", "json", "csv"));
  const auto unknown = find_renderer("yaml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::Usage);
  EXPECT_THAT(unknown.error().message, HasSubstr("text, json, csv"));
}

TEST(Renderers, AStreamThatFailsIsAWriteError) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(render("json", {test::sample_prediction(), {}}, out).error().code, Code::Write);
}

}  // namespace
}  // namespace oplat::report
