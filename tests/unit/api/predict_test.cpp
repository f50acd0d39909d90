// SPDX-License-Identifier: Apache-2.0
#include "oplat/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/predict.hpp"
#include "unit/app/predicted_table.hpp"

namespace oplat {
namespace {

using test::must;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ApiPredict : public ::testing::Test {
 protected:
  app::testing::PredictedTable made_;
  Table table_ = must(Table::open(made_.path()));
};

TEST_F(ApiPredict, SaysWhatTheCommandLineSays) {
  const Prediction here = must(predict_model(table_, {.model = made_.model()}));
  app::CollectedEvents events;
  const predict::Prediction there =
      must(app::predict({.model = made_.model(), .table = made_.path()}, events)).prediction;
  EXPECT_DOUBLE_EQ(here.median_ms, 0.005);
  EXPECT_DOUBLE_EQ(here.median_ms * 1e6, there.latency_ns.value());
  EXPECT_DOUBLE_EQ(here.interval.low_ms * 1e6, there.interval.value().low);
  EXPECT_DOUBLE_EQ(here.interval.high_ms * 1e6, there.interval->high);
  EXPECT_DOUBLE_EQ(here.level, 0.9);
  EXPECT_EQ(here.batch, there.batch);
  EXPECT_EQ(here.plan, "cached");
  EXPECT_EQ(here.device.name, "desk");
  EXPECT_EQ(here.setting.runtime, "replay");
  ASSERT_THAT(here.kernels, SizeIs(2));
  EXPECT_EQ(here.kernels[0].key, test::kCopy250);
  EXPECT_EQ(here.kernels[0].count, 2);
  EXPECT_EQ(here.kernels[0].source, Source::Measured);
  EXPECT_DOUBLE_EQ(here.kernels[0].median_ms.value(), 0.001);
  EXPECT_LT(here.kernels[0].interval.value().low_ms, 0.001);
  EXPECT_DOUBLE_EQ(here.coverage.at(Source::Measured) + here.overhead, 1);
}

TEST_F(ApiPredict, WhatIsMeasuredIsSaid) {
  EXPECT_FALSE(must(predict_model(table_, {.model = made_.model()})).measured_ms);
  made_.put_time(made_.model(), 20'000);
  const Prediction p = must(predict_model(table_, {.model = made_.model()}));
  EXPECT_DOUBLE_EQ(p.measured_ms.value(), 0.02);
  EXPECT_DOUBLE_EQ(p.median_ms, 0.005);
  EXPECT_THAT(p.warnings, ::testing::Contains(HasSubstr("outside the interval")));
}

TEST_F(ApiPredict, AGraphIsPredictedAsItsFile) {
  const Graph graph = must(Graph::read(made_.model()));
  EXPECT_DOUBLE_EQ(must(predict_model(table_, graph)).median_ms, 0.005);
}

TEST_F(ApiPredict, IntervalsHaveTheLevelThatWasAskedFor) {
  PredictRequest request{.model = made_.model()};
  request.estimate.level = 0.5;
  const Prediction narrow = must(predict_model(table_, request));
  request.estimate.level = 0.99;
  const Prediction wide = must(predict_model(table_, request));
  EXPECT_GT(narrow.interval.low_ms, wide.interval.low_ms);
  EXPECT_LT(narrow.interval.high_ms, wide.interval.high_ms);
  EXPECT_GT(narrow.kernels[0].interval->low_ms, wide.kernels[0].interval->low_ms);
}

TEST_F(ApiPredict, KernelsWithoutATimeAreAnErrorUnlessTheyMayBeLeftOut) {
  made_.put_plan(made_.without_plan(), {{"a", test::kCopy4000, 1}, {"b", test::kCopy250, 1}});
  const Table table = must(Table::open(made_.path()));
  PredictRequest request{.model = made_.without_plan()};
  const auto refused = predict_model(table, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Missing);
  EXPECT_THAT(refused.error().message, HasSubstr(": 1 copy; measure them: oplat profile --model "));
  request.estimate.missing = MissingPolicy::Zero;
  const Prediction partial = must(predict_model(table, request));
  EXPECT_DOUBLE_EQ(partial.median_ms, 0.001);
  EXPECT_THAT(partial.missing, ::testing::ElementsAre(test::kCopy4000));
  EXPECT_EQ(partial.kernels[0].median_ms, std::nullopt);
}

TEST_F(ApiPredict, RefusesWhatTheTableDoesNotHold) {
  EXPECT_EQ(predict_model(table_, {.model = "none.onnx"}).error().code, Code::Input);
  EXPECT_EQ(predict_model(table_, {.model = made_.model(), .rows = {.threads = 64}}).error().code,
            Code::Refused);
  EXPECT_EQ(predict_model(table_, {.model = made_.model(), .plan = "oracle"}).error().code,
            Code::Usage);
  PredictRequest request{.model = made_.without_plan(), .plan = "cached"};
  EXPECT_EQ(predict_model(table_, request).error().code, Code::Missing);
}

/// The program that is running is not oplat: it must not be started as a worker.
TEST_F(ApiPredict, AsksTheRuntimeThroughTheProgramThatTheEnvironmentNames) {
  ::setenv("OPLAT_PROGRAM", "/nowhere/oplat", 1);
  const auto refused = predict_model(table_, {.model = made_.without_plan(), .plan = "runtime"});
  ::unsetenv("OPLAT_PROGRAM");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Runtime);
  EXPECT_THAT(refused.error().message, HasSubstr("/nowhere/oplat"));
}

TEST_F(ApiPredict, EstimatesSingleKernels) {
  const std::vector<Key> keys{must(Key::parse(test::kCopy1000)), must(Key::parse(test::kCopy250))};
  const std::vector<KernelTime> times = must(estimate_kernels(table_, keys));
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_DOUBLE_EQ(times[0].median_ms.value(), 0.003);
  EXPECT_DOUBLE_EQ(times[1].median_ms.value(), 0.001);
  EXPECT_EQ(source_name(times[0].source), "measured");
  const std::vector<Key> unknown{must(Key::parse(test::kCopy4000))};
  EXPECT_EQ(estimate_kernels(table_, unknown).error().code, Code::Missing);
}

}  // namespace
}  // namespace oplat
