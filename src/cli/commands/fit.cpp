// SPDX-License-Identifier: Apache-2.0
/// oplat fit TABLE: learn from the table's whole models how kernels add up, and from its rows how
/// long other kernels take.
#include "app/fit.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct FitFlags : OutputFlags {
  app::FitRequest request;
  std::string only;
  bool dry_run = false;
};

Result<int> run_fit(const FitFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.request.table, flags.request.groups_file}));
  app::FitRequest request = flags.request;
  request.composition = flags.only != "kernels";
  request.kernels = flags.only != "composition";
  OPLAT_CHECK(app::check_parts(request));
  request.store = !flags.dry_run;
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::fit(request, events));
  events.finish();
  OPLAT_CHECK(print_document(flags.form, app::fit_report(request, std::move(result))));
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
  const auto [command, flags] = add_command(
      app, "fit", "learn from a table how kernels add up and how long unmeasured ones take",
      run_fit);
  add_table_argument(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  command.add_option("--only", flags->only, "fit only one part: composition or kernels")
      .one_of({"composition", "kernels"});
  add_learn_options(command, flags->request.learn);
  command
      .add_option(
          "--groups", flags->request.groups_file,
          "file of lines MODEL<tab>GROUP, kept with the fit; cross-validation leaves out "
          "the models of a group together (default: the groups of the fit before, else each "
          "model on its own; an empty file forgets them)")
      .type_name("FILE");
  add_level(command, flags->request.how.level, "confidence level of the printed intervals");
  command
      .add_option("--max-half-width", flags->request.how.max_half_width,
                  "max relative half-width of a model's measured confidence interval; noisier "
                  "models are ignored by this fit, not by later ones of campaigns (default: each "
                  "model weighs by its precision)")
      .range(0.0, 1.0);
  command.add_option("--most-half-width", flags->request.how.max_half_width, "")
      .range(0.0, 1.0)
      .hidden();
  command.add_flag("--dry-run", flags->dry_run, "print the fit without storing it");
  add_output<report::FitReport>(command, *flags);
  command.footer({kFitFooter});
}

}  // namespace oplat::cli
