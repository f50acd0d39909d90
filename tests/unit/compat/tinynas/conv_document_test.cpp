// SPDX-License-Identifier: Apache-2.0
/// The documents of `oplat tinynas predict` and `convs`, and what is added up for them.
#include "compat/tinynas/conv_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "report/renderer.hpp"

namespace oplat::compat::tinynas {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

ConvQuestion question(std::int64_t out_c, std::optional<double> real_ms = std::nullopt) {
  ConvQuestion asked;
  asked.name = "block0.0.conv1";
  asked.conv.batch = 1;
  asked.conv.in_c = 16;
  asked.conv.in_h = asked.conv.in_w = 8;
  asked.conv.out_c = out_c;
  asked.real_ms = real_ms;
  return asked;
}

ConvAnswer measured(double ms) {
  ConvAnswer answer;
  answer.ms = ms;
  answer.sd_log = 0.1;
  answer.interval = base::Interval{0.9 * ms, 1.1 * ms};
  answer.source = "measured";
  answer.group = "measured";
  return answer;
}

ConvAnswer missing() {
  ConvAnswer answer;
  answer.source = "missing";
  answer.why = "nothing near it";
  return answer;
}

ConvDocument document(std::vector<ConvAnswer> answers, bool listed,
                      std::optional<double> real_ms = std::nullopt) {
  ConvQuestions questions{1, {}};
  for (std::size_t i = 0; i < answers.size(); ++i)
    questions.convs.push_back(question(8 * static_cast<std::int64_t>(i + 1), real_ms));
  ConvAsked asked;
  (listed ? asked.tests : asked.structure) = "net.txt";
  asked.rows = "conv_data.out";
  asked.precision = "fp32";
  std::vector<ConvPrediction> predictions;
  predictions.push_back(conv_prediction(std::move(questions), std::move(answers), 0.9));
  return {std::move(asked), std::move(predictions)};
}

std::string rendered(const char* form, ConvDocument made) {
  std::ostringstream out;
  const auto status = report::render(
      form, {report::ForeignReport(std::make_shared<const ConvDocument>(std::move(made))), {}},
      out);
  EXPECT_TRUE(status);
  return out.str();
}

TEST(ConvDocument, AddsUpWithAnIntervalNarrowerThanTheSumOfIntervals) {
  const ConvDocument made = document({measured(1), measured(3)}, false);
  const ConvPrediction& prediction = made.predictions().front();
  EXPECT_DOUBLE_EQ(prediction.total_ms.value(), 4);
  ASSERT_TRUE(prediction.total_interval);
  EXPECT_GT(prediction.total_interval->low, 0.5 * 4);
  EXPECT_LT(prediction.total_interval->low, 4);
  EXPECT_GT(prediction.total_interval->high, 4);
  EXPECT_TRUE(made.require_answers());
  EXPECT_EQ(made.far_answers(), std::nullopt);
}

TEST(ConvDocument, OneWithoutAnAnswerLeavesNoTotal) {
  const ConvDocument made = document({measured(1), missing()}, false);
  EXPECT_EQ(made.predictions().front().total_ms, std::nullopt);
  EXPECT_THAT(made.text(), HasSubstr("batch 1: no total, 1 of 2 convolutions have no time\n"));
  EXPECT_TRUE(made.json()["total_ms"].is_null());
  const Status status = made.require_answers();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::Missing);
  EXPECT_THAT(status.error().message, HasSubstr("1 of 2 convolutions have no time"));
  EXPECT_THAT(status.error().message, HasSubstr("nothing near it"));
}

TEST(ConvDocument, ErrorsAreOfThoseWithBothTimes) {
  ConvDocument made = document({measured(1), measured(3), missing()}, true, 2.0);
  const auto errors = conv_errors(made.predictions().front());
  ASSERT_TRUE(errors);
  EXPECT_EQ(errors->convs, 2U);
  EXPECT_DOUBLE_EQ(errors->average, 0.5);
  EXPECT_DOUBLE_EQ(errors->largest, 0.5);
  EXPECT_EQ(errors->worst, 0U);
  EXPECT_DOUBLE_EQ(errors->total_ms, 4);
  EXPECT_DOUBLE_EQ(errors->real_total_ms, 4);
  EXPECT_THAT(made.text(), HasSubstr("# average relative error\t0.5\n"));
  EXPECT_EQ(made.json()["error"]["convs"], 2);
}

TEST(ConvDocument, WarnsOfListedConvolutionsFarFromTheRows) {
  ConvAnswer far = measured(2);
  far.far = true;
  far.why = "12 rows away";
  const auto note = document({measured(1), far}, true).far_answers();
  ASSERT_TRUE(note);
  EXPECT_THAT(*note, HasSubstr("1 of 2 convolutions are outside the measured range"));
  EXPECT_THAT(*note, HasSubstr("12 rows away"));
  EXPECT_EQ(note->find('\t'), std::string::npos);
  EXPECT_EQ(document({measured(1), far}, false).far_answers(), std::nullopt);
}

TEST(ConvDocument, CsvAndPageHoldEveryConvolution) {
  const std::string csv = rendered("csv", document({measured(1), missing()}, false));
  EXPECT_EQ(csv,
            "name,type,stride,fused,kernel,batch,in_c,in_h,out_c,group,latency_ms,low_ms,high_ms,"
            "measured_ms,source,why\n"
            "block0.0.conv1,Regular,1,0,1,1,16,8,8,1,1.0,0.9,1.1,,measured,\n"
            "block0.0.conv1,Regular,1,0,1,1,16,8,16,1,,,,,missing,nothing near it\n");
  const std::string page = rendered("html", document({measured(1)}, false));
  EXPECT_THAT(page, HasSubstr("conv_data.out"));
  EXPECT_THAT(page, HasSubstr("batch 1: total 1.000000 ms"));
}

TEST(ConvListDocument, NamesPlaceAndGroup) {
  NamedConv one{"block0.0.conv1", question(8).conv};
  one.conv.group = 2;
  const ConvListDocument made("net.txt", 224, Rules::Corrected, {one});
  EXPECT_EQ(made.text(), tuple_text(one.conv) + "\n");
  const auto document = made.json();
  EXPECT_EQ(document["rules"], "corrected");
  EXPECT_EQ(document["convs"][0]["group"], 2);
  EXPECT_EQ(made.sheet().rows.at(0).back(), "2");
}

}  // namespace
}  // namespace oplat::compat::tinynas
