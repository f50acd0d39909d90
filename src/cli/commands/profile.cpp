// SPDX-License-Identifier: Apache-2.0
/// oplat profile: measure kernels into a table.
#include <memory>

#include "app/profile.hpp"
#include "app/sweep.hpp"
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
  std::string space;
  std::string like;
  std::string table;
  RunOptions run;
  ModelOptions model_options;
  CampaignFlags campaign;
  bool resume = false;
  FormOptions form;
  Verbosity verbosity;
};

/// Every number of threads and every batch in turn; the models' times are the result, and in text
/// what became of the rows of each.
Result<int> run_profile_sweep(const ProfileFlags& flags, const app::ProfileRequest& request,
                              TerminalEvents& events) {
  if (!request.space.empty() || !request.like.empty())
    return fail(Code::Usage,
                "--space and --like take one number of threads and one batch; run the command once "
                "for each, into one table");
  if (request.models.empty())
    return fail(Code::Usage, "several --threads or --batch need models; give --model FILE");
  Status printed;
  int profiled = 0;
  int failed = 0;
  const auto print_one = [&](const app::ProfileResult& one) {
    ++profiled;
    if (one.every_kernel_failed()) ++failed;
    events.finish();
    if (printed && flags.form.form() == "text" && flags.form.out.empty())
      printed = print_report(
          "text",
          report::ReportModel{report::ProfileReport{one.table, one.summary, one.unlike}, {}});
  };
  OPLAT_TRY(result,
            app::profile_sweep(request, {flags.run.thread_list, flags.model_options.batches},
                               events, print_one));
  events.finish();
  OPLAT_CHECK(printed);
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{result.sweep, {}, events.warnings()}));
  if (result.interrupted)
    return fail(Code::Interrupted,
                "stopped; what was measured is kept; run the same command to resume");
  print_budget_end(result, "run the same command to resume");
  if (result.first_error) return fail(*result.first_error);
  if (failed > 0)
    return fail(Code::Runtime,
                "every kernel failed in {} of {} settings; the reasons are above and in the table",
                failed, profiled);
  return kDone;
}

Result<int> run_profile(const ProfileFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, flags.models));
  OPLAT_CHECK(check_out(flags.form, {flags.table, flags.keys_file}));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  OPLAT_TRY(inputs, model_inputs(flags.model_options));
  if (flags.models.empty() && flags.keys_file.empty() && flags.space.empty() && flags.like.empty())
    return fail(Code::Usage,
                "nothing to profile; give --model FILE, --keys FILE, --space NAME or --like DIR");
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(runtime, runtime_request(flags.run, flags.models, events));
  app::ProfileRequest request;
  request.models = flags.models;
  request.inputs = std::move(inputs);
  request.keys_file = flags.keys_file;
  request.space = flags.space;
  request.like = flags.like;
  request.table = flags.table;
  request.table_must_exist = flags.resume;
  request.runtime = std::move(runtime);
  request.campaign = std::move(campaign);
  if (app::SweepAxes{flags.run.thread_list, flags.model_options.batches}.is_sweep())
    return run_profile_sweep(flags, request, events);
  OPLAT_TRY(result, app::profile(request, events));
  events.finish();
  OPLAT_CHECK(print_report(flags.form,
                           report::ReportModel{report::ProfileReport{result.table, result.summary,
                                                                     result.unlike, result.space},
                                               {},
                                               events.warnings()}));
  if (result.summary.interrupted)
    return fail(Code::Interrupted,
                "stopped; what was measured is kept; run the same command to resume");
  if (!result.space) print_budget_end(result.summary, "run the same command to resume");
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
  command
      .add_option("--space", flags->space,
                  "measure kernels of this space, for models that are not known yet: general-cpu, "
                  "or a YAML file; models are measured end to end alone, and --target-error is the "
                  "expected error of models never seen")
      .type_name("NAME|FILE");
  command
      .add_option("--like", flags->like, "the same for models that are like those in this folder")
      .type_name("DIR");
  add_table(command, flags->table);
  add_run_options(command, flags->run, RuntimeFlag::Defaults, Sweeps::Yes);
  add_model_options(command, flags->model_options, Sweeps::Yes);
  add_campaign_options(command, flags->campaign);
  add_retry(command, flags->campaign);
  command.add_flag("--resume", flags->resume,
                   "fail if the table does not exist (finished rows are always skipped)");
  add_form<report::ProfileReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.runs([flags] { return run_profile(*flags); });
}

}  // namespace oplat::cli
