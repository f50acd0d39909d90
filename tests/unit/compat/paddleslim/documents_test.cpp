// SPDX-License-Identifier: Apache-2.0
/// What `oplat paddleslim` prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compat/paddleslim/evaluate.hpp"
#include "compat/paddleslim/prediction_text.hpp"

namespace oplat::compat::paddleslim {
namespace {

using ::testing::HasSubstr;

EvaluateDocument document(std::optional<double> second_ns) {
  EvaluateRequest request;
  request.model = "net.pdmodel";
  request.table = "phone.txt";
  EvaluatorQuestions questions;
  questions.asked = {{"a", "conv,1"}, {"b", "conv,2"}, {"c", "conv,1"}};
  questions.passed_over = {{"relu", 2}};
  EvaluateAnswers answers;
  answers.order = {"conv,1", "conv,2"};
  answers.of = {{"conv,1", {2, 1e6}}, {"conv,2", {1, second_ns}}};
  return {request, questions, answers};
}

TEST(EvaluateDocument, CountsEachCallOfAnOperator) {
  const EvaluateDocument made = document(3e6);
  EXPECT_EQ(made.answers().total_ns(), 5e6);
  EXPECT_EQ(made.text(),
            "2 x conv,1: 1.0 ms\n1 x conv,2: 3.0 ms\nnet.pdmodel: 3 operators, 5.0 ms\n"
            "not counted by this rule: 2 relu\n");
  EXPECT_EQ(made.json()["latency_ns"], 5e6);
  EXPECT_EQ(made.json()["not_counted"]["relu"], 2);
  EXPECT_EQ(made.sheet().rows, (std::vector<std::vector<std::string>>{{"conv,1", "2", "1.0"},
                                                                      {"conv,2", "1", "3.0"}}));
  EXPECT_TRUE(made.require_answers());
}

TEST(EvaluateDocument, AMissingOperatorLeavesNoSum) {
  const EvaluateDocument made = document(std::nullopt);
  EXPECT_EQ(made.answers().total_ns(), std::nullopt);
  EXPECT_TRUE(made.json()["latency_ns"].is_null());
  EXPECT_THAT(made.text(), HasSubstr("no latency: operators are missing\n"));
  const Status status = made.require_answers();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Missing);
  EXPECT_THAT(status.error().message, HasSubstr("1 x conv,2"));
}

TEST(EvaluateDocument, RefusesAnEmptyDelimiterAndAMissingModel) {
  std::vector<std::string> warnings;
  EvaluateRequest request;
  request.model = "none.pdmodel";
  request.delimiter = "";
  const auto empty = EvaluateDocument::make(request, warnings);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::Usage);
  request.delimiter = ",";
  const auto missing = EvaluateDocument::make(request, warnings);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::Input);
  EXPECT_THAT(missing.error().message, HasSubstr("none.pdmodel"));
}

predict::Prediction prediction(std::optional<double> ns) {
  predict::Prediction made;
  made.model = "net.pdmodel";
  made.table_path = "table.pkl";
  made.device.name = "SD710";
  predict::KernelPrediction kernel;
  kernel.name = "conv";
  kernel.key = "paddle:conv2d{}(f32[1,3,8,8])->(f32[1,3,8,8])";
  kernel.count = 2;
  kernel.latency_ns = ns;
  kernel.source = ns ? estimate::Source::Measured : estimate::Source::Missing;
  made.kernels = {kernel};
  if (ns)
    made.latency_ns = 2 * *ns;
  else
    made.missing = {kernel.key};
  return made;
}

TEST(PaddlePredictionText, OpensWithTheLineOfTheOriginal) {
  const std::string text = prediction_text(prediction(1.5e6), true);
  EXPECT_TRUE(text.starts_with("predicted latency = 3.0ms\n")) << text;
  EXPECT_THAT(text, HasSubstr("2 of 2 operators are in the table\n"));
  EXPECT_THAT(text, HasSubstr("\t2x\t1.5 ms\tmeasured\t"));
  EXPECT_TRUE(require_keys(prediction(1.5e6), false));
}

TEST(PaddlePredictionText, NamesEachMissingKeyOnce) {
  const Status status = require_keys(prediction(std::nullopt), false);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Missing);
  EXPECT_THAT(status.error().message,
              HasSubstr("1 key is not in table.pkl; use --op-predictor on"));
  EXPECT_THAT(status.error().message, HasSubstr("\n  2x "));
  EXPECT_THAT(require_keys(prediction(std::nullopt), true).error().message,
              HasSubstr("and no row allows an estimate"));
}

}  // namespace
}  // namespace oplat::compat::paddleslim
