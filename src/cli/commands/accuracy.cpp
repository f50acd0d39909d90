// SPDX-License-Identifier: Apache-2.0
/// oplat accuracy T: how well the table predicts rows that it was not shown.
#include "app/accuracy.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct AccuracyFlags : OutputFlags {
  app::AccuracyRequest request;
  std::string estimator = "accurate";
  std::optional<std::uint64_t> network_seed;
};

Result<int> run_accuracy(const AccuracyFlags& flags) {
  app::AccuracyRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  request.estimator = app::estimator_named(flags.estimator);
  request.network_seed = flags.network_seed.value_or(request.learn.seed);
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::accuracy(request, events));
  events.finish();
  OPLAT_CHECK(print_document(flags.form,
                             app::accuracy_report(request, flags.estimator, std::move(result))));
  return kDone;
}

constexpr const char* kAccuracyFooter =
    R"(
Holds out some rows, learns from the others as 'oplat fit' does, and predicts the rows held out. The
table is not changed. --split selects the rows to hold out:
)";
constexpr const char* kAccuracyFooterEnd =
    R"(
--json prints oplat.accuracy/1.
Exit codes: 0 done; 2 usage, or several settings fit; 3 no table; 6 too few rows, or the split holds
out none; 130 interrupted.)";

}  // namespace

void add_accuracy(const Command& app) {
  const auto [command, flags] = add_command(
      app, "accuracy", "measure how well a table predicts rows that were held out", run_accuracy);
  add_table_argument(command, flags->request.table);
  command
      .add_option("--split", flags->request.split,
                  "rows to hold out: random, twin, level:FIELD=VALUE, beyond, keep:PERCENT, "
                  "sample:PERCENT, folds:COUNT or groups:FILE")
      .type_name("SPLIT")
      .capture_default_str();
  command
      .add_option("--operators", flags->request.operators,
                  "learn from and predict only rows of these operators (paddle_lite:conv2d,...)")
      .type_name("OPERATOR")
      .comma_separated()
      .repeatable();
  add_row_filter(command, flags->request.rows);
  add_estimator(command, flags->estimator);
  add_learn_options(command, flags->request.learn);
  add_level(command, flags->request.level, "confidence level of the intervals");
  command
      .add_option("--networks", flags->request.networks, "number of random networks for each batch")
      .range(std::int64_t{0}, std::int64_t{1'000'000})
      .capture_default_str();
  command.add_option("--network-seed", flags->network_seed,
                     "random seed for the networks (default: --seed)");
  add_output<report::AccuracyReport>(command, *flags);
  command.footer({kAccuracyFooter, app::kHoldOutHelp, app::kAccuracyHelp, kAccuracyFooterEnd});
}

}  // namespace oplat::cli
