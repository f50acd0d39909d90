// SPDX-License-Identifier: Apache-2.0
/// Rows whose blocks agree with one another and may yet all be too long.
///
/// The stop rule sees one row, and its blocks say nothing of an error that they share. What a
/// neighbour on the core costs is seen in the campaign alone: in rows that have blocks with one and
/// without (docs/adr/0046). So it is looked at between passes, when every row has enough blocks.
#include "measure/shared_error.hpp"

#include <algorithm>
#include <vector>

namespace oplat::measure {

std::optional<double> full_clock_ns(std::span<const CampaignRow> rows) {
  std::vector<double> readings;
  for (const CampaignRow& row : rows) {
    for (const table::Block& block : row.blocks) {
      if (block.reference_compute_ns) readings.push_back(*block.reference_compute_ns);
    }
  }
  return usual_full_clock_ns(readings);
}

SpreadOfBlocks spread_of(std::span<const CampaignRow> rows,
                         const std::optional<double>& full_clock_ns) {
  SpreadOfBlocks spread(full_clock_ns);
  for (const CampaignRow& row : rows) spread.add_row(row.blocks);
  return spread;
}

bool ask_for_blocks_at_full_clock(std::span<CampaignRow> rows, const StopRule& rule,
                                  References& references) {
  constexpr std::int64_t kFactor = 2;
  const std::int64_t most = std::min(kFactor * rule.min_blocks, rule.max_blocks);
  const SpreadOfBlocks spread = spread_of(rows, full_clock_ns(rows));
  bool any = false;
  for (CampaignRow& row : rows) {
    if (!row.precise || row.attempts() >= most || row.method.has(kFailedLater)) continue;
    StopRule with_error = rule;
    with_error.common_sd_log = spread.common_sd_log(row.blocks);
    if (with_error.common_sd_log <= 0 ||
        assess(row.blocks, with_error, references.medians(), row.seed()).precise)
      continue;
    row.min_blocks = row.attempts() + 1;
    row.expected_blocks = std::max(row.expected_blocks, row.min_blocks);
    row.finished = false;
    any = true;
  }
  return any;
}

}  // namespace oplat::measure
