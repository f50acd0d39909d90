// SPDX-License-Identifier: Apache-2.0
/// oplat profile: measure kernels into a table.
#include <memory>

#include "app/profile.hpp"
#include "cli/campaign_flags.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/requests.hpp"

namespace oplat::cli {
namespace {

struct ProfileFlags {
  std::vector<std::string> models;
  std::string keys_file;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  CampaignFlags campaign;
  bool resume = false;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_profile(const ProfileFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table, flags.keys_file}));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  OPLAT_TRY(runtime, runtime_request(flags.run));
  app::ProfileRequest request;
  request.models = flags.models;
  request.inputs = std::move(inputs);
  request.keys_file = flags.keys_file;
  request.table = flags.table;
  request.table_must_exist = flags.resume;
  request.runtime = std::move(runtime);
  request.campaign = std::move(campaign);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::profile(request, events));
  events.finish();
  OPLAT_CHECK(print_report(
      flags.form,
      report::ReportModel{report::ProfileReport{result.table, result.summary, result.unlike},
                          {},
                          events.warnings()}));
  if (result.summary.interrupted)
    return fail(Code::Interrupted,
                "stopped; what was measured is kept; run the same command to resume");
  print_budget_end(result.summary, "run the same command to resume");
  if (result.every_kernel_failed())
    return fail(Code::Runtime, "every kernel failed; the reasons are above and in the table");
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
  command.add_option("--keys", flags->keys_file, "file of keys to measure, one a line")
      .type_name("FILE");
  add_table(command, flags->table);
  add_run_options(command, flags->run);
  add_model_options(command, flags->model_options);
  add_campaign_options(command, flags->campaign);
  add_retry(command, flags->campaign);
  command.add_flag("--resume", flags->resume,
                   "fail if the table does not exist (finished rows are always skipped)");
  add_form<report::ProfileReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_profile(*flags); });
}

}  // namespace oplat::cli
