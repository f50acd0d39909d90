// SPDX-License-Identifier: Apache-2.0
/// oplat profile: measure kernels into a table.
#include "app/profile.hpp"
#include "app/runtimes.hpp"
#include "app/sweep.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct ProfileFlags : OutputFlags {
  app::ProfileRequest request;
  app::RuntimeTexts run;
  app::ModelInputTexts inputs;
  app::CampaignTexts campaign;
  [[nodiscard]] auto axes() const { return app::axes_of(run.thread_list, inputs.batches); }
};

/// Every number of threads and every batch in turn; the models' times are the result, and in text
/// what became of the rows of each.
Result<int> run_profile_sweep(const ProfileFlags& flags, const app::ProfileRequest& request,
                              TerminalEvents& events) {
  Status printed;
  const auto print_one = [&](const app::ProfileResult& one) {
    events.finish();
    if (printed && flags.form.form() == "text" && flags.form.out.empty())
      printed =
          print_document(flags.form, report::ProfileReport{one.table, one.summary, one.unlike});
  };
  OPLAT_TRY(result, app::profile_sweep(request, flags.axes(), events, print_one));
  events.finish();
  OPLAT_CHECK(printed);
  OPLAT_CHECK(print_document(flags.form, result.sweep, events.warnings()));
  OPLAT_CHECK(app::require_finished(result.interrupted));
  print_message(app::budget_end_text(result, app::kResume));
  OPLAT_CHECK(app::require_profiled(result));
  return kDone;
}

Result<int> run_profile(const ProfileFlags& flags) {
  app::ProfileRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, request.models));
  OPLAT_CHECK(check_out(flags.form, {request.table, request.keys_file}));
  OPLAT_TRY(campaign, campaign_options(flags.campaign));
  request.campaign = std::move(campaign);
  OPLAT_TRY(inputs, app::parse_model_inputs(flags.inputs));
  request.inputs = std::move(inputs);
  OPLAT_CHECK(app::check_sources(request));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(runtime, app::parse_runtime_for(flags.run, request.models, events));
  request.runtime = std::move(runtime);
  if (flags.axes().is_sweep()) return run_profile_sweep(flags, request, events);
  OPLAT_TRY(result, app::profile(request, events));
  events.finish();
  OPLAT_CHECK(print_document(
      flags.form, report::ProfileReport{result.table, result.summary, result.unlike, result.space},
      events.warnings()));
  OPLAT_CHECK(app::require_finished(result.summary.interrupted));
  if (!result.space) print_message(app::budget_end_text(result.summary, app::kResume));
  OPLAT_CHECK(app::require_kernels(result));
  return kDone;
}

}  // namespace

void add_profile(const Command& app) {
  const auto [command, flags] =
      add_command(app, "profile", "measure the kernels of models into a table", run_profile);
  command
      .add_option("--model", flags->request.models,
                  "model file whose kernels are measured (repeatable)")
      .type_name("FILE")
      .repeatable();
  command.add_option("--keys", flags->request.keys_file, "file of keys to measure, one a line")
      .type_name("FILE");
  command
      .add_option(
          "--space", flags->request.space,
          "measure kernels of this space, for models that are not known yet: general-cpu, "
          "or a YAML file; models given with --model are measured too, and --target-error is "
          "the expected error of models never seen")
      .type_name("NAME|FILE");
  command
      .add_option("--like", flags->request.like,
                  "the same for models that are like those in this folder")
      .type_name("DIR");
  add_table(command, flags->request.table);
  add_run_options(command, flags->run, RuntimeFlag::Defaults, Sweeps::Yes);
  add_model_options(command, flags->inputs, Sweeps::Yes);
  add_campaign_options(command, flags->campaign);
  add_retry(command, flags->campaign.options);
  command.add_flag("--resume", flags->request.table_must_exist,
                   "fail if the table does not exist (finished rows are always skipped)");
  add_output<report::ProfileReport>(command, *flags);
}

}  // namespace oplat::cli
