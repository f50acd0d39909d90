// SPDX-License-Identifier: Apache-2.0
/// The text of the fact, and the choice among campaigns.
#include "measure/best_cores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.hpp"
#include "table/records.hpp"

namespace oplat::measure {
namespace {

/// Looks of two campaigns at cores of their own differ no more; those of a core that is shared take
/// 1.3 to 2 times as long, and the round trips of its two threads are nearer than cores can be.
constexpr double kAlike = 1.15;
/// As the clock may be lower for good. A look that is accepted takes 1.15 times as long as this at
/// most (oplat_probe_apart), which is less than on a core that is shared.
constexpr double kSlower = 1.1;
/// Of a cache line: 85 to 145 ns within one last-level cache, 400 between two (oplat_probe_apart).
constexpr double kFar = 2.5;
/// Of a look: shared cores take 1.3 to 2 times as long.
constexpr double kShared = 1.3;
/// An untrusted table may say anything.
constexpr double kMaxLookNs = 1e9;

bool is_plausible(double ns) { return ns > 0 && ns < kMaxLookNs; }

std::optional<Cores> fact_of(const table::StoredCampaign& campaign) {
  const auto& facts = campaign.environment.facts;
  const auto fact = facts.find(table::kBestCores);
  return fact == facts.end() ? std::nullopt : decode_cores(fact->second);
}

/// Whether a row needs the flag: none of its blocks had cores of its own.
bool lacks_flag(const table::Method& method, std::span<const table::Block> blocks) {
  return !blocks.empty() && !method.has(table::kNeverQuiet) &&
         std::all_of(blocks.begin(), blocks.end(), table::is_not_apart);
}

/// Rows of other blocks, too, are judged anew by the next campaign that asks for them.
Status flag_rows(table::Table& table, table::DeviceId device, table::SettingId setting) {
  std::vector<table::StoredRow> rows;
  const table::RowFilter filter{device, std::vector<table::SettingId>{setting}, true};
  OPLAT_CHECK(table.each_row(filter, [&](const table::StoredRow& row) {
    if (row.row.origin == "own") rows.push_back(row);
    return true;
  }));
  for (table::StoredRow& stored : rows) {
    OPLAT_TRY(blocks, table.blocks_of(stored.id));
    if (!lacks_flag(stored.row.method, blocks)) continue;
    stored.row.method.add(table::kNeverQuiet);
    OPLAT_CHECK(
        table.put_row(device, setting, stored.campaign, stored.row).map([](table::RowId) {}));
  }
  OPLAT_TRY(models, table.model_rows());
  for (table::StoredModelRow& stored : models) {
    if (stored.device != device || stored.setting != setting) continue;
    OPLAT_TRY(blocks, table.blocks_of_model(stored.id));
    if (!lacks_flag(stored.row.method, blocks)) continue;
    stored.row.method.add(table::kNeverQuiet);
    OPLAT_CHECK(
        table.put_model_row(device, setting, stored.campaign, stored.row).map([](table::RowId) {}));
  }
  return {};
}

}  // namespace

std::string encode(const Cores& cores) {
  return fmt::format("{:.6g} {:.6g}", cores.issue_ns, cores.handoff_ns);
}

std::optional<Cores> decode_cores(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto issue = base::parse_double(text.substr(0, space));
  const auto handoff = base::parse_double(text.substr(space + 1));
  if (!issue || !handoff || !is_plausible(*issue) || !is_plausible(*handoff)) return std::nullopt;
  return Cores{*issue, *handoff};
}

Cores cores_of(std::span<const table::StoredCampaign> campaigns, table::DeviceId device,
               table::SettingId setting) {
  std::vector<Cores> seen;
  for (const table::StoredCampaign& campaign : campaigns) {
    if (campaign.device != device || campaign.setting != setting) continue;
    if (const auto cores = fact_of(campaign)) seen.push_back(*cores);
  }
  Cores best;
  if (seen.empty()) return best;
  const auto least = std::min_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
    return a.issue_ns < b.issue_ns;
  });
  best.issue_ns = kSlower * least->issue_ns;
  for (const Cores& cores : seen) {
    if (cores.issue_ns > kAlike * least->issue_ns) continue;
    if (best.handoff_ns == 0 || cores.handoff_ns < best.handoff_ns)
      best.handoff_ns = cores.handoff_ns;
  }
  return best;
}

bool were_worse(const Cores& then, const Cores& now) {
  if (!(then.handoff_ns > 0 && now.issue_ns > 0)) return false;
  const bool far = now.handoff_ns > 0 && then.handoff_ns > kFar * now.handoff_ns &&
                   now.issue_ns <= kAlike * then.issue_ns;
  return far || then.issue_ns > kShared * now.issue_ns;
}

Result<std::int64_t> mark_worse_cores(table::Table& table, table::DeviceId device,
                                      table::SettingId setting, const Cores& best,
                                      std::optional<table::CampaignId> running) {
  OPLAT_TRY(campaigns, table.campaigns());
  std::int64_t marked = 0;
  const auto mark = [&]() -> Status {
    for (const table::StoredCampaign& campaign : campaigns) {
      if (campaign.device != device || campaign.setting != setting) continue;
      const auto cores = fact_of(campaign);
      const bool worse = campaign.id == running || (cores && were_worse(*cores, best));
      if (!worse) continue;
      OPLAT_TRY(blocks, table.mark_not_apart(campaign.id));
      marked += blocks;
    }
    return marked > 0 ? flag_rows(table, device, setting) : Status();
  };
  return table.transaction(mark).map([&] { return marked; });
}

}  // namespace oplat::measure
