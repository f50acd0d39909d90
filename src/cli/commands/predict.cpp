// SPDX-License-Identifier: Apache-2.0
/// oplat predict MODEL
#include <memory>

#include "app/predict.hpp"
#include "base/units.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

struct PredictFlags {
  app::PredictRequest request;
  ModelOptions model;
  PredictionFlags prediction;
  std::string plan = "auto";
  ForeignTableFlags foreign;
  FormOptions form;
  Verbosity verbosity;
  bool per_op = false;
  std::string max_latency;
};

Result<int> run_predict(const PredictFlags& flags) {
  double max_ns = 0;
  if (!flags.max_latency.empty()) {
    OPLAT_TRY(ns, base::parse_duration_ns(flags.max_latency));
    max_ns = ns;
  }
  app::PredictRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.model, request.table}));
  OPLAT_TRY(inputs, model_inputs(flags.model));
  request.inputs = std::move(inputs);
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  request.plan = std::move(plan);
  OPLAT_TRY(options, prediction_options(flags.prediction));
  request.options = options;
  request.skip_bad_rows = flags.foreign.skip_bad_rows;
  request.calibrate = flags.foreign.calibrate;
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::predict(request, events));
  events.finish();
  const predict::Prediction prediction = result.prediction;
  report::ReportModel report{
      report::PredictionReport{std::move(result.prediction), std::move(result.diagnosis)}, {}};
  report.options.per_op = flags.per_op;
  report.options.measures_here = result.measures_here;
  OPLAT_CHECK(print_report(flags.form, std::move(report)));
  if (flags.form.form() != "text") print_warnings(prediction.warnings, flags.verbosity);
  OPLAT_CHECK(predict::require_complete(prediction));
  if (max_ns > 0 && prediction.latency_ns && *prediction.latency_ns > max_ns) {
    return fail(Code::GateNotMet, "{}: the predicted latency {} is above --max-latency {}",
                request.model, base::duration_text(*prediction.latency_ns), flags.max_latency);
  }
  return kDone;
}

}  // namespace

void add_predict(const Command& app) {
  const Command command =
      app.add_subcommand("predict", "predict the latency of a model from a table");
  const auto flags = std::make_shared<PredictFlags>();
  command.add_option("MODEL", flags->request.model, "model file (ONNX, Paddle, MNN)").required();
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  add_mismatch_flag(command, flags->request.rows);
  add_prediction_options(command, flags->prediction);
  add_plan_source(command, flags->plan);
  add_model_options(command, flags->model);
  add_form<report::PredictionReport>(command, flags->form);
  command.add_flag("--per-op", flags->per_op, "list every kernel, not only the costliest");
  command
      .add_option("--max-latency", flags->max_latency,
                  "exit with 7 if the prediction is above this time: 10ms, 250us")
      .type_name("TIME");
  add_foreign_table_options(command, flags->foreign);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
--table may also be a latency table of PaddleSlim (a pickle, recognised by its bytes). Its rows are
used as they are. What they lack is estimated by a fit, which is made once and cached under
$XDG_CACHE_HOME/oplat (or ~/.cache/oplat). A name such as SD710 or RK3288 means the file
NAME_threads_4_power_mode_0.pkl (4 or --threads) in the current folder or in those of $OPLAT_TABLES.
Exit codes: 0 done; 2 usage, or several settings fit; 3 a model or the table is missing or
malformed; 4 kernels without an estimate; 5 the runtime's plan is not available; 6 no row for the
setting; 7 above --max-latency.
Example: oplat predict mobilenetv1.pdmodel --table RK3288_threads_4_power_mode_0.pkl)");
  command.runs([flags] { return run_predict(*flags); });
}

}  // namespace oplat::cli
