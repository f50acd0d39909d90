// SPDX-License-Identifier: Apache-2.0
/// oplat fit T: learn from the table's whole models how kernels add up, and from its rows how long
/// other kernels take.
#include <chrono>
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/groups_file.hpp"
#include "cli/learning.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "compat/registry.hpp"
#include "predict/fit.hpp"

namespace oplat::cli {
namespace {

struct FitFlags {
  std::string table;
  predict::RowFilter question = {.has_mismatch_flag = false};
  std::string groups_file;
  double level = 0.9;
  double most_half_width = predict::FitRequest{}.most_half_width;
  LearnOptions learn;
  std::string only;
  bool dry_run = false;
  FormOptions form;
  Verbosity verbosity;
};

/// Fits that are ready to be stored; none of them is before all are made.
using Fits = std::vector<table::Fit>;

Status fit_composition(const table::Table& table, const predict::Selection& selection,
                       const predict::FitRequest& request, report::FitReport& report, Fits& fits) {
  auto result = predict::fit_composition(table, selection, request);
  if (!result && result.error().code == Code::Refused) {
    report.no_composition = result.error().message;
    return {};
  }
  if (!result) return fail(result.error());
  fits.push_back({std::string(predict::kCompositionFormat), 0, predict::encode(result->fit)});
  report.composition = report::composition_report(std::move(*result));
  return {};
}

/// What cannot be learned for want of rows leaves the rest of the work to be done.
Status fit_kernels(table::Table& table, const predict::Selection& selection, const FitFlags& flags,
                   report::FitReport& report, Fits& fits) {
  const estimate::RowSource rows{&table, selection.device_id, selection.setting_ids, std::nullopt,
                                 selection.catalogue};
  const auto start = std::chrono::steady_clock::now();
  auto learned =
      learn_with_progress(rows, flags.learn, flags.verbosity, flags.dry_run ? nullptr : &table);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!learned && learned.error().code == Code::Refused) {
    report.no_learned = learned.error().message;
    return {};
  }
  if (!learned) return fail(learned.error());
  std::int64_t bytes = 0;
  for (const table::Fit& fit : learned->fits) bytes += static_cast<std::int64_t>(fit.blob.size());
  report.learned =
      report::LearnedReport{learned->rows,    seconds.count(),     bytes,
                            flags.learn.seed, learned->calibrated, learned->under_load};
  std::move(learned->fits.begin(), learned->fits.end(), std::back_inserter(fits));
  return {};
}

Result<int> run_fit(const FitFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table, flags.groups_file}));
  if (flags.only == "kernels" && !flags.groups_file.empty())
    return fail(Code::Usage, "--groups: concerns the composition, which --only kernels leaves out");
  predict::FitRequest request;
  request.level = flags.level;
  request.most_half_width = flags.most_half_width;
  if (!flags.groups_file.empty()) {
    OPLAT_TRY(groups, read_groups_file(flags.groups_file, "model file name"));
    request.groups = std::move(groups);
  }
  OPLAT_TRY(table,
            table::Table::open(flags.table, flags.dry_run ? table::Mode::Read : table::Mode::Write,
                               compat::codecs()));
  OPLAT_TRY(selection, predict::select_rows(table, flags.question, compat::catalogue()));
  report::FitReport report;
  report.table = flags.table;
  report.device = selection.device;
  report.setting = selection.setting;
  report.level = flags.level;
  report.most_half_width = request.most_half_width;
  Fits fits;
  if (flags.only != "kernels")
    OPLAT_CHECK(fit_composition(table, selection, request, report, fits));
  if (flags.only != "composition") OPLAT_CHECK(fit_kernels(table, selection, flags, report, fits));
  if (fits.empty()) {
    const bool both = !report.no_composition.empty() && !report.no_learned.empty();
    return fail(Code::Refused, "{}{}{}", report.no_composition, both ? "; and of kernels, " : "",
                report.no_learned);
  }
  if (!flags.dry_run)
    OPLAT_CHECK(store_fits(table, selection.device_id, selection.setting_ids.front(), fits));
  report.stored = !flags.dry_run;
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{std::move(report), {}}));
  print_warnings(selection.warnings, flags.verbosity);
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
  command.add_option("T,--table", flags->table, "the table").envname("OPLAT_TABLE").required();
  add_population_options(command, flags->question);
  command.add_option("--only", flags->only, "fit but one of the two: composition, kernels")
      .one_of({"composition", "kernels"});
  add_learn_options(command, flags->learn);
  add_set_aside(command, flags->learn.set_aside);
  command
      .add_option("--groups", flags->groups_file,
                  "file of lines MODEL<tab>GROUP: models of a group are left out together "
                  "(default: each by itself)")
      .type_name("FILE");
  command.add_option("--level", flags->level, "level of the intervals printed")
      .range(0.01, 0.999)
      .capture_default_str();
  command
      .add_option(
          "--most-half-width", flags->most_half_width,
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
