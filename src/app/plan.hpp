// SPDX-License-Identifier: Apache-2.0
/// Use case: the kernels that a runtime executes for a model, asked of the
/// runtime itself.
#pragma once

#include <string>

#include "app/session.hpp"

namespace oplat::app {

struct RuntimePlanRequest {
  std::string model;  ///< path
  ModelInputs inputs;
  RuntimeRequest runtime;
};

/// Checks the runtime's name and the model file, starts the runtime and asks
/// it. Nothing is timed.
Result<table::Plan> runtime_plan(const RuntimePlanRequest& request, Events& events);

}  // namespace oplat::app
