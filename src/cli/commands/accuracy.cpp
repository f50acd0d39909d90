// SPDX-License-Identifier: Apache-2.0
/// oplat accuracy T: how well the table predicts rows that it was not shown.
#include <memory>

#include "app/accuracy.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"

namespace oplat::cli {
namespace {

struct AccuracyFlags {
  app::AccuracyRequest request;
  std::string estimator = "accurate";
  std::optional<std::uint64_t> network_seed;
  FormOptions form;
  Verbosity verbosity;
};

Result<int> run_accuracy(const AccuracyFlags& flags) {
  app::AccuracyRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  request.estimator = estimator_named(flags.estimator);
  request.network_seed = flags.network_seed.value_or(request.learn.seed);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::accuracy(request, events));
  events.finish();
  report::AccuracyReport report;
  report.accuracy = std::move(result.accuracy);
  report.table = request.table;
  report.device = std::move(result.device);
  report.setting = std::move(result.setting);
  report.split = request.split;
  report.profile = flags.estimator;
  report.seed = request.learn.seed;
  report.network_seed = request.network_seed;
  // A sparse model calibrates itself, asked or not; too few rows calibrate nothing.
  report.calibrated = report.accuracy.calibrated;
  report.level = request.level;
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{std::move(report), {}}));
  return kDone;
}

constexpr const char* kAccuracyFooter =
    "Some rows are held out, the rest is learned from as 'oplat fit' does, and those held out are "
    "asked for. The\n"
    "table is only read. --split says which rows are held out:\n"
    "  random             one row in ten, by the CRC-32 of its text: what lies between measured "
    "rows\n"
    "  twin               the same, but a convolution with and without its fused sum together\n"
    "  level:FIELD=VALUE  every row of one value of a field: a size that was never measured. "
    "Several, separated by\n"
    "                     commas: rows of any of them are held out, those of all of them are asked "
    "for. Fields of\n"
    "                     convolutions: batch, in_h, out_c, ratio (in_c / out_c), kernel, stride, "
    "residual (1\n"
    "                     with a fused sum, else 0)\n"
    "  beyond             the fifth of the rows with the most operations: larger than all that was "
    "measured\n"
    "  keep:PERCENT       all rows but so many per cent, chosen at random: a table of that many "
    "rows\n"
    "  sample:PERCENT     the same, chosen by oplat's sampler, which is told the times of those "
    "alone\n"
    "  folds:COUNT        every row once: rows fall into so many folds by the CRC-32 of their "
    "text, and each fold is\n"
    "                     asked for by a fit of the others\n"
    "  groups:FILE        rows of a group together, each group in its turn: lines of KEY, tab, "
    "GROUP; # begins a\n"
    "                     comment line. Other rows are learned from and never asked for\n"
    "Lines: all rows; each tier, which is how the rows asked for stand to those measured (grid, no "
    "twin, level,\n"
    "pair, beyond, shape, sparse: docs/guide/estimating.md); bands of measured latency; operators, "
    "where "
    "there are several.\n"
    "'inside' is how often the interval of --level held the measured time, 'half-width' the mean "
    "of half the\n"
    "interval over its middle.\n"
    "--networks N draws, for each batch that has rows for it, N networks from the rows held out in "
    "the manner of a\n"
    "ResNet: 9, 12, 18 and 6 dense convolutions of kernel 1 or 3 at heights within a factor of 1.5 "
    "of 56, 28, 14\n"
    "and 7, with 64-256, 128-512, 256-1024 and 512-2048 channels out, each row equally likely; a "
    "network errs by\n"
    "the sum of its predictions over the sum of its measured times.\n"
    "--json prints oplat.accuracy/1.\n"
    "Exit codes: 0 done; 2 usage, or several settings fit; 3 no table; 6 too few rows,\n"
    "or none that the split holds out; 130 interrupted.";

}  // namespace

void add_accuracy(const Command& app) {
  const Command command =
      app.add_subcommand("accuracy", "how well a table predicts rows that it was not shown");
  const auto flags = std::make_shared<AccuracyFlags>();
  command.add_option("TABLE,--table", flags->request.table, "the table")
      .envname("OPLAT_TABLE")
      .required();
  command
      .add_option("--split", flags->request.split,
                  "random, twin, level:FIELD=VALUE, beyond, keep:PERCENT, sample:PERCENT, "
                  "folds:COUNT, groups:FILE")
      .type_name("SPLIT")
      .capture_default_str();
  command
      .add_option("--operators", flags->request.operators,
                  "learn from and ask for rows of these operators alone (paddle_lite:conv2d,...)")
      .type_name("OPERATOR")
      .comma_separated()
      .repeatable();
  add_row_filter(command, flags->request.rows);
  add_estimator(command, flags->estimator);
  add_learn_options(command, flags->request.learn);
  command.add_option("--level", flags->request.level, "level of the intervals")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_option("--networks", flags->request.networks, "random networks of each batch")
      .range(std::int64_t{0}, std::int64_t{1'000'000})
      .capture_default_str();
  command.add_option("--network-seed", flags->network_seed, "of the networks (default: --seed)");
  add_form<report::AccuracyReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kAccuracyFooter);
  command.runs([flags] { return run_accuracy(*flags); });
}

}  // namespace oplat::cli
