// SPDX-License-Identifier: Apache-2.0
/// From keys and models to rows, and what earlier campaigns left of them.
#include "measure/units.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "ir/key.hpp"

namespace oplat::measure {
namespace {

/// Flags that say something the blocks do not: kept from campaign to campaign.
bool is_lasting(const std::string& flag) {
  return flag == kFailedLater || flag == table::kUnderLoad || flag == "empty_call_unknown";
}

/// Processes are counted on from the last one; no campaign comes near this.
constexpr std::int64_t kMaxProcesses = std::int64_t{1} << 53;

Status check_processes(const table::Table& table, std::string_view name,
                       std::span<const table::Block> blocks) {
  for (const table::Block& block : blocks) {
    if (block.process >= 0 && block.process <= kMaxProcesses) continue;
    return fail(Code::Input,
                "{}: corrupt: a block of {} says that process {} measured it; processes are "
                "numbered from 1",
                table.path().string(), base::printable(name), block.process);
  }
  return {};
}

/// Takes over what the table holds; a time without its blocks is measured anew.
void take_over(Unit& unit, const table::Outcome& outcome, const table::Method& method,
               std::vector<table::Block> blocks, const CampaignRequest& request) {
  unit.stored = outcome;
  unit.stored_flags = method.flags;
  if (!std::holds_alternative<table::Timing>(outcome)) {
    if (!request.retry_refused) {
      unit.refusal = outcome;
      unit.finished = true;
    }
    return;
  }
  unit.blocks = std::move(blocks);
  if (unit.blocks.empty()) return;
  unit.method = method;
  std::erase_if(unit.method.flags, [](const std::string& flag) { return !is_lasting(flag); });
  unit.loaded_blocks = std::count_if(unit.blocks.begin(), unit.blocks.end(), is_loaded);
  if (unit.method.has(table::kUnderLoad)) {
    unit.untold_blocks = std::count_if(unit.blocks.begin(), unit.blocks.end(),
                                       [](const table::Block& block) { return !block.other_load; });
    if (request.retry_loaded) unit.least_blocks = unit.clearing_blocks();
  }
  const bool failed_later = unit.method.has(kFailedLater);
  if (failed_later && request.retry_refused) std::erase(unit.method.flags, kFailedLater);
  unit.finished = failed_later && !request.retry_refused;
}

Status load_kernel(Unit& unit, const CampaignRequest& request, const table::Table& table,
                   table::DeviceId device, table::SettingId setting) {
  OPLAT_TRY(rows, table.rows_of(unit.name, device, setting));
  for (const table::StoredRow& row : rows) {
    if (row.row.origin != "own" || row.row.reuse_bytes != unit.state.reuse_bytes) continue;
    OPLAT_TRY(blocks, table.blocks_of(row.id));
    OPLAT_CHECK(check_processes(table, unit.name, blocks));
    take_over(unit, row.row.outcome, row.row.method, std::move(blocks), request);
    unit.need = Need::Yes;
  }
  return {};
}

Status load_models(std::vector<Unit>& units, const CampaignRequest& request,
                   const table::Table& table, table::DeviceId device, table::SettingId setting) {
  if (request.models.empty()) return {};
  OPLAT_TRY(rows, table.model_rows());
  for (const table::StoredModelRow& row : rows) {
    if (row.device != device || row.setting != setting) continue;
    for (Unit& unit : units) {
      if (unit.kind != UnitKind::Model || unit.model->plan_identity != row.row.plan_identity)
        continue;
      OPLAT_TRY(blocks, table.blocks_of_model(row.id));
      OPLAT_CHECK(check_processes(table, unit.name, blocks));
      take_over(unit, row.row.outcome, row.row.method, std::move(blocks), request);
    }
  }
  return {};
}

void add_models(std::vector<Unit>& units, const CampaignRequest& request) {
  std::unordered_set<std::string> seen;
  for (const ModelTarget& model : request.models) {
    if (!seen.insert(model.plan_identity).second) continue;
    Unit unit;
    unit.kind = UnitKind::Model;
    unit.name = model.name;
    unit.model = &model;
    units.push_back(std::move(unit));
  }
}

/// The hot row of a key and, if its weights are large enough to ask, those of the other cache
/// states.
void add_kernel(std::vector<Unit>& units, const std::string& text, const ir::Key& key,
                const table::Device& device, const ir::Catalogue& catalogue) {
  Unit hot;
  hot.name = text;
  hot.work = ir::work(key, catalogue);
  hot.state = measure::hot_state(hot.work);
  if (ir::has_unknown(key)) {
    hot.refusal = table::Skipped{"the key holds '?' or '*', so nothing says what to build"};
  }
  const std::size_t index = units.size();
  units.push_back(hot);
  if (hot.refusal) return;
  for (const measure::State& state : measure::further_states(hot.work, device)) {
    Unit evicted = hot;
    evicted.kind = UnitKind::Evicted;
    evicted.hot = index;
    evicted.state = state;
    evicted.need = Need::Unknown;
    units.push_back(std::move(evicted));
  }
}

}  // namespace

bool is_loaded(const table::Block& block) { return block.other_load.value_or(0) >= kLoadOfOthers; }

void Unit::judge(const measure::Assessment& assessment) {
  expected_blocks = std::max(assessment.expected_blocks, least_blocks);
  precise = assessment.precise;
  if (assessment.done && !lacks_quiet_blocks()) finished = true;
}

std::uint64_t Unit::seed() const {
  return base::hash64(name,
                      kind == UnitKind::Model ? 0 : 1 + static_cast<std::uint64_t>(state.kind));
}

const char* Unit::state_name() const {
  return kind == UnitKind::Model ? "model" : measure::name(state.kind);
}

void decide_need(Unit& evicted, const Unit& hot) {
  if (evicted.need != Need::Unknown) return;
  if (hot.refusal) {
    evicted.need = Need::No;
  } else if (!hot.blocks.empty()) {
    // The first block, not the median: a later look must not change its mind.
    const bool wanted =
        measure::needs(evicted.state.kind, evicted.work, hot.blocks.front().value_ns);
    evicted.need = wanted ? Need::Yes : Need::No;
  }
  if (evicted.need == Need::No) evicted.finished = true;
}

Result<Units> load_units(const CampaignRequest& request, const table::Table& table,
                         table::DeviceId device, table::SettingId setting) {
  Units units;
  std::unordered_set<std::string> seen;
  for (const std::string& text : request.keys) {
    if (!seen.insert(text).second) continue;
    const Result<ir::Key> key = ir::parse(text);
    if (!key) {
      units.unreadable.push_back({base::printable(text), "failed", key.error().message});
      continue;
    }
    const ir::OperatorInfo* info = request.catalogue->find(key->domain, key->op);
    if (info != nullptr && info->view) {
      ++units.views;
      continue;
    }
    add_kernel(units.all, text, *key, request.device, *request.catalogue);
  }
  if (units.views > 0 && !request.empty_call_key.empty() &&
      seen.insert(request.empty_call_key).second) {
    OPLAT_TRY(dispatch, ir::parse(request.empty_call_key));
    add_kernel(units.all, request.empty_call_key, dispatch, request.device, *request.catalogue);
  }
  for (Unit& unit : units.all) OPLAT_CHECK(load_kernel(unit, request, table, device, setting));
  add_models(units.all, request);
  OPLAT_CHECK(load_models(units.all, request, table, device, setting));
  for (Unit& unit : units.all) {
    if (unit.kind == UnitKind::Evicted) decide_need(unit, units.all[unit.hot]);
  }
  return units;
}

}  // namespace oplat::measure
