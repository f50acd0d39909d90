// SPDX-License-Identifier: Apache-2.0
/// oplat check T: rows that cannot be.
#include <memory>

#include "app/check.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

struct CheckFlags {
  app::CheckRequest request;
  FormOptions form;
  Verbosity verbosity;
};

report::CheckReport report_of_check(const app::CheckRequest& request, app::CheckResult result) {
  report::CheckReport report;
  report.table = request.table;
  report.device = std::move(result.device);
  report.setting = std::move(result.setting);
  report.rows = result.rows;
  report.examined = result.examined;
  report.sizes_unknown = result.sizes_unknown;
  report.peak_gflops = result.peak_flops_per_ns;
  report.peak_gb_per_s = result.peak_bytes_per_ns;
  report.max_ratio = request.limits.most_ratio;
  for (app::Suspect& suspect : result.suspects) {
    report.suspects.push_back({suspect.row, std::move(suspect.key), suspect.latency_ns,
                               std::string(estimate::name(suspect.fault)),
                               std::move(suspect.reason)});
  }
  return report;
}

Result<int> run_check(const CheckFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.request.table}));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::check(flags.request, events));
  const bool plausible = result.suspects.empty();
  OPLAT_CHECK(print_report(
      flags.form, report::ReportModel{report_of_check(flags.request, std::move(result)), {}}));
  return plausible ? kDone : kGateNotMet;
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
    "--exclude-suspects' and 'oplat accuracy --exclude-suspects' leave it out. What fits learn "
    "from rows of "
    "unknown batch never includes one.\n"
    "--json prints oplat.check/1.\n"
    "Exit codes: 0 every row can be; 2 usage, or several settings fit; 3 no table; 6 no row with a "
    "time; 7 some rows cannot be.";

}  // namespace

void add_check(const Command& app) {
  const Command command = app.add_subcommand("check", "list implausible rows and why");
  const auto flags = std::make_shared<CheckFlags>();
  command.add_option("TABLE,--table", flags->request.table, "the table")
      .envname("OPLAT_TABLE")
      .required();
  add_row_filter(command, flags->request.rows);
  command
      .add_option(
          "--peak-gflops", flags->request.limits.peak_flops_per_ns,
          "what the machine does at most, in 1e9 operations a second (default: told from the rows)")
      .range(1e-6, 1e9);
  command
      .add_option("--peak-gb-per-s", flags->request.limits.peak_bytes_per_ns,
                  "and in 1e9 bytes a second")
      .range(1e-6, 1e9);
  command
      .add_option("--most-ratio", flags->request.limits.most_ratio,
                  "between rows that should agree")
      .range(1.01, 1e6)
      .capture_default_str();
  add_form<report::CheckReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kCheckFooter);
  command.runs([flags] { return run_check(*flags); });
}

}  // namespace oplat::cli
