// SPDX-License-Identifier: Apache-2.0
/// Use cases on whole models: plan, measure, validate; and the list of runtimes.
#include <gmock/gmock.h>

#include <algorithm>

#include "app/measure_models.hpp"
#include "app/plan.hpp"
#include "app/profile.hpp"
#include "app/runtimes.hpp"
#include "app/validate.hpp"
#include "unit/app/recording.hpp"

namespace oplat::app {
namespace {

using ::testing::HasSubstr;

class ModelsTest : public RecordingTest {
 protected:
  /// The recorded model into t.oplat.
  void profile_model() {
    ProfileRequest request;
    request.models = {path(kModel)};
    request.table = path("t.oplat");
    request.runtime = replay();
    ASSERT_TRUE(profile(request, events_));
  }
};

TEST_F(ModelsTest, PlanIsTheRuntimes) {
  RuntimePlanRequest request;
  request.model = path(kModel);
  request.runtime = replay();
  const auto plan = runtime_plan(request, events_);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->identity, kIdentity);
  ASSERT_EQ(plan->kernels.size(), 1U);
  EXPECT_EQ(plan->kernels[0].key, key(1));
  request.model = write("other.onnx", {"not recorded"});
  const auto other = runtime_plan(request, events_);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("holds no plan of it"));
}

/// Cancels once so many models are planned.
class StopsPlanning : public CollectedEvents {
 public:
  explicit StopsPlanning(int after) : after_(after) {}
  void progress(const Progress& progress) override {
    if (progress.what == "planning") ++planning_;
  }
  bool cancelled() override { return planning_ > after_; }

 private:
  int after_;
  int planning_ = 0;
};

TEST_F(ModelsTest, PlansThatWereMadeBeforeAnInterruptionAreKept) {
  RuntimePlanRequest request;
  request.runtime = replay();
  StopsPlanning events(2);
  const auto planned =
      runtime_plans(request, {path(kModel), path("gone.onnx"), path(kModel), path(kModel)}, events);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(planned->size(), 3U) << "nobody waits for the fourth";
  EXPECT_TRUE((*planned)[0].plan);
  ASSERT_FALSE((*planned)[1].plan);
  EXPECT_EQ((*planned)[1].plan.error().code, Code::Input);
  ASSERT_FALSE((*planned)[2].plan);
  EXPECT_EQ((*planned)[2].plan.error().code, Code::Interrupted);
  StopsPlanning at_once(-1);
  EXPECT_FALSE(runtime_plans(request, {path(kModel)}, at_once)) << "no runtime is started";
}

TEST_F(ModelsTest, PlansAreAskedOfARuntimeOrMadeByRules) {
  PlanRequest request;
  request.models = {path(kModel)};
  request.runtime.request = replay();
  const report::PlanList one = test::must(plan_models(request, events_));
  ASSERT_EQ(one.models.size(), 1U);
  ASSERT_TRUE(one.models[0].plan);
  EXPECT_EQ(one.models[0].plan->plan.identity, kIdentity);
  request.models.push_back(path("gone.onnx"));
  request.is_list = true;
  const report::PlanList several = test::must(plan_models(request, events_));
  ASSERT_EQ(several.models.size(), 2U);
  EXPECT_EQ(several.models[1].error->code, Code::Input);
  // By rules a runtime is not asked.
  request.rules = "rules:onnxruntime";
  EXPECT_THAT(plan_models(request, events_).error().message,
              HasSubstr("--plan rules:onnxruntime and --runtime replay: use only one of them"));
  request.runtime.request.runtime.clear();
  request.runtime.worker = "ssh host oplat worker onnxruntime";
  EXPECT_THAT(plan_models(request, events_).error().message, HasSubstr("and --worker: use only"));
  request.runtime.worker.reset();
  request.rules = "rules:none";
  EXPECT_EQ(plan_models(request, events_).error().code, Code::Usage);
  request.rules = "rules:onnxruntime";
  request.models = {path("gone.onnx")};
  EXPECT_EQ(test::must(plan_models(request, events_)).models[0].error->code, Code::Input);
  EXPECT_THAT(events_.warnings, ::testing::IsEmpty()) << "about plans, of which there are none";
  request.is_list = false;
  EXPECT_EQ(plan_models(request, events_).error().code, Code::Input);
}

TEST_F(ModelsTest, MeasureKeepsATableOnlyIfOneIsNamed) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  for (const char* name : {"", "kept.oplat"}) {
    request.table = *name == '\0' ? "" : path(name);
    const auto result = measure_models(request, events_);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(result->measurement.models.size(), 1U);
    EXPECT_NEAR(result->measurement.models[0].timing.median_ns, kModelNs, kModelNs / 100);
    EXPECT_EQ(result->measurement.models[0].path, path(kModel));
    EXPECT_EQ(result->measurement.device.name, "bench");
    EXPECT_EQ(result->summary.models.measured(), 1);
    EXPECT_EQ(result->summary.kernels.total, 0);
  }
  EXPECT_TRUE(std::filesystem::exists(path("kept.oplat")));
}

TEST_F(ModelsTest, OfSeveralModelsTheOnesThatFailHaveTheirErrors) {
  MeasureRequest request;
  request.models = {path("gone.onnx"), path(kModel), write("other.onnx", {"not recorded"}),
                    path(kModel)};
  request.runtime = replay();
  const auto result = measure_models(request, events_);
  ASSERT_TRUE(result) << result.error().message;
  const report::Measurement& measurement = result->measurement;
  ASSERT_EQ(measurement.models.size(), 2U);
  EXPECT_EQ(measurement.models[1].path, path(kModel));
  ASSERT_EQ(measurement.failed.size(), 2U);
  EXPECT_EQ(measurement.failed[0].position, 0U);
  EXPECT_EQ(measurement.failed[0].error.code, Code::Input);
  EXPECT_EQ(measurement.failed[0].error.message, path("gone.onnx") + ": no such file");
  EXPECT_EQ(measurement.failed[1].position, 2U);
  EXPECT_EQ(measurement.failed[1].path, path("other.onnx"));
  EXPECT_THAT(measurement.failed[1].error.message, HasSubstr("holds no plan of it"));
  EXPECT_THAT(events_.warnings, ::testing::IsEmpty()) << "the entries say it";

  request.models = {path("gone.onnx"), path("gone, too.onnx")};
  const auto none = measure_models(request, events_);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->measurement.models.empty());
  ASSERT_EQ(none->measurement.failed.size(), 2U);
  EXPECT_EQ(none->measurement.failed[1].position, 1U);
  EXPECT_EQ(none->measurement.device.name, "bench");
  request.models.pop_back();
  EXPECT_FALSE(measure_models(request, events_)) << "one model alone is the command's error";
}

TEST_F(ModelsTest, ValidateCountsModelsWithoutAPlanAsUnmeasured) {
  profile_model();
  ValidateRequest request;
  request.models = {path(kModel), write("other.onnx", {"not recorded"})};
  request.table = path("t.oplat");
  request.runtime = replay();
  const auto result = validate(request, events_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->validation.models.size(), 1U);
  EXPECT_EQ(result->unmeasured, 1U);
  // A gate on percentiles has the model measured, though the table holds its time.
  events_.measuring = 0;
  request.need_inferences = true;
  const auto inferences = validate(request, events_);
  ASSERT_TRUE(inferences) << inferences.error().message;
  EXPECT_GT(events_.measuring, 0);
  ASSERT_EQ(inferences->validation.models.size(), 1U);
  EXPECT_FALSE(inferences->validation.models[0].inferences) << "replayed times have none";
}

TEST_F(ModelsTest, MeasureSaysWhenItWasCancelled) {
  MeasureRequest request;
  request.models = {path(kModel)};
  request.runtime = replay();
  events_.cancel_after = 0;
  const auto before = measure_models(request, events_);
  ASSERT_FALSE(before) << "no runtime is started for nothing";
  EXPECT_EQ(before.error().code, Code::Interrupted);
  events_.cancel_after = 1;
  const auto within = measure_models(request, events_);
  ASSERT_TRUE(within) << within.error().message;
  EXPECT_TRUE(within->summary.interrupted);
}

TEST_F(ModelsTest, ValidatePredictsAndTakesTheTablesTimes) {
  profile_model();
  ValidateRequest request;
  request.models = {path(kModel)};
  request.table = path("t.oplat");
  request.runtime = replay();
  events_.measuring = 0;
  const auto stored = validate(request, events_);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(events_.measuring, 0) << "the table holds the model's time";
  ASSERT_EQ(stored->validation.models.size(), 1U);
  EXPECT_NEAR(stored->validation.models[0].measured.median_ns, kModelNs, kModelNs / 100);
  EXPECT_TRUE(stored->validation.models[0].predicted_ns);
  EXPECT_EQ(stored->unmeasured, 0U);
  EXPECT_EQ(stored->incomplete, 0U);

  request.measure_anew = true;
  const auto fresh = validate(request, events_);
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_GT(events_.measuring, 0);
  ASSERT_EQ(fresh->validation.models.size(), 1U);

  events_.cancel_after = events_.measuring + 1;
  const auto cut = validate(request, events_);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Code::Interrupted);
}

TEST_F(ModelsTest, ValidateThatIsStoppedHasTheModelsThatAreDone) {
  profile_model();
  {
    // Another model of the same kernel, whose time the table lacks.
    auto recorded = test::must(table::Table::open(path("recorded.oplat"), table::Mode::Write));
    const std::string bytes = test::must(base::read_file(path(kModel), 1 << 20));
    ASSERT_TRUE(base::write_file(path("b.onnx"), bytes));
    table::Plan plan;
    plan.model = "b.onnx";
    plan.identity = std::string(32, 'b');
    plan.kernels = {{"n0", key(1), 1}};
    ASSERT_TRUE(recorded.put_plan(plan));
    table::ModelRow row;
    row.name = plan.model;
    row.plan_identity = plan.identity;
    row.outcome = timing(kModelNs);
    const auto contexts = test::must(recorded.context_outlines());
    ASSERT_TRUE(recorded.put_model_row(contexts.front().device, contexts.front().setting,
                                       std::nullopt, row));
  }
  ValidateRequest request;
  request.models = {path(kModel), path("b.onnx")};
  request.table = path("t.oplat");
  request.runtime = replay();
  StopsAt events("measuring", 1);
  const auto result = validate(request, events);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->interrupted);
  ASSERT_FALSE(result->validation.models.empty());
  EXPECT_EQ(result->validation.models[0].name, kModel);
  EXPECT_EQ(require_validated(request, *result).error().code, Code::Interrupted);
}

TEST_F(ModelsTest, AModelThatTheBudgetDidNotReachWaits) {
  const std::vector<std::string> models = {path(kModel)};
  Session session = test::must(start_session(replay(), events_));
  const auto planned = test::must(plan_models(session, models, {}, events_));
  const auto table = test::must(table::Table::open(path("t.oplat"), table::Mode::Create));
  measure::Summary summary;
  summary.budget_ended = true;
  const auto left = test::must(measurement_of(table, models, planned, {}, session, summary));
  ASSERT_EQ(left.failed.size(), 1U);
  EXPECT_TRUE(left.failed[0].budget_ended);
  EXPECT_THAT(left.failed[0].error.message, HasSubstr("set a larger --budget"));
  summary.refusals.push_back({kModel, "failed", "it crashed"});
  const auto refused = test::must(measurement_of(table, models, planned, {}, session, summary));
  ASSERT_EQ(refused.failed.size(), 1U);
  EXPECT_FALSE(refused.failed[0].budget_ended);
}

TEST_F(ModelsTest, MeasureThatIsStoppedWhileItProfilesHasTheTimes) {
  MeasureRequest request;
  request.models = {path(kModel), path(kModel)};
  request.runtime.runtime = "replay";  // a name that is known; the worker says what it is
  request.runtime.worker_command = {OPLAT_FAKE_WORKER, "unlike"};
  request.per_op = true;
  StopsAt events("profiling", 2);
  const auto result = measure_models(request, events);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->summary.interrupted);
  ASSERT_EQ(result->measurement.models.size(), 2U);
  EXPECT_TRUE(result->measurement.models[0].in_model);
  EXPECT_FALSE(result->measurement.models[1].in_model);
}

TEST_F(ModelsTest, ValidateCountsModelsWithMissingKernels) {
  ProfileRequest other_kernel;
  other_kernel.keys_file = write("keys.txt", {key(7)});
  other_kernel.table = path("t.oplat");
  other_kernel.runtime = replay();
  ASSERT_TRUE(profile(other_kernel, events_));
  ValidateRequest request;
  request.models = {path(kModel)};
  request.table = path("t.oplat");
  request.runtime = replay();
  const auto result = validate(request, events_);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->incomplete, 1U);
  ASSERT_EQ(result->validation.models.size(), 1U);
  EXPECT_THAT(result->validation.models[0].missing, ::testing::ElementsAre(key(1)));
}

TEST_F(ModelsTest, RuntimesAnswerForThemselves) {
  using Runtime = report::RuntimeList::Runtime;
  const auto list = list_runtimes({.executable = OPLAT_EXECUTABLE}, events_);
  ASSERT_TRUE(list) << list.error().message;
  const std::vector<Runtime>& runtimes = list->runtimes;
  const auto named = [&](const std::string& name) {
    const auto at = std::find_if(runtimes.begin(), runtimes.end(),
                                 [&](const Runtime& runtime) { return runtime.name == name; });
    return at == runtimes.end() ? Runtime{} : *at;
  };
  const Runtime reference = named("reference");
  EXPECT_TRUE(reference.available) << reference.why;
  EXPECT_FALSE(reference.version.empty());
  EXPECT_TRUE(named("replay").available);
  EXPECT_THAT(named("replay").why, HasSubstr("needs a table"));
  for (const Runtime& runtime : runtimes) {
    EXPECT_FALSE(runtime.description.empty()) << runtime.name;
    EXPECT_TRUE(runtime.available || !runtime.why.empty()) << runtime.name << " does not say why";
  }
}

}  // namespace
}  // namespace oplat::app
