// SPDX-License-Identifier: Apache-2.0
/// oplat fit T: learn from the table's whole models how kernels add up, and from its rows how long
/// other kernels take.
#include <memory>

#include "app/fit.hpp"
#include "app/groups_file.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

struct FitFlags {
  app::FitRequest request;
  std::string groups_file;
  std::string only;
  bool dry_run = false;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_fit(const FitFlags& flags) {
  if (flags.only == "kernels" && !flags.groups_file.empty())
    return fail(Code::Usage,
                "--groups: applies to the composition, which --only kernels leaves out");
  OPLAT_CHECK(check_out(flags.form, {flags.request.table, flags.groups_file}));
  app::FitRequest request = flags.request;
  request.composition = flags.only != "kernels";
  request.kernels = flags.only != "composition";
  request.store = !flags.dry_run;
  if (!flags.groups_file.empty()) {
    OPLAT_TRY(groups, app::read_groups_file(flags.groups_file, "model file name"));
    request.how.groups = std::move(groups);
    request.keep_groups = false;
  }
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::fit(request, events));
  events.finish();
  OPLAT_CHECK(print_report(flags.form,
                           report::ReportModel{app::fit_report(request, std::move(result)), {}}));
  return kDone;
}

constexpr const char* kFitFooter =
    R"(
Learns two things, each if the table has enough rows for it:
  composition  how kernels add up to a model, from whole models ('oplat profile --model' measures
               them)
  kernels      how long unmeasured kernels take, from the rows of all measured ones
Predictions use both until more is measured. Fitting the kernels of a large table takes minutes.
Ctrl-C stops it; what is finished is stored. 'oplat accuracy' shows how good the estimates of a
table are.
Exit codes: 0 at least one of the two was fitted; 2 usage, or several settings fit; 3 no table, or a
malformed file of groups; 6 neither can be fitted, or the table is locked; 130 interrupted.)";

}  // namespace

void add_fit(const Command& app) {
  const Command command = app.add_subcommand(
      "fit", "learn from a table how kernels add up and how long unmeasured ones take");
  const auto flags = std::make_shared<FitFlags>();
  command.add_option("T,--table", flags->request.table, "the latency table")
      .envname("OPLAT_TABLE")
      .required();
  add_row_filter(command, flags->request.rows);
  command.add_option("--only", flags->only, "fit only one part: composition or kernels")
      .one_of({"composition", "kernels"});
  add_learn_options(command, flags->request.learn);
  command
      .add_option(
          "--groups", flags->groups_file,
          "file of lines MODEL<tab>GROUP, kept with the fit; cross-validation leaves out "
          "the models of a group together (default: the groups of the fit before, else each "
          "model on its own; an empty file forgets them)")
      .type_name("FILE");
  command
      .add_option("--level", flags->request.how.level, "confidence level of the printed intervals")
      .range(0.01, 0.999)
      .capture_default_str();
  command
      .add_option("--max-half-width", flags->request.how.max_half_width,
                  "max relative half-width of a model's measured confidence interval; noisier "
                  "models are ignored (default: each model weighs by its precision)")
      .range(0.0, 1.0);
  command.add_option("--most-half-width", flags->request.how.max_half_width, "")
      .range(0.0, 1.0)
      .hidden();
  command.add_flag("--dry-run", flags->dry_run, "print the fit without storing it");
  add_form<report::FitReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kFitFooter);
  command.runs([flags] { return run_fit(*flags); });
}

}  // namespace oplat::cli
