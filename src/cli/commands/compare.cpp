// SPDX-License-Identifier: Apache-2.0
/// oplat compare A B
#include "app/compare.hpp"
#include "base/text.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct CompareFlags : OutputFlags {
  app::CompareRequest request;
  ModelPredictionFlags how;
  GateFlags gate;
};

Result<int> run_compare(const CompareFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, app::kPredictGates.front()));
  app::CompareRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.models[0], request.models[1], request.table}));
  OPLAT_CHECK(read_into(flags.how, request));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::compare(request, events));
  OPLAT_CHECK(print_document(flags.form, report::Comparison{result.models}));
  print_warnings(result.warnings(), flags.verbosity);
  for (const predict::Mismatch& one : result.mismatch) {
    print_message(fmt::format("mismatch: {}: asked for {}, rows have {}", one.field,
                              base::printable(one.asked), base::printable(one.used)));
  }
  OPLAT_CHECK(end_with(app::failures_of(app::gate_checks(gate, result.models))));
  return kDone;
}

}  // namespace

void add_compare(const Command& app) {
  const auto [command, flags] =
      add_command(app, "compare", "predict two models and report which is faster", run_compare);
  command.add_option("A", flags->request.models[0], "model file").required();
  command.add_option("B", flags->request.models[1], "model file").required();
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  add_mismatch_flag(command, flags->request.rows);
  add_prediction_options(command, flags->how.prediction);
  add_plan_source(command, flags->how.plan);
  add_model_options(command, flags->how.model);
  add_gate(command, flags->gate, app::kPredictGates);
  add_output<report::Comparison>(command, *flags);
}

}  // namespace oplat::cli
