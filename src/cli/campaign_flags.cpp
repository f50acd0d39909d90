// SPDX-License-Identifier: Apache-2.0
/// From the flags of a campaign to its options.
#include "cli/campaign_flags.hpp"

#include <algorithm>
#include <cstdio>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace oplat::cli {
namespace {

/// No machine repeats itself better than that.
constexpr double kMinTargetError = 0.001;

/// "5%" or "0.05" as 0.05.
Result<double> parse_target_error(std::string_view text) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  const auto number = base::parse_double(digits);
  const double share = number ? *number / (percent ? 100 : 1) : 0;
  if (!(share >= kMinTargetError && share <= 1)) {
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
                  "stop after this time with a complete table: 4m, 1.5h, counted once models are "
                  "planned (default: until every row is good enough)")
      .type_name("TIME");
  command.add_option("--seed", to.seed, "of order, weights and inputs").capture_default_str();
  command
      .add_option(
          "--blocks", to.blocks,
          "at least this many blocks of every row, each in a process of its own (default: 5)")
      .range(5, 1000);
  command
      .add_option("--target-error", to.target_error,
                  "a row is good enough when its 95 % interval is at most this wide on either "
                  "side: 5%, 0.05 (default: 3 %, of kernels up to 20 us 5 %)")
      .type_name("E");
}

void add_retry(const Command& command, CampaignFlags& to) {
  command.add_flag("--retry-refused", to.retry_refused,
                   "measure again what the table holds as failed, unsupported or skipped");
  command.add_flag("--retry-loaded", to.retry_loaded,
                   "give rows that were measured while other programs kept the machine busy as "
                   "many further blocks as clear them if those are quiet");
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
  fmt::print(stderr,
             "oplat: the budget ended with {} {} unmeasured and {} with fewer "
             "blocks than the "
             "rule's least; {}\n",
             left, summary.kernels.total > 0 ? "rows" : "models", few, way_on);
}

std::string command_line() {
  std::string text = base::read_file("/proc/self/cmdline").value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace oplat::cli
