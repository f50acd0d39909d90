// SPDX-License-Identifier: Apache-2.0
/// From keys and models to rows, and what earlier campaigns left of them.
#include "measure/campaign_rows.hpp"

#include <algorithm>
#include <cassert>
#include <span>
#include <string_view>
#include <unordered_set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "ir/drift.hpp"
#include "ir/key.hpp"
#include "table/in_model.hpp"

namespace oplat::measure {
namespace {

/// Flags that say something the blocks do not: kept from campaign to campaign.
bool is_lasting(const std::string& flag) {
  return flag == kFailedLater || flag == table::kUnderLoad || flag == "empty_call_unknown" ||
         table::is_in_model_flag(flag);
}

/// What a row's method says of copies that were a chain.
constexpr std::string_view kChain = "chain";

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

/// Whether the row is of a time in which a chain was another kernel than its key's. Other workers
/// than ONNX Runtime's go on chaining what they are given.
bool is_of_another_kernel(const CampaignRow& row, const table::Method& method,
                          const CampaignRequest& request) {
  if (row.kind == RowKind::Model || method.topology != kChain ||
      request.setting.runtime != "onnxruntime")
    return false;
  const auto key = ir::parse(row.name);
  return key && ir::is_another_in_chain(*key);
}

/// Takes over what the table holds; a time without its blocks is measured anew.
void take_over(CampaignRow& row, const table::Outcome& outcome, const table::Method& method,
               std::vector<table::Block> blocks, const CampaignRequest& request) {
  row.stored = outcome;
  row.stored_flags = method.flags;
  if (!std::holds_alternative<table::Timing>(outcome)) {
    if (!request.retry_refused) {
      row.refusal = outcome;
      row.finished = true;
    }
    return;
  }
  if (is_of_another_kernel(row, method, request)) {
    row.afresh = true;
    return;
  }
  row.blocks = std::move(blocks);
  if (row.blocks.empty()) return;
  row.method = method;
  std::erase_if(row.method.flags, [](const std::string& flag) { return !is_lasting(flag); });
  row.loaded_blocks = std::count_if(row.blocks.begin(), row.blocks.end(), table::is_loaded);
  if (row.method.has(table::kUnderLoad)) {
    row.untold_blocks = std::count_if(row.blocks.begin(), row.blocks.end(),
                                      [](const table::Block& block) { return !block.other_load; });
    if (request.retry_loaded) row.min_blocks = row.clearing_blocks();
  }
  // Two blocks that had their core alone decide (stopping.cpp).
  if (request.retry_loaded && method.has(table::kNeverQuiet))
    row.min_blocks = std::max(row.min_blocks, row.attempts() + 2);
  const bool failed_later = row.method.has(kFailedLater);
  if (failed_later && request.retry_refused) std::erase(row.method.flags, kFailedLater);
  row.finished = failed_later && !request.retry_refused;
}

Status load_kernel(CampaignRow& row, const CampaignRequest& request, const table::Table& table,
                   table::DeviceId device, table::SettingId setting) {
  OPLAT_TRY(all_stored, table.rows_of(row.name, device, setting));
  for (const table::StoredRow& stored : all_stored) {
    if (stored.row.origin != "own" || stored.row.reuse_bytes != row.state.reuse_bytes) continue;
    OPLAT_TRY(blocks, table.blocks_of(stored.id));
    OPLAT_CHECK(check_processes(table, row.name, blocks));
    row.id = stored.id;
    take_over(row, stored.row.outcome, stored.row.method, std::move(blocks), request);
    row.demand = RowDemand::Yes;
  }
  return {};
}

std::int64_t blocks_with_inferences(const CampaignRow& row) {
  return std::count_if(row.blocks.begin(), row.blocks.end(),
                       [](const table::Block& block) { return block.inferences.has_value(); });
}

Status load_models(std::vector<CampaignRow>& rows, const CampaignRequest& request,
                   const table::Table& table, table::DeviceId device, table::SettingId setting) {
  if (request.models.empty()) return {};
  OPLAT_TRY(all_stored, table.model_rows());
  for (const table::StoredModelRow& stored : all_stored) {
    if (stored.device != device || stored.setting != setting) continue;
    for (CampaignRow& row : rows) {
      if (row.kind != RowKind::Model || row.model->plan_identity != stored.row.plan_identity)
        continue;
      OPLAT_TRY(blocks, table.blocks_of_model(stored.id));
      OPLAT_CHECK(check_processes(table, row.name, blocks));
      row.id = stored.id;
      take_over(row, stored.row.outcome, stored.row.method, std::move(blocks), request);
      row.stored_inferences = stored.row.inferences;
      // Blocks of earlier versions of oplat say nothing of single inferences: as many that do as a
      // row has at least are measured, in this campaign and those that go on after it.
      const std::int64_t lacking = request.stop.min_blocks - blocks_with_inferences(row);
      if (request.need_inferences && row.attempts() > 0 && lacking > 0)
        row.min_blocks = std::max(row.min_blocks, row.attempts() + lacking);
    }
  }
  return {};
}

void add_models(std::vector<CampaignRow>& rows, const CampaignRequest& request) {
  std::unordered_set<std::string> seen;
  for (const ModelTarget& model : request.models) {
    if (!seen.insert(model.plan_identity).second) continue;
    CampaignRow row;
    row.kind = RowKind::Model;
    row.name = model.name;
    row.model = &model;
    rows.push_back(std::move(row));
  }
}

/// The copies of a view that leaves the graph are outputs all at once, while a model has one, whose
/// memory stays in the caches from call to call: with more bytes than this they are timed one by
/// one.
constexpr double kMaxCopiedTogether = 32 * 1024;

/// The hot row of a key and, if its weights are large enough to ask, those of the other cache
/// states.
void add_kernel(std::vector<CampaignRow>& rows, const std::string& text, const ir::Key& key,
                const CampaignRequest& request) {
  CampaignRow hot;
  hot.name = text;
  hot.work = ir::work(key, *request.catalogue);
  hot.state = measure::hot_state(hot.work);
  const bool copied = key.tag(ir::kCopiedTag) != nullptr;
  if (copied && hot.work.bytes_out > kMaxCopiedTogether) hot.state.copies = 1;
  if (ir::has_unknown(key)) {
    hot.refusal = table::Skipped{"the key holds '?' or '*', so nothing says what to build"};
  }
  const std::size_t index = rows.size();
  rows.push_back(hot);
  if (hot.refusal || copied) return;
  for (const measure::State& state :
       measure::further_states(hot.work, request.device, request.memory)) {
    CampaignRow evicted = hot;
    evicted.kind = RowKind::Evicted;
    evicted.hot = index;
    evicted.state = state;
    evicted.demand = RowDemand::Unknown;
    rows.push_back(std::move(evicted));
  }
}

}  // namespace

void CampaignRow::judge(const measure::Assessment& assessment) {
  expected_blocks = std::max(assessment.expected_blocks, min_blocks);
  precise = assessment.precise;
  if (assessment.done && !lacks_quiet_blocks()) finished = true;
}

std::uint64_t CampaignRow::seed() const {
  return base::hash64(name,
                      kind == RowKind::Model ? 0 : 1 + static_cast<std::uint64_t>(state.kind));
}

const char* CampaignRow::state_name() const {
  return kind == RowKind::Model ? "model" : measure::name(state.kind);
}

void decide_demand(CampaignRow& evicted, const CampaignRow& hot) {
  if (evicted.demand != RowDemand::Unknown) return;
  if (hot.refusal) {
    evicted.demand = RowDemand::No;
  } else if (!hot.blocks.empty()) {
    // The first block, not the median: a later look must not change its mind. Unless it is known
    // to be up to twice too long.
    const auto near = std::find_if_not(hot.blocks.begin(), hot.blocks.end(), table::is_not_apart);
    const table::Block& first = near != hot.blocks.end() ? *near : hot.blocks.front();
    const bool wanted = measure::needs(evicted.state.kind, evicted.work, first.value_ns);
    evicted.demand = wanted ? RowDemand::Yes : RowDemand::No;
  }
  if (evicted.demand == RowDemand::No) evicted.finished = true;
}

Result<CampaignRows> load_rows(const CampaignRequest& request, const table::Table& table,
                               table::DeviceId device, table::SettingId setting) {
  assert(request.catalogue != nullptr);
  CampaignRows rows;
  std::unordered_set<std::string> seen;
  for (const std::string& text : request.keys) {
    if (!seen.insert(text).second) continue;
    const Result<ir::Key> key = ir::parse(text);
    if (!key) {
      rows.unreadable.push_back({base::printable(text), "failed", key.error().message});
      continue;
    }
    if (ir::is_view(*key, *request.catalogue)) {
      ++rows.views;
      continue;
    }
    add_kernel(rows.all, text, *key, request);
  }
  if (rows.views > 0 && !request.empty_call_key.empty() &&
      seen.insert(request.empty_call_key).second) {
    OPLAT_TRY(dispatch, ir::parse(request.empty_call_key));
    add_kernel(rows.all, request.empty_call_key, dispatch, request);
  }
  for (CampaignRow& row : rows.all) OPLAT_CHECK(load_kernel(row, request, table, device, setting));
  add_models(rows.all, request);
  OPLAT_CHECK(load_models(rows.all, request, table, device, setting));
  for (CampaignRow& row : rows.all) {
    if (row.kind == RowKind::Evicted) decide_demand(row, rows.all[row.hot]);
  }
  return rows;
}

}  // namespace oplat::measure
