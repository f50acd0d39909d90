// SPDX-License-Identifier: Apache-2.0
/// oplat plan MODEL: what a runtime executes, asked of the runtime itself or of fusion rules
#include <iostream>
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "cli/rules_plan.hpp"
#include "cli/runtime_session.hpp"
#include "report/csv.hpp"

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

/// A fused node more than `oplat plan` shows of other kernels: its operator, filter and attributes.
void print_csv(const RulesPlan& made) {
  std::cout << "name,key,count,op,filter,attributes\n";
  for (std::size_t i = 0; i < made.plan.kernels.size(); ++i) {
    const plan::PlanKernel& kernel = made.plan.kernels[i];
    const plan::FusedWords words = plan::fused_words(made.fused, made.fused.nodes[i]);
    const std::vector<std::string> fields = {
        report::csv_field(kernel.name),   report::csv_field(kernel.key),
        report::csv_number(kernel.count), report::csv_field(words.op),
        report::csv_field(words.filter),  report::csv_field(words.attributes)};
    std::cout << report::csv_line(fields);
  }
  std::cout.flush();
}

Result<int> run_rules(const PlanFlags& flags) {
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_TRY(rules, rules_asked(flags.plan, flags.run.precision));
  OPLAT_CHECK(check_model_file(flags.model));
  OPLAT_TRY(model, read_rules_model(flags.model, shapes));
  OPLAT_TRY(made, plan_model_by_rules(model, rules.set, rules.options));
  if (!flags.form.csv) {
    OPLAT_CHECK(print_report(flags.form.form(), report::ReportModel{made.plan, {}}));
    return kDone;
  }
  print_csv(made);
  if (!std::cout) return fail(Code::Write, "cannot write to standard output");
  return kDone;
}

Result<int> run_plan(const PlanFlags& flags) {
  if (!flags.plan.empty()) {
    if (!flags.run.runtime.empty())
      return fail(Code::Usage,
                  "--plan {} and --runtime {}: one of them says where the plan is from", flags.plan,
                  flags.run.runtime);
    return run_rules(flags);
  }
  if (flags.run.runtime.empty())
    return fail(
        Code::Usage,
        "--runtime R asks that runtime, --plan rules:NAME fusion rules: one of them is needed");
  OPLAT_TRY(shapes, shape_options(flags.model_options));
  OPLAT_TRY(inputs, input_options(flags.model_options));
  OPLAT_CHECK(check_runtime_name(flags.run.runtime));
  OPLAT_CHECK(check_model_file(flags.model));
  OPLAT_TRY(session, start_runtime(flags.run, flags.verbosity));
  runtimes::PlanRequest request;
  request.model = flags.model;
  request.shapes = shapes.shapes;
  request.batch = shapes.batch;
  request.inputs = inputs;
  request.setting = session.setting;
  OPLAT_TRY(plan, ask_plan(session, request));
  OPLAT_CHECK(print_report(flags.form.form(), report::ReportModel{plan, {}}));
  return kDone;
}

}  // namespace

void add_plan(const Command& app) {
  const Command command =
      app.add_subcommand("plan", "list the kernels that a runtime executes for a model");
  const auto flags = std::make_shared<PlanFlags>();
  command.add_option("MODEL", flags->model, "model file (ONNX, Paddle)").required();
  add_run_options(command, flags->run, false);
  command.add_option("--plan", flags->plan,
                     "rules:NAME, rules:NAME@VERSION or rules:FILE.yaml: by fusion rules, without "
                     "the runtime (docs/reference/fusion-rules.md)");
  add_model_options(command, flags->model_options);
  add_form(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_plan(*flags); });
}

}  // namespace oplat::cli
