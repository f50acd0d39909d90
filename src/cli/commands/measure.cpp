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
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/print.hpp"
#include "cli/requests.hpp"

namespace oplat::cli {
namespace {

struct MeasureFlags {
  std::vector<std::string> models;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  CampaignFlags campaign;
  GateFlags gate;
  FormOptions form;
  Verbosity verbosity;
};

/// Code::GateNotMet if a model is above the limit, or too little is known of it.
Status check_gate(const std::optional<Gate>& gate, std::string_view subject,
                  const std::optional<table::InferenceTimes>& times) {
  if (!gate) return {};
  const auto ns = gated_ns(*gate, times);
  if (ns) return gate->check(subject, ns);
  return fail(Code::GateNotMet, "{}: the {} that --max-latency limits is not known{}",
              base::printable(subject, 400), name(gate->on),
              times ? fmt::format(" of {} inferences; {} are needed; set a larger --budget or more "
                                  "--blocks",
                                  times->count, table::kMinForP99)
                    : "; measure into a new --table");
}

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
    checks.push_back(point.latency_ns ? check_gate(gate, subject, point.inferences)
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
    checks.push_back(line != measurement.models.end() ? check_gate(gate, model, line->inferences)
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

Result<int> run_measure_sweep(const MeasureFlags& flags, const app::MeasureRequest& request,
                              const std::optional<Gate>& gate, TerminalEvents& events) {
  OPLAT_TRY(result, app::measure_sweep(
                        request, {flags.run.thread_list, flags.model_options.batches}, events));
  events.finish();
  std::vector<std::string> warnings = events.warnings();
  for (const auto& refusal : result.refusals)
    warnings.push_back(fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason));
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{result.sweep, {}, warnings}));
  OPLAT_TRY(ended, ending(flags, result.interrupted));
  const auto& points = result.sweep.points;
  if (std::none_of(points.begin(), points.end(), [](const auto& one) { return one.latency_ns; }))
    return fail(Code::Runtime, "no model could be measured");
  OPLAT_CHECK(check_gates(gate, result.sweep));
  if (result.first_error) return fail(*result.first_error);
  return ended;
}

Result<int> run_measure(const MeasureFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(gate, parse_gate(flags.gate, kMeasureGates.front()));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(runtime, runtime_request(flags.run, flags.models, events));
  app::MeasureRequest request;
  request.models = flags.models;
  request.inputs = std::move(inputs);
  request.table = flags.table;
  request.runtime = std::move(runtime);
  request.campaign = std::move(campaign);
  if (app::SweepAxes{flags.run.thread_list, flags.model_options.batches}.is_sweep())
    return run_measure_sweep(flags, request, gate, events);
  OPLAT_TRY(result, app::measure_models(request, events));
  events.finish();
  std::vector<std::string> warnings = events.warnings();
  for (const auto& refusal : result.summary.refusals)
    warnings.push_back(fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason));
  const std::size_t said = events.warnings().size();
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{result.measurement, {}, warnings}));
  for (std::size_t i = said; i < warnings.size(); ++i) print_message(warnings[i]);
  print_budget_end(result.summary, flags.table.empty()
                                       ? "set a larger budget, or --table to keep what is measured"
                                       : "run the same command to resume");
  OPLAT_TRY(ended, ending(flags, result.summary.interrupted));
  if (result.summary.models.measured() == 0)
    return fail(Code::Runtime, "no model could be measured");
  OPLAT_CHECK(check_gates(gate, flags.models, result.measurement));
  return ended;
}

}  // namespace

void add_measure(const Command& app) {
  const Command command = app.add_subcommand(
      "measure", "measure whole models end to end: mean, percentiles, throughput");
  const auto flags = std::make_shared<MeasureFlags>();
  command.add_option("MODEL", flags->models, "model files (ONNX)").required();
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
  add_gate(command, flags->gate, kMeasureGates);
  add_form<report::Measurement>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Mean, p50, p90, p99 and max are of single inferences, one after the other, each of the whole batch.
--max-latency exits with 7 if a model is above it or was not measured, or if --gate-on asks for p99
and fewer than 100 inferences were measured.
Examples:
  oplat measure net.onnx --runtime onnxruntime --threads 1,2 --batch 1,2,4,8
  oplat measure net.onnx --runtime onnxruntime --max-latency 5ms --gate-on p99)");
  command.runs([flags] { return run_measure(*flags); });
}

}  // namespace oplat::cli
