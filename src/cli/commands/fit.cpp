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

report::FitReport report_of(const app::FitRequest& request, app::FitResult result) {
  report::FitReport report;
  report.table = request.table;
  report.device = std::move(result.device);
  report.setting = std::move(result.setting);
  report.level = request.how.level;
  report.most_half_width = request.how.most_half_width;
  report.stored = result.stored;
  if (result.composition)
    report.composition = report::composition_report(*std::move(result.composition));
  report.no_composition = std::move(result.no_composition);
  if (const auto& learned = result.kernels)
    report.learned = report::LearnedReport{learned->rows, learned->seconds,    learned->bytes,
                                           learned->seed, learned->calibrated, learned->under_load};
  report.no_learned = std::move(result.no_kernels);
  return report;
}

Result<int> run_fit(const FitFlags& flags) {
  if (flags.only == "kernels" && !flags.groups_file.empty())
    return fail(Code::Usage, "--groups: concerns the composition, which --only kernels leaves out");
  OPLAT_CHECK(check_out(flags.form, {flags.request.table, flags.groups_file}));
  app::FitRequest request = flags.request;
  request.composition = flags.only != "kernels";
  request.kernels = flags.only != "composition";
  request.store = !flags.dry_run;
  if (!flags.groups_file.empty()) {
    OPLAT_TRY(groups, app::read_groups_file(flags.groups_file, "model file name"));
    request.how.groups = std::move(groups);
  }
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::fit(request, events));
  events.finish();
  OPLAT_CHECK(
      print_report(flags.form, report::ReportModel{report_of(request, std::move(result)), {}}));
  return kDone;
}

constexpr const char* kFitFooter =
    "Two things are learned, each where the table holds enough for it:\n"
    "  composition  how kernels add up, from whole models ('oplat profile --model' measures them)\n"
    "  kernels      how long kernels take that were not measured, from the rows of all that were\n"
    "Predictions use them until more is measured. On a large table the kernels take minutes; "
    "Ctrl-C ends the fit and\n"
    "stores nothing. 'oplat accuracy' tells how good the estimates of a table are.\n"
    "Exit codes: 0 at least one of the two was fitted; 2 usage, or several settings fit; 3 no "
    "table, or a file of\n"
    "groups that is not one; 6 neither can be fitted, or the table is locked; 130 interrupted.";

}  // namespace

void add_fit(const Command& app) {
  const Command command = app.add_subcommand(
      "fit", "learn from a table how kernels add up, and how long unmeasured ones take");
  const auto flags = std::make_shared<FitFlags>();
  command.add_option("T,--table", flags->request.table, "the table")
      .envname("OPLAT_TABLE")
      .required();
  add_row_filter(command, flags->request.rows);
  command.add_option("--only", flags->only, "fit only one part: composition or kernels")
      .one_of({"composition", "kernels"});
  add_learn_options(command, flags->request.learn);
  command
      .add_option("--groups", flags->groups_file,
                  "file of lines MODEL<tab>GROUP: models of a group are left out together "
                  "(default: each by itself)")
      .type_name("FILE");
  command.add_option("--level", flags->request.how.level, "level of the intervals printed")
      .range(0.01, 0.999)
      .capture_default_str();
  command
      .add_option(
          "--most-half-width", flags->request.how.most_half_width,
          "models whose own confidence interval is wider than +- this, relative, teach nothing")
      .range(0.0, 1.0)
      .capture_default_str();
  command.add_flag("--dry-run", flags->dry_run, "print the fit, but do not store it");
  add_form<report::FitReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kFitFooter);
  command.runs([flags] { return run_fit(*flags); });
}

}  // namespace oplat::cli
