// SPDX-License-Identifier: Apache-2.0
/// From a session, keys and models to a campaign of the measuring column.
#include "app/campaign.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <variant>

#include "app/model_memo.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "compat/registry.hpp"
#include "measure/environment.hpp"
#include "measure/memory_probe.hpp"
#include "plan/identity.hpp"
#include "table/memory_text.hpp"

namespace oplat::app {
namespace {

using CampaignClock = std::chrono::steady_clock;

/// Opening a large model takes some seconds.
constexpr std::chrono::seconds kMinDeadline{20};

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

/// A plan that says which model it is of and nothing else: what measuring a whole model takes.
Result<table::Plan> identity_alone(const Session& session, const std::string& path,
                                   const ModelInputs& inputs) {
  table::Plan plan;
  OPLAT_TRY(names, identities(session, path, inputs, plan::kPlanFormat, plan::kPlanFormat));
  plan.identity = names.front();
  plan.model = std::filesystem::path(path).filename().string();
  plan.batch = inputs.shapes.batch.value_or(1);
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
                                              const ModelInputs& inputs, Events& events,
                                              WithoutPlan without) {
  std::vector<PlannedModel> planned;
  std::optional<Error> first;
  for (const std::string& path : models) {
    events.progress({.done = static_cast<std::int64_t>(planned.size()),
                     .total = static_cast<std::int64_t>(models.size()),
                     .eta_s = std::nullopt,
                     .what = "planning",
                     .item = path});
    auto asked = plan_with(session, path, inputs);
    const bool planless =
        !asked && without == WithoutPlan::Keep &&
        (asked.error().code == Code::Internal || asked.error().code == Code::Runtime);
    if (planless) asked = identity_alone(session, path, inputs);
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
    // A worker of another kind may plan what oplat cannot read: no earlier oplat planned it, then.
    auto earlier = identities(session, path, inputs, 1, plan::kPlanFormat - 1);
    planned.push_back({path, std::move(plan), std::move(target), !planless,
                       earlier ? *std::move(earlier) : std::vector<std::string>()});
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

namespace {

/// Looks at memory may take a twentieth of a campaign's time, from a minute on.
constexpr double kMinSecondsForMemory = 60;
constexpr double kShareForMemory = 0.05;
constexpr double kMaxSecondsForMemory = 20;
/// At the end they are repeated if the campaign is long enough for what happens meanwhile to
/// matter.
constexpr double kMinSecondsForMemoryAfter = 300;
constexpr double kShareForMemoryAfter = 0.02;
constexpr double kMaxSecondsForMemoryAfter = 10;
/// One disturbed look at each pool would be taken for the machine.
constexpr std::int64_t kMinPassesOverMemory = 2;
/// Of a campaign without a budget, each in all its states.
constexpr double kSecondsOfKernel = 1.5;

double seconds_since(CampaignClock::time_point start) {
  return std::chrono::duration<double>(CampaignClock::now() - start).count();
}

/// Looks at the memory of the session's machine in a worker of its own, for so many seconds.
/// std::nullopt if that failed or found nothing, with a warning unless the worker cannot look at
/// all or the user asked to stop. A campaign goes on without: no error ends it.
std::optional<table::MemoryHierarchy> look_at_memory(const Session& session, double max_seconds,
                                                     Events& events) {
  measure::MemoryProbeRequest probe;
  probe.device = session.device;
  probe.max_seconds = max_seconds;
  probe.stop_asked = [&events] { return events.cancelled(); };
  probe.progress = [&events](const measure::MemoryProgress& progress) {
    constexpr std::int64_t kWhole = 100;
    const std::string pool = base::bytes_text(static_cast<double>(progress.pool_bytes));
    events.progress({.done = std::llround(progress.share * kWhole),
                     .total = kWhole,
                     .eta_s = std::nullopt,
                     .what = "memory",
                     .item = pool});
  };
  const auto measured = [&]() -> Result<measure::MeasuredMemoryOutcome> {
    OPLAT_TRY(worker, start_another(session, session.options));
    return measure::measure_memory(
        probe, [&](std::int64_t pool_bytes) { return worker->look_at_memory(pool_bytes); });
  };
  const auto warn = [&](std::string_view why) {
    events.warn(
        fmt::format("the caches of {} were not measured: {}; the sizes that it reports are "
                    "assumed",
                    base::printable(session.device.name), why));
  };
  auto outcome = measured();
  if (!outcome) {
    // The campaign, which is asked to stop too, says what became of it.
    if (outcome.error().code != Code::Interrupted) warn(outcome.error().message);
    return std::nullopt;
  }
  if (const auto* failed = std::get_if<table::Failed>(&*outcome)) warn(failed->reason);
  auto* found = std::get_if<measure::MeasuredMemory>(&*outcome);
  if (found == nullptr) return std::nullopt;
  if (found->passes < kMinPassesOverMemory) {
    warn(fmt::format("{:.0f} s were too short to look twice", found->seconds));
    return std::nullopt;
  }
  if (found->hierarchy.levels.size() < 2) {
    warn("reading takes the same time however much is read in between");
    return std::nullopt;
  }
  return std::move(found->hierarchy);
}

/// What a campaign does about the memory of its machine.
struct CampaignMemory {
  table::StateSizes sizes;                   ///< what the states of its rows are made from
  std::map<std::string, std::string> facts;  ///< for its environment
  double seconds_after = 0;                  ///< for looks when it is done; 0: none are wanted
  const char* fact_after = table::kMemoryAfterFact;
};

/// Looks at memory if the table knows nothing of this machine's, and rows are to be begun: their
/// states need it. Where rows exist, looks can wait until the campaign had something to do.
Result<CampaignMemory> memory_before(const Session& session, std::size_t kernels,
                                     const CampaignOptions& options, const table::Table& table,
                                     Events& events) {
  CampaignMemory memory;
  if (session.worker_name == kReplay || kernels == 0) return memory;
  const double seconds = options.budget_s.value_or(kSecondsOfKernel * static_cast<double>(kernels));
  const double seconds_before = seconds < kMinSecondsForMemory
                                    ? 0
                                    : std::min(kMaxSecondsForMemory, kShareForMemory * seconds);
  if (seconds >= kMinSecondsForMemoryAfter)
    memory.seconds_after = std::min(kMaxSecondsForMemoryAfter, kShareForMemoryAfter * seconds);
  std::optional<table::MemoryHierarchy> known;
  OPLAT_TRY(device, table.find_device(session.device.name));
  OPLAT_TRY(setting, table.find_setting(session.setting));
  if (device) {
    OPLAT_TRY(found, table::find_memory(table, *device));
    known = std::move(found);
  }
  if (device && setting) {
    OPLAT_TRY(sizes, table::sizes_of_states(table, *device, *setting));
    memory.sizes = std::move(sizes);
  }
  if (memory.sizes.begun) {
    if (!known) {
      memory.seconds_after = seconds_before;
      memory.fact_after = table::kMemoryFact;
    }
    return memory;
  }
  if (!known && seconds_before > 0) {
    known = look_at_memory(session, seconds_before, events);
    if (events.cancelled()) return memory;
    if (known) memory.facts[table::kMemoryFact] = table::encode(*known);
    // What could not be measured before will hardly be afterwards.
    if (!known) memory.seconds_after = 0;
  }
  memory.facts[table::kStatesFact] = std::string(table::kReportedSizes);
  if (known) {
    // The points made the levels, and states need no more than those.
    table::MemoryHierarchy levels = *known;
    levels.points.clear();
    memory.facts[table::kStatesFact] = table::encode(levels);
    memory.sizes.memory = std::move(known);
  }
  return memory;
}

/// Looks again when the rows are measured: other tenants come and go.
Status memory_after(const Session& session, const CampaignMemory& memory,
                    const measure::Summary& summary, table::Table& table, Events& events) {
  if (!(memory.seconds_after > 0) || !summary.campaign || summary.interrupted) return {};
  const auto found = look_at_memory(session, memory.seconds_after, events);
  if (!found) return {};
  return table.add_campaign_facts(*summary.campaign, {{memory.fact_after, table::encode(*found)}});
}

}  // namespace

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

Status check_options(const CampaignOptions& options) {
  const auto& error = options.target_error;
  if (error && !(*error >= kMinTargetError && *error <= 1))
    return fail(Code::Usage,
                "target error {}: expected a share of the time from {} to 1, such as 0.05", *error,
                kMinTargetError);
  return {};
}

Result<measure::Summary> run_campaign(const Session& session, std::span<const std::string> keys,
                                      std::span<const PlannedModel> models,
                                      const CampaignOptions& options, table::Table& table,
                                      Events& events) {
  OPLAT_CHECK(check_replay(table, session));
  measure::CampaignRequest request;
  request.catalogue = &compat::catalogue();
  request.device = session.device;
  request.setting = session.setting;
  request.keys.assign(keys.begin(), keys.end());
  for (const PlannedModel& model : models) request.models.push_back(model.target);
  request.seed = options.seed;
  if (options.min_blocks) request.stop.least_blocks = *options.min_blocks;
  if (options.target_error)
    request.stop.half_width = request.stop.short_half_width = *options.target_error;
  request.stop.most_blocks = std::max(request.stop.most_blocks, request.stop.least_blocks);
  request.argv = options.record;
  request.retry_refused = options.retry_refused;
  request.retry_loaded = options.retry_loaded;
  request.environment = environment_of(session);
  request.stop_asked = [&events] { return events.cancelled(); };
  const auto start = CampaignClock::now();
  OPLAT_TRY(memory, memory_before(session, keys.size(), options, table, events));
  request.memory = memory.sizes.memory;
  for (const auto& [name, fact] : memory.facts) request.environment->facts[name] = fact;
  request.spent_seconds = seconds_since(start);
  std::function<std::chrono::seconds()> deadline;
  if (options.budget_s) {
    request.budget_seconds = *options.budget_s - memory.seconds_after;
    deadline = [budget = *request.budget_seconds, start, usual = session.options.request_deadline] {
      return deadline_within(budget, CampaignClock::now() - start, usual);
    };
  }
  CampaignEvents progress(events);
  OPLAT_TRY(summary,
            measure::run(request, table, runner_factory(session, std::move(deadline)), progress));
  OPLAT_CHECK(memory_after(session, memory, summary, table, events));
  summary.seconds = seconds_since(start);
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
