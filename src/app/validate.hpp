// SPDX-License-Identifier: Apache-2.0
/// Use case: models predicted from a table next to the same models measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/campaign.hpp"
#include "predict/validation.hpp"

namespace oplat::app {

struct ValidateRequest {
  std::vector<std::string> models;  ///< paths
  ModelInputs inputs;               ///< of every model
  std::string table;                ///< path; only read
  RuntimeRequest runtime;
  double level = 0.9;            ///< of the predicted interval
  bool fitted = true;            ///< as predict::RowFilter
  bool measure_anew = false;     ///< also models whose time the table holds
  bool need_inferences = false;  ///< measure models whose single inferences the table lacks
  std::string record;            ///< what asked for it: stored with the scratch campaign
};

struct ValidateResult {
  predict::Validation validation;          ///< of the models that have a measured time
  std::size_t unmeasured = 0;              ///< models without one, or without a plan
  std::size_t incomplete = 0;              ///< models with kernels that have no estimate
  std::vector<measure::Refusal> refusals;  ///< why models were not measured now
  bool interrupted = false;                ///< before every model was measured
};

/// Checks the runtime's name, the model files and the table, starts the
/// runtime, selects the rows of its setting, and measures into a scratch table
/// what the table lacks. Once `events` say cancelled, the models that have a time are the result;
/// Code::Interrupted if none has.
Result<ValidateResult> validate(const ValidateRequest& request, Events& events);

/// Code::Interrupted if it was stopped; Code::Runtime if models could not be measured;
/// Code::Missing if kernels have no estimate.
Status require_validated(const ValidateRequest& request, const ValidateResult& result);

}  // namespace oplat::app
