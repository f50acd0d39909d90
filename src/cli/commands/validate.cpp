// SPDX-License-Identifier: Apache-2.0
/// oplat validate MODEL...: predicted next to measured.
#include "app/validate.hpp"
#include "app/runtimes.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct ValidateFlags : OutputFlags {
  app::ValidateRequest request;
  app::RuntimeTexts run;
  app::ModelInputTexts inputs;
  bool unfitted = false;
  GateFlags gate;
};

Result<int> run_validate(const ValidateFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, app::kValidateGates.front()));
  app::ValidateRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, request.models));
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.inputs));
  request.inputs = std::move(inputs);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(runtime, app::parse_runtime_for(flags.run, request.models, events));
  request.runtime = std::move(runtime);
  request.fitted = !flags.unfitted;
  request.need_inferences = gate && app::is_of_inferences(gate->on);
  request.record = command_line();
  OPLAT_TRY(result, app::validate(request, events));
  events.finish();
  for (const auto& refusal : result.refusals) print_message(app::refusal_text(refusal));
  const predict::Validation& validation = result.validation;
  if (validation.models.empty()) return fail(Code::Runtime, "no model could be measured");
  OPLAT_CHECK(print_document(flags.form, validation));
  if (flags.form.form() != "text") print_warnings(validation.warnings, flags.verbosity);
  // All models are looked at, whatever else is wrong; that is the exit code then.
  const Status gates = end_with(app::failures_of(app::gate_checks(gate, validation)));
  OPLAT_CHECK(app::require_validated(request, result));
  OPLAT_CHECK(gates);
  return kDone;
}

}  // namespace

void add_validate(const Command& app) {
  const auto [command, flags] =
      add_command(app, "validate", "predict models and measure them, side by side", run_validate);
  command.add_option("MODEL", flags->request.models, "model files (ONNX, Paddle, MNN)").required();
  add_table(command, flags->request.table);
  add_run_options(command, flags->run, RuntimeFlag::Defaults);
  add_model_options(command, flags->inputs);
  add_level(command, flags->request.level);
  add_unfitted(command, flags->unfitted);
  command.add_flag("--measure", flags->request.measure_anew,
                   "measure every model now, even if the table has its time");
  add_gate(command, flags->gate, app::kValidateGates);
  add_output<predict::Validation>(command, *flags);
}

}  // namespace oplat::cli
