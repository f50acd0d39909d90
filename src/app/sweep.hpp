// SPDX-License-Identifier: Apache-2.0
/// Use cases over several numbers of threads and several batches: measure, profile or predict each
/// of them in turn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/measure_models.hpp"
#include "app/predict.hpp"
#include "app/profile.hpp"
#include "report/sweep.hpp"

namespace oplat::app {

/// What a sweep goes through: every batch with every number of threads.
struct SweepAxes {
  std::vector<std::int64_t> threads;  ///< empty: as the request says
  std::vector<std::int64_t> batches;  ///< likewise
  [[nodiscard]] bool is_sweep() const { return threads.size() > 1 || batches.size() > 1; }
};

/// Of what was typed: what is given twice counts once.
SweepAxes axes_of(const std::vector<std::int64_t>& threads,
                  const std::vector<std::int64_t>& batches);

/// Code::Usage for what the document of a sweep does not come in, or does not have: a page, lines
/// of JSON, kernels, which `flag` asks for; empty: nothing does.
Status check_sweep_form(std::string_view form, std::string_view flag = {});

struct SweepResult {
  report::Sweep sweep;
  std::vector<measure::Refusal> refusals;  ///< why models have no time
  bool interrupted = false;
  bool budget_ended = false;         ///< before every point was precise
  std::int64_t unmeasured = 0;       ///< models and rows of kernels that it left without a time
  std::int64_t rough = 0;            ///< those that have fewer blocks than the minimum
  std::optional<Error> first_error;  ///< of a point, in their order
  int profiled = 0;                  ///< settings that were profiled
  int without_kernels = 0;           ///< of these, those of which every kernel failed
};
/// As budget_end_text() of one campaign, over all points.
std::string budget_end_text(const SweepResult& result, std::string_view way_on);
/// Code::Interrupted with `way_on` if it was stopped; Code::Runtime if no point has a time.
Status require_points(const SweepResult& result, std::string_view way_on);
/// Of a profile, the first error of a point, which is not that a budget ended; Code::Runtime if
/// every kernel of a setting failed.
Status require_profiled(const SweepResult& result);

/// Starting the runtime and planning take some of a sweep's budget, and would leave nothing for its
/// last points.
inline constexpr double kMinSecondsOfPoint = 3;

/// Measures each point. The budget is that of the whole sweep: each point gets an equal share of
/// what is left, and kMinSecondsOfPoint at least. A point that cannot be measured is one with an
/// error. The first error is that of the sweep if no point has a time.
Result<SweepResult> measure_sweep(const MeasureRequest& request, const SweepAxes& axes,
                                  Events& events);
/// Profiles each point of models into the request's table; Code::Usage if it has none, or a space
/// or models to be like. `profiled`, if not empty, gets what became of
/// each.
Result<SweepResult> profile_sweep(const ProfileRequest& request, const SweepAxes& axes,
                                  Events& events,
                                  const std::function<void(const ProfileResult&)>& profiled = {});
/// Predicts each point of each model; `request.model` is not looked at. Missing kernels are a
/// point's error. Code::Interrupted once `events` say cancelled.
Result<SweepResult> predict_sweep(const PredictRequest& request,
                                  std::span<const std::string> models, const SweepAxes& axes,
                                  Events& events);
/// The same by a table that is open; `request.table` is not looked at. One thread at a time.
Result<SweepResult> predict_sweep(const PredictRequest& request,
                                  std::span<const std::string> models, const SweepAxes& axes,
                                  OpenedTable& table, Events& events);

}  // namespace oplat::app
