// SPDX-License-Identifier: Apache-2.0
/// Several threads and batches, and the batch that is run where none is given.
#include "app/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/model_inputs.hpp"
#include "base/text.hpp"
#include "unit/app/predicted_table.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using test::must;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SweepTest : public RecordingTest {};

TEST_F(SweepTest, MeasuresEachPointAndKeepsTheErrorsOfSome) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  const SweepResult result = must(measure_sweep(request, {{1}, {1, 2}}, events_));
  ASSERT_EQ(result.sweep.points.size(), 2U);
  EXPECT_NEAR(*result.sweep.points[0].latency_ns, kModelNs, kModelNs / 100);
  EXPECT_EQ(result.sweep.points[0].batch, 1);
  EXPECT_EQ(result.sweep.points[0].inferences, std::nullopt) << "replayed times have none";
  EXPECT_EQ(result.sweep.points[1].latency_ns, std::nullopt);
  EXPECT_EQ(result.sweep.points[1].batch, 2);
  EXPECT_FALSE(result.sweep.points[1].error.empty());
  EXPECT_TRUE(result.first_error);
  EXPECT_EQ(result.sweep.device.name, "bench");
}

TEST_F(SweepTest, ReplayedPointsAreComparedByBlocksWhichIsSaid) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  const SweepResult result = must(measure_sweep(request, {{1}, {1, 2}}, events_));
  EXPECT_FALSE(result.sweep.means);
  EXPECT_THAT(events_.warnings, Contains(HasSubstr("single inferences of some points")));
}

TEST_F(SweepTest, BatchesAreComparedByImage) {
  {
    auto table = must(table::Table::open(path("recorded.oplat"), table::Mode::Write));
    const auto device = must(table.devices()).front().first;
    const auto setting = must(table.settings()).front().first;
    for (const auto& [batch, ns] : {std::pair(2, 200'000.0), std::pair(4, 480'000.0)}) {
      table::Plan plan;
      plan.model = kModel;
      plan.identity = fmt::format("{:032}", batch);
      plan.batch = batch;
      plan.kernels = {{"n0", key(batch), 1}};
      must(table.put_plan(plan));
      table::ModelRow row;
      row.name = kModel;
      row.plan_identity = plan.identity;
      row.batch = batch;
      row.outcome = test::timing(ns, 0.002);
      must(table.put_model_row(device, setting, std::nullopt, row));
    }
  }
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  const SweepResult result = must(measure_sweep(request, {{1}, {1, 2, 4}}, events_));
  ASSERT_EQ(result.sweep.points.size(), 3U);
  // 123 us, 200 us and 480 us of 1, 2 and 4 images.
  const auto near = [](std::optional<double> number, double by_hand) {
    ASSERT_TRUE(number);
    EXPECT_NEAR(*number, by_hand, by_hand / 100);
  };
  near(result.sweep.points[0].image_ns(), 123'000);
  near(result.sweep.points[1].image_ns(), 100'000);
  near(result.sweep.points[2].image_ns(), 120'000);
  near(result.sweep.points[0].images_per_s(), 8130);
  near(result.sweep.points[1].images_per_s(), 10'000);
  near(result.sweep.points[2].images_per_s(), 8333);
  const report::BestPoints best = report::best_points(result.sweep);
  EXPECT_THAT(best.latency, ElementsAre(true, false, false));
  EXPECT_THAT(best.throughput, ElementsAre(false, true, false));
}

TEST_F(SweepTest, AModelThatIsNoneIsThePointsErrorAndNoOthers) {
  MeasureRequest request;
  request.models = {path("gone.onnx"), path(kModel)};
  request.runtime = replay();
  const SweepResult result = must(measure_sweep(request, {{1}, {1}}, events_));
  ASSERT_EQ(result.sweep.points.size(), 2U);
  EXPECT_THAT(result.sweep.points[0].error, HasSubstr("no such file"));
  EXPECT_TRUE(result.sweep.points[1].latency_ns);
  ASSERT_TRUE(result.first_error);
  EXPECT_EQ(result.first_error->code, Code::Input);
}

TEST_F(SweepTest, EachModelHasItsOwnReason) {
  const std::string bytes = must(base::read_file(path(kModel), 1 << 20));
  {
    auto table = must(table::Table::open(path("recorded.oplat"), table::Mode::Write));
    for (const std::string name : {"b.onnx", "c.onnx"}) {
      must(base::write_file(path(name), bytes));
      table::Plan plan;
      plan.model = name;
      plan.identity = std::string(31, '0') + name.front();
      plan.kernels = {{"n0", key(1), 1}};
      must(table.put_plan(plan));
      table::ModelRow row;
      row.name = name;
      row.plan_identity = plan.identity;
      row.outcome = table::Failed{"reason of " + name};
      must(table.put_model_row(must(table.devices()).front().first,
                               must(table.settings()).front().first, std::nullopt, row));
    }
  }
  MeasureRequest request;
  request.models = {path("b.onnx"), path(kModel), path("c.onnx")};
  request.runtime = replay();
  const SweepResult result = must(measure_sweep(request, {{1}, {1}}, events_));
  ASSERT_EQ(result.sweep.points.size(), 3U);
  EXPECT_THAT(result.sweep.points[0].error, HasSubstr("reason of b.onnx"));
  EXPECT_TRUE(result.sweep.points[1].latency_ns);
  EXPECT_THAT(result.sweep.points[2].error, HasSubstr("reason of c.onnx"));
}

TEST_F(SweepTest, EachPointOfAShortBudgetGetsSomeSeconds) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  request.campaign.budget_s = 0.001;
  const SweepResult result = must(measure_sweep(request, {{1}, {1, 1}}, events_));
  ASSERT_EQ(result.sweep.points.size(), 2U);
  EXPECT_TRUE(result.sweep.points[0].latency_ns);
  EXPECT_TRUE(result.sweep.points[1].latency_ns);
}

TEST_F(SweepTest, PointsThatWereMeasuredBeforeAnInterruptionAreKept) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  StopsAt second("planning", 2);
  const SweepResult result = must(measure_sweep(request, {{1}, {1, 2}}, second));
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.sweep.points.size(), 1U);
  EXPECT_TRUE(result.sweep.points[0].latency_ns);
  StopsAt first("planning", 1);
  EXPECT_EQ(measure_sweep(request, {{1}, {1, 2}}, first).error().code, Code::Interrupted);
  // All points before it failed.
  StopsAt third("planning", 3);
  EXPECT_EQ(measure_sweep(request, {{1}, {2, 3, 1}}, third).error().code, Code::Interrupted);
  ProfileRequest profiled;
  profiled.models = request.models;
  profiled.runtime = request.runtime;
  profiled.table = path("t.oplat");
  StopsAt again("planning", 2);
  const SweepResult kept = must(profile_sweep(profiled, {{1}, {1, 2}}, again));
  EXPECT_TRUE(kept.interrupted);
  EXPECT_EQ(kept.sweep.points.size(), 1U);
}

TEST_F(SweepTest, NothingMeasuredIsTheFirstError) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  EXPECT_FALSE(measure_sweep(request, {{1}, {2, 3}}, events_));
}

TEST(PredictSweep, AsksForEveryNumberOfThreads) {
  testing::PredictedTable made;
  CollectedEvents events;
  PredictRequest request;
  request.table = made.path();
  const SweepResult result = must(predict_sweep(
      request, std::vector<std::string>{made.model(), made.faster()}, {{1, 64}, {}}, events));
  ASSERT_EQ(result.sweep.points.size(), 4U);
  EXPECT_FALSE(result.sweep.measured);
  EXPECT_EQ(result.sweep.points[0].latency_ns, 5000);
  EXPECT_TRUE(result.sweep.points[0].interval);
  EXPECT_THAT(result.sweep.points[1].error, HasSubstr("threads"));
  EXPECT_EQ(result.sweep.points[1].threads, 64);
  EXPECT_EQ(result.sweep.points[1].batch, std::nullopt) << "nobody read the model's batch";
  EXPECT_EQ(result.sweep.points[2].path, made.faster());
  EXPECT_EQ(result.sweep.points[2].latency_ns, 1000);
}

TEST(PredictSweep, AnOpenTableAnswersWithoutItsFile) {
  testing::PredictedTable made;
  CollectedEvents events;
  PredictRequest request;
  request.table = made.path();
  OpenedTable table = must(open_table_of(request, events));
  request.table = "none.oplat";
  const SweepResult result = must(
      predict_sweep(request, std::vector<std::string>{made.model()}, {{1}, {}}, table, events));
  ASSERT_EQ(result.sweep.points.size(), 1U);
  EXPECT_EQ(result.sweep.points[0].latency_ns, 5000);
}

/// Has enough once it was asked a number of times.
class Stopping : public CollectedEvents {
 public:
  bool cancelled() override { return --left <= 0; }
  int left = 3;
};

TEST(PredictSweep, CanBeStopped) {
  testing::PredictedTable made;
  Stopping events;
  PredictRequest request;
  request.table = made.path();
  const std::vector<std::string> models(1000, made.model());
  const auto result = predict_sweep(request, models, {}, events);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::Interrupted);
  EXPECT_THAT(result.error().message, HasSubstr("of 1000 points"));
}

TEST(PredictSweep, PointsOfAnotherDeviceOrVersionAreErrors) {
  testing::PredictedTable made;
  const std::string hash = must(plan::model_hash(made.faster()));
  const auto add = [&](table::DeviceId device, const table::Setting& setting) {
    const auto id = made.small().setting(setting);
    made.small().row(device, id, test::kCopy250, std::nullopt, test::timing(7000));
    table::Plan plan;
    plan.model = "faster.onnx";
    plan.identity = plan::identity(hash, {}, setting, "", {});
    plan.kernels = {{"a", test::kCopy250, 1}};
    must(made.small().table().put_plan(plan));
  };
  add(made.small().device("other"), test::setting_of(2));
  add(made.device(), test::setting_of(4, "replay", "2.0"));
  add(made.device(), test::setting_of(8));
  CollectedEvents events;
  PredictRequest request;
  request.table = made.path();
  const SweepResult result = must(
      predict_sweep(request, std::vector<std::string>{made.faster()}, {{1, 2, 4, 8}, {}}, events));
  ASSERT_EQ(result.sweep.points.size(), 4U);
  EXPECT_EQ(result.sweep.device.name, "desk");
  EXPECT_EQ(result.sweep.points[0].latency_ns, 1000);
  EXPECT_THAT(result.sweep.points[1].error, HasSubstr("give --device"));
  EXPECT_EQ(result.sweep.points[1].latency_ns, std::nullopt);
  EXPECT_THAT(result.sweep.points[2].error, HasSubstr("give --runtime-version"));
  EXPECT_EQ(result.sweep.points[3].latency_ns, 7000);
  EXPECT_EQ(result.first_error->code, Code::Usage);
}

/// Collects what is said in passing.
class Notes : public Events {
 public:
  void note(std::string_view text) override { all.emplace_back(text); }
  std::vector<std::string> all;
};

class BatchTest : public ::testing::Test {
 protected:
  /// x f32[N,4], or with another name or number for its first dimension.
  std::string model_with(const std::string& batch) {
    formats::onnx::wire::Model model = formats::onnx::testing::small_model();
    auto& dim = *model.mutable_graph()
                     ->mutable_input(0)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape()
                     ->mutable_dim(0);
    if (const auto number = base::parse_int(batch))
      dim.set_dim_value(*number);
    else
      dim.set_dim_param(batch);
    const std::string path = (folder_.path() / "net.onnx").string();
    std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    return path;
  }

  base::TemporaryFolder folder_ = must(base::TemporaryFolder::create("oplat-batch"));
  Notes notes_;
};

TEST_F(BatchTest, AnOpenBatchIsOneWhichIsSaid) {
  const ModelInputs settled = must(settle_batch(model_with("N"), {}, notes_));
  EXPECT_EQ(settled.shapes.batch, 1);
  EXPECT_THAT(notes_.all, ElementsAre(HasSubstr("its batch is open; batch 1 is taken")));
}

TEST_F(BatchTest, WhatIsNoBatchStaysOpen) {
  EXPECT_EQ(must(settle_batch(model_with("length"), {}, notes_)).shapes.batch, std::nullopt);
  EXPECT_THAT(notes_.all, IsEmpty());
}

TEST_F(BatchTest, AFixedBatchIsRewrittenWhichIsSaid) {
  const std::string fixed = model_with("1");
  EXPECT_EQ(must(settle_batch(fixed, {}, notes_)).shapes.batch, std::nullopt);
  EXPECT_THAT(notes_.all, IsEmpty());
  const ModelInputs asked{.shapes = {.shapes = {}, .batch = 8}, .data = {}};
  EXPECT_EQ(must(settle_batch(fixed, asked, notes_)).shapes.batch, 8);
  EXPECT_THAT(notes_.all, ElementsAre(HasSubstr("fixes batch 1; it is rewritten to batch 8")));
  EXPECT_EQ(rewritten_batch(fixed, asked), 1);
  EXPECT_EQ(rewritten_batch(model_with("N"), asked), std::nullopt);
}

TEST_F(BatchTest, AModelWithoutAPlanHasTheBatchOfItsFile) {
  MeasureRequest request;
  request.models = {model_with("8")};
  request.runtime.runtime = "replay";  // a name that is known; the worker says what it is
  request.runtime.worker_command = {OPLAT_FAKE_WORKER, "planless"};
  CollectedEvents events;
  const MeasureResult result = must(measure_models(request, events));
  ASSERT_EQ(result.measurement.models.size(), 1U);
  EXPECT_EQ(result.measurement.models[0].batch, 8);
  EXPECT_THAT(events.warnings, Contains(HasSubstr("has no plan: ")));
  // Nobody compares what it computes with another batch.
  request.inputs.shapes.batch = 4;
  EXPECT_EQ(measure_models(request, events).error().code, Code::Runtime);
}

}  // namespace
}  // namespace oplat::app
