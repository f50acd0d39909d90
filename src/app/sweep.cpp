// SPDX-License-Identifier: Apache-2.0
#include "app/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "base/without_repeats.hpp"
#include "compat/registry.hpp"

namespace oplat::app {
namespace {

using SweepClock = std::chrono::steady_clock;

struct SweepPlace {
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> batch;
};

/// Every batch with every number of threads, in the order in which they were given.
std::vector<SweepPlace> places_of(const SweepAxes& axes, std::optional<std::int64_t> threads,
                                  std::optional<std::int64_t> batch) {
  std::vector<std::optional<std::int64_t>> all_threads(axes.threads.begin(), axes.threads.end());
  if (all_threads.empty()) all_threads = {threads};
  std::vector<std::optional<std::int64_t>> batches(axes.batches.begin(), axes.batches.end());
  if (batches.empty()) batches = {batch};
  std::vector<SweepPlace> places;
  for (const auto& one : all_threads)
    for (const auto& each : batches) places.push_back({one, each});
  return places;
}

/// Shares of a budget: what is left, by the points that are left.
class SharedBudget {
 public:
  SharedBudget(std::optional<double> seconds, std::size_t points)
      : seconds_(seconds), left_(points), start_(SweepClock::now()) {}
  std::optional<double> next() {
    if (!seconds_) return std::nullopt;
    const double spent = std::chrono::duration<double>(SweepClock::now() - start_).count();
    const double share = (*seconds_ - spent) / static_cast<double>(left_);
    left_ = std::max<std::size_t>(1, left_ - 1);
    return std::max(share, kMinSecondsOfPoint);
  }

 private:
  std::optional<double> seconds_;
  std::size_t left_;
  SweepClock::time_point start_;
};

void add_error(SweepResult& result, const std::vector<std::string>& models, const SweepPlace& place,
               const Error& error) {
  for (const std::string& model : models)
    result.sweep.points.push_back(
        {.path = model, .threads = place.threads, .batch = place.batch, .error = error.message});
  if (!result.first_error) result.first_error = error;
}

/// What a budget does not reach is an error of a measurement (OfBudget::Fails), and of a profile
/// what its next run goes on with.
enum class OfBudget { Fails, Waits };

void add_lines(SweepResult& result, const std::vector<std::string>& models, const SweepPlace& place,
               const report::Measurement& measurement, const measure::Summary& summary,
               OfBudget of_budget) {
  if (result.sweep.setting.runtime.empty()) {
    result.sweep.device = measurement.device;
    result.sweep.setting = measurement.setting;
  }
  result.refusals.insert(result.refusals.end(), summary.refusals.begin(), summary.refusals.end());
  result.interrupted = result.interrupted || summary.interrupted;
  result.budget_ended = result.budget_ended || summary.budget_ended;
  result.unmeasured += summary.kernels.left + summary.models.left;
  result.rough += summary.kernels.few + summary.models.few;
  for (const std::string& model : models) {
    const auto line = std::find_if(measurement.models.begin(), measurement.models.end(),
                                   [&](const auto& one) { return one.path == model; });
    report::Sweep::Point point{.path = model, .threads = place.threads, .batch = place.batch};
    if (line != measurement.models.end()) {
      point.batch = line->batch;
      point.latency_ns = line->timing.median_ns;
      point.inferences = line->inferences;
    } else {
      const auto failure = std::find_if(measurement.failed.begin(), measurement.failed.end(),
                                        [&](const auto& one) { return one.path == model; });
      const Error error =
          failure != measurement.failed.end()
              ? failure->error
              : Error{Code::Runtime, "it has no time; a warning says why it was left out"};
      point.error = error.message;
      const bool waits = of_budget == OfBudget::Waits && failure != measurement.failed.end() &&
                         failure->budget_ended;
      if (!result.first_error && !waits) result.first_error = error;
    }
    result.sweep.points.push_back(std::move(point));
  }
}

Result<SweepResult> finished(SweepResult result) {
  const auto& points = result.sweep.points;
  const bool any = std::any_of(points.begin(), points.end(),
                               [](const auto& point) { return point.latency_ns.has_value(); });
  if (any || !result.first_error) return result;
  if (result.interrupted && result.first_error->code != Code::Interrupted)
    return fail(Code::Interrupted, "stopped before any point had a time; the first has none: {}",
                result.first_error->message);
  return fail(*result.first_error);
}

/// Points are compared by one statistic: the mean of single inferences where all have them.
Result<SweepResult> finished_measurement(SweepResult result, Events& events) {
  auto& sweep = result.sweep;
  sweep.means = std::all_of(sweep.points.begin(), sweep.points.end(), [](const auto& point) {
    return !point.latency_ns || point.inferences;
  });
  for (auto& point : sweep.points)
    if (sweep.means && point.latency_ns) point.latency_ns = point.inferences->mean_ns;
  if (!sweep.means)
    events.warn(
        fmt::format("single inferences of some points are not known; the latency of all is "
                    "the {}",
                    report::kBlockStatistic));
  return finished(std::move(result));
}

/// Whether the points that are there are the result, although the next was interrupted while it
/// started.
bool was_stopped(SweepResult& result, const Error& error) {
  if (error.code != Code::Interrupted || result.sweep.points.empty()) return false;
  result.interrupted = true;
  return true;
}

bool ends_a_sweep(const Error& error) {
  return error.code == Code::Interrupted || error.code == Code::Write;
}

}  // namespace

SweepAxes axes_of(const std::vector<std::int64_t>& threads,
                  const std::vector<std::int64_t>& batches) {
  return {base::without_repeats(threads), base::without_repeats(batches)};
}

Status check_sweep_form(std::string_view form, std::string_view flag) {
  if (!flag.empty())
    return fail(Code::Usage, "{}: not of several threads or batches; give one of each", flag);
  if (form == "html" || form == "jsonl")
    return fail(Code::Usage,
                "--format {}: not of several threads or batches; use text, json or csv", form);
  return {};
}

std::string budget_end_text(const SweepResult& result, std::string_view way_on) {
  if (!result.budget_ended || result.unmeasured + result.rough == 0) return {};
  return fmt::format(
      "the budget ended with {} models and rows unmeasured and {} with fewer blocks than the "
      "minimum, over all points; {}",
      result.unmeasured, result.rough, way_on);
}

Status require_points(const SweepResult& result, std::string_view way_on) {
  if (result.interrupted) return fail(Code::Interrupted, "stopped; {}", way_on);
  const auto& points = result.sweep.points;
  if (std::none_of(points.begin(), points.end(), [](const auto& one) { return one.latency_ns; }))
    return fail(Code::Runtime, "no model could be measured");
  return {};
}

Status require_profiled(const SweepResult& result) {
  if (result.first_error) return fail(*result.first_error);
  if (result.without_kernels == 0) return {};
  return fail(Code::Runtime,
              "every kernel failed in {} of {} settings; the reasons are above and in the table",
              result.without_kernels, result.profiled);
}

Result<SweepResult> measure_sweep(const MeasureRequest& request, const SweepAxes& axes,
                                  Events& events) {
  SweepResult result;
  const auto places = places_of(axes, request.runtime.threads, request.inputs.shapes.batch);
  SharedBudget budget(request.campaign.budget_s, places.size());
  for (const SweepPlace& place : places) {
    MeasureRequest one = request;
    one.runtime.threads = place.threads.value_or(request.runtime.threads);
    one.inputs.shapes.batch = place.batch;
    one.campaign.budget_s = budget.next();
    auto made = measure_models(one, events);
    if (!made) {
      if (was_stopped(result, made.error())) break;
      if (ends_a_sweep(made.error())) return fail(std::move(made).error());
      add_error(result, request.models, place, made.error());
      continue;
    }
    add_lines(result, request.models, place, made->measurement, made->summary, OfBudget::Fails);
    if (result.interrupted) break;
  }
  return finished_measurement(std::move(result), events);
}

Result<SweepResult> profile_sweep(const ProfileRequest& request, const SweepAxes& axes,
                                  Events& events,
                                  const std::function<void(const ProfileResult&)>& profiled) {
  if (!request.space.empty() || !request.like.empty())
    return fail(Code::Usage,
                "--space and --like take one number of threads and one batch; run the command once "
                "for each, into one table");
  if (request.models.empty())
    return fail(Code::Usage, "several --threads or --batch need models; give --model FILE");
  SweepResult result;
  const auto places = places_of(axes, request.runtime.threads, request.inputs.shapes.batch);
  SharedBudget budget(request.campaign.budget_s, places.size());
  for (const SweepPlace& place : places) {
    ProfileRequest one = request;
    one.runtime.threads = place.threads.value_or(request.runtime.threads);
    one.inputs.shapes.batch = place.batch;
    one.campaign.budget_s = budget.next();
    one.campaign.need_inferences = true;
    auto made = profile(one, events);
    if (!made) {
      if (was_stopped(result, made.error())) break;
      if (ends_a_sweep(made.error())) return fail(std::move(made).error());
      add_error(result, request.models, place, made.error());
      continue;
    }
    ++result.profiled;
    if (made->every_kernel_failed()) ++result.without_kernels;
    if (profiled) profiled(*made);
    add_lines(result, request.models, place, made->measured, made->summary, OfBudget::Waits);
    if (result.interrupted) break;
  }
  return finished_measurement(std::move(result), events);
}

namespace {

/// Code::Usage if a later point is not of the device and runtime that the document names.
Status check_same_rows(const report::Sweep& sweep, const predict::Prediction& later) {
  const auto differs = [](std::string_view what, const std::string& is, const std::string& first,
                          std::string_view flag) -> Status {
    if (is == first) return {};
    return fail(Code::Usage,
                "its rows are of {} {}, those of the first point of {}; give {} to compare points "
                "of one",
                what, base::printable(is, 400), base::printable(first, 400), flag);
  };
  const table::Setting& setting = later.setting;
  OPLAT_CHECK(differs("device", later.device.name, sweep.device.name, "--device"));
  OPLAT_CHECK(differs("runtime", setting.runtime, sweep.setting.runtime, "--runtime"));
  OPLAT_CHECK(differs("version", setting.version, sweep.setting.version, "--runtime-version"));
  OPLAT_CHECK(differs("precision", setting.precision, sweep.setting.precision, "--precision"));
  std::map<std::string, std::string> all = setting.options;
  all.insert(sweep.setting.options.begin(), sweep.setting.options.end());
  const auto value = [](const table::Setting& of, const std::string& name) {
    const auto found = of.options.find(name);
    return fmt::format("{}={}", name, found == of.options.end() ? "" : found->second);
  };
  for (const auto& [name, unused] : all)
    OPLAT_CHECK(differs("option", value(setting, name), value(sweep.setting, name), "--option"));
  return {};
}

using PredictOne = std::function<Result<PredictResult>(const PredictRequest&, Events&)>;

void predict_point(SweepResult& result, const PredictRequest& request, const SweepPlace& place,
                   const PredictOne& predict_one, Events& events) {
  PredictRequest one = request;
  one.rows.threads = place.threads;
  one.inputs.shapes.batch = place.batch;
  auto made = predict_one(one, events);
  if (made) {
    const auto complete = predict::require_complete(made->prediction);
    if (!complete) made = fail(complete.error());
  }
  if (!made) {
    add_error(result, {request.model}, place, made.error());
    return;
  }
  const predict::Prediction& prediction = made->prediction;
  if (result.sweep.setting.runtime.empty()) {
    result.sweep.device = prediction.device;
    result.sweep.setting = prediction.setting;
  }
  if (const Status same = check_same_rows(result.sweep, prediction); !same) {
    add_error(result, {request.model}, place, same.error());
    return;
  }
  for (const std::string& warning : prediction.warnings)
    events.warn(fmt::format("threads {}, batch {}: {}", prediction.setting.threads,
                            prediction.batch, warning));
  result.sweep.points.push_back({.path = request.model,
                                 .threads = prediction.setting.threads,
                                 .batch = prediction.batch,
                                 .latency_ns = prediction.latency_ns,
                                 .interval = prediction.interval});
}

Result<SweepResult> predict_points(const PredictRequest& request,
                                   std::span<const std::string> models, const SweepAxes& axes,
                                   const PredictOne& predict_one, Events& events) {
  SweepResult result;
  result.sweep.measured = false;
  result.sweep.level = request.options.level;
  const auto places = places_of(axes, request.rows.threads, request.inputs.shapes.batch);
  for (const std::string& model : models) {
    PredictRequest one = request;
    one.model = model;
    for (const SweepPlace& place : places) {
      if (events.cancelled())
        return fail(Code::Interrupted, "stopped after {} of {} points", result.sweep.points.size(),
                    models.size() * places.size());
      predict_point(result, one, place, predict_one, events);
    }
  }
  return finished(std::move(result));
}

}  // namespace

Result<SweepResult> predict_sweep(const PredictRequest& request,
                                  std::span<const std::string> models, const SweepAxes& axes,
                                  Events& events) {
  return predict_points(
      request, models, axes,
      [](const PredictRequest& one, Events& said) { return predict(one, said); }, events);
}

Result<SweepResult> predict_sweep(const PredictRequest& request,
                                  std::span<const std::string> models, const SweepAxes& axes,
                                  OpenedTable& table, Events& events) {
  return predict_points(
      request, models, axes,
      [&table](const PredictRequest& one, Events& said) { return predict(one, table, said); },
      events);
}

}  // namespace oplat::app
