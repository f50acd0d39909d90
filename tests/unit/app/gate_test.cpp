// SPDX-License-Identifier: Apache-2.0
/// Limits of latencies: what they are compared with, and what they fail with.
#include "app/gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/report/sample_reports.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The message of each check; empty: it holds.
std::vector<std::string> messages_of(const std::vector<Status>& checks) {
  std::vector<std::string> messages;
  for (const Status& one : checks) messages.push_back(one ? "" : one.error().message);
  return messages;
}

TEST(Gate, ALimitIsATimeAndAStatistic) {
  EXPECT_EQ(must(parse_gate("", "", GateOn::P50)), std::nullopt);
  const auto gate = must(parse_gate("5ms", "", GateOn::P50));
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->max_ns, 5e6);
  EXPECT_EQ(gate->on, GateOn::P50);
  for (const GateOn on : kValidateGates)
    EXPECT_EQ(must(parse_gate("5ms", std::string(name(on)), GateOn::Point))->on, on);
  const auto bare = parse_gate("5", "", GateOn::P50);
  ASSERT_FALSE(bare);
  EXPECT_THAT(bare.error().message, HasSubstr("--max-latency: "));
  const auto alone = parse_gate("", "p99", GateOn::P50);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Code::Usage);
  EXPECT_EQ(alone.error().message, "--gate-on p99: needs a limit; set it with --max-latency");
}

TEST(Gate, APredictionIsLimitedByItsLatencyOrTheUpperEnd) {
  const predict::Prediction prediction = test::sample_prediction();  // 11.5 to 12.6 ms
  const auto check = [&](const char* limit, const char* on) {
    return check_prediction(must(parse_gate(limit, on, GateOn::Point)), prediction);
  };
  EXPECT_TRUE(check("", ""));
  EXPECT_TRUE(check("12ms", ""));
  EXPECT_TRUE(check("12.6ms", "upper"));
  const Status above = check("11ms", "");
  ASSERT_FALSE(above);
  EXPECT_EQ(above.error().code, Code::GateNotMet);
  EXPECT_EQ(above.error().message,
            "net.onnx: the predicted latency 12.0 ms is above --max-latency 11ms");
  EXPECT_EQ(check("12ms", "upper").error().message,
            "net.onnx: the upper end of the predicted interval, 12.6 ms is above --max-latency "
            "12ms");
}

TEST(Gate, MissingKernelsComeBeforeTheLimitWhichTheyDoNotMeet) {
  const predict::Prediction missing = test::sample_missing();
  EXPECT_EQ(check_prediction(std::nullopt, missing).error().code, Code::Missing);
  const auto gate = must(parse_gate("1s", "", GateOn::Point));
  EXPECT_EQ(check_prediction(gate, missing).error().code, Code::Missing);
  EXPECT_THAT(messages_of(gate_checks(gate, std::span(&missing, 1))),
              ElementsAre(HasSubstr("that --max-latency limits is not known")));
  EXPECT_TRUE(gate_checks(std::nullopt, std::span(&missing, 1)).empty());
}

TEST(Gate, EveryMeasuredModelIsCheckedAndOnesWithoutATimeFail) {
  report::Measurement measurement;
  measurement.models.push_back({.path = "a.onnx", .name = "a", .timing = {}, .flags = {}});
  measurement.models.push_back({.path = "b.onnx", .name = "b", .timing = {}, .flags = {}});
  measurement.models[0].inferences = {40, 5, 3e6, 2e6, 4e6, std::nullopt, 9e6};
  const std::vector<std::string> models = {"a.onnx", "b.onnx", "gone.onnx"};
  const auto checks = [&](const char* on) {
    return messages_of(gate_checks(must(parse_gate("3ms", on, GateOn::P50)), models, measurement));
  };
  EXPECT_THAT(
      checks(""),
      ElementsAre(
          "", "b.onnx: the p50 that --max-latency limits is not known; measure into a new --table",
          "gone.onnx: it was not measured, and --max-latency is not met"));
  EXPECT_EQ(checks("mean")[0], "");
  EXPECT_EQ(checks("p90")[0], "a.onnx: the measured p90 4.00 ms is above --max-latency 3ms");
  EXPECT_EQ(checks("max")[0],
            "a.onnx: the longest measured inference, 9.00 ms is above --max-latency 3ms");
  EXPECT_THAT(checks("p99")[0], HasSubstr("is not known of 40 inferences; 100 are needed"));
}

TEST(Gate, PointsOfASweepAreMeasuredOrPredicted) {
  report::Sweep sweep;
  sweep.points.push_back({.path = "a.onnx", .threads = 2, .batch = 4, .error = "no memory"});
  sweep.points.push_back({.path = "a.onnx",
                          .threads = 1,
                          .batch = 1,
                          .latency_ns = 2e6,
                          .interval = base::Interval{1e6, 4e6}});
  const auto checks = [&](const char* on, GateOn otherwise) {
    return messages_of(gate_checks(must(parse_gate("3ms", on, otherwise)), sweep));
  };
  EXPECT_EQ(checks("", GateOn::P50)[0],
            "a.onnx with threads 2 and batch 4: it was not measured, and --max-latency is not met: "
            "no memory");
  sweep.measured = false;
  EXPECT_THAT(checks("", GateOn::Point)[0], HasSubstr("the predicted latency that"));
  EXPECT_EQ(checks("", GateOn::Point)[1], "");
  EXPECT_EQ(checks("upper", GateOn::Point)[1],
            "a.onnx with threads 1 and batch 1: the upper end of the predicted interval, 4.00 ms "
            "is above --max-latency 3ms");
}

TEST(Gate, AValidatedModelHasNumbersOfBothKinds) {
  predict::Validation validation;
  predict::ValidatedModel& model = validation.models.emplace_back();
  model.name = "net";
  model.predicted_ns = 2e6;
  model.interval = base::Interval{1e6, 4e6};
  model.measured.median_ns = 5e6;
  const auto check = [&](const char* on) {
    return messages_of(gate_checks(must(parse_gate("3ms", on, GateOn::Measured)), validation))[0];
  };
  EXPECT_EQ(check(""), "net: the measured latency 5.00 ms is above --max-latency 3ms");
  EXPECT_EQ(check("point"), "");
  EXPECT_THAT(check("upper"), HasSubstr("4.00 ms is above"));
  EXPECT_THAT(check("p50"), HasSubstr("replayed times have none"));
}

TEST(Gate, AdviceMeetsTheTargetIfOneChoiceDoes) {
  report::AdviceReport advice;
  advice.choices.resize(2);
  advice.choices[0].code = Code::Missing;
  advice.choices[0].why = "kernels are missing";
  const auto check = [&](const char* on) {
    return check_advice(*must(parse_gate("3ms", on, GateOn::Point)), advice);
  };
  EXPECT_EQ(check("").error().code, Code::Missing);
  EXPECT_THAT(check("").error().message, HasSubstr("lacks it because kernels are missing"));
  advice.choices[1].latency_ns = 2e6;
  advice.choices[1].meets = report::Meets::No;
  EXPECT_EQ(check("").error().message, "no setting of the table meets --max-latency 3ms");
  advice.choices[1].meets = report::Meets::Likely;
  EXPECT_TRUE(check(""));
  EXPECT_EQ(check("upper").error().message,
            "no setting of the table meets --max-latency 3ms with the upper end of its interval");
  advice.choices[1].meets = report::Meets::Yes;
  EXPECT_TRUE(check("upper"));
}

TEST(Gate, FailuresAreLinesOfTheChecksThatFailed) {
  EXPECT_EQ(failures_of(std::vector<Status>{Status(), Status()}).code, std::nullopt);
  const Failures failures = failures_of(
      std::vector<Status>{fail(Code::GateNotMet, "a"), Status(), fail(Code::GateNotMet, "c")});
  EXPECT_EQ(failures.code, Code::GateNotMet);
  EXPECT_THAT(failures.lines, ElementsAre("a", "c"));
}

}  // namespace
}  // namespace oplat::app
