// SPDX-License-Identifier: Apache-2.0
/// One plan request to a fresh worker.
#include "app/plan.hpp"

namespace oplat::app {

Result<table::Plan> runtime_plan(const RuntimePlanRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_model_file(request.model));
  OPLAT_TRY(session, start_session(request.runtime, events));
  auto plan = plan_with(session, request.model, request.inputs);
  if (plan) {
    warn_of_made_up_inputs(request.model, request.inputs, events);
    warn_of_value_caveats(request.model, *plan, events);
  }
  return plan;
}

}  // namespace oplat::app
