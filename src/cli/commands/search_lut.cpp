// SPDX-License-Identifier: Apache-2.0
/// oplat search lut SPACE --table T
#include "base/text.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/search.hpp"
#include "search/write.hpp"

namespace oplat::cli {
namespace {

struct SearchLutFlags : OutputFlags {
  app::SearchLutRequest request;
  app::PredictionTexts prediction;
};

Result<int> run_search_lut(const SearchLutFlags& flags) {
  OPLAT_TRY(form, search::form_of_file(flags.form.out, flags.form.form("")));
  app::SearchLutRequest request = flags.request;
  OPLAT_TRY(options, app::parse_prediction(flags.prediction));
  request.options = options;
  OPLAT_CHECK(check_out(flags.form, {request.space.file, request.table}));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(found, app::search_lut_text(request, form, events));
  OPLAT_CHECK(put_text(flags.form.out, found.text));
  if (!flags.verbosity.quiet) {
    for (const std::string& line : found.notes) print_message(line);
    if (!flags.form.out.empty())
      print_message(fmt::format("written to {}", base::printable(flags.form.out, 400)));
  }
  print_warnings(found.latencies.warnings, flags.verbosity);
  if (options.missing != predict::MissingPolicy::Zero)
    OPLAT_CHECK(app::require_times(found.latencies, request));
  return kDone;
}

}  // namespace

void add_search_lut(const Command& group) {
  const auto [command, flags] = add_command(
      group, "lut", "write the latency of every choice of every layer, for a latency loss",
      run_search_lut);
  add_space_options(command, flags->request.space);
  add_table(command, flags->request.table);
  add_row_filter(command, flags->request.rows);
  add_mismatch_flag(command, flags->request.rows);
  add_prediction_options(command, flags->prediction);
  command
      .add_option(
          "--reuse-bytes", flags->request.reuse_bytes,
          "footprint: bytes touched between two uses of a weight (default: that of a mean network)")
      .not_negative();
  add_form(command, flags->form, search::kForms);
  add_verbosity(command, flags->verbosity);
  command.footer({R"(
Writes a line for each layer and a column for each choice, in microseconds. The latency of a block
is the sum of the estimates of its kernels. 'fixed' holds the layers without a choice, 'overhead'
what a network takes beyond its blocks: a network takes overhead + fixed + its choices. .json and
.npz also hold intervals and sources (docs/guide/searching.md).
Exit codes: 0 done; 2 usage, or several settings fit; 3 the space or the table is missing or
malformed; 4 kernels without an estimate (written as empty, null or NaN); 6 refused; 8 could not
write.
Example: oplat search lut data/spaces/fbnet.yaml --table t.oplat --out fbnet.npz)"});
}

}  // namespace oplat::cli
