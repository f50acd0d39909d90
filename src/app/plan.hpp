// SPDX-License-Identifier: Apache-2.0
/// Use case: the kernels that a runtime executes for a model, asked of the
/// runtime itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/runtimes.hpp"
#include "app/session.hpp"
#include "report/model_lists.hpp"

namespace oplat::app {

struct RuntimePlanRequest {
  std::string model;  ///< path
  ModelInputs inputs;
  RuntimeRequest runtime;
};

/// Checks the runtime's name and the model file, starts the runtime and asks
/// it. Nothing is timed.
Result<table::Plan> runtime_plan(const RuntimePlanRequest& request, Events& events);

struct PlannedFile {
  std::string model;  ///< path
  Result<table::Plan> plan;
};
/// The same of several models by one worker; `request.model` is not looked at. A model that fails
/// is an entry with its error. Once `events` say cancelled, the last entry is Code::Interrupted.
Result<std::vector<PlannedFile>> runtime_plans(const RuntimePlanRequest& request,
                                               const std::vector<std::string>& models,
                                               Events& events);

/// Plans of model files as they are asked for: by rules if `rules` is set, else by a runtime.
struct PlanRequest {
  std::vector<std::string> models;  ///< paths
  ModelInputTexts inputs;           ///< of every model
  RuntimeTexts runtime;  ///< by rules, its precision alone counts, and it names no runtime
  std::string rules;     ///< as rules_asked() takes it
  bool is_list = false;  ///< a model that fails is an entry with its error; else the whole fails
};
/// One entry a model. Where no runtime is named, it is runtime_for() the models. Code::Usage: both
/// rules and a runtime, or neither and several runtimes fit.
Result<report::PlanList> plan_models(const PlanRequest& request, Events& events);

/// What `oplat plan` says of several models.
report::PlanList plan_list(std::vector<PlannedFile> planned);
/// That of the first model without a plan; Code::Interrupted if planning was stopped.
std::optional<Code> first_error(const report::PlanList& list);

}  // namespace oplat::app
