// SPDX-License-Identifier: Apache-2.0
/// oplat plan MODEL: what a runtime executes, asked of the runtime itself or of fusion rules
#include <memory>
#include <optional>
#include <utility>

#include "app/model_inputs.hpp"
#include "app/plan.hpp"
#include "app/rules_plan.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/model_list.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/requests.hpp"

namespace oplat::cli {
namespace {

struct PlanFlags {
  ModelListFlags models;
  std::string plan;
  RunOptions run;
  ModelOptions model_options;
  FormOptions form;
  Verbosity verbosity;
};

bool is_list(const PlanFlags& flags) {
  return flags.models.is_list() || flags.form.form() == "jsonl";
}

/// With what each fused node does in words, which the CSV shows in further columns.
report::RulesPlan in_words(const app::RulesPlan& made) {
  report::RulesPlan report;
  report.plan = made.plan;
  // Kernels whose keys are those of a run are not in the order of the graph's nodes.
  for (std::size_t i = 0; i < made.plan.kernels.size(); ++i) {
    plan::FusedWords words = made.by_node ? plan::fused_words(made.fused, made.fused.nodes[i])
                                          : plan::key_words(made.plan.kernels[i].key);
    report.words.push_back(
        {std::move(words.op), std::move(words.filter), std::move(words.attributes)});
  }
  return report;
}

Result<report::RulesPlan> rules_plan(const std::string& path, const formats::ShapeOptions& shapes,
                                     const app::RulesAsked& rules,
                                     std::vector<std::string>& notes) {
  OPLAT_CHECK(app::check_model_file(path));
  OPLAT_TRY(model, app::read_rules_model(path, shapes));
  if (std::string note = app::not_compared_note(model, rules.set); !note.empty())
    notes.push_back(std::move(note));
  OPLAT_TRY(made, app::plan_model_by_rules(model, rules.set, rules.options));
  return in_words(made);
}

/// Several plans as one document; the exit code is that of the first failure.
Result<int> print_plans(const PlanFlags& flags, report::PlanList list,
                        std::vector<std::string> warnings) {
  std::optional<Code> first;
  for (const auto& entry : list.models)
    if (entry.error && !first) first = entry.error->code;
  // Whoever interrupts has what was planned before.
  const auto& last = list.models.back();
  if (last.error && last.error->code == Code::Interrupted) first = Code::Interrupted;
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{list, {}, std::move(warnings)}));
  return first ? exit_code(*first) : int{kDone};
}

report::PlanList::Entry entry_of(const std::string& model, Result<report::RulesPlan> plan) {
  if (!plan) return {model, std::nullopt, plan.error()};
  return {model, *std::move(plan)};
}

Result<int> run_rules(const PlanFlags& flags, const std::vector<std::string>& models) {
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_TRY(rules, app::rules_asked(flags.plan, flags.run.precision));
  OPLAT_TRY(noted, app::add_machine(rules));
  std::vector<std::string> notes;
  if (!noted.empty()) notes.push_back(std::move(noted));
  if (!is_list(flags)) {
    OPLAT_TRY(made, rules_plan(models.front(), shapes, rules, notes));
    print_warnings(notes, flags.verbosity);
    OPLAT_CHECK(
        print_report(flags.form, report::ReportModel{std::move(made), {}, std::move(notes)}));
    return kDone;
  }
  report::PlanList list;
  for (const std::string& model : models)
    list.models.push_back(entry_of(model, rules_plan(model, shapes, rules, notes)));
  print_warnings(notes, flags.verbosity);
  return print_plans(flags, std::move(list), std::move(notes));
}

Result<int> run_plan(const PlanFlags& flags) {
  OPLAT_TRY(models, listed_models(flags.models));
  OPLAT_CHECK(check_out(flags.form, models));
  OPLAT_CHECK(check_out(flags.form, {flags.models.list.value_or("")}));
  if (!flags.plan.empty()) {
    if (!flags.run.runtime.empty())
      return fail(Code::Usage, "--plan {} and --runtime {}: use only one of them", flags.plan,
                  flags.run.runtime);
    if (flags.run.worker)
      return fail(Code::Usage, "--plan {} and --worker: use only one of them", flags.plan);
    return run_rules(flags, models);
  }
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  TerminalEvents events(flags.verbosity);
  auto found = runtime_request(flags.run, models, events);
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
    report::PlanList list;
    for (app::PlannedFile& one : planned)
      list.models.push_back(entry_of(one.model, std::move(one.plan).map([](table::Plan&& plan) {
        return report::RulesPlan{std::move(plan), {}};
      })));
    return print_plans(flags, std::move(list), events.warnings());
  }
  request.model = models.front();
  OPLAT_TRY(plan, app::runtime_plan(request, events));
  events.finish();
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{plan, {}, events.warnings()}));
  return kDone;
}

}  // namespace

void add_plan(const Command& app) {
  const Command command =
      app.add_subcommand("plan", "list the kernels that a runtime executes for models");
  const auto flags = std::make_shared<PlanFlags>();
  add_models(command, flags->models, "model files (ONNX, Paddle, MNN)");
  add_run_options(command, flags->run, RuntimeFlag::Defaults);
  command.add_option("--plan", flags->plan,
                     "derive the plan by fusion rules, without the runtime: rules:NAME, "
                     "rules:NAME@VERSION or rules:FILE.yaml (docs/reference/fusion-rules.md)");
  add_model_options(command, flags->model_options);
  add_form<report::PlanList>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_plan(*flags); });
}

}  // namespace oplat::cli
