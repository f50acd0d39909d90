// SPDX-License-Identifier: Apache-2.0
/// Use case: measure whole models end to end.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/campaign.hpp"
#include "report/report_model.hpp"

namespace oplat::app {

struct MeasureRequest {
  std::vector<std::string> models;  ///< paths
  ModelInputs inputs;               ///< of every model
  std::string table;                ///< path; made if it is not there; empty: nothing is kept
  RuntimeRequest runtime;
  CampaignOptions campaign;  ///< `retry_refused` counts as set
  bool per_op = false;       ///< also what kernels take inside each model
};

/// What `table` holds of `models` under the session's setting, in their order: those of `planned`
/// that have a time, and why the others have none. `unplanned`: the models that have no plan;
/// `summary`: of the campaign that measured the rest.
Result<report::Measurement> measurement_of(const table::Table& table,
                                           std::span<const std::string> models,
                                           std::span<const PlannedModel> planned,
                                           std::span<const UnplannedModel> unplanned,
                                           const Session& session, const measure::Summary& summary);

struct MeasureResult {
  report::Measurement measurement;  ///< every model of the request, with its time or its error
  measure::Summary summary;         ///< of this campaign; refusals say why a model has no time
};

/// What may be done after a measurement that a budget or an interruption ended early: `way_on` to
/// what is left, and what became of the rest.
struct MeasureEnd {
  std::string_view way_on;
  std::string_view kept;
};
MeasureEnd end_of(const MeasureRequest& request);

/// Checks the runtime's name and the model files, starts the runtime, measures. Of several models,
/// one that fails is one with an error in the measurement, whatever it fails with; one model alone
/// fails with it unless the runtime refuses to run it.
Result<MeasureResult> measure_models(const MeasureRequest& request, Events& events);

}  // namespace oplat::app
