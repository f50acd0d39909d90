// SPDX-License-Identifier: Apache-2.0
/// oplat compare A B
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "app/compare.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/print.hpp"

namespace oplat::cli {
namespace {

struct CompareFlags {
  app::CompareRequest request;
  ModelOptions model;
  PredictionFlags prediction;
  std::string plan = "auto";
  FormOptions form;
  Verbosity verbosity;
  GateFlags gate;
};

Result<int> run_compare(const CompareFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, kPredictGates.front()));
  app::CompareRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.models[0], request.models[1], request.table}));
  OPLAT_TRY(inputs, model_inputs(flags.model));
  request.inputs = std::move(inputs);
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  request.plan = std::move(plan);
  OPLAT_TRY(options, prediction_options(flags.prediction));
  request.options = options;
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::compare(request, events));
  report::Comparison comparison;
  comparison.models = std::move(result.models);
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{comparison, {}}));
  std::vector<std::string> warnings;
  for (const auto& p : comparison.models)
    for (const std::string& warning : p.warnings)
      if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(warning);
  print_warnings(warnings, flags.verbosity);
  for (const predict::Mismatch& one : result.mismatch) {
    print_message(fmt::format("mismatch: {}: asked for {}, rows have {}", one.field,
                              base::printable(one.asked), base::printable(one.used)));
  }
  std::vector<Status> checks;
  if (gate)
    for (const auto& p : comparison.models)
      checks.push_back(gate->check(p.model, gated_ns(*gate, p)));
  OPLAT_CHECK(report_gates(checks));
  return kDone;
}

}  // namespace

void add_compare(const Command& app) {
  const Command command =
      app.add_subcommand("compare", "predict two models and report which is faster");
  const auto flags = std::make_shared<CompareFlags>();
  command.add_option("A", flags->request.models[0], "model file").required();
  command.add_option("B", flags->request.models[1], "model file").required();
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  add_mismatch_flag(command, flags->request.rows);
  add_prediction_options(command, flags->prediction);
  add_plan_source(command, flags->plan);
  add_model_options(command, flags->model);
  add_gate(command, flags->gate, kPredictGates);
  add_form<report::Comparison>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_compare(*flags); });
}

}  // namespace oplat::cli
