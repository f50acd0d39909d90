// SPDX-License-Identifier: Apache-2.0
/// oplat measure MODEL...: whole models, end to end.
#include <algorithm>
#include <memory>

#include "app/measure_models.hpp"
#include "app/sweep.hpp"
#include "base/text.hpp"
#include "cli/campaign_flags.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/gate.hpp"
#include "cli/model_list.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/print.hpp"
#include "cli/requests.hpp"

namespace oplat::cli {
namespace {

struct MeasureFlags {
  ModelListFlags models;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  CampaignFlags campaign;
  GateFlags gate;
  bool per_op = false;
  FormOptions form;
  Verbosity verbosity;
};

constexpr std::string_view kUnknownHelp = "measure into a new --table";

/// A limit is not met by what was not measured. `reason`: why it was not, if that is known.
Status unmeasured(std::string_view subject, std::string_view reason) {
  return fail(Code::GateNotMet, "{}: it was not measured, and --max-latency is not met{}{}",
              base::printable(subject, 400), reason.empty() ? "" : ": ",
              base::printable(reason, 2000));
}

/// Code::GateNotMet, all of it said, if a model or point is above the limit or was not measured.
Status check_gates(const std::optional<Gate>& gate, const report::Sweep& sweep) {
  if (!gate) return {};
  std::vector<Status> checks;
  for (const auto& point : sweep.points) {
    const std::string subject =
        fmt::format("{} with threads {} and batch {}", point.path, point.threads, point.batch);
    checks.push_back(point.latency_ns
                         ? check_inferences(*gate, subject, point.inferences, kUnknownHelp)
                         : unmeasured(subject, point.error));
  }
  return report_gates(checks);
}
Status check_gates(const std::optional<Gate>& gate, const std::vector<std::string>& models,
                   const report::Measurement& measurement) {
  if (!gate) return {};
  std::vector<Status> checks;
  for (const std::string& model : models) {
    const auto line = std::find_if(measurement.models.begin(), measurement.models.end(),
                                   [&](const auto& one) { return one.path == model; });
    checks.push_back(line != measurement.models.end()
                         ? check_inferences(*gate, model, line->inferences, kUnknownHelp)
                         : unmeasured(model, ""));
  }
  return report_gates(checks);
}

/// What ends the command where not all was measured.
Result<int> ending(const MeasureFlags& flags, bool interrupted) {
  if (interrupted)
    return fail(Code::Interrupted, "stopped; {}",
                flags.table.empty() ? "give --table to keep what is measured"
                                    : "what was measured is kept");
  return kDone;
}

std::string_view way_on(const MeasureFlags& flags) {
  return flags.table.empty() ? "set a larger budget, or --table to keep what is measured"
                             : "run the same command to resume";
}

/// The exit code of the first model that has no time. Each is an entry of the report; where none
/// has a time, there may be no report, and the reasons are printed.
Result<int> failure_of(const report::Measurement& measurement) {
  if (measurement.failed.empty()) return kDone;
  if (measurement.models.empty()) {
    for (const auto& one : measurement.failed) print_message(one.error.message);
    return fail(measurement.failed.front().error.code, "no model could be measured");
  }
  return exit_code(measurement.failed.front().error.code);
}

Result<int> run_measure_sweep(const MeasureFlags& flags, const app::MeasureRequest& request,
                              const std::optional<Gate>& gate, TerminalEvents& events) {
  OPLAT_TRY(result, app::measure_sweep(
                        request, {flags.run.thread_list, flags.model_options.batches}, events));
  events.finish();
  std::vector<std::string> warnings = events.warnings();
  for (const auto& refusal : result.refusals)
    warnings.push_back(fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason));
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{result.sweep, {}, warnings}));
  print_budget_end(result, way_on(flags));
  OPLAT_TRY(ended, ending(flags, result.interrupted));
  const auto& points = result.sweep.points;
  if (std::none_of(points.begin(), points.end(), [](const auto& one) { return one.latency_ns; }))
    return fail(Code::Runtime, "no model could be measured");
  OPLAT_CHECK(check_gates(gate, result.sweep));
  if (result.first_error) return fail(*result.first_error);
  return ended;
}

Result<int> run_measure(const MeasureFlags& flags) {
  OPLAT_TRY(models, listed_models(flags.models));
  OPLAT_CHECK(check_out(flags.form, models));
  OPLAT_CHECK(check_out(flags.form, {flags.table, flags.models.list.value_or("")}));
  OPLAT_TRY(gate, parse_gate(flags.gate, kMeasureGates.front()));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(runtime, runtime_request(flags.run, models, events));
  app::MeasureRequest request;
  request.models = models;
  request.inputs = std::move(inputs);
  request.table = flags.table;
  request.runtime = std::move(runtime);
  request.campaign = std::move(campaign);
  request.per_op = flags.per_op;
  if (app::SweepAxes{flags.run.thread_list, flags.model_options.batches}.is_sweep()) {
    if (flags.per_op)
      return fail(Code::Usage, "--per-op: not of several threads or batches; give one of each");
    if (flags.form.form() == "jsonl")
      return fail(Code::Usage,
                  "--format jsonl: not of several threads or batches; use text, json or csv");
    return run_measure_sweep(flags, request, gate, events);
  }
  OPLAT_TRY(result, app::measure_models(request, events));
  events.finish();
  const report::Measurement& measurement = result.measurement;
  if (flags.form.form() != "text" || !measurement.models.empty())
    OPLAT_CHECK(print_report(flags.form, report::ReportModel{measurement, {}, events.warnings()}));
  print_budget_end(result.summary, way_on(flags));
  OPLAT_TRY(ended, ending(flags, result.summary.interrupted));
  if (!measurement.models.empty()) OPLAT_CHECK(check_gates(gate, models, measurement));
  OPLAT_TRY(failure, failure_of(measurement));
  return failure != kDone ? failure : ended;
}

}  // namespace

void add_measure(const Command& app) {
  const Command command = app.add_subcommand(
      "measure", "measure whole models end to end: mean, percentiles, throughput");
  const auto flags = std::make_shared<MeasureFlags>();
  add_models(command, flags->models, "model files (ONNX)");
  add_run_options(command, flags->run, RuntimeFlag::Defaults, Sweeps::Yes);
  // $OPLAT_TABLE is what is predicted from: a measurement writes to nothing that was not named.
  command
      .add_option(
          "--table", flags->table,
          "latency table that keeps the times, made if missing (default: they are not kept; "
          "OPLAT_TABLE is not used)")
      .type_name("FILE");
  add_model_options(command, flags->model_options, Sweeps::Yes);
  add_campaign_options(command, flags->campaign);
  command.add_flag("--per-op", flags->per_op,
                   "also show operators and the costliest kernels inside each model, by the "
                   "runtime's own profile");
  add_gate(command, flags->gate, kMeasureGates);
  add_form<report::Measurement>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Mean, p50, p90, p99 and max are of single inferences, one after the other, each of the whole batch.
Of several models, one that fails is an entry with its error; the exit code is that of the first.
--max-latency exits with 7 if a model is above it or was not measured, or if --gate-on asks for p99
and fewer than 100 inferences were measured.
Examples:
  oplat measure net.onnx --runtime onnxruntime --threads 1,2 --batch 1,2,4,8
  oplat measure net.onnx --runtime onnxruntime --max-latency 5ms --gate-on p99)");
  command.runs([flags] { return run_measure(*flags); });
}

}  // namespace oplat::cli
