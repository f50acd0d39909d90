// SPDX-License-Identifier: Apache-2.0
/// oplat check T: implausible rows.
#include "app/check.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct CheckFlags : OutputFlags {
  app::CheckRequest request;
};

Result<int> run_check(const CheckFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.request.table}));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::check(flags.request, events));
  const bool plausible = result.suspects.empty();
  OPLAT_CHECK(print_document(flags.form, app::check_report(flags.request, std::move(result))));
  return plausible ? kDone : kGateNotMet;
}

constexpr const char* kCheckFooter =
    R"(
An unknown batch counts as 1. Rows in doubt stay in the table and still answer for their own kernel.
'oplat fit --exclude-suspects' and 'oplat accuracy --exclude-suspects' ignore them. Fits never learn
from a row of unknown batch that is in doubt.
--json prints oplat.check/1.
Exit codes: 0 every row is plausible; 2 usage, or several settings fit; 3 no table; 6 no row with a
time; 7 some rows are implausible.)";

}  // namespace

void add_check(const Command& app) {
  const auto [command, flags] =
      add_command(app, "check", "list implausible rows and why", run_check);
  add_table_argument(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  command
      .add_option(
          "--peak-gflops", flags->request.limits.peak_flops_per_ns,
          "peak of the machine in 1e9 operations a second (default: estimated from the rows)")
      .range(1e-6, 1e9);
  command
      .add_option("--peak-gb-per-s", flags->request.limits.peak_bytes_per_ns,
                  "peak memory bandwidth in 1e9 bytes a second (default: estimated from the rows)")
      .range(1e-6, 1e9);
  command
      .add_option("--max-ratio", flags->request.limits.max_ratio,
                  "max ratio of the times of two rows that should agree")
      .range(1.01, 1e6)
      .capture_default_str();
  command.add_option("--most-ratio", flags->request.limits.max_ratio, "").range(1.01, 1e6).hidden();
  add_output<report::CheckReport>(command, *flags);
  command.footer({app::kFaultHelp, kCheckFooter});
}

}  // namespace oplat::cli
