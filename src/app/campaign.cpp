// SPDX-License-Identifier: Apache-2.0
/// From a session, keys and models to a campaign of the measuring column.
#include "app/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>
#include <variant>

#include "app/model_memo.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "compat/registry.hpp"
#include "measure/environment.hpp"
#include "plan/identity.hpp"

namespace oplat::app {
namespace {

using CampaignClock = std::chrono::steady_clock;

/// Opening a large model takes some seconds.
constexpr std::chrono::seconds kMinDeadline{20};

double seconds_since(CampaignClock::time_point start) {
  return std::chrono::duration<double>(CampaignClock::now() - start).count();
}

/// A worker that hangs does not hang far beyond the budget.
std::chrono::seconds deadline_within(double budget_seconds, CampaignClock::duration elapsed,
                                     std::chrono::seconds usual) {
  const double left = budget_seconds - std::chrono::duration<double>(elapsed).count();
  if (left >= static_cast<double>(usual.count())) return usual;
  return std::max(kMinDeadline, std::chrono::seconds(static_cast<std::int64_t>(std::ceil(left))));
}

/// Among the environment's facts: who measured.
constexpr const char* kWorkerFact = "worker";
constexpr const char* kReplay = "replay";
/// How a remote worker was reached.
constexpr const char* kCommandFact = "worker_command";

/// Times of one (device, setting) pair are all measured or all replayed:
/// appended to real blocks, the blocks of a replay would count as further
/// measurements and make intervals narrower.
Status check_replay(const table::Table& table, const Session& session) {
  OPLAT_TRY(device, table.find_device(session.device.name));
  OPLAT_TRY(setting, table.find_setting(session.setting));
  if (!device || !setting) return {};
  const bool replay = session.worker_name == kReplay;
  OPLAT_TRY(campaigns, table.campaigns());
  for (const table::StoredCampaign& campaign : campaigns) {
    if (campaign.device != *device || campaign.setting != *setting) continue;
    const auto& facts = campaign.environment.facts;
    const auto worker = facts.find(kWorkerFact);
    const bool replayed = worker != facts.end() && worker->second == kReplay;
    if (replayed == replay) continue;
    return fail(Code::Refused,
                "{}: its rows of {} on {} were {}, and cannot be mixed with {} times; set another "
                "--table or --device",
                table.path().string(), table::describe(session.setting),
                base::printable(session.device.name), replayed ? "replayed" : "measured",
                replay ? "replayed" : "measured");
  }
  return {};
}

/// What the plan of a model is called, by the plan formats from `format` to the last.
Result<std::vector<std::string>> identities(const Session& session, const std::string& path,
                                            const ModelInputs& inputs, int format, int last) {
  std::vector<std::string> names;
  OPLAT_TRY(hash, plan::model_hash(path));
  OPLAT_TRY(shapes, plan::resolve_shapes(path, inputs.shapes));
  OPLAT_TRY(data, plan::resolve_inputs(inputs.data));
  for (; format <= last; ++format)
    names.push_back(
        plan::identity(hash, shapes, session.setting, session.device.isa, data, format));
  return names;
}

/// Whether a model is kept without a plan. Not if its batch is to be rewritten: planning compares
/// what the rewritten model computes with what the file's own does.
bool runs_without_plan(const Error& error, const std::string& path, const ModelInputs& inputs) {
  return (error.code == Code::Internal || error.code == Code::Runtime) &&
         !rewritten_batch(path, inputs);
}

/// A plan that says which model it is of and nothing else: what measuring a whole model takes.
Result<table::Plan> identity_alone(const Session& session, const std::string& path,
                                   const ModelInputs& inputs, const Error& why, Events& events) {
  table::Plan plan;
  OPLAT_TRY(names, identities(session, path, inputs, plan::kPlanFormat, plan::kPlanFormat));
  plan.identity = names.front();
  plan.model = std::filesystem::path(path).filename().string();
  events.warn(fmt::format("{} has no plan: {}", base::printable(path, 400), why.message));
  const auto batch = batch_of_file(path, inputs.shapes);
  if (!batch)
    events.warn(fmt::format("{}: its batch is taken as 1, since the file does not say it: {}",
                            base::printable(path, 400), batch.error().message));
  plan.batch = batch ? *batch : 1;
  return plan;
}

}  // namespace

table::Environment environment_of(const Session& session) {
  table::Environment environment =
      session.remote ? measure::harness_environment() : measure::probe_environment();
  environment.facts[kWorkerFact] = session.worker_name;
  if (session.remote)
    environment.facts[kCommandFact] =
        base::printable(base::join(session.options.command, " "), 1000);
  return environment;
}

Result<std::vector<PlannedModel>> plan_models(Session& session, std::span<const std::string> models,
                                              const ModelInputs& given, Events& events,
                                              WithoutPlan without,
                                              std::vector<UnplannedModel>* unplanned) {
  std::vector<PlannedModel> planned;
  std::optional<Error> first;
  std::int64_t asked_for = 0;
  for (const std::string& path : models) {
    events.progress({.done = asked_for++,
                     .total = static_cast<std::int64_t>(models.size()),
                     .eta_s = std::nullopt,
                     .what = "planning",
                     .item = path});
    OPLAT_TRY(inputs, settle_batch(path, given, events));
    auto asked = plan_with(session, path, inputs);
    const bool planless =
        !asked && without == WithoutPlan::Keep && runs_without_plan(asked.error(), path, inputs);
    if (planless) asked = identity_alone(session, path, inputs, asked.error(), events);
    if (!asked && unplanned != nullptr && asked.error().code != Code::Interrupted) {
      unplanned->push_back({path, asked.error()});
      continue;
    }
    if (!asked) {
      // A flag that does not fit is the command's fault, and an interruption ends it.
      const bool of_model = asked.error().code == Code::Input ||
                            asked.error().code == Code::Internal ||
                            asked.error().code == Code::Runtime;
      if (models.size() == 1 || !of_model) return fail(std::move(asked).error());
      if (!first) first = asked.error();
      events.warn(
          fmt::format("{} is left out: {}", base::printable(path, 400), asked.error().message));
      continue;
    }
    table::Plan plan = std::move(*asked);
    warn_of_made_up_inputs(path, inputs, events);
    warn_of_value_caveats(path, plan, events);
    measure::ModelTarget target;
    target.path = path;
    target.name = plan.model;
    target.plan_identity = plan.identity;
    target.shapes = inputs.shapes.shapes;
    target.batch = inputs.shapes.batch;
    target.executed_batch = plan.batch;
    target.inputs = inputs.data;
    for (const table::PlanKernel& kernel : plan.kernels) {
      if (kernel.count > 0) target.calls[kernel.key] += static_cast<double>(kernel.count);
    }
    // A worker of another kind may plan what oplat cannot read: no earlier oplat planned it, then.
    auto earlier = identities(session, path, inputs, 1, plan::kPlanFormat - 1);
    planned.push_back({path, std::move(plan), std::move(target), !planless,
                       earlier ? *std::move(earlier) : std::vector<std::string>(), inputs});
  }
  if (planned.empty() && first) return fail(std::move(*first));
  return planned;
}

Status store_plans(table::Table& table, std::span<const PlannedModel> models) {
  for (const PlannedModel& model : models) {
    if (!model.has_kernels) continue;
    OPLAT_CHECK(table.put_plan(model.plan));
    OPLAT_CHECK(remember_model(table, model.path));
  }
  return {};
}

Status forget_earlier_plans(table::Table& table, std::span<const PlannedModel> models) {
  OPLAT_TRY(rows, table.model_rows());
  std::set<std::string_view> timed;
  for (const table::StoredModelRow& stored : rows) {
    if (std::holds_alternative<table::Timing>(stored.row.outcome))
      timed.insert(stored.row.plan_identity);
  }
  for (const PlannedModel& model : models) {
    if (!model.has_kernels || !timed.contains(model.plan.identity)) continue;
    for (const std::string& earlier : model.earlier_identities)
      OPLAT_CHECK(table.erase_plan(earlier));
  }
  return {};
}

void CampaignEvents::update(const measure::ProgressState& state) {
  const std::string_view phase = state.phase == measure::Phase::Preparing   ? "preparing"
                                 : state.phase == measure::Phase::Measuring ? "measuring"
                                                                            : "finishing";
  const std::string item = state.state.empty() ? state.current : state.state + " " + state.current;
  events_->progress({.done = state.done,
                     .total = state.total,
                     .eta_s = state.eta_seconds,
                     .what = phase,
                     .item = item});
}

measure::RunnerFactory runner_factory(const Session& session,
                                      std::function<std::chrono::seconds()> deadline) {
  return [&session,
          deadline = std::move(deadline)]() -> Result<std::unique_ptr<measure::KernelRunner>> {
    runtimes::WorkerOptions options = session.options;
    if (deadline) options.request_deadline = deadline();
    OPLAT_TRY(worker, start_another(session, options));
    return std::unique_ptr<measure::KernelRunner>(std::move(worker));
  };
}

namespace {

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

Result<CampaignOptions> parse_campaign(const CampaignTexts& texts) {
  CampaignOptions options = texts.options;
  if (!texts.target_error.empty()) {
    OPLAT_TRY(target_error, parse_target_error(texts.target_error));
    options.target_error = target_error;
  }
  if (!texts.budget.empty()) {
    OPLAT_TRY(ns, base::parse_duration_ns(texts.budget));
    options.budget_s = ns / 1e9;
  }
  return options;
}

std::string budget_end_text(const measure::Summary& summary, std::string_view way_on) {
  const std::int64_t left = summary.kernels.left + summary.models.left;
  const std::int64_t few = summary.kernels.few + summary.models.few;
  if (!summary.budget_ended || left + few == 0) return {};
  return fmt::format(
      "the budget ended with {} unmeasured and {} with fewer blocks than the minimum; {}",
      base::counted(left, summary.kernels.total > 0 ? "row" : "model"), few, way_on);
}

std::string refusal_text(const measure::Refusal& refusal) {
  return fmt::format("{}: {}: {}", refusal.key, refusal.outcome, refusal.reason);
}

Status check_options(const CampaignOptions& options) {
  const auto& error = options.target_error;
  if (error && !(*error >= kMinTargetError && *error <= 1))
    return fail(Code::Usage,
                "target error {}: expected a share of the time from {} to 1, such as 0.05", *error,
                kMinTargetError);
  return {};
}

Result<CampaignInParts> CampaignInParts::begin(const Session& session,
                                               const CampaignOptions& options, std::size_t kernels,
                                               table::Table& table, Events& events) {
  OPLAT_CHECK(check_replay(table, session));
  const auto start = CampaignClock::now();
  OPLAT_TRY(memory, memory_before(session, kernels, options.budget_s, table, events));
  return CampaignInParts(session, options, table, events, std::move(memory), start);
}

double CampaignInParts::elapsed_s() const { return seconds_since(start_); }

double CampaignInParts::left_s() const {
  if (!options_.budget_s) return std::numeric_limits<double>::infinity();
  return *options_.budget_s - memory_.seconds_after - elapsed_s();
}

Result<measure::Summary> CampaignInParts::run(const Part& part) {
  measure::CampaignRequest request;
  request.catalogue = &compat::catalogue();
  request.device = session_->device;
  request.setting = session_->setting;
  request.keys = part.keys;
  request.networks = part.networks;
  for (const PlannedModel& model : part.models) request.models.push_back(model.target);
  request.seed = options_.seed;
  if (options_.min_blocks) request.stop.min_blocks = *options_.min_blocks;
  if (options_.target_error)
    request.stop.half_width = request.stop.short_half_width = *options_.target_error;
  if (part.blocks) request.stop.min_blocks = request.stop.max_blocks = *part.blocks;
  request.stop.max_blocks = std::max(request.stop.max_blocks, request.stop.min_blocks);
  request.argv = options_.record;
  request.retry_refused = options_.retry_refused;
  request.retry_loaded = options_.retry_loaded;
  // Recorded times hold no inferences, however often they are replayed.
  request.need_inferences = options_.need_inferences && session_->worker_name != kReplay;
  request.environment = environment_of(*session_);
  request.stop_asked = [events = events_] { return events->cancelled(); };
  request.memory = memory_.sizes.memory;
  for (const auto& [name, fact] : memory_.facts) request.environment->facts[name] = fact;
  std::function<std::chrono::seconds()> deadline;
  if (std::isfinite(part.budget_s)) {
    request.budget_seconds = part.budget_s;
    deadline = [budget = part.budget_s, start = CampaignClock::now(),
                usual = session_->options.request_deadline] {
      return deadline_within(budget, CampaignClock::now() - start, usual);
    };
  }
  CampaignEvents progress(*events_);
  OPLAT_TRY(summary, measure::run(request, *table_, runner_factory(*session_, std::move(deadline)),
                                  progress));
  add(part, summary);
  return std::move(summary);
}

void CampaignInParts::add(const Part& part, const measure::Summary& summary) {
  all_.blocks += summary.blocks;
  all_.processes += summary.processes;
  all_.waited_seconds += summary.waited_seconds;
  // What a later part says of a row is what is true of it.
  std::set<std::string_view> asked(part.keys.begin(), part.keys.end());
  for (const PlannedModel& model : part.models) asked.insert(model.target.name);
  std::erase_if(all_.refusals, [&](const auto& refusal) { return asked.contains(refusal.key); });
  all_.refusals.insert(all_.refusals.end(), summary.refusals.begin(), summary.refusals.end());
}

measure::Summary CampaignInParts::with_all_parts(measure::Summary summary) const {
  summary.blocks = all_.blocks;
  summary.processes = all_.processes;
  summary.waited_seconds = all_.waited_seconds;
  summary.refusals = all_.refusals;
  return summary;
}

Status CampaignInParts::end(const measure::Summary& last) {
  return memory_after(*session_, memory_, last, *table_, *events_);
}

Result<measure::Summary> run_campaign(const Session& session, std::span<const std::string> keys,
                                      std::span<const PlannedModel> models,
                                      const CampaignOptions& options, table::Table& table,
                                      Events& events) {
  OPLAT_TRY(campaign, CampaignInParts::begin(session, options, keys.size(), table, events));
  OPLAT_TRY(summary,
            campaign.run({{keys.begin(), keys.end()}, models, campaign.left_s(), std::nullopt}));
  OPLAT_CHECK(campaign.end(summary));
  summary.seconds = campaign.elapsed_s();
  return std::move(summary);
}

Result<std::vector<std::optional<table::StoredModelRow>>> measured_models(
    const table::Table& table, std::span<const PlannedModel> models, const table::Setting& setting,
    const table::Device& device) {
  OPLAT_TRY(rows, table.model_rows());
  OPLAT_TRY(settings, table.settings());
  OPLAT_TRY(devices, table.devices());
  const auto fits = [&](const table::StoredModelRow& row) {
    const bool setting_fits = std::any_of(settings.begin(), settings.end(), [&](const auto& s) {
      return s.first == row.setting && s.second == setting;
    });
    const bool device_fits = std::any_of(devices.begin(), devices.end(), [&](const auto& d) {
      return d.first == row.device && d.second.name == device.name;
    });
    return setting_fits && device_fits && std::holds_alternative<table::Timing>(row.row.outcome);
  };
  std::vector<std::optional<table::StoredModelRow>> found;
  for (const PlannedModel& model : models) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) {
      return row.row.plan_identity == model.plan.identity && fits(row);
    });
    found.push_back(at == rows.end() ? std::nullopt : std::optional(*at));
  }
  return found;
}

}  // namespace oplat::app
