// SPDX-License-Identifier: Apache-2.0
/// oplat check T: implausible rows.
#include <memory>

#include "app/check.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct CheckFlags {
  app::CheckRequest request;
  FormOptions form;
  Verbosity verbosity;
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
Faults:
  sizes     no kernel of the operator can have these sizes: filters that do not fit the channels, a
            window that does not give the result's size
  too fast  more operations or bytes a second than the machine can do. Operations are those of the
            cheapest known algorithm (Winograd's for windows of stride 1). The default limits come
            from the fastest hundredth of the rows with known sizes (at least three rows): 1.5 times
            their operations, and 3 times their bytes, which caches may serve
  twin      a row of unknown batch ('?' where others have 1) that differs from the row of batch 1 by
            more than --max-ratio
  order     a row of unknown batch that is, by more than --max-ratio, slower than a kernel as large
            in every size, or faster than a smaller one
An unknown batch counts as 1. Rows in doubt stay in the table and still answer for their own kernel.
'oplat fit --exclude-suspects' and 'oplat accuracy --exclude-suspects' ignore them. Fits never learn
from a row of unknown batch that is in doubt.
--json prints oplat.check/1.
Exit codes: 0 every row is plausible; 2 usage, or several settings fit; 3 no table; 6 no row with a
time; 7 some rows are implausible.)";

}  // namespace

void add_check(const Command& app) {
  const Command command = app.add_subcommand("check", "list implausible rows and why");
  const auto flags = std::make_shared<CheckFlags>();
  add_table_argument(command, flags->request.table, "TABLE");
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
  add_form<report::CheckReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kCheckFooter);
  command.runs([flags] { return run_check(*flags); });
}

}  // namespace oplat::cli
