// SPDX-License-Identifier: Apache-2.0
/// What profile, measure and validate share: the plans of models, and a
/// campaign that measures kernels and models into a table.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/campaign_memory.hpp"
#include "app/events.hpp"
#include "app/model_inputs.hpp"
#include "app/session.hpp"
#include "measure/campaign.hpp"
#include "table/table.hpp"

namespace oplat::app {

/// A model with its plan under the session's setting.
struct PlannedModel {
  std::string path;
  table::Plan plan;
  measure::ModelTarget target;
  bool has_kernels = true;  ///< false: the plan holds nothing but the model's identity
  std::vector<std::string> earlier_identities = {};  ///< what earlier formats called the plan
  ModelInputs inputs = {};  ///< as they were asked for, with the batch that is run
};

/// What to do with a model that the runtime runs and of which it gives no plan.
enum class WithoutPlan { LeaveOut, Keep };

/// A model that is left out, and why; the message names the file.
struct UnplannedModel {
  std::string path;
  Error error;
};

/// Asks the runtime for the plan of each model, in order. All models get the
/// same inputs. Of several models, one without a plan is left out with a warning; where a plan is
/// not needed (Keep), one whose plan failed for the runtime's reasons is kept without kernels, with
/// a warning, unless its batch is to be rewritten.
/// `unplanned`, if not null, gets those that are left out, without a warning: one that fails with
/// anything but Code::Interrupted, also if it is the only one or none is left.
Result<std::vector<PlannedModel>> plan_models(Session& session, std::span<const std::string> models,
                                              const ModelInputs& inputs, Events& events,
                                              WithoutPlan without = WithoutPlan::LeaveOut,
                                              std::vector<UnplannedModel>* unplanned = nullptr);
/// Stores plans, and the hashes of models that consist of one file, so that a prediction need not
/// read the model again.
Status store_plans(table::Table& table, std::span<const PlannedModel> models);
/// Erases the plans that earlier formats made of models that have a time under the present one:
/// else a fit would take them twice. Before that the earlier time is all that there is.
Status forget_earlier_plans(table::Table& table, std::span<const PlannedModel> models);

/// No machine repeats itself better than that.
inline constexpr double kMinTargetError = 0.001;

/// How long and how precisely to measure.
struct CampaignOptions {
  std::optional<double> budget_s;  ///< from the campaign's start; nothing: until rows are precise
  std::uint64_t seed = 1;          ///< of the order of rows, weights and inputs
  std::optional<std::int64_t> min_blocks;  ///< of every row; nothing: 5, the rule's own
  /// Half-width of a row's 95 % interval, relative, at which it is precise
  /// enough; nothing: 0.03, and 0.05 for kernels of up to 20 us.
  /// share of the time, from kMinTargetError to 1
  std::optional<double> target_error;
  bool retry_refused = false;    ///< measure failed, unsupported and skipped rows again
  bool retry_loaded = false;     ///< re-measure rows that were taken on a busy machine
  bool need_inferences = false;  ///< measure models again whose single inferences are not known
  std::string record;            ///< what asked for the campaign: stored with it, the command line
};
/// The same as typed.
struct CampaignTexts {
  CampaignOptions options;   ///< all but what follows
  std::string budget;        ///< "4m", "1.5h"; empty: none
  std::string target_error;  ///< "5%" or "0.05"; empty: the rule's own
};
/// Code::Usage if the budget is not a duration or the target error not a share of the time.
Result<CampaignOptions> parse_campaign(const CampaignTexts& texts);
/// Code::Usage where they are out of their ranges.
Status check_options(const CampaignOptions& options);

/// Makes events of what a campaign says: progress and notes. `events`
/// outlives it.
class CampaignEvents final : public measure::Progress {
 public:
  explicit CampaignEvents(Events& events) : events_(&events) {}
  void update(const measure::ProgressState& state) override;
  void notice(const std::string& message) override { events_->note(message); }

 private:
  Events* events_;
};

/// The environment that is recorded with a campaign: this machine's state and the worker's name. Of
/// a remote worker its command, and nothing of this machine.
table::Environment environment_of(const Session& session);

/// Starts further workers of the session's kind, which must outlive the
/// factory. `deadline`, if not empty, gives the longest that one request may
/// take from now on.
measure::RunnerFactory runner_factory(const Session& session,
                                      std::function<std::chrono::seconds()> deadline = {});

/// Measures keys and models into `table` in fresh workers of the session's
/// kind. Finished rows are skipped. If time allows, the machine's memory is
/// measured before the first kernels and, in long campaigns, after the last
/// (docs/adr/0051); both are part of the budget. If `events` says cancelled, the summary
/// says interrupted and all that was measured is kept. Code::Refused if the
/// table's rows of this device and setting are replayed and these are measured,
/// or the reverse.
Result<measure::Summary> run_campaign(const Session& session, std::span<const std::string> keys,
                                      std::span<const PlannedModel> models,
                                      const CampaignOptions& options, table::Table& table,
                                      Events& events);

/// What a budget that ended left unmeasured, and `way_on`, how to continue; empty if nothing.
std::string budget_end_text(const measure::Summary& summary, std::string_view way_on);
/// "KEY: OUTCOME: REASON".
std::string refusal_text(const measure::Refusal& refusal);

/// A campaign whose keys are chosen while it runs: run_campaign() in parts, with one budget and one
/// look at memory for all of them. All that it is given outlives it.
class CampaignInParts {
 public:
  struct Part {
    std::vector<std::string> keys;
    std::span<const PlannedModel> models;
    double budget_s = 0;  ///< of this part alone
    /// Of every row, and no more of any; nothing: as the options say.
    std::optional<std::int64_t> blocks;
    /// What networks execute, so that of rows that do not fit into the budget those count first
    /// that make networks unsure; see measure::CampaignRequest::networks.
    std::vector<std::map<std::string, double>> networks = {};
  };
  /// `kernels`: how many keys there may be in all.
  static Result<CampaignInParts> begin(const Session& session, const CampaignOptions& options,
                                       std::size_t kernels, table::Table& table, Events& events);
  Result<measure::Summary> run(const Part& part);
  /// A summary of run() with the blocks, processes, waits and refusals of all parts so far.
  [[nodiscard]] measure::Summary with_all_parts(measure::Summary summary) const;
  /// Looks at memory again, where there is time for it. `last`: a summary of run().
  Status end(const measure::Summary& last);
  /// Since begin().
  [[nodiscard]] double elapsed_s() const;
  /// Of the options' budget, without what end() takes; infinite without a budget.
  [[nodiscard]] double left_s() const;

 private:
  CampaignInParts(const Session& session, const CampaignOptions& options, table::Table& table,
                  Events& events, CampaignMemory memory,
                  std::chrono::steady_clock::time_point start)
      : session_(&session),
        options_(options),
        table_(&table),
        events_(&events),
        memory_(std::move(memory)),
        start_(start) {}
  void add(const Part& part, const measure::Summary& summary);
  const Session* session_;
  CampaignOptions options_;
  table::Table* table_;
  Events* events_;
  CampaignMemory memory_;
  std::chrono::steady_clock::time_point start_;
  measure::Summary all_;  ///< those of its fields that with_all_parts() fills
};

/// The rows of these whole models in `table`, in their order; std::nullopt if
/// the table holds no time of one.
Result<std::vector<std::optional<table::StoredModelRow>>> measured_models(
    const table::Table& table, std::span<const PlannedModel> models, const table::Setting& setting,
    const table::Device& device);

}  // namespace oplat::app
