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
/// As the clock may be lower for good.
constexpr double kSlower = 1.15;
/// An untrusted table may say anything.
constexpr double kMaxLookNs = 1e9;

bool is_plausible(double ns) { return ns > 0 && ns < kMaxLookNs; }

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
    const auto& facts = campaign.environment.facts;
    const auto fact = facts.find(table::kBestCores);
    if (fact == facts.end()) continue;
    if (const auto cores = decode_cores(fact->second)) seen.push_back(*cores);
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

}  // namespace oplat::measure
