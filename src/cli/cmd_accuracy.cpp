// SPDX-License-Identifier: Apache-2.0
/// oplat accuracy T: how well the table predicts rows that it was not shown.
#include <map>
#include <memory>

#include "base/interrupt.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/groups_file.hpp"
#include "cli/learning.hpp"
#include "cli/output.hpp"
#include "cli/question.hpp"
#include "compat/registry.hpp"
#include "estimate/accuracy.hpp"

namespace oplat::cli {
namespace {

struct AccuracyFlags {
  std::string table;
  predict::RowFilter question = {.has_mismatch_flag = false};
  std::string split = "random";
  std::vector<std::string> operators;
  std::string profile = "accurate";
  LearnOptions learn;
  double level = 0.9;
  std::int64_t networks = 0;
  std::optional<std::uint64_t> network_seed;
  FormOptions form;
  Verbosity verbosity;
};

Result<estimate::Split> read_groups(const std::string& path) {
  constexpr std::size_t kMaxGroups = 1000;
  OPLAT_TRY(groups, read_groups_file(path, "key"));
  estimate::Split split;
  split.kind = estimate::Split::Kind::Groups;
  std::map<std::string, std::size_t> numbers;
  for (const auto& [key, group] : groups)
    split.groups[key] = numbers.emplace(group, numbers.size()).first->second;
  split.folds = numbers.size();
  if (numbers.empty() || numbers.size() > kMaxGroups) {
    return fail(Code::Input, "{}: {} groups where 1 to {} are expected", path, numbers.size(),
                kMaxGroups);
  }
  return split;
}

Result<estimate::Split> split_of(const std::string& text) {
  constexpr std::string_view kGroups = "groups:";
  return text.starts_with(kGroups) ? read_groups(text.substr(kGroups.size()))
                                   : estimate::parse_split(text);
}

Result<int> run_accuracy(const AccuracyFlags& flags) {
  OPLAT_CHECK(check_out(flags.form, {flags.table}));
  estimate::AccuracyRequest request;
  request.catalogue = &compat::catalogue();
  OPLAT_TRY(split, split_of(flags.split));
  request.split = std::move(split);
  request.set_aside = flags.learn.set_aside;
  request.operators = flags.operators;
  request.profile = estimate::parse_profile(flags.profile).value_or(estimate::Profile::Accurate);
  request.level = flags.level;
  request.networks = flags.networks;
  request.network_seed = flags.network_seed.value_or(flags.learn.seed);
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, predict::select_rows(table, flags.question, compat::catalogue()));
  OPLAT_TRY(samples, estimate::read_samples_in_states(
                         {&table, selection.device_id, selection.setting_ids, std::nullopt}));
  base::install_interrupt_handlers();
  report::AccuracyReport report;
  {
    ProgressBar bar(flags.verbosity);
    request.learn = learn_request(flags.learn);
    request.learn.progress = learning_progress(bar, nullptr);
    auto accuracy = estimate::measure_accuracy(samples, request);
    if (!accuracy) return fail_in(flags.table, accuracy.error());
    report.accuracy = std::move(*accuracy);
  }
  report.table = flags.table;
  report.device = selection.device;
  report.setting = selection.setting;
  report.split = flags.split;
  report.profile = flags.profile;
  report.seed = flags.learn.seed;
  report.network_seed = request.network_seed;
  // A sparse model calibrates itself, asked or not; too few rows calibrate nothing.
  report.calibrated = report.accuracy.calibrated;
  report.level = flags.level;
  std::vector<std::string> warnings = selection.warnings;
  const std::size_t grouped = request.split.groups.size();
  if (static_cast<std::size_t>(report.accuracy.asked) < grouped) {
    warnings.push_back(
        fmt::format("--split {}: of its {} keys, {} are those of rows that can be asked for",
                    flags.split, grouped, report.accuracy.asked));
  }
  OPLAT_CHECK(print_report(flags.form, report::ReportModel{std::move(report), {}}));
  print_warnings(warnings, flags.verbosity);
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
  command.add_option("TABLE,--table", flags->table, "the table").envname("OPLAT_TABLE").required();
  command
      .add_option("--split", flags->split,
                  "random, twin, level:FIELD=VALUE, beyond, keep:PERCENT, sample:PERCENT, "
                  "folds:COUNT, groups:FILE")
      .type_name("SPLIT")
      .capture_default_str();
  command
      .add_option("--operators", flags->operators,
                  "learn from and ask for rows of these operators alone (paddle_lite:conv2d,...)")
      .type_name("OPERATOR")
      .comma_separated()
      .repeatable();
  add_population_options(command, flags->question);
  add_estimate_profile(command, flags->profile);
  add_learn_options(command, flags->learn);
  add_set_aside(command, flags->learn.set_aside);
  command.add_option("--level", flags->level, "level of the intervals")
      .range(0.01, 0.999)
      .capture_default_str();
  command.add_option("--networks", flags->networks, "random networks of each batch")
      .range(std::int64_t{0}, std::int64_t{1'000'000})
      .capture_default_str();
  command.add_option("--network-seed", flags->network_seed, "of the networks (default: --seed)");
  add_form<report::AccuracyReport>(command, flags->form);
  add_verbosity(command, flags->verbosity);
  command.footer(kAccuracyFooter);
  command.runs([flags] { return run_accuracy(*flags); });
}

}  // namespace oplat::cli
