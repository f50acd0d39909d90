// SPDX-License-Identifier: Apache-2.0
/// oplat estimate KEY...
#include "app/estimate.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {
namespace {

struct EstimateFlags : OutputFlags {
  app::EstimateRequest request;
  app::PredictionTexts prediction;
};

Result<int> run_estimate(const EstimateFlags& flags) {
  app::EstimateRequest request = flags.request;
  OPLAT_CHECK(check_out(flags.form, {request.table}));
  OPLAT_TRY(options, app::parse_prediction(flags.prediction));
  request.options = options;
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::estimate(request, events));
  OPLAT_CHECK(print_document(flags.form, app::estimate_listing(request, result)));
  if (flags.form.form() != "text") print_warnings(result.selection.warnings, flags.verbosity);
  OPLAT_CHECK(app::require_estimates(result, options.missing));
  return kDone;
}

}  // namespace

void add_estimate(const Command& app) {
  const auto [command, flags] = add_command(
      app, "estimate", "estimate the time of single kernels, given by key", run_estimate);
  command
      .add_option("KEY", flags->request.keys, "keys of kernels, as 'oplat plan --keys' prints them")
      .required();
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  add_mismatch_flag(command, flags->request.rows);
  add_prediction_options(command, flags->prediction);
  command
      .add_option("--reuse-bytes", flags->request.reuse_bytes,
                  "footprint: bytes touched between two uses of a weight (default: 0, weights hot "
                  "in the caches)")
      .not_negative();
  add_output<report::EstimateListing>(command, *flags);
}

}  // namespace oplat::cli
