// SPDX-License-Identifier: Apache-2.0
/// The flags of commands that run a campaign, and what they say when a budget
/// ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/campaign.hpp"
#include "app/sweep.hpp"
#include "cli/command_line.hpp"

namespace oplat::cli {

/// Flags as they are written.
struct CampaignFlags {
  std::string budget;
  std::uint64_t seed = 1;
  std::int64_t blocks = 0;
  std::string target_error;
  bool retry_refused = false;
  bool retry_loaded = false;
};
/// --budget, --seed, --blocks, --target-error.
void add_campaign_options(const Command& command, CampaignFlags& to);
/// --retry-refused, --retry-loaded.
void add_retry(const Command& command, CampaignFlags& to);
/// The flags as values; the record is command_line(). Code::Usage if the budget
/// is not a duration or the target error is not a share of the time.
Result<app::CampaignOptions> campaign_options(const CampaignFlags& flags);

/// Prints on stderr what a budget that ended left unmeasured, if anything, and
/// how to continue.
void print_budget_end(const measure::Summary& summary, std::string_view way_on);
void print_budget_end(const app::SweepResult& result, std::string_view way_on);

/// The command line of this process, for the record.
std::string command_line();

}  // namespace oplat::cli
