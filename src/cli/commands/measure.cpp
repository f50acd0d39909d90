// SPDX-License-Identifier: Apache-2.0
/// oplat measure MODEL...: whole models, end to end.
#include <memory>

#include "app/measure_models.hpp"
#include "cli/campaign_flags.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
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
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_measure(const MeasureFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  OPLAT_TRY(runtime, runtime_request(flags.run));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  app::MeasureRequest request;
  request.models = flags.models;
  request.inputs = std::move(inputs);
  request.table = flags.table;
  request.runtime = std::move(runtime);
  request.campaign = std::move(campaign);
  TerminalEvents events(flags.verbosity);
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
  if (result.summary.interrupted)
    return fail(Code::Interrupted, "stopped; {}",
                flags.table.empty() ? "give --table to keep what is measured"
                                    : "what was measured is kept");
  if (result.summary.models.measured() == 0)
    return fail(Code::Runtime, "no model could be measured");
  return kDone;
}

}  // namespace

void add_measure(const Command& app) {
  const Command command =
      app.add_subcommand("measure", "measure whole models end to end, with a confidence interval");
  const auto flags = std::make_shared<MeasureFlags>();
  command.add_option("MODEL", flags->models, "model files (ONNX)").required();
  add_run_options(command, flags->run);
  add_table(command, flags->table, false);
  add_model_options(command, flags->model_options);
  add_campaign_options(command, flags->campaign);
  add_form<report::Measurement>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_measure(*flags); });
}

}  // namespace oplat::cli
