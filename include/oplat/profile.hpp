// SPDX-License-Identifier: Apache-2.0
/// Measuring the kernels of models into a table, from which other models are predicted.
#pragma once

#include <string>
#include <vector>

#include "oplat/events.hpp"
#include "oplat/graph.hpp"
#include "oplat/measure.hpp"
#include "oplat/result.hpp"

namespace oplat {

struct ProfileRequest {
  std::vector<std::string> models = {};  ///< paths; the models are measured end to end, too
  ModelInputs inputs = {};               ///< of every model
  std::string keys_file = {};            ///< path of a file of keys, one a line; empty: none
  std::string table;                     ///< path; made if it is not there
  RuntimeRequest runtime;
  CampaignOptions campaign = {};
};

/// Measures the kernels of the models and of the keys into the table. Rows that are precise enough
/// are left alone, so that a call goes on where an earlier one stopped. A kernel that fails is a
/// row with a reason. Errors as of measure_models(); what was measured before an error is kept.
/// Takes as long as the budget; call it from one thread at a time, on an otherwise quiet machine.
Result<CampaignSummary> profile_models(const ProfileRequest& request, Events* events = nullptr);

}  // namespace oplat
