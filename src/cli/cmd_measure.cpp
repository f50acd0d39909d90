// SPDX-License-Identifier: Apache-2.0
/// oplat measure MODEL...: whole models, end to end.
#include <memory>

#include "app/model_inputs.hpp"
#include "base/files.hpp"
#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {
namespace {

struct MeasureFlags {
  std::vector<std::string> models;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  CampaignOptions campaign;
  FormOptions form;
  Verbosity verbosity;
};

report::Measurement measurement(const std::vector<PlannedModel>& models,
                                const std::vector<std::optional<table::StoredModelRow>>& rows,
                                const RuntimeSession& session) {
  report::Measurement measurement;
  measurement.device = session.device;
  measurement.setting = session.setting;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto* timing = rows[i] ? std::get_if<table::Timing>(&rows[i]->row.outcome) : nullptr;
    if (timing != nullptr)
      measurement.models.push_back({models[i].path, models[i].plan.model, models[i].plan.batch,
                                    *timing, rows[i]->row.method.flags});
  }
  return measurement;
}

Result<int> run_measure(const MeasureFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_runtime_name(flags.run.runtime));
  OPLAT_TRY(campaign, campaign_flags(flags.campaign));
  campaign.retry_refused =
      true;  // whoever asks for a measurement does not want to be told of an old failure
  for (const std::string& model : flags.models) OPLAT_CHECK(app::check_model_file(model));
  OPLAT_TRY(session, start_runtime(flags.run, flags.verbosity));
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-measure"));
  const std::string path =
      flags.table.empty() ? (folder.path() / "measure.oplat").string() : flags.table;
  OPLAT_TRY(planned, plan_models(session, flags.models, flags.model_options, flags.verbosity));
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Create, compat::codecs()));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_CHECK(store_plans(table, planned));
  OPLAT_TRY(summary, run_campaign(session, {}, planned, campaign, table, flags.verbosity));
  OPLAT_TRY(rows, measured_models(table, planned, session.setting, session.device));
  OPLAT_CHECK(
      print_report(flags.form, report::ReportModel{measurement(planned, rows, session), {}}));
  for (const auto& refusal : summary.refusals)
    fmt::print(stderr, "oplat: {}: {}: {}\n", refusal.key, refusal.outcome, refusal.reason);
  print_budget_end(summary, flags.table.empty()
                                ? "give it more, or --table to keep what is measured"
                                : "the same command goes on");
  if (summary.interrupted)
    return fail(Code::Interrupted, "stopped; {}",
                flags.table.empty() ? "give --table to keep what is measured"
                                    : "what was measured is kept");
  if (summary.models.measured() == 0) return fail(Code::Runtime, "no model could be measured");
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
