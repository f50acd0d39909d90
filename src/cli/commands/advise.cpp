// SPDX-License-Identifier: Apache-2.0
/// oplat advise MODEL...: the setting and the batch that meet a latency.
#include "app/advise.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct AdviseFlags : OutputFlags {
  app::AdviseRequest request;
  std::string threads;
  std::string batches;
  ModelPredictionFlags how;
  GateFlags gate;
};

Result<int> run_advise(const AdviseFlags& flags) {
  app::AdviseRequest request = flags.request;
  OPLAT_TRY(gate, app::read_into(
                      {flags.threads, flags.batches, flags.gate.max_latency, flags.gate.gate_on},
                      request));
  OPLAT_CHECK(check_out(flags.form, request.models));
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  OPLAT_CHECK(read_into(flags.how, request));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(advice, app::advise(request, events));
  events.finish();
  OPLAT_CHECK(print_document(flags.form, advice));
  OPLAT_CHECK(app::check_advice(gate, advice));
  return kDone;
}

constexpr const char* kAdviseFooter =
    R"(
Every setting of the table that the flags leave is tried with every batch. Those whose interval lies
below the target come first, then those whose latency does; among them the fastest per image. What
has no latency is listed with the command that measures it.
Exit codes: 0 a setting meets the target; 2 usage, or several devices; 3 a model or the table; 4 or 5
nothing has a latency; 6 no row for the flags; 7 no setting meets the target.
Example: oplat advise net.onnx net_int8.onnx --max-latency 5ms --table t.oplat --batch 1,2,4)";

}  // namespace

void add_advise(const Command& app) {
  const auto [command, flags] = add_command(
      app, "advise", "find the threads, precision and batch that meet a latency, from one table",
      run_advise);
  command
      .add_option("MODEL", flags->request.models,
                  "model files: variants of one network, such as fp32 and int8")
      .required();
  add_table(command, flags->request.table);
  add_gate(command, flags->gate, app::kPredictGates);
  command
      .add_option("--threads", flags->threads,
                  "numbers of threads to try: 1,2,4 (default: all of the table)")
      .type_name("LIST");
  command.add_option("--batch", flags->batches, "batches to try: 1,2,4 (default: the model's own)")
      .type_name("LIST");
  add_runtime_filter(command, flags->request.rows);
  command.add_option("--device", flags->request.rows.device, "use rows of this device");
  command.add_option("--precision", flags->request.rows.precision,
                     "use rows computed in this precision (default: all of the table)");
  add_option_filter(command, flags->request.rows);
  add_prediction_options(command, flags->how.prediction);
  add_plan_source(command, flags->how.plan);
  add_shape_option(command, flags->how.model);
  add_input_option(command, flags->how.model);
  add_output<report::AdviceReport>(command, *flags);
  command.footer({kAdviseFooter});
}

}  // namespace oplat::cli
