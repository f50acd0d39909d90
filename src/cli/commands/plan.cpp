// SPDX-License-Identifier: Apache-2.0
/// oplat plan MODEL: what a runtime executes, asked of the runtime itself or of fusion rules
#include <memory>

#include "app/model_inputs.hpp"
#include "app/plan.hpp"
#include "app/rules_plan.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/requests.hpp"

namespace oplat::cli {
namespace {

struct PlanFlags {
  std::string model;
  std::string plan;
  RunOptions run;
  ModelOptions model_options;
  FormOptions form;
  Verbosity verbosity;
};

/// With what each fused node does in words, which the CSV shows in further columns.
report::RulesPlan in_words(const app::RulesPlan& made) {
  report::RulesPlan report;
  report.plan = made.plan;
  for (const ir::Node& node : made.fused.nodes) {
    plan::FusedWords words = plan::fused_words(made.fused, node);
    report.words.push_back(
        {std::move(words.op), std::move(words.filter), std::move(words.attributes)});
  }
  return report;
}

Result<int> run_rules(const PlanFlags& flags) {
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_TRY(rules, app::rules_asked(flags.plan, flags.run.precision));
  OPLAT_CHECK(app::check_model_file(flags.model));
  OPLAT_TRY(model, app::read_rules_model(flags.model, shapes));
  OPLAT_TRY(made, app::plan_model_by_rules(model, rules.set, rules.options));
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{in_words(made), {}}));
  return kDone;
}

Result<int> run_plan(const PlanFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.model}));
  if (!flags.plan.empty()) {
    if (!flags.run.runtime.empty())
      return fail(Code::Usage, "--plan {} and --runtime {}: use only one of them", flags.plan,
                  flags.run.runtime);
    if (flags.run.worker)
      return fail(Code::Usage, "--plan {} and --worker: use only one of them", flags.plan);
    return run_rules(flags);
  }
  if (flags.run.runtime.empty() && !flags.run.worker)
    return fail(
        Code::Usage,
        "a source of the plan is missing; set --runtime R, or --plan rules:NAME for fusion rules");
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  OPLAT_TRY(runtime, runtime_request(flags.run));
  app::RuntimePlanRequest request;
  request.model = flags.model;
  request.inputs = std::move(inputs);
  request.runtime = std::move(runtime);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(plan, app::runtime_plan(request, events));
  events.finish();
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{plan, {}, events.warnings()}));
  return kDone;
}

}  // namespace

void add_plan(const Command& app) {
  const Command command =
      app.add_subcommand("plan", "list the kernels that a runtime executes for a model");
  const auto flags = std::make_shared<PlanFlags>();
  command.add_option("MODEL", flags->model, "model file (ONNX, Paddle, MNN)").required();
  add_run_options(command, flags->run, false);
  command.add_option("--plan", flags->plan,
                     "derive the plan by fusion rules, without the runtime: rules:NAME, "
                     "rules:NAME@VERSION or rules:FILE.yaml (docs/reference/fusion-rules.md)");
  add_model_options(command, flags->model_options);
  add_form<table::Plan>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_plan(*flags); });
}

}  // namespace oplat::cli
