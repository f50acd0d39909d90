// SPDX-License-Identifier: Apache-2.0
/// From the flags of a campaign to its options.
#include "cli/campaign_flags.hpp"

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/print.hpp"

namespace oplat::cli {
namespace {

/// "5%" or "0.05" as 0.05.
Result<double> parse_target_error(std::string_view text) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  const auto number = base::parse_double(digits);
  const double share = number ? *number / (percent ? 100 : 1) : 0;
  if (!(share >= app::kMinTargetError && share <= 1)) {
    return fail(Code::Usage,
                "--target-error {}: expected a share of the time from 0.1% to "
                "100%, such as 5% or 0.05",
                base::printable(text));
  }
  return share;
}

}  // namespace

void add_campaign_options(const Command& command, CampaignFlags& to) {
  command
      .add_option("--budget", to.budget,
                  "stop after this time, with every row measured at least roughly: 4m, 1.5h; "
                  "counts from the first block (default: until every row is precise)")
      .type_name("TIME");
  command.add_option("--seed", to.seed, "random seed for the order of rows, weights and inputs")
      .capture_default_str();
  command
      .add_option("--blocks", to.blocks,
                  "minimum number of blocks of every row, each in its own process (default: 5)")
      .range(5, 1000);
  command
      .add_option("--target-error", to.target_error,
                  "relative half-width of the 95 % interval at which a row is precise: 5%, 0.05 "
                  "(default: 3 %, or 5 % for kernels up to 20 us)")
      .type_name("E");
}

void add_retry(const Command& command, CampaignFlags& to) {
  command.add_flag("--retry-refused", to.retry_refused,
                   "measure failed, unsupported and skipped rows again");
  command.add_flag(
      "--retry-loaded", to.retry_loaded,
      "re-measure rows taken on a busy machine until quiet blocks outnumber busy ones two to one");
}

Result<app::CampaignOptions> campaign_options(const CampaignFlags& flags) {
  app::CampaignOptions options;
  options.seed = flags.seed;
  options.record = command_line();
  options.retry_refused = flags.retry_refused;
  options.retry_loaded = flags.retry_loaded;
  if (flags.blocks > 0) options.min_blocks = flags.blocks;
  if (!flags.target_error.empty()) {
    OPLAT_TRY(target_error, parse_target_error(flags.target_error));
    options.target_error = target_error;
  }
  if (!flags.budget.empty()) {
    OPLAT_TRY(ns, base::parse_duration_ns(flags.budget));
    options.budget_s = ns / 1e9;
  }
  return options;
}

void print_budget_end(const measure::Summary& summary, std::string_view way_on) {
  const std::int64_t left = summary.kernels.left + summary.models.left;
  const std::int64_t few = summary.kernels.few + summary.models.few;
  if (!summary.budget_ended || left + few == 0) return;
  print_message(fmt::format(
      "the budget ended with {} {}{} unmeasured and {} with fewer blocks than the minimum; {}",
      left, summary.kernels.total > 0 ? "row" : "model", left == 1 ? "" : "s", few, way_on));
}

void print_budget_end(const app::SweepResult& result, std::string_view way_on) {
  if (!result.budget_ended || result.unmeasured + result.rough == 0) return;
  print_message(fmt::format(
      "the budget ended with {} models and rows unmeasured and {} with fewer blocks than the "
      "minimum, over all points; {}",
      result.unmeasured, result.rough, way_on));
}

std::string command_line() {
  std::string text = base::read_file("/proc/self/cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace oplat::cli
