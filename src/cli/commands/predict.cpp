// SPDX-License-Identifier: Apache-2.0
/// oplat predict MODEL
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/predict.hpp"
#include "app/sweep.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/model_list.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

struct PredictFlags {
  app::PredictRequest request;
  std::vector<std::int64_t> threads;
  ModelListFlags models;
  ModelOptions model;
  PredictionFlags prediction;
  std::string plan = "auto";
  ForeignTableFlags foreign;
  FormOptions form;
  Verbosity verbosity;
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
  OPLAT_TRY(inputs, model_inputs(flags.model));
  request.inputs = std::move(inputs);
  OPLAT_TRY(plan, app::parse_plan_source(flags.plan));
  request.plan = std::move(plan);
  OPLAT_TRY(options, prediction_options(flags.prediction));
  request.options = options;
  request.skip_bad_rows = flags.foreign.skip_bad_rows;
  request.calibrate = flags.foreign.calibrate;
  return request;
}

/// Why the prediction is not what was asked for: kernels are missing, or it is above the limit.
Status check_prediction(const predict::Prediction& prediction, const std::optional<Gate>& gate) {
  OPLAT_CHECK(predict::require_complete(prediction));
  if (gate) return gate->check(prediction.model, gated_ns(*gate, prediction));
  return {};
}

/// Each text once, with the model that it is about, or how many.
class ListWarnings {
 public:
  void add(const std::string& model, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      const auto [at, added] = index_.emplace(text, said_.size());
      if (added) said_.push_back({text, model, 0});
      ++said_[at->second].models;
    }
  }
  void print(const Verbosity& verbosity) const {
    std::vector<std::string> lines;
    for (const Said& one : said_)
      lines.push_back(one.models == 1
                          ? fmt::format("{}: {}", base::printable(one.first, 400), one.text)
                          : fmt::format("{} models: {}", one.models, one.text));
    print_warnings(lines, verbosity);
  }

 private:
  struct Said {
    std::string text;
    std::string first;
    std::size_t models;
  };
  std::vector<Said> said_;
  std::map<std::string, std::size_t> index_;
};

report::PredictionList::Entry entry_of(app::ModelPrediction&& one,
                                       const std::optional<Gate>& gate) {
  report::PredictionList::Entry entry{one.model, std::nullopt};
  if (!one.result) {
    entry.error = one.result.error();
    return entry;
  }
  if (auto good = check_prediction(one.result->prediction, gate); !good) entry.error = good.error();
  entry.report.emplace(std::move(one.result->prediction), std::move(one.result->diagnosis));
  return entry;
}

/// Lines of JSON are printed one by one; other forms once all is known. What is done when somebody
/// interrupts is printed.
Result<int> run_list(const PredictFlags& flags, const std::optional<Gate>& gate) {
  OPLAT_TRY(models, listed_models(flags.models));
  OPLAT_CHECK(check_out(flags.form, models));
  OPLAT_CHECK(check_out(flags.form, {flags.request.table, flags.models.list.value_or("")}));
  if (flags.form.form() == "html")
    return fail(Code::Usage, "--format html: shows one model; use text, json, jsonl or csv");
  if (flags.per_op || flags.keys)
    return fail(Code::Usage, "{}: shows one model; --format json has the kernels of each",
                flags.per_op ? "--per-op" : "--keys");
  OPLAT_TRY(each, request_of(flags));
  const bool by_line = flags.form.form() == "jsonl";
  std::optional<ReportStream> lines;
  if (by_line) {
    OPLAT_TRY(stream, ReportStream::create(flags.form));
    lines.emplace(std::move(stream));
  }
  TerminalEvents events(flags.verbosity);
  report::PredictionList list;
  ListWarnings warnings;
  std::optional<Code> first;
  const Status done = app::predict_models(
      {std::move(models), std::move(each)},
      [&](app::ModelPrediction&& one) -> Status {
        report::PredictionList::Entry entry = entry_of(std::move(one), gate);
        if (entry.error && !first) first = entry.error->code;
        if (entry.report) warnings.add(entry.model, entry.report->prediction.warnings);
        list.models.push_back(std::move(entry));
        if (!by_line) return {};
        report::PredictionList line = std::exchange(list, {});
        events.finish();
        return lines->print(report::ReportModel{std::move(line), {}});
      },
      events);
  events.finish();
  if (!done && done.error().code != Code::Interrupted) return fail(done.error());
  if (lines) OPLAT_CHECK(lines->finish());
  if (!lines) OPLAT_CHECK(print_report(flags.form, report::ReportModel{std::move(list), {}}));
  warnings.print(flags.verbosity);
  if (!done) return fail(done.error());
  return first ? exit_code(*first) : int{kDone};
}

/// Several numbers of threads, or several batches.
Result<int> run_predict_sweep(const PredictFlags& flags, const app::SweepAxes& axes,
                              const std::optional<Gate>& gate) {
  OPLAT_TRY(models, listed_models(flags.models));
  OPLAT_CHECK(check_out(flags.form, models));
  OPLAT_CHECK(check_out(flags.form, {flags.request.table, flags.models.list.value_or("")}));
  const std::string_view form = flags.form.form();
  if (form == "html" || form == "jsonl")
    return fail(Code::Usage,
                "--format {}: not of several threads or batches; use text, json or csv", form);
  OPLAT_TRY(request, request_of(flags));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::predict_sweep(request, models, axes, events));
  events.finish();
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{result.sweep, {}, events.warnings()}));
  // The text has the reasons.
  if (result.first_error && form == "text") return exit_code(result.first_error->code);
  if (result.first_error) return fail(*result.first_error);
  std::vector<Status> checks;
  for (const auto& point : result.sweep.points) {
    if (!gate) break;
    std::optional<double> high;
    if (point.interval) high = point.interval->high;
    checks.push_back(gate->check(
        fmt::format("{} with threads {} and batch {}", point.path, point.threads, point.batch),
        gate->on == GateOn::Upper ? high : point.latency_ns));
  }
  OPLAT_CHECK(report_gates(checks));
  return kDone;
}

Result<int> run_predict(const PredictFlags& flags) {
  OPLAT_TRY(gate, parse_gate(flags.gate, kPredictGates.front()));
  const app::SweepAxes axes{flags.threads, flags.model.batches};
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
  OPLAT_CHECK(check_prediction(prediction, gate));
  return kDone;
}

}  // namespace

void add_predict(const Command& app) {
  const Command command =
      app.add_subcommand("predict", "predict the latency of a model, or of several, from a table");
  const auto flags = std::make_shared<PredictFlags>();
  add_models(command, flags->models, "model files (ONNX, Paddle, MNN)");
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows, flags->threads);
  add_mismatch_flag(command, flags->request.rows);
  add_unfitted(command, flags->unfitted);
  add_prediction_options(command, flags->prediction);
  add_plan_source(command, flags->plan);
  add_model_options(command, flags->model, Sweeps::Yes);
  add_form(command, flags->form, kPredictForms);
  command.add_flag("--per-op", flags->per_op,
                   "list every kernel, not only the costliest, and the keys of missing ones");
  command.add_flag("--keys", flags->keys, "show the keys of kernels, not only their labels");
  add_gate(command, flags->gate, kPredictGates);
  add_foreign_table_options(command, flags->foreign);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
--table may also be a latency table of PaddleSlim (a pickle, recognised by its bytes). Its rows are
used as they are. What they lack is estimated by a fit, which is made once and cached under
$XDG_CACHE_HOME/oplat (or ~/.cache/oplat). A name such as SD710 or RK3288 means the file
NAME_threads_4_power_mode_0.pkl (4 or --threads) in the current folder or in those of $OPLAT_TABLES.
Several models are a table, or with --format json a document of all, jsonl one line a model. One that
fails is listed with its error; the exit code is that of the first.
Exit codes: 0 done; 2 usage, or several settings fit; 3 a model or the table is missing or
malformed; 4 kernels without an estimate; 5 the runtime's plan is not available; 6 no row for the
setting; 7 above --max-latency.
Several --threads or --batch are a table of latency, time per image and images a second.
Example: oplat predict mobilenetv1.pdmodel --table RK3288_threads_4_power_mode_0.pkl)");
  command.runs([flags] { return run_predict(*flags); });
}

}  // namespace oplat::cli
