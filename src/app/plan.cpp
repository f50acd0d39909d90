// SPDX-License-Identifier: Apache-2.0
/// One plan request to a fresh worker.
#include "app/plan.hpp"

#include <utility>

#include "app/rules_plan.hpp"

namespace oplat::app {

namespace {

Result<table::Plan> plan_one(Session& session, const std::string& model, const ModelInputs& given,
                             Events& events) {
  OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(inputs, settle_batch(model, given, events));
  auto plan = plan_with(session, model, inputs);
  if (plan) {
    warn_of_made_up_inputs(model, inputs, events);
    warn_of_value_caveats(model, *plan, events);
  }
  return plan;
}

Result<report::PlanList> plans_by_rules(const PlanRequest& request, Events& events) {
  const RuntimeTexts& runtime = request.runtime;
  if (!runtime.request.runtime.empty())
    return fail(Code::Usage, "--plan {} and --runtime {}: use only one of them", request.rules,
                runtime.request.runtime);
  if (runtime.worker)
    return fail(Code::Usage, "--plan {} and --worker: use only one of them", request.rules);
  OPLAT_TRY(shapes, parse_shapes(request.inputs));
  OPLAT_TRY(list, plan_by_rules(
                      {request.models, std::move(shapes), request.rules, runtime.request.precision},
                      events));
  if (!request.is_list && list.models.front().error) return fail(*list.models.front().error);
  return list;
}

Result<report::PlanList> plans_of_runtime(const PlanRequest& request, Events& events) {
  OPLAT_TRY(inputs, parse_model_inputs(request.inputs));
  auto found = parse_runtime_for(request.runtime, request.models, events);
  if (!found && found.error().message.starts_with("--runtime is required"))
    return fail(found.error().code, "{}; or set --plan rules:NAME for fusion rules",
                found.error().message);
  OPLAT_TRY(runtime, std::move(found));
  RuntimePlanRequest one{{}, std::move(inputs), std::move(runtime)};
  if (request.is_list) {
    OPLAT_TRY(planned, runtime_plans(one, request.models, events));
    return plan_list(std::move(planned));
  }
  one.model = request.models.front();
  OPLAT_TRY(plan, runtime_plan(one, events));
  report::PlanList list;
  list.models.push_back({one.model, report::RulesPlan{std::move(plan), {}}});
  return list;
}

}  // namespace

Result<table::Plan> runtime_plan(const RuntimePlanRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_model_file(request.model));
  OPLAT_TRY(session, start_session(request.runtime, events));
  return plan_one(session, request.model, request.inputs, events);
}

Result<std::vector<PlannedFile>> runtime_plans(const RuntimePlanRequest& request,
                                               const std::vector<std::string>& models,
                                               Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_TRY(session, start_session(request.runtime, events));
  std::vector<PlannedFile> planned;
  for (const std::string& model : models) {
    events.progress({.done = static_cast<std::int64_t>(planned.size()),
                     .total = static_cast<std::int64_t>(models.size()),
                     .eta_s = std::nullopt,
                     .what = "planning",
                     .item = model});
    if (events.cancelled()) {
      planned.push_back(
          {model, fail(Code::Interrupted, "{}: stopped before it was planned", model)});
      break;
    }
    planned.push_back({model, plan_one(session, model, request.inputs, events)});
    const auto& plan = planned.back().plan;
    if (!plan && plan.error().code == Code::Interrupted) break;
  }
  return planned;
}

Result<report::PlanList> plan_models(const PlanRequest& request, Events& events) {
  return request.rules.empty() ? plans_of_runtime(request, events)
                               : plans_by_rules(request, events);
}

report::PlanList plan_list(std::vector<PlannedFile> planned) {
  report::PlanList list;
  for (PlannedFile& one : planned) {
    report::PlanList::Entry& entry = list.models.emplace_back();
    entry.model = std::move(one.model);
    if (one.plan)
      entry.plan = report::RulesPlan{*std::move(one.plan), {}};
    else
      entry.error = std::move(one.plan).error();
  }
  return list;
}

std::optional<Code> first_error(const report::PlanList& list) {
  std::optional<Code> first;
  for (const auto& entry : list.models) {
    if (!entry.error) continue;
    // Only the last can have it: whoever interrupts has what was planned before.
    if (!first || entry.error->code == Code::Interrupted) first = entry.error->code;
  }
  return first;
}

}  // namespace oplat::app
