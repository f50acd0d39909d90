// SPDX-License-Identifier: Apache-2.0
/// oplat measure MODEL...: whole models, end to end.
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "oplat/base/files.hpp"
#include "oplat/base/units.hpp"

namespace oplat::cli {
namespace {

struct Flags {
  std::vector<std::string> models;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  std::uint64_t seed = 1;
  bool json = false;
  Loudness loudness;
};

void print_text(const std::vector<PlannedModel>& models, const std::vector<std::optional<table::StoredModelRow>>& rows) {
  fmt::print("{:<32} {:>10} {:>24} {:>10} {:>10} {:>7} {:>9}\n", "model", "median", "95 % interval", "best block", "p90 block", "blocks", "processes");
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!rows[i]) continue;
    const auto& t = std::get<table::Timing>(rows[i]->row.outcome);
    fmt::print("{:<32} {:>10} {:>24} {:>10} {:>10} {:>7} {:>9}\n", models[i].plan.model, base::duration_text(t.median_ns),
               fmt::format("{} to {}", base::duration_text(t.ci_low_ns), base::duration_text(t.ci_high_ns)), base::duration_text(t.min_ns),
               base::duration_text(t.p90_ns), t.blocks, t.processes);
  }
}

void print_document(const std::vector<PlannedModel>& models, const std::vector<std::optional<table::StoredModelRow>>& rows, const RuntimeSession& session) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < models.size(); ++i) {
    if (!rows[i]) continue;
    const auto& t = std::get<table::Timing>(rows[i]->row.outcome);
    list.push_back({{"model", models[i].path}, {"batch", models[i].plan.batch}, {"latency_ns", t.median_ns}, {"ci_ns", {t.ci_low_ns, t.ci_high_ns}},
                    {"ci_level", t.ci_level}, {"min_ns", t.min_ns}, {"p10_ns", t.p10_ns}, {"p90_ns", t.p90_ns}, {"sd_log", t.sd_log},
                    {"blocks", t.blocks}, {"processes", t.processes}, {"flags", rows[i]->row.method.flags}});
  }
  const nlohmann::ordered_json document = {{"schema", "oplat.measurement/1"}, {"statistic", "median; min, p10 and p90 too are of the blocks' medians"}, {"device", session.device.name},
                                           {"runtime", session.setting.runtime}, {"version", session.setting.version},
                                           {"threads", session.setting.threads}, {"models", list}};
  print_json(document);
}

Result<int> run(const Flags& flags) {
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_runtime_name(flags.run.runtime));
  for (const std::string& model : flags.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(session, start_runtime(flags.run, flags.loudness));
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-measure"));
  const std::string path = flags.table.empty() ? (folder.path() / "measure.oplat").string() : flags.table;
  OPLAT_TRY(planned, plan_models(session, flags.models, flags.model_options, flags.loudness));
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Create));
  OPLAT_CHECK(store_plans(table, planned));
  CampaignFlags campaign;
  campaign.seed = flags.seed;
  campaign.argv = command_line();
  campaign.retry_refused = true;  // whoever asks for a measurement does not want to be told of an old failure
  OPLAT_TRY(summary, run_campaign(session, {}, planned, campaign, table, flags.loudness));
  OPLAT_TRY(rows, measured_models(table, planned, session.setting, session.device));
  if (flags.json) {
    print_document(planned, rows, session);
  } else {
    print_text(planned, rows);
  }
  for (const auto& refusal : summary.refusals) fmt::print(stderr, "oplat: {}: {}: {}\n", refusal.key, refusal.outcome, refusal.reason);
  if (summary.interrupted) return fail(Code::Interrupted, "stopped; {}", flags.table.empty() ? "give --table to keep what is measured" : "what was measured is kept");
  if (summary.models.measured() == 0) return fail(Code::Runtime, "no model could be measured");
  return kDone;
}

}  // namespace

void add_measure(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("measure", "measure whole models end to end, with a confidence interval");
  const auto flags = std::make_shared<Flags>();
  command->add_option("MODEL", flags->models, "model files (ONNX)")->required();
  add_run_options(*command, flags->run);
  add_table(*command, flags->table, false);
  add_model_options(*command, flags->model_options);
  command->add_option("--seed", flags->seed, "of order and inputs")->capture_default_str();
  command->add_flag("--json", flags->json, "print JSON");
  add_loudness(*command, flags->loudness);
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace oplat::cli
