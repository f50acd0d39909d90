// SPDX-License-Identifier: Apache-2.0
#include "app/plan_source.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/model_memo.hpp"
#include "app/rule_choice.hpp"
#include "app/session.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "plan/identity.hpp"
#include "plan/rules.hpp"

namespace oplat::app {
namespace {

constexpr std::string_view kRules = "rules";
constexpr std::string_view kRulesNamed = "rules:";

/// The installed runtime of the selection's setting; what differs on this machine is a warning.
Result<Session> start_runtime(const predict::Selection& selection, const std::string& program,
                              Events& events) {
  RuntimeRequest request;
  request.runtime = selection.setting.runtime;
  if (!program.empty()) request.worker_command = {program, "worker", request.runtime};
  OPLAT_TRY(session, start_session(request, events));
  if (session.setting.version != selection.setting.version) {
    events.warn(
        fmt::format("the plan comes from {} {} on this machine, but the rows are of version {}",
                    request.runtime, session.setting.version, selection.setting.version));
  }
  if (session.device.isa != selection.device.isa) {
    events.warn(
        fmt::format("the plan comes from this machine ({}), whose instruction set differs from "
                    "that of {}; profile the model on that device to get its own plan",
                    session.device.name, selection.device.name));
  }
  return std::move(session);
}

/// The format of the table's newest plan that answers this question as an earlier oplat put it: its
/// keys are others than those made now. std::nullopt if there is none.
Result<std::optional<int>> earlier_format(const table::Table& table,
                                          const std::function<std::string(int)>& identity) {
  for (int format = plan::kPlanFormat - 1; format >= 1; --format) {
    OPLAT_TRY(stored, table.find_plan(identity(format)));
    if (stored) return std::optional(format);
  }
  return std::optional<int>();
}

/// The inputs with their batch. A plan of the model as it is, with nothing left open, is found
/// without reading the file.
Result<ModelInputs> inputs_of(const table::Table& table, const predict::Selection& selection,
                              const std::string& model, const std::string& hash,
                              const ModelInputs& given, Events& events) {
  if (!given.shapes.batch && given.shapes.shapes.empty()) {
    OPLAT_TRY(data, plan::resolve_inputs(given.data));
    OPLAT_TRY(stored, table.find_plan(
                          plan::identity(hash, {}, selection.setting, selection.device.isa, data)));
    if (stored) return given;
  }
  return settle_batch(model, given, events);
}

/// `inputs` get their batch.
Result<table::Plan> plan_for(const table::Table& table, predict::Selection& selection,
                             const std::string& model, ModelInputs& inputs,
                             const PlanSource& source, const predict::RowFilter& rows,
                             Events& events) {
  if (source.from == PlanFrom::Rules) {
    OPLAT_TRY(settled, settle_batch(model, inputs, events));
    inputs = std::move(settled);
    return rule_plan(table, selection, model, {source.rules, inputs.shapes, rows}, events);
  }
  OPLAT_TRY(hash, model_hash(table, model));
  OPLAT_TRY(settled, inputs_of(table, selection, model, hash, inputs, events));
  inputs = std::move(settled);
  OPLAT_TRY(shapes, plan::resolve_shapes(model, inputs.shapes));
  OPLAT_TRY(data, plan::resolve_inputs(inputs.data));
  const auto identity = [&](int format) {
    return plan::identity(hash, shapes, selection.setting, selection.device.isa, data, format);
  };
  std::string lack = "holds no plan of this model";
  if (source.from != PlanFrom::Runtime) {
    OPLAT_TRY(stored, table.find_plan(identity(plan::kPlanFormat)));
    if (stored) {
      stored->source = "cached";
      return *stored;
    }
    OPLAT_TRY(earlier, earlier_format(table, identity));
    if (earlier)
      lack = fmt::format(
          "holds a plan of this model that an earlier oplat made (format {}, now {}), whose keys "
          "are not used any more",
          *earlier, plan::kPlanFormat);
    if (source.from == PlanFrom::Cached) {
      return fail(Code::Missing,
                  "{}: the table {} for {}; profile it {}on the device, or use --plan runtime to "
                  "ask the installed runtime",
                  model, earlier ? lack + "," : lack, table::describe(selection.setting),
                  earlier ? "again " : "");
    }
    if (earlier)
      events.warn(
          fmt::format("{}: the table {}; run oplat profile to measure the kernels that it lacks",
                      base::printable(model, 400), lack));
  }
  const bool has_worker = check_runtime_name(selection.setting.runtime).has_value();
  if (source.from == PlanFrom::Auto && !has_worker &&
      !rule_sets_for(selection.setting.runtime).empty()) {
    return rule_plan(table, selection, model, {source.rules, inputs.shapes, rows}, events);
  }
  const auto not_made = [&](const Error& error, std::string_view instead) {
    if (error.code != Code::Runtime) return fail(error);
    return fail(Code::Runtime, "{}: the table {}, and the runtime could not make one: {}{}", model,
                lack, error.message, instead);
  };
  auto session = start_runtime(selection, source.program, events);
  if (!session) {
    const bool ruled = !rule_sets_for(selection.setting.runtime).empty();
    return not_made(session.error(), ruled ? "; --plan rules derives one without the runtime" : "");
  }
  // A model that the runtime refuses has no plan, whoever derives it.
  auto plan = plan_with(*session, model, inputs, selection.setting);
  if (!plan) return not_made(plan.error(), "");
  return plan;
}

}  // namespace

Result<PlanSource> parse_plan_source(std::string_view text) {
  if (text == "auto") return PlanSource{};
  if (text == "cached") return PlanSource{PlanFrom::Cached, {}};
  if (text == "runtime") return PlanSource{PlanFrom::Runtime, {}};
  if (text == kRules) return PlanSource{PlanFrom::Rules, {}};
  if (!text.starts_with(kRulesNamed)) {
    return fail(Code::Usage, "--plan {}: expected auto, cached, runtime, rules or rules:NAME",
                base::printable(text));
  }
  text.remove_prefix(kRulesNamed.size());
  OPLAT_CHECK(plan::rules_named(text, compat::rule_sets()).map([](const plan::RuleSet&) {}));
  return PlanSource{PlanFrom::Rules, std::string(text)};
}

Status check_rows_runtime(const std::string& name) {
  return rule_sets_for(name).empty() ? check_runtime_name(name) : Status();
}

Result<ModelPlan> plan_model(const table::Table& table, const predict::Selection& selection,
                             const std::string& model, const ModelInputs& given,
                             const PlanSource& source, const predict::RowFilter& rows,
                             Events& events) {
  ModelPlan planned{{}, selection, false};
  ModelInputs inputs = given;
  OPLAT_TRY(plan, plan_for(table, planned.selection, model, inputs, source, rows, events));
  planned.plan = std::move(plan);
  if (!planned.plan.source.starts_with(kRules) && may_depend_on_values(planned.plan))
    warn_of_made_up_inputs(model, inputs, events);
  planned.given_data_decide = given_data_decide_bodies(model, inputs);
  return planned;
}

}  // namespace oplat::app
