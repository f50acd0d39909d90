// SPDX-License-Identifier: Apache-2.0
/// oplat plan MODEL: what a runtime executes, asked of the runtime itself or of fusion rules
#include <utility>

#include "app/plan.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct PlanFlags : OutputFlags {
  app::ModelList models;
  app::PlanRequest request;
  bool keys = false;
};

/// The exit code of several plans is that of the first failure.
Result<int> run_plan(const PlanFlags& flags) {
  app::PlanRequest request = flags.request;
  OPLAT_TRY(models, models_to_read(flags.models, flags.form, ""));
  request.models = std::move(models);
  request.is_list = flags.models.is_list() || flags.form.form() == "jsonl";
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(list, app::plan_models(request, events));
  events.finish();
  const auto first = app::first_error(list);
  report::ReportModel report{{}, {}, events.warnings()};
  report.options.keys = flags.keys;
  if (request.is_list)
    report.subject = std::move(list);
  else
    report.subject = *std::move(list.models.front().plan);
  OPLAT_CHECK(print_report(flags.form, std::move(report)));
  return first ? exit_code(*first) : int{kDone};
}

}  // namespace

void add_plan(const Command& app) {
  const auto [command, flags] =
      add_command(app, "plan", "list the kernels that a runtime executes for models", run_plan);
  add_models(command, flags->models, "model files (ONNX, Paddle, MNN)");
  add_run_options(command, flags->request.runtime, RuntimeFlag::Defaults);
  command.add_option("--plan", flags->request.rules,
                     "derive the plan by fusion rules, without the runtime: rules:NAME, "
                     "rules:NAME@VERSION or rules:FILE.yaml (docs/reference/fusion-rules.md)");
  add_model_options(command, flags->request.inputs);
  add_keys(command, flags->keys);
  add_output<report::PlanList>(command, *flags);
}

}  // namespace oplat::cli
