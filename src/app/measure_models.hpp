// SPDX-License-Identifier: Apache-2.0
/// Use case: measure whole models end to end.
#pragma once

#include <span>
#include <string>
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
};

/// The models that have a time in `table`, under the session's setting, in their order.
Result<report::Measurement> measurement_of(const table::Table& table,
                                           std::span<const PlannedModel> planned,
                                           const Session& session);

struct MeasureResult {
  report::Measurement measurement;  ///< models that have a time, in the order of the request
  measure::Summary summary;         ///< of this campaign; refusals say why a model has no time
};

/// Checks the runtime's name and the model files, starts the runtime, measures.
/// A model that fails is a refusal, not an error.
Result<MeasureResult> measure_models(const MeasureRequest& request, Events& events);

}  // namespace oplat::app
