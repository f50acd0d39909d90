// SPDX-License-Identifier: Apache-2.0
/// oplat measure MODEL...: whole models, end to end.
#include "app/measure_models.hpp"
#include "app/runtimes.hpp"
#include "app/sweep.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct MeasureFlags : OutputFlags {
  app::MeasureRequest request;
  app::ModelList models;
  app::RuntimeTexts run;
  app::ModelInputTexts inputs;
  app::CampaignTexts campaign;
  GateFlags gate;
  [[nodiscard]] auto axes() const { return app::axes_of(run.thread_list, inputs.batches); }
};

Result<int> run_measure_sweep(const MeasureFlags& flags, const app::MeasureRequest& request,
                              const std::optional<app::Gate>& gate, TerminalEvents& events) {
  OPLAT_CHECK(app::check_sweep_form(flags.form.form(), request.per_op ? "--per-op" : ""));
  OPLAT_TRY(result, app::measure_sweep(request, flags.axes(), events));
  events.finish();
  std::vector<std::string> warnings = events.warnings();
  for (const auto& refusal : result.refusals) warnings.push_back(app::refusal_text(refusal));
  OPLAT_CHECK(print_document(flags.form, result.sweep, std::move(warnings)));
  const app::MeasureEnd end = app::end_of(request);
  print_message(app::budget_end_text(result, end.way_on));
  OPLAT_CHECK(app::require_points(result, end.kept));
  OPLAT_CHECK(end_with(app::failures_of(app::gate_checks(gate, result.sweep))));
  if (result.first_error) return fail(*result.first_error);
  return kDone;
}

/// The flags as a request; its models are set.
Status read_measure(const MeasureFlags& flags, app::MeasureRequest& request,
                    TerminalEvents& events) {
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.inputs));
  request.inputs = std::move(inputs);
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  request.campaign = std::move(campaign);
  OPLAT_TRY(runtime, app::parse_runtime_for(flags.run, request.models, events));
  request.runtime = std::move(runtime);
  return {};
}

Result<int> run_measure(const MeasureFlags& flags) {
  app::MeasureRequest request = flags.request;
  OPLAT_TRY(models, models_to_read(flags.models, flags.form, request.table));
  request.models = std::move(models);
  OPLAT_TRY(gate, parse_gate(flags.gate, app::kMeasureGates.front()));
  TerminalEvents events(flags.verbosity);
  OPLAT_CHECK(read_measure(flags, request, events));
  if (flags.axes().is_sweep()) return run_measure_sweep(flags, request, gate, events);
  OPLAT_TRY(result, app::measure_models(request, events));
  events.finish();
  const report::Measurement& measurement = result.measurement;
  if (flags.form.form() != "text" || !measurement.models.empty())
    OPLAT_CHECK(print_document(flags.form, measurement, events.warnings()));
  const app::MeasureEnd end = app::end_of(request);
  print_message(app::budget_end_text(result.summary, end.way_on));
  if (result.summary.interrupted) return fail(Code::Interrupted, "stopped; {}", end.kept);
  if (!measurement.models.empty())
    OPLAT_CHECK(end_with(app::failures_of(app::gate_checks(gate, request.models, measurement))));
  OPLAT_CHECK(end_with(app::failures_of(measurement)));
  return kDone;
}

}  // namespace

void add_measure(const Command& app) {
  const auto [command, flags] =
      add_command(app, "measure", "measure whole models end to end: mean, percentiles, throughput",
                  run_measure);
  add_models(command, flags->models, "model files (ONNX, Paddle, MNN)");
  add_run_options(command, flags->run, RuntimeFlag::Defaults, Sweeps::Yes);
  // $OPLAT_TABLE is what is predicted from: a measurement writes to nothing that was not named.
  command
      .add_option(
          "--table", flags->request.table,
          "latency table that keeps the times, made if missing (default: they are not kept; "
          "OPLAT_TABLE is not used)")
      .type_name("FILE");
  add_model_options(command, flags->inputs, Sweeps::Yes);
  add_campaign_options(command, flags->campaign);
  command.add_flag("--per-op", flags->request.per_op,
                   "also show operators and the costliest kernels inside each model, by the "
                   "runtime's own profile");
  add_gate(command, flags->gate, app::kMeasureGates);
  add_output<report::Measurement>(command, *flags);
  command.footer({R"(
Mean, p50, p90, p99 and max are of single inferences, one after the other, each of the whole batch.
Of several models, one that fails is an entry with its error; the exit code is that of the first.
--max-latency exits with 7 if a model is above it or was not measured, or if --gate-on asks for p99
and fewer than 100 inferences were measured.
Examples:
  oplat measure net.onnx --runtime onnxruntime --threads 1,2 --batch 1,2,4,8
  oplat measure net.onnx --runtime onnxruntime --max-latency 5ms --gate-on p99)"});
}

}  // namespace oplat::cli
