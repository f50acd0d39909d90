// SPDX-License-Identifier: Apache-2.0
/// oplat validate MODEL...: predicted beside measured.
#include <algorithm>
#include <memory>

#include "app/model_inputs.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "compat/registry.hpp"
#include "predict/validation.hpp"

namespace oplat::cli {
namespace {

struct ValidateFlags {
  std::vector<std::string> models;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  double level = 0.9;
  bool measure_anew = false;
  FormOptions form;
  Verbosity verbosity;
};

/// End-to-end times: those of the table, and a measurement now of what it lacks (or of everything).
Result<std::vector<std::optional<table::StoredModelRow>>> measured(
    const ValidateFlags& flags, const RuntimeSession& session, const table::Table& table,
    const std::vector<PlannedModel>& planned) {
  std::vector<std::optional<table::StoredModelRow>> rows(planned.size());
  if (!flags.measure_anew) {
    OPLAT_TRY(stored, measured_models(table, planned, session.setting, session.device));
    rows = std::move(stored);
  }
  std::vector<PlannedModel> lacking;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!rows[i]) lacking.push_back(planned[i]);
  }
  if (lacking.empty()) return rows;
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-validate"));
  OPLAT_TRY(scratch, table::Table::open(folder.path() / "validate.oplat", table::Mode::Create));
  CampaignFlags campaign;
  campaign.argv = command_line();
  OPLAT_TRY(summary, run_campaign(session, {}, lacking, campaign, scratch, flags.verbosity));
  if (summary.interrupted)
    return fail(Code::Interrupted, "stopped before every model was measured");
  for (const auto& refusal : summary.refusals)
    fmt::print(stderr, "oplat: {}: {}: {}\n", refusal.key, refusal.outcome, refusal.reason);
  OPLAT_TRY(fresh, measured_models(scratch, lacking, session.setting, session.device));
  for (std::size_t i = 0, next = 0; i < planned.size(); ++i) {
    if (!rows[i]) rows[i] = fresh[next++];
  }
  return rows;
}

void add_distinct(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& one : more) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
}

Result<int> run_validate(const ValidateFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_runtime_name(flags.run.runtime));
  for (const std::string& model : flags.models) OPLAT_CHECK(app::check_model_file(model));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(session, start_runtime(flags.run, flags.verbosity));
  predict::RowFilter question = {.has_mismatch_flag = false};
  question.device = session.device.name;
  question.runtime = session.setting.runtime;
  question.version = session.setting.version;
  question.precision = session.setting.precision;
  question.threads = session.setting.threads;
  question.build = session.setting.build;
  question.options = session.setting.options;
  OPLAT_TRY(selection, predict::select_rows(table, question, compat::catalogue()));
  OPLAT_TRY(planned, plan_models(session, flags.models, flags.model_options, flags.verbosity));
  OPLAT_TRY(rows, measured(flags, session, table, planned));
  predict::Validation validation;
  validation.level = flags.level;
  validation.device = selection.device;
  validation.setting = selection.setting;
  validation.warnings = selection.warnings;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!rows[i]) continue;
    predict::Options how;
    how.level = flags.level;
    OPLAT_TRY(prediction, predict::predict(table, selection, planned[i].plan, how));
    prediction.model = planned[i].plan.model;
    add_distinct(validation.warnings, prediction.warnings);
    if (rows[i]->row.method.has(table::kUnderLoad)) {
      validation.warnings.push_back(
          fmt::format("{} was measured while other programs kept the machine busy",
                      base::printable(planned[i].plan.model)));
    }
    validation.models.push_back(
        predict::beside(prediction, std::get<table::Timing>(rows[i]->row.outcome)));
  }
  if (validation.models.empty()) return fail(Code::Runtime, "no model could be measured");
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{validation, {}}));
  if (flags.form.form() != "text") print_warnings(validation.warnings, flags.verbosity);
  std::size_t incomplete = 0;
  for (const auto& model : validation.models) incomplete += model.predicted_ns ? 0U : 1U;
  if (validation.models.size() < planned.size()) {
    return fail(Code::Runtime, "{} of {} models could not be measured and are left out above",
                planned.size() - validation.models.size(), planned.size());
  }
  if (incomplete > 0)
    return fail(Code::Missing, "{} of {} models have kernels that the table lacks; profile them",
                incomplete, validation.models.size());
  return kDone;
}

}  // namespace

void add_validate(const Command& app) {
  const Command command =
      app.add_subcommand("validate", "predict models and measure them, side by side");
  const auto flags = std::make_shared<ValidateFlags>();
  command.add_option("MODEL", flags->models, "model files (ONNX)").required();
  add_table(command, flags->table);
  add_run_options(command, flags->run);
  add_model_options(command, flags->model_options);
  command.add_option("--level", flags->level, "level of the interval")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_flag("--measure", flags->measure_anew,
                   "measure every model now, also those whose time stands in the table");
  add_form<predict::Validation>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_validate(*flags); });
}

}  // namespace oplat::cli
