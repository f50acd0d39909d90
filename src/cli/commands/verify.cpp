// SPDX-License-Identifier: Apache-2.0
/// oplat verify TABLE: is this table still true here?
#include "app/verify.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct VerifyFlags : OutputFlags {
  app::VerifyRequest request;
  app::VerifyTexts texts;
};

Result<int> run_verify(const VerifyFlags& flags) {
  app::VerifyRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  OPLAT_CHECK(app::read_into(flags.texts, request));
  request.record = command_line();
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::verify(request, events));
  events.finish();
  const report::Verification& report = result.verification;
  OPLAT_CHECK(print_document(flags.form, report));
  if (flags.form.form() != "text") print_warnings(report.warnings, flags.verbosity);
  OPLAT_CHECK(app::require_same(request, result));
  return kDone;
}

}  // namespace

void add_verify(const Command& app) {
  const auto [command, flags] = add_command(
      app, "verify",
      "measure some rows of a table again, to check that it still holds on this machine",
      run_verify);
  predict::RowFilter& rows = flags->request.rows;
  add_table_argument(command, flags->request.table);
  const Option runtime = command.add_option("--runtime", flags->request.runtime,
                                            "runtime that executes (default: that of the table)");
  add_worker_option(command, flags->texts.worker, runtime);
  command.add_option("--threads", rows.threads, "use rows measured with this many threads")
      .range(1, 4096);
  command.add_option("--device", rows.device, "use rows of this device (default: this machine)");
  command.add_option("--runtime-version", rows.version,
                     "use rows of this version of the runtime (default: the installed one)");
  command.add_option("--precision", rows.precision, "use rows computed in this precision");
  add_option_filter(command, rows);
  command.add_option("--budget", flags->texts.budget, "stop after this time")
      .type_name("TIME")
      .capture_default_str();
  command.add_option("--rows", flags->request.max_rows, "number of rows to measure again")
      .range(5, 10'000)
      .capture_default_str();
  command
      .add_option("--seed", flags->request.seed,
                  "random seed for choosing rows, their order, weights and inputs")
      .capture_default_str();
  add_worker_argument(command, flags->request.worker_arguments);
  add_output<report::Verification>(command, *flags);
  command.footer({R"(
Exit codes: 0 the table holds; 5 nothing could be measured; 6 another version of the runtime; 7
slower, faster, another machine or unclear.)"});
}

}  // namespace oplat::cli
