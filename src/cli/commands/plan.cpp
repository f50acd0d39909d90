// SPDX-License-Identifier: Apache-2.0
/// oplat plan MODEL: what a runtime executes, asked of the runtime itself or of fusion rules
#include <utility>
#include <vector>

#include "app/plan.hpp"
#include "app/rules_plan.hpp"
#include "app/runtimes.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct PlanFlags : OutputFlags {
  app::ModelList models;
  std::string plan;
  app::RuntimeTexts run;
  app::ModelInputTexts inputs;
};

bool is_list(const PlanFlags& flags) {
  return flags.models.is_list() || flags.form.form() == "jsonl";
}

/// Several plans as one document; the exit code is that of the first failure.
Result<int> print_plans(const PlanFlags& flags, const report::PlanList& list,
                        std::vector<std::string> warnings) {
  OPLAT_CHECK(print_document(flags.form, list, std::move(warnings)));
  const auto first = app::first_error(list);
  return first ? exit_code(*first) : int{kDone};
}

Result<int> run_rules(const PlanFlags& flags, std::vector<std::string> models) {
  OPLAT_TRY(shapes, app::parse_shapes(flags.inputs));
  app::CollectedEvents events;
  OPLAT_TRY(list, app::plan_by_rules({std::move(models), std::move(shapes), flags.plan,
                                      flags.run.request.precision},
                                     events));
  const auto& first = list.models.front();
  if (!is_list(flags) && first.error) return fail(*first.error);
  print_warnings(events.warnings, flags.verbosity);
  if (is_list(flags)) return print_plans(flags, list, std::move(events.warnings));
  OPLAT_CHECK(print_document(flags.form, *first.plan, std::move(events.warnings)));
  return kDone;
}

Result<int> run_plan(const PlanFlags& flags) {
  OPLAT_TRY(models, models_to_read(flags.models, flags.form, ""));
  if (!flags.plan.empty()) {
    const std::string& runtime = flags.run.request.runtime;
    if (!runtime.empty())
      return fail(Code::Usage, "--plan {} and --runtime {}: use only one of them", flags.plan,
                  runtime);
    if (flags.run.worker)
      return fail(Code::Usage, "--plan {} and --worker: use only one of them", flags.plan);
    return run_rules(flags, std::move(models));
  }
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.inputs));
  TerminalEvents events(flags.verbosity);
  auto found = app::parse_runtime_for(flags.run, models, events);
  if (!found && found.error().message.starts_with("--runtime is required"))
    return fail(found.error().code, "{}; or set --plan rules:NAME for fusion rules",
                found.error().message);
  OPLAT_TRY(runtime, std::move(found));
  app::RuntimePlanRequest request;
  request.inputs = std::move(inputs);
  request.runtime = std::move(runtime);
  if (is_list(flags)) {
    OPLAT_TRY(planned, app::runtime_plans(request, models, events));
    events.finish();
    return print_plans(flags, app::plan_list(std::move(planned)), events.warnings());
  }
  request.model = models.front();
  OPLAT_TRY(plan, app::runtime_plan(request, events));
  events.finish();
  OPLAT_CHECK(print_document(flags.form, plan, events.warnings()));
  return kDone;
}

}  // namespace

void add_plan(const Command& app) {
  const auto [command, flags] =
      add_command(app, "plan", "list the kernels that a runtime executes for models", run_plan);
  add_models(command, flags->models, "model files (ONNX, Paddle, MNN)");
  add_run_options(command, flags->run, RuntimeFlag::Defaults);
  command.add_option("--plan", flags->plan,
                     "derive the plan by fusion rules, without the runtime: rules:NAME, "
                     "rules:NAME@VERSION or rules:FILE.yaml (docs/reference/fusion-rules.md)");
  add_model_options(command, flags->inputs);
  add_output<report::PlanList>(command, *flags);
}

}  // namespace oplat::cli
