// SPDX-License-Identifier: Apache-2.0
/// A campaign over chosen rows in a scratch table, compared with what they came from.
#include "measure/verify.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "ir/key.hpp"
#include "ir/work.hpp"
#include "measure/states.hpp"

namespace oplat::measure {
namespace {

constexpr std::int64_t kMinBlocks = 5;
constexpr std::int64_t kMaxBlocks = 8;

using Name = std::pair<std::string, double>;  // key and reuse_bytes

/// A campaign measures every state of a key that it needs. Rows with a time and no blocks are those
/// that it starts anew; refused ones it leaves alone.
Status prepare(table::Table& scratch, table::DeviceId device, table::SettingId setting,
               const CampaignRequest& campaign, const std::vector<VerifyRow>& rows) {
  std::set<Name> wanted;
  for (const VerifyRow& row : rows) wanted.insert({row.key, row.reuse_bytes});
  return scratch.transaction([&]() -> Status {
    for (const VerifyRow& row : rows) {
      OPLAT_CHECK(scratch.put_row(device, setting, std::nullopt,
                                  {row.key, row.reuse_bytes, "own", row.before, {}}));
      OPLAT_TRY(key, ir::parse(row.key));
      const ir::Work work = ir::work(key, *campaign.catalogue);
      std::vector<measure::State> states =
          measure::further_states(work, campaign.device, campaign.memory);
      states.push_back(measure::hot_state(work));
      for (const measure::State& state : states) {
        if (wanted.count({row.key, state.reuse_bytes}) > 0) continue;
        const table::Row other{
            row.key, state.reuse_bytes, "own", table::Skipped{"was not chosen"}, {}};
        OPLAT_CHECK(scratch.put_row(device, setting, std::nullopt, other));
      }
    }
    return {};
  });
}

/// What the campaign made of a row; no outcome where it did not come to it.
Result<RowCheck> check_of(const table::Table& scratch, table::DeviceId device,
                          table::SettingId setting, const VerifyRow& row) {
  RowCheck check;
  check.row = row;
  OPLAT_TRY(stored, scratch.rows_of(row.key, device, setting));
  for (const table::StoredRow& each : stored) {
    if (each.row.reuse_bytes != row.reuse_bytes) continue;
    OPLAT_TRY(blocks, scratch.blocks_of(each.id));
    const auto* timing = std::get_if<table::Timing>(&each.row.outcome);
    if (timing != nullptr && blocks.empty()) continue;
    check.after = each.row.outcome;
    if (timing != nullptr) check.comparison = measure::compare(row.before, *timing);
    check.under_load = each.row.method.has(table::kUnderLoad);
  }
  return check;
}

}  // namespace

Result<measure::ReferenceMedians> recorded_references(const table::Table& table,
                                                      table::DeviceId device,
                                                      std::span<const table::SettingId> settings) {
  OPLAT_TRY(campaigns, table.campaigns());
  for (const table::StoredCampaign& each : campaigns) {
    const bool fits = each.device == device &&
                      std::find(settings.begin(), settings.end(), each.setting) != settings.end();
    if (!fits || !each.campaign.reference_compute_ns) continue;
    return measure::ReferenceMedians{each.campaign.reference_compute_ns,
                                     each.campaign.reference_memory_ns};
  }
  return measure::ReferenceMedians{};
}

Result<Verification> verify(const VerifyRequest& request, const std::vector<VerifyRow>& rows,
                            table::Table& scratch, const RunnerFactory& factory,
                            Progress& progress) {
  CampaignRequest campaign = request.campaign;
  campaign.models.clear();
  campaign.keys.clear();
  campaign.retry_refused = false;
  campaign.stop.min_blocks = kMinBlocks;
  campaign.stop.max_blocks = kMaxBlocks;
  std::unordered_set<std::string> seen;
  for (const VerifyRow& row : rows) {
    if (seen.insert(row.key).second) campaign.keys.push_back(row.key);
  }
  OPLAT_TRY(device, scratch.put_device(campaign.device));
  OPLAT_TRY(setting, scratch.put_setting(campaign.setting));
  OPLAT_CHECK(prepare(scratch, device, setting, campaign, rows));

  OPLAT_TRY(summary, run(campaign, scratch, factory, progress));
  Verification result;
  result.facts = differing_facts(campaign.device, request.here);
  result.blocks = summary.blocks;
  result.processes = summary.processes;
  result.seconds = summary.seconds;
  result.budget_ended = summary.budget_ended;
  result.interrupted = summary.interrupted;
  for (const VerifyRow& row : rows) {
    OPLAT_TRY(check, check_of(scratch, device, setting, row));
    result.rows.push_back(std::move(check));
  }
  const table::SettingId settings[] = {setting};
  OPLAT_TRY(references, recorded_references(scratch, device, settings));
  result.references = references;
  result.judgement = judge(result.rows, result.facts);
  return result;
}

}  // namespace oplat::measure
