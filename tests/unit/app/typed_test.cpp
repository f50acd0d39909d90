// SPDX-License-Identifier: Apache-2.0
/// Requests as they are typed: texts of flags as values, and what is wrong with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/advise.hpp"
#include "app/campaign.hpp"
#include "app/model_list.hpp"
#include "app/predict.hpp"
#include "app/runtimes.hpp"
#include "app/sweep.hpp"
#include "base/files.hpp"
#include "unit/estimate/small_table.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

template <class Value>
std::string usage(const Result<Value>& result) {
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().code, Code::Usage);
  return result.error().message;
}

TEST(Typed, InputsAreShapesABatchAndData) {
  ModelInputTexts texts;
  texts.shapes = {"x=1x3x224x224", "\"a=b\"=2"};
  texts.inputs = {"x=uniform:0:1"};
  texts.batches = {4, 8};
  const ModelInputs inputs = must(parse_model_inputs(texts));
  EXPECT_THAT(inputs.shapes.shapes,
              ElementsAre(Pair("a=b", ElementsAre(2)), Pair("x", ElementsAre(1, 3, 224, 224))));
  EXPECT_EQ(inputs.shapes.batch, 4) << "the first of several";
  EXPECT_THAT(inputs.data, ElementsAre(Pair("x", "uniform:0:1")));
}

TEST(Typed, AWrongInputQuotesItsFlag) {
  const auto refused = [](std::vector<std::string> shapes, std::vector<std::string> inputs) {
    return usage(parse_model_inputs({std::move(shapes), std::nullopt, {}, std::move(inputs)}));
  };
  EXPECT_THAT(refused({"x=1xa"}, {}), HasSubstr("--shape x=1xa: 'a' is not a dimension"));
  EXPECT_THAT(refused({"a=b=1"}, {}), HasSubstr("a name that holds = is quoted"));
  EXPECT_EQ(refused({"x=1", "x=2"}, {}), "--shape x is given twice");
  EXPECT_EQ(refused({}, {"x=ones", "x=zeros"}), "--input x is given twice");
  EXPECT_THAT(refused({}, {"x"}), HasSubstr("--input"));
}

TEST(Typed, ARuntimeHasOptionsAndPerhapsAWorkerElsewhere) {
  RuntimeTexts texts;
  texts.request.runtime = "onnxruntime";
  texts.thread_list = {2, 4};
  texts.options = {"graph=all", "spin=0"};
  RuntimeRequest request = must(parse_runtime(texts));
  EXPECT_EQ(request.threads, 2);
  EXPECT_FALSE(request.remote);
  EXPECT_THAT(request.options, ElementsAre(Pair("graph", "all"), Pair("spin", "0")));
  texts.worker = "ssh HOST 'oplat worker' x";
  request = must(parse_runtime(texts));
  EXPECT_TRUE(request.remote);
  EXPECT_THAT(request.worker_command, ElementsAre("ssh", "HOST", "oplat worker", "x"));
  texts.worker = "ssh 'HOST";
  EXPECT_THAT(usage(parse_runtime(texts)), HasSubstr("--worker: "));
  texts.worker.reset();
  texts.options = {"graph=all", "graph=basic"};
  EXPECT_EQ(usage(parse_runtime(texts)), "--option graph is given twice");
  texts.options = {"graph"};
  EXPECT_THAT(usage(parse_runtime(texts)), HasSubstr("--option"));
}

TEST(Typed, ARuntimeIsLookedForOnlyWhereNoneIsNamed) {
  CollectedEvents events;
  RuntimeTexts texts;
  EXPECT_THAT(usage(parse_runtime_for(texts, {}, events)), HasSubstr("--runtime is required"));
  texts.request.runtime = "replay";
  EXPECT_EQ(must(parse_runtime_for(texts, {}, events)).runtime, "replay");
  texts.request.runtime.clear();
  texts.worker = "ssh HOST oplat worker replay";
  EXPECT_TRUE(must(parse_runtime_for(texts, {}, events)).remote) << "the worker says which it is";
}

TEST(Typed, ACampaignHasABudgetAndATargetError) {
  CampaignTexts texts;
  texts.options.seed = 7;
  EXPECT_EQ(must(parse_campaign(texts)).budget_s, std::nullopt);
  texts.budget = "1.5m";
  texts.target_error = "5%";
  const CampaignOptions options = must(parse_campaign(texts));
  EXPECT_EQ(options.seed, 7U);
  EXPECT_DOUBLE_EQ(options.budget_s.value(), 90);
  EXPECT_DOUBLE_EQ(options.target_error.value(), 0.05);
  texts.target_error = "0.05";
  EXPECT_DOUBLE_EQ(must(parse_campaign(texts)).target_error.value(), 0.05);
  for (const char* wrong : {"5", "0", "x", "200%", "%"}) {
    texts.target_error = wrong;
    EXPECT_THAT(usage(parse_campaign(texts)), HasSubstr("from 0.1% to 100%")) << wrong;
  }
  texts.target_error.clear();
  texts.budget = "4";
  EXPECT_FALSE(parse_campaign(texts)) << "which unit?";
}

TEST(Typed, ABudgetThatEndedSaysWhatItLeft) {
  measure::Summary summary;
  summary.kernels = {.total = 5, .few = 1, .left = 2};
  EXPECT_EQ(budget_end_text(summary, "go on"), "") << "it did not end";
  summary.budget_ended = true;
  EXPECT_EQ(budget_end_text(summary, "go on"),
            "the budget ended with 2 rows unmeasured and 1 with fewer blocks than the minimum; go "
            "on");
  summary.kernels = {};
  EXPECT_EQ(budget_end_text(summary, "go on"), "") << "nothing is left";
  summary.models.left = 1;
  EXPECT_THAT(budget_end_text(summary, "go on"), HasSubstr("with 1 model unmeasured"));
  SweepResult sweep;
  sweep.budget_ended = true;
  sweep.rough = 3;
  EXPECT_THAT(budget_end_text(sweep, "go on"), HasSubstr("over all points; go on"));
}

TEST(Typed, PredictionsHaveAPolicyAndAnEstimator) {
  const PredictionOptions options = must(parse_prediction({0.5, "zero", "fast"}));
  EXPECT_EQ(options.level, 0.5);
  EXPECT_EQ(options.missing, predict::MissingPolicy::Zero);
  EXPECT_EQ(options.estimator, estimate::Profile::Fast);
  EXPECT_THAT(usage(parse_prediction({0.5, "guess", "fast"})), HasSubstr("guess"));
}

TEST(Typed, RowsAreAskedForByOption) {
  predict::RowFilter rows;
  EXPECT_TRUE(add_row_option(rows, "graph=all"));
  EXPECT_TRUE(add_row_option(rows, "spin="));
  EXPECT_THAT(rows.options, ElementsAre(Pair("graph", "all"), Pair("spin", "")));
  EXPECT_EQ(add_row_option(rows, "graph=basic").error().message, "--option graph is given twice");
  for (const char* wrong : {"graph", "=all"})
    EXPECT_EQ(add_row_option(rows, wrong).error().code, Code::Usage) << wrong;
}

TEST(Typed, NumbersToTryAreEachTakenOnce) {
  EXPECT_THAT(must(parse_numbers("--threads", "", 8)), ElementsAre());
  EXPECT_THAT(must(parse_numbers("--threads", "1,4,1,8", 8)), ElementsAre(1, 4, 8));
  for (const char* wrong : {"0", "9", "1,,2", "x"})
    EXPECT_THAT(usage(parse_numbers("--threads", wrong, 8)),
                HasSubstr("is not a number from 1 to 8"))
        << wrong;
}

TEST(Typed, AListNamesMoreModels) {
  EXPECT_FALSE((ModelList{{"a.onnx"}, {}}.is_list()));
  EXPECT_TRUE((ModelList{{"a.onnx", "b.onnx"}, {}}.is_list()));
  EXPECT_TRUE((ModelList{{"a.onnx"}, "-"}.is_list())) << "also of one";
  const auto folder = must(base::TemporaryFolder::create("oplat-list"));
  const std::string list = (folder.path() / "models.txt").string();
  std::ofstream(list) << "b.onnx\r\n\nc.onnx";
  EXPECT_THAT(must(listed_models({{"a.onnx"}, list})), ElementsAre("a.onnx", "b.onnx", "c.onnx"));
  EXPECT_THAT(usage(listed_models({{"a.onnx"}, ""})), HasSubstr("the name of the file is empty"));
  std::ofstream(list) << "\n";
  EXPECT_THAT(usage(listed_models({{}, list})), HasSubstr("names no model"));
  EXPECT_EQ(listed_models({{}, "/gone/models.txt"}).error().code, Code::Input);
}

}  // namespace
}  // namespace oplat::app
