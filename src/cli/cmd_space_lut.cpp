// SPDX-License-Identifier: Apache-2.0
/// oplat space lut SPACE --table T
#include <algorithm>
#include <array>
#include <memory>

#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "base/units.hpp"
#include "cli/exit_code.hpp"
#include "cli/learning.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "cli/runtime_session.hpp"
#include "cli/space.hpp"
#include "cli/text_output.hpp"
#include "compat/registry.hpp"
#include "search/write.hpp"

namespace oplat::cli {
namespace {

constexpr std::array<std::string_view, 3> kForms = {"csv", "json", "npz"};
constexpr std::size_t kMaxNamedKeys = 5;

struct SpaceLutFlags {
  SpaceOptions space;
  std::string table;
  predict::RowFilter question;
  double level = 0.9;
  std::string missing = "error";
  std::string profile = "accurate";
  std::optional<double> reuse_bytes;
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
      return fail(Code::Usage, "--out {}: the name says {}, a flag says otherwise",
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
    fmt::print(stderr,
               "oplat: {} at {}: {} layers, {} blocks of {} distinct kernels; fastest choices {}, "
               "slowest {}{}\n",
               latencies.space.name, timed.expansion.resolution, timed.cells.size(), blocks,
               timed.kernels.size(), base::duration_text(least), base::duration_text(most),
               without > 0 ? fmt::format(" ({} blocks have no time)", without) : "");
  }
}

Status require_complete(const search::SpaceLatencies& latencies, const SpaceLutFlags& flags) {
  if (latencies.missing.empty()) return {};
  base::TruncatedList keys(kMaxNamedKeys);
  for (const std::string& key : latencies.missing) keys.add(base::printable(key, 400));
  return fail(Code::Missing,
              "{}: distinct kernels missing from {}: {}; measure them ('oplat space expand' lists "
              "the space), let them be "
              "learned from the rows that there are ('oplat fit'), or accept a guess with "
              "--missing roofline:{}",
              flags.space.file, flags.table, keys.count(), keys.text());
}

Result<int> run_space_lut(const SpaceLutFlags& flags) {
  OPLAT_TRY(form, form_of(flags.form));
  OPLAT_TRY(missing, predict::parse_missing_policy(flags.missing));
  if (flags.question.runtime) OPLAT_CHECK(check_runtime_name(*flags.question.runtime));
  OPLAT_CHECK(check_out(flags.form, {flags.space.file, flags.table}));
  OPLAT_TRY(space, read_space(flags.space));
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, predict::select_rows(table, flags.question, compat::catalogue()));
  search::Options options;
  options.level = flags.level;
  options.missing = missing;
  options.profile = estimate::parse_profile(flags.profile).value_or(estimate::Profile::Accurate);
  options.reuse_bytes = flags.reuse_bytes;
  OPLAT_TRY(latencies, search::time_space(table, selection, space, space.resolutions, options));
  OPLAT_TRY(text, written(latencies, form));
  OPLAT_CHECK(put_text(flags.form.out, text));
  if (!flags.verbosity.quiet) print_summary(latencies);
  print_warnings(latencies.warnings, flags.verbosity);
  if (missing != predict::MissingPolicy::Zero) OPLAT_CHECK(require_complete(latencies, flags));
  return kDone;
}

}  // namespace

void add_space_lut(const Command& group) {
  const Command command = group.add_subcommand(
      "lut", "write the latency of every choice of every layer, ready for a latency loss");
  const auto flags = std::make_shared<SpaceLutFlags>();
  add_space_options(command, flags->space);
  add_table(command, flags->table);
  add_population_options(command, flags->question);
  command.add_flag("--allow-setting-mismatch", flags->question.allow_setting_mismatch,
                   "answer from the nearest setting, with a wider interval");
  command.add_option("--level", flags->level, "level of the intervals")
      .range(0.01, 0.999)
      .capture_default_str();
  command
      .add_option("--missing", flags->missing,
                  "kernels without an estimate: error, roofline or zero")
      .capture_default_str();
  add_estimate_profile(command, flags->profile);
  command
      .add_option("--reuse-bytes", flags->reuse_bytes,
                  "bytes touched between two uses of a weight (default: those of a mean network)")
      .not_negative();
  add_form(command, flags->form, kForms);
  add_verbosity(command, flags->verbosity);
  command.footer(
      "A line a layer, a column a choice, in microseconds; blocks are sums of their kernels' "
      "estimates. Layers\n"
      "without a choice stand in 'fixed', what a network takes beyond its blocks in 'overhead': a "
      "network takes\n"
      "overhead + fixed + its choices. .json and .npz also hold intervals and sources "
      "(docs/guide/searching.md).\n"
      "Exit codes: 0 done; 2 usage, or several settings fit; 3 the space or the table; 4 kernels "
      "without an estimate,\n"
      "written as empty, null or NaN; 6 refused; 8 could not write.\n"
      "Example: oplat space lut data/spaces/fbnet.yaml --table t.oplat --out fbnet.npz");
  command.runs([flags] { return run_space_lut(*flags); });
}

}  // namespace oplat::cli
