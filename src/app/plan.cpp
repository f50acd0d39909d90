// SPDX-License-Identifier: Apache-2.0
/// One plan request to a fresh worker.
#include "app/plan.hpp"

namespace oplat::app {

Result<table::Plan> runtime_plan(const RuntimePlanRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_model_file(request.model));
  OPLAT_TRY(session, start_session(request.runtime, events));
  return plan_with(session, request.model, request.inputs);
}

}  // namespace oplat::app
