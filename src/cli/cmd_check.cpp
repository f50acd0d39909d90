// SPDX-License-Identifier: Apache-2.0
/// oplat check T: rows that cannot be.
#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "compat/registry.hpp"
#include "estimate/sanity.hpp"

namespace oplat::cli {
namespace {

struct CheckFlags {
  std::string table;
  predict::RowFilter question = {.has_mismatch_flag = false};
  std::optional<double> peak_gflops;
  std::optional<double> peak_gbytes;
  double most_ratio = estimate::SanityRequest{}.most_ratio;
  FormOptions form;
  Verbosity verbosity;
};

struct Rows {
  std::vector<table::RowId> ids;
  std::vector<std::string> keys;
  std::vector<double> ns;
};

Result<Rows> read_rows(const table::Table& table, const predict::Selection& selection) {
  Rows rows;
  OPLAT_CHECK(table.each_row([&](const table::StoredRow& stored) {
    const auto& settings = selection.setting_ids;
    if (stored.device != selection.device_id ||
        std::find(settings.begin(), settings.end(), stored.setting) == settings.end())
      return true;
    const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
    if (timing == nullptr || !(timing->median_ns > 0) || !std::isfinite(timing->median_ns))
      return true;
    rows.ids.push_back(stored.id);
    rows.keys.push_back(stored.row.key);
    rows.ns.push_back(timing->median_ns);
    return true;
  }));
  return rows;
}

report::CheckReport report_of(const CheckFlags& flags, const predict::Selection& selection,
                              const Rows& rows, const estimate::Sanity& sanity) {
  report::CheckReport report;
  report.table = flags.table;
  report.device = selection.device;
  report.setting = selection.setting;
  report.rows = rows.ids.size();
  report.examined = sanity.examined;
  report.sizes_unknown = sanity.unknown;
  report.peak_gflops = sanity.flops_per_ns;
  report.peak_gb_per_s = sanity.bytes_per_ns;
  report.max_ratio = flags.most_ratio;
  for (const estimate::SuspectRow& suspect : sanity.suspects) {
    report.suspects.push_back({rows.ids[suspect.row], rows.keys[suspect.row], rows.ns[suspect.row],
                               std::string(estimate::name(suspect.fault)), suspect.reason});
  }
  return report;
}

Result<int> run_check(const CheckFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, predict::select_rows(table, flags.question, compat::catalogue()));
  OPLAT_TRY(rows, read_rows(table, selection));
  if (rows.ids.empty()) return fail(Code::Refused, "{}: no row with a time", flags.table);
  std::vector<estimate::CheckedRow> checked;
  for (std::size_t i = 0; i < rows.ids.size(); ++i) checked.push_back({rows.keys[i], rows.ns[i]});
  estimate::SanityRequest request;
  request.catalogue = selection.catalogue;
  request.peak_flops_per_ns = flags.peak_gflops;
  request.peak_bytes_per_ns = flags.peak_gbytes;
  request.most_ratio = flags.most_ratio;
  const estimate::Sanity sanity = estimate::check_rows(checked, request);
  OPLAT_CHECK(
      print_report(flags.form, report::ReportModel{report_of(flags, selection, rows, sanity), {}}));
  print_warnings(selection.warnings, flags.verbosity);
  return sanity.suspects.empty() ? kDone : kGateNotMet;
}

constexpr const char* kCheckFooter =
    "Faults:\n"
    "  sizes     no kernel of the operator has these sizes: filters that do not fit the channels, "
    "a window that does not\n"
    "            leave the result's\n"
    "  too fast  more operations or bytes a second than the machine does. Operations are counted "
    "as the cheapest algorithm\n"
    "            known does them (Winograd's for windows of stride 1). Without --peak-gflops and "
    "--peak-gb-per-s the machine\n"
    "            does half as many operations again, and three times the bytes (of caches), as the "
    "best hundredth of the rows\n"
    "            of known sizes, three rows at least\n"
    "  twin      a row of unknown batch ('?' where others have 1) that is off its twin of batch 1 "
    "by more than --most-ratio\n"
    "  order     a row of unknown batch that is slower than a kernel as large in every size, or "
    "faster than a smaller one, by\n"
    "            more than --most-ratio\n"
    "A batch that is not known counts as 1. A row in doubt stays in the table and answers for its "
    "own kernel; 'oplat fit\n"
    "--set-aside' and 'oplat accuracy --set-aside' leave it out. What fits learn from rows of "
    "unknown batch never includes one.\n"
    "--json prints oplat.check/1.\n"
    "Exit codes: 0 every row can be; 2 usage, or several settings fit; 3 no table; 6 no row with a "
    "time; 7 some rows cannot be.";

}  // namespace

void add_check(const Command& app) {
  const Command command =
      app.add_subcommand("check", "rows of a table that cannot be, each with the reason");
  const auto flags = std::make_shared<CheckFlags>();
  command.add_option("TABLE,--table", flags->table, "the table").envname("OPLAT_TABLE").required();
  add_population_options(command, flags->question);
  command
      .add_option(
          "--peak-gflops", flags->peak_gflops,
          "what the machine does at most, in 1e9 operations a second (default: told from the rows)")
      .range(1e-6, 1e9);
  command.add_option("--peak-gb-per-s", flags->peak_gbytes, "and in 1e9 bytes a second")
      .range(1e-6, 1e9);
  command.add_option("--most-ratio", flags->most_ratio, "between rows that should agree")
      .range(1.01, 1e6)
      .capture_default_str();
  add_form<report::CheckReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kCheckFooter);
  command.runs([flags] { return run_check(*flags); });
}

}  // namespace oplat::cli
