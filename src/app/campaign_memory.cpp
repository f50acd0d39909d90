// SPDX-License-Identifier: Apache-2.0
#include "app/campaign_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "app/machine.hpp"
#include "base/text.hpp"
#include "table/table.hpp"

namespace oplat::app {
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

/// Looks at the memory of the session's machine in a worker of its own, for so many seconds.
/// std::nullopt if that failed or found nothing, with a warning unless the worker cannot look at
/// all or the user asked to stop. A campaign goes on without: no error ends it.
std::optional<table::MemoryHierarchy> look_at_memory(const Session& session, double max_seconds,
                                                     Events& events) {
  const auto measured = [&]() -> Result<measure::MeasuredMemoryOutcome> {
    OPLAT_TRY(worker, start_another(session, session.options));
    return measure_memory(*worker, session.device, max_seconds, "memory", events);
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

}  // namespace

Result<CampaignMemory> memory_before(const Session& session, std::size_t kernels,
                                     std::optional<double> budget_s, const table::Table& table,
                                     Events& events) {
  CampaignMemory memory;
  if (session.worker_name == kReplay || kernels == 0) return memory;
  const double seconds = budget_s.value_or(kSecondsOfKernel * static_cast<double>(kernels));
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
    // States need the levels alone.
    table::MemoryHierarchy levels = *known;
    levels.points.clear();
    levels.waits.clear();
    memory.facts[table::kStatesFact] = table::encode(levels);
    memory.sizes.memory = std::move(known);
  }
  return memory;
}

Status memory_after(const Session& session, const CampaignMemory& memory,
                    const measure::Summary& summary, table::Table& table, Events& events) {
  if (!(memory.seconds_after > 0) || !summary.campaign || summary.interrupted) return {};
  const auto found = look_at_memory(session, memory.seconds_after, events);
  if (!found) return {};
  return table.add_campaign_facts(*summary.campaign, {{memory.fact_after, table::encode(*found)}});
}

}  // namespace oplat::app
