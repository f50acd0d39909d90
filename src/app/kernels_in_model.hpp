// SPDX-License-Identifier: Apache-2.0
/// What the kernels of a model take inside it, by the runtime's own profile of one model.
#pragma once

#include <optional>

#include "app/campaign.hpp"
#include "report/model_lists.hpp"

namespace oplat::app {

/// Asks the session's worker for the profile of a model that it planned, and describes kernels as a
/// prediction does: each with its time inside the model, and the latency is their sum. Rates are
/// compared with the ceilings that `table` shows, if it holds rows. std::nullopt, with a warning,
/// where the runtime has no profile of the model; Code::Interrupted once `events` are cancelled.
Result<std::optional<report::PredictionReport>> kernels_in_model(Session& session,
                                                                 const PlannedModel& model,
                                                                 const table::Table& table,
                                                                 Events& events);

}  // namespace oplat::app
