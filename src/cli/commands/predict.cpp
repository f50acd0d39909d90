// SPDX-License-Identifier: Apache-2.0
/// oplat predict MODEL
#include <optional>
#include <utility>
#include <vector>

#include "app/predict_list.hpp"
#include "app/sweep.hpp"
#include "cli/commands/commands.hpp"
#include "compat/paddleslim/table_files.hpp"

namespace oplat::cli {
namespace {

struct PredictFlags : OutputFlags {
  app::PredictRequest request;
  std::vector<std::int64_t> threads;
  app::ModelList models;
  ModelPredictionFlags how;
  bool per_op = false;
  bool keys = false;
  bool unfitted = false;
  GateFlags gate;
};

/// Of one model, of several, and pages.
constexpr std::string_view kPredictForms[] = {"text", "json", "csv", "html", "jsonl"};

/// All but the models.
Result<app::PredictRequest> request_of(const PredictFlags& flags) {
  app::PredictRequest request = flags.request;
  request.rows.fitted = !flags.unfitted;
  if (!flags.threads.empty()) request.rows.threads = flags.threads.front();
  OPLAT_CHECK(read_into(flags.how, request));
  return request;
}

/// Lines of JSON are printed one by one; other forms once all is known. What is done when somebody
/// interrupts is printed.
Result<int> run_list(const PredictFlags& flags, const std::optional<app::Gate>& gate) {
  OPLAT_TRY(models, models_to_read(flags.models, flags.form, flags.request.table));
  if (flags.form.form() == "html")
    return fail(Code::Usage, "--format html: shows one model; use text, json, jsonl or csv");
  if (flags.per_op || flags.keys)
    return fail(Code::Usage, "{}: shows one model; --format json has the kernels of each",
                flags.per_op ? "--per-op" : "--keys");
  OPLAT_TRY(each, request_of(flags));
  std::optional<ReportStream> lines;
  if (flags.form.form() == "jsonl") {
    OPLAT_TRY(stream, ReportStream::create(flags.form));
    lines.emplace(std::move(stream));
  }
  TerminalEvents events(flags.verbosity);
  report::PredictionList list;
  const auto take = [&](report::PredictionList::Entry&& entry) -> Status {
    list.models.push_back(std::move(entry));
    if (!lines) return {};
    events.finish();
    return lines->print(report::ReportModel{std::exchange(list, {}), {}});
  };
  OPLAT_TRY(result, app::predict_list({std::move(models), std::move(each)}, gate, take, events));
  events.finish();
  OPLAT_CHECK(lines ? lines->finish() : print_document(flags.form, std::move(list)));
  print_warnings(result.warnings, flags.verbosity);
  if (result.stopped) return fail(*result.stopped);
  return result.first_error ? exit_code(*result.first_error) : int{kDone};
}

/// Several numbers of threads, or several batches.
Result<int> run_predict_sweep(const PredictFlags& flags, const app::SweepAxes& axes,
                              const std::optional<app::Gate>& gate) {
  OPLAT_CHECK(app::check_sweep_form(flags.form.form(), flags.per_op ? "--per-op"
                                                       : flags.keys ? "--keys"
                                                                    : ""));
  OPLAT_TRY(models, models_to_read(flags.models, flags.form, flags.request.table));
  OPLAT_TRY(request, request_of(flags));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::predict_sweep(request, models, axes, events));
  events.finish();
  OPLAT_CHECK(print_document(flags.form, result.sweep, events.warnings()));
  // The text has the reasons.
  if (result.first_error && flags.form.form() == "text") return exit_code(result.first_error->code);
  if (result.first_error) return fail(*result.first_error);
  OPLAT_CHECK(end_with(app::failures_of(app::gate_checks(gate, result.sweep))));
  return kDone;
}

Result<int> run_predict(const PredictFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, app::kPredictGates.front()));
  const app::SweepAxes axes = app::axes_of(flags.threads, flags.how.model.batches);
  if (axes.is_sweep()) return run_predict_sweep(flags, axes, gate);
  if (flags.models.is_list() || flags.form.form() == "jsonl") return run_list(flags, gate);
  OPLAT_TRY(request, request_of(flags));
  request.model = flags.models.models.front();
  OPLAT_CHECK(check_out(flags.form, {request.model, request.table}));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::predict(request, events));
  events.finish();
  const predict::Prediction prediction = result.prediction;
  report::ReportModel report{
      report::PredictionReport{std::move(result.prediction), std::move(result.diagnosis)}, {}};
  report.options.per_op = flags.per_op;
  report.options.keys = flags.keys;
  report.options.measures_here = result.measures_here;
  OPLAT_CHECK(print_report(flags.form, std::move(report)));
  if (flags.form.form() != "text") print_warnings(prediction.warnings, flags.verbosity);
  const bool is_reported = flags.form.form() == "text" && flags.form.out.empty();
  OPLAT_CHECK(app::check_prediction(gate, prediction, is_reported));
  return kDone;
}

}  // namespace

void add_predict(const Command& app) {
  const auto [command, flags] = add_command(
      app, "predict", "predict the latency of a model, or of several, from a table", run_predict);
  add_models(command, flags->models, "model files (ONNX, Paddle, MNN)");
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows, flags->threads);
  add_mismatch_flag(command, flags->request.rows);
  add_unfitted(command, flags->unfitted);
  add_prediction_options(command, flags->how.prediction);
  add_plan_source(command, flags->how.plan);
  add_model_options(command, flags->how.model, Sweeps::Yes);
  add_form(command, flags->form, kPredictForms);
  command.add_flag("--per-op", flags->per_op,
                   "list every kernel, not only the costliest, and the keys of missing ones");
  command.add_flag("--keys", flags->keys, "show the keys of kernels, not only their labels");
  add_gate(command, flags->gate, app::kPredictGates);
  add_foreign_table_options(command, flags->request.skip_bad_rows, flags->request.calibrate);
  add_verbosity(command, flags->verbosity);
  command.footer({compat::paddleslim::kTableHelp,
                  R"(
Several models are a table, or with --format json a document of all, jsonl one line a model. One that
fails is listed with its error; the exit code is that of the first.
Exit codes: 0 done; 2 usage, or several settings fit; 3 a model or the table is missing or
malformed; 4 kernels without an estimate; 5 the runtime's plan is not available; 6 no row for the
setting; 7 above --max-latency.
Several --threads or --batch are a table of latency, time per image and images a second.
Example: oplat predict mobilenetv1.pdmodel --table RK3288_threads_4_power_mode_0.pkl)"});
}

}  // namespace oplat::cli
