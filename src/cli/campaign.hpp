// SPDX-License-Identifier: Apache-2.0
/// What profile, measure and validate share: plans of models, and a campaign with its progress on
/// the terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/runtime_session.hpp"
#include "measure/campaign.hpp"
#include "table/table.hpp"

namespace oplat::cli {

/// A model with its plan under the session's setting.
struct PlannedModel {
  std::string path;
  table::Plan plan;
  measure::ModelTarget target;
};

/// Asks the runtime for the plan of each model.
Result<std::vector<PlannedModel>> plan_models(RuntimeSession& session,
                                              const std::vector<std::string>& models,
                                              const ModelOptions& options,
                                              const Verbosity& verbosity);
/// Stores plans, and the hashes of models that stand in one file, so that a prediction need not
/// read the model again.
Status store_plans(table::Table& table, const std::vector<PlannedModel>& models);

/// How a command line says it.
struct CampaignOptions {
  std::string budget;
  std::uint64_t seed = 1;
  std::int64_t blocks = 0;
  std::string target_error;
  bool retry_refused = false;
  bool retry_loaded = false;
};
/// --budget, --seed, --blocks, --target-error.
void add_campaign_options(const Command& command, CampaignOptions& to);
/// --retry-refused, --retry-loaded.
void add_retry(const Command& command, CampaignOptions& to);

struct CampaignFlags {
  std::optional<double> budget_seconds;
  std::uint64_t seed = 1;
  std::string argv;
  bool retry_refused = false;
  bool retry_loaded = false;
  std::optional<std::int64_t> least_blocks;  ///< of every row; nothing: as the stop rule says
  std::optional<double>
      half_width;  ///< of every row's interval, relative; nothing: as the stop rule says
};
/// Code::Usage where the budget is no duration or the target error none.
Result<CampaignFlags> campaign_flags(const CampaignOptions& options);
/// Runs a campaign in fresh workers of the session's kind; draws progress.
Result<measure::Summary> run_campaign(const RuntimeSession& session,
                                      const std::vector<std::string>& keys,
                                      const std::vector<PlannedModel>& models,
                                      const CampaignFlags& flags, table::Table& table,
                                      const Verbosity& verbosity);

/// Says on stderr what a budget that ended has left unmeasured, if anything, and how to go on.
void print_budget_end(const measure::Summary& summary, std::string_view way_on);

/// Whole-model rows of these models in `table`, in their order; nothing where the table holds none
/// with a time.
Result<std::vector<std::optional<table::StoredModelRow>>> measured_models(
    const table::Table& table, const std::vector<PlannedModel>& models,
    const table::Setting& setting, const table::Device& device);

/// The command line of this process, for the record.
std::string command_line();

}  // namespace oplat::cli
