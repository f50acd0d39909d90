// SPDX-License-Identifier: Apache-2.0
/// oplat search lut SPACE --table T
#include <algorithm>
#include <array>
#include <memory>

#include "app/session.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "base/units.hpp"
#include "cli/commands/search.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/prediction_options.hpp"
#include "cli/print.hpp"
#include "cli/text_output.hpp"
#include "search/write.hpp"

namespace oplat::cli {
namespace {

constexpr std::array<std::string_view, 3> kForms = {"csv", "json", "npz"};
constexpr std::size_t kMaxNamedKeys = 5;

struct SearchLutFlags {
  app::SearchLutRequest request;
  PredictionFlags prediction;
  FormOptions form;
  Verbosity verbosity;
};

/// By the file's name, else by --format.
Result<std::string_view> form_of(const FormOptions& flags) {
  const std::string_view asked = flags.form("");
  if (flags.out.empty()) return asked.empty() ? kForms[0] : asked;
  for (const std::string_view form : kForms) {
    if (!flags.out.ends_with(fmt::format(".{}", form))) continue;
    if (!asked.empty() && form != asked) {
      return fail(Code::Usage,
                  "--out {}: the file's name means {}, but a flag asks for another format",
                  base::printable(flags.out), form);
    }
    return form;
  }
  if (!asked.empty()) return asked;
  return fail(Code::Usage, "--out {}: end the name in .csv, .json or .npz",
              base::printable(flags.out));
}

Result<std::string> written(const search::SpaceLatencies& latencies, std::string_view form) {
  if (form == "json") return search::to_json(latencies);
  if (form == "csv") return search::to_csv(latencies);
  return search::to_npz(latencies);
}

/// What a network takes whatever it chooses, and the fastest and slowest choice of every layer
/// summed up.
void print_summary(const search::SpaceLatencies& latencies) {
  for (const search::ResolutionLatencies& timed : latencies.resolutions) {
    double least = timed.overhead_ns;
    double most = timed.overhead_ns;
    std::size_t blocks = 0;
    std::size_t without = 0;
    for (const std::vector<search::CellLatency>& cells : timed.cells) {
      std::optional<double> low;
      std::optional<double> high;
      for (const search::CellLatency& cell : cells) {
        without += cell.ns ? 0U : 1U;
        if (!cell.ns) continue;
        low = low ? std::min(*low, *cell.ns) : *cell.ns;
        high = high ? std::max(*high, *cell.ns) : *cell.ns;
      }
      blocks += cells.size();
      least += low.value_or(0);
      most += high.value_or(0);
    }
    print_message(fmt::format(
        "{} at {}: {} layers, {} blocks of {} distinct kernels; fastest choices {}, slowest {}{}",
        latencies.space.name, timed.expansion.resolution, timed.cells.size(), blocks,
        timed.kernels.size(), base::duration_text(least), base::duration_text(most),
        without > 0 ? fmt::format(" ({} blocks have no time)", without) : ""));
  }
}

Status require_complete(const search::SpaceLatencies& latencies,
                        const app::SearchLutRequest& request) {
  if (latencies.missing.empty()) return {};
  base::TruncatedList keys(kMaxNamedKeys);
  for (const std::string& key : latencies.missing) keys.add(base::printable(key, 400));
  return fail(Code::Missing,
              "{}: distinct kernels missing from {}: {}; measure them ('oplat search expand' lists "
              "them), learn them with 'oplat fit', or use --missing roofline:{}",
              request.space.file, request.table, keys.count(), keys.text());
}

Result<int> run_search_lut(const SearchLutFlags& flags) {
  OPLAT_TRY(form, form_of(flags.form));
  app::SearchLutRequest request = flags.request;
  OPLAT_TRY(options, prediction_options(flags.prediction));
  request.options = options;
  OPLAT_CHECK(check_out(flags.form, {request.space.file, request.table}));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(latencies, app::search_lut(request, events));
  OPLAT_TRY(text, written(latencies, form));
  OPLAT_CHECK(put_text(flags.form.out, text));
  if (!flags.verbosity.quiet) print_summary(latencies);
  print_warnings(latencies.warnings, flags.verbosity);
  if (options.missing != predict::MissingPolicy::Zero)
    OPLAT_CHECK(require_complete(latencies, request));
  return kDone;
}

}  // namespace

void add_search_lut(const Command& group) {
  const Command command = group.add_subcommand(
      "lut", "write the latency of every choice of every layer, for a latency loss");
  const auto flags = std::make_shared<SearchLutFlags>();
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
  add_form(command, flags->form, kForms);
  add_verbosity(command, flags->verbosity);
  command.footer(
      R"(
Writes a line for each layer and a column for each choice, in microseconds. The latency of a block
is the sum of the estimates of its kernels. 'fixed' holds the layers without a choice, 'overhead'
what a network takes beyond its blocks: a network takes overhead + fixed + its choices. .json and
.npz also hold intervals and sources (docs/guide/searching.md).
Exit codes: 0 done; 2 usage, or several settings fit; 3 the space or the table is missing or
malformed; 4 kernels without an estimate (written as empty, null or NaN); 6 refused; 8 could not
write.
Example: oplat search lut data/spaces/fbnet.yaml --table t.oplat --out fbnet.npz)");
  command.runs([flags] { return run_search_lut(*flags); });
}

}  // namespace oplat::cli
