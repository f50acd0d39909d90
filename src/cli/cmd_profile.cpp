// SPDX-License-Identifier: Apache-2.0
/// oplat profile: measure kernels into a table.
#include <memory>
#include <unordered_set>

#include "app/model_inputs.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/campaign.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "compat/registry.hpp"
#include "ir/key.hpp"

namespace oplat::cli {
namespace {

struct ProfileFlags {
  std::vector<std::string> models;
  std::string keys_file;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  CampaignOptions campaign;
  bool resume = false;
  FormOptions form;
  Verbosity verbosity;
};

/// One key a line; '#' begins a comment line.
Result<std::vector<std::string>> read_keys(const std::string& path) {
  OPLAT_TRY(text, base::read_file(path, std::uint64_t{1} << 30));
  std::vector<std::string> keys;
  std::int64_t line_number = 0;
  for (std::string& line : base::split(text, '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    if (auto key = ir::parse(line); !key)
      return fail(Code::Input, "{}:{}: no key: {}", path, line_number, key.error().message);
    keys.push_back(std::move(line));
  }
  if (keys.empty()) return fail(Code::Input, "{}: holds no keys", path);
  return keys;
}

void keep_first_of_equals(std::vector<std::string>& keys) {
  std::unordered_set<std::string> seen;
  std::erase_if(keys, [&](const std::string& key) { return !seen.insert(key).second; });
}

Result<int> run_profile(const ProfileFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table, flags.keys_file}));
  OPLAT_TRY(campaign, campaign_flags(flags.campaign));
  if (flags.models.empty() && flags.keys_file.empty())
    return fail(Code::Usage, "nothing to profile: give --model FILE or --keys FILE");
  OPLAT_CHECK(shape_options(flags.model_options));
  OPLAT_CHECK(input_options(flags.model_options));
  OPLAT_CHECK(check_runtime_name(flags.run.runtime));
  for (const std::string& model : flags.models) OPLAT_CHECK(app::check_model_file(model));
  std::vector<std::string> keys;
  if (!flags.keys_file.empty()) {
    OPLAT_TRY(listed, read_keys(flags.keys_file));
    keys = std::move(listed);
  }
  // Neither a worker that does not start nor a model that is none may leave an empty table behind.
  OPLAT_TRY(session, start_runtime(flags.run, flags.verbosity));
  OPLAT_TRY(planned, plan_models(session, flags.models, flags.model_options, flags.verbosity));
  OPLAT_TRY(table,
            table::Table::open(flags.table, flags.resume ? table::Mode::Write : table::Mode::Create,
                               compat::codecs()));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_CHECK(store_plans(table, planned));
  std::vector<table::Plan> plans;
  for (const PlannedModel& model : planned) plans.push_back(model.plan);
  for (std::string& key : measure::keys_of(plans)) keys.push_back(std::move(key));
  keep_first_of_equals(keys);
  OPLAT_TRY(summary, run_campaign(session, keys, planned, campaign, table, flags.verbosity));
  OPLAT_CHECK(print_report(flags.form,
                           report::ReportModel{report::ProfileReport{flags.table, summary}, {}}));
  if (summary.interrupted)
    return fail(Code::Interrupted,
                "stopped; all that was measured is kept; go on with the same command and --resume");
  print_budget_end(summary, "go on with --resume");
  if (summary.kernels.total > 0 && summary.kernels.measured() == 0 && summary.kernels.left == 0) {
    return fail(Code::Runtime, "every kernel failed; the reasons stand above and in the table");
  }
  return kDone;
}

}  // namespace

void add_profile(const Command& app) {
  const Command command =
      app.add_subcommand("profile", "measure the kernels of models into a table");
  const auto flags = std::make_shared<ProfileFlags>();
  command.add_option("--model", flags->models, "model file whose kernels are measured (repeatable)")
      .type_name("FILE")
      .repeatable();
  command.add_option("--keys", flags->keys_file, "file of keys, one a line").type_name("FILE");
  add_table(command, flags->table);
  add_run_options(command, flags->run);
  add_model_options(command, flags->model_options);
  add_campaign_options(command, flags->campaign);
  add_retry(command, flags->campaign);
  command.add_flag("--resume", flags->resume,
                   "insist that the table exists already; rows that are done are left alone with "
                   "and without it");
  add_form<report::ProfileReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_profile(*flags); });
}

}  // namespace oplat::cli
