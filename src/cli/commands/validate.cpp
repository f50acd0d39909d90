// SPDX-License-Identifier: Apache-2.0
/// oplat validate MODEL...: predicted next to measured.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "app/validate.hpp"
#include "cli/campaign_flags.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/print.hpp"
#include "cli/requests.hpp"

namespace oplat::cli {
namespace {

struct ValidateFlags {
  std::vector<std::string> models;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  double level = 0.9;
  bool measure_anew = false;
  bool unfitted = false;
  FormOptions form;
  Verbosity verbosity;
  GateFlags gate;
};

constexpr std::array kValidateGates = {GateOn::Measured, GateOn::P50, GateOn::P90,   GateOn::P99,
                                       GateOn::Mean,     GateOn::Max, GateOn::Point, GateOn::Upper};

Status check_gate(const Gate& gate, const predict::ValidatedModel& model) {
  if (is_of_inferences(gate.on))
    return check_inferences(gate, model.name, model.inferences, "replayed times have none");
  if (gate.on == GateOn::Measured) return gate.check(model.name, model.measured.median_ns);
  if (gate.on == GateOn::Point) return gate.check(model.name, model.predicted_ns);
  return gate.check(model.name,
                    model.interval ? std::optional(model.interval->high) : std::nullopt);
}

Result<int> run_validate(const ValidateFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, kValidateGates.front()));
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(runtime, runtime_request(flags.run, flags.models, events));
  app::ValidateRequest request;
  request.models = flags.models;
  request.inputs = std::move(inputs);
  request.table = flags.table;
  request.runtime = std::move(runtime);
  request.level = flags.level;
  request.measure_anew = flags.measure_anew;
  request.fitted = !flags.unfitted;
  request.need_inferences = gate && is_of_inferences(gate->on);
  request.record = command_line();
  OPLAT_TRY(result, app::validate(request, events));
  events.finish();
  for (const auto& refusal : result.refusals)
    print_message(fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason));
  const predict::Validation& validation = result.validation;
  if (validation.models.empty()) return fail(Code::Runtime, "no model could be measured");
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{validation, {}}));
  if (flags.form.form() != "text") print_warnings(validation.warnings, flags.verbosity);
  // All models are looked at, whatever else is wrong; that is the exit code then.
  std::vector<Status> checks;
  if (gate)
    for (const predict::ValidatedModel& model : validation.models)
      checks.push_back(check_gate(*gate, model));
  const Status gates = report_gates(checks);
  if (result.unmeasured > 0) {
    return fail(Code::Runtime, "{} of {} models could not be measured and are left out above",
                result.unmeasured, flags.models.size());
  }
  if (result.incomplete > 0)
    return fail(Code::Missing, "{} of {} models have kernels that the table lacks; profile them",
                result.incomplete, validation.models.size());
  OPLAT_CHECK(gates);
  return kDone;
}

}  // namespace

void add_validate(const Command& app) {
  const Command command =
      app.add_subcommand("validate", "predict models and measure them, side by side");
  const auto flags = std::make_shared<ValidateFlags>();
  command.add_option("MODEL", flags->models, "model files (ONNX)").required();
  add_table(command, flags->table);
  add_run_options(command, flags->run, RuntimeFlag::Defaults);
  add_model_options(command, flags->model_options);
  command.add_option("--level", flags->level, "confidence level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  add_unfitted(command, flags->unfitted);
  command.add_flag("--measure", flags->measure_anew,
                   "measure every model now, even if the table has its time");
  add_gate(command, flags->gate, kValidateGates);
  add_form<predict::Validation>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_validate(*flags); });
}

}  // namespace oplat::cli
