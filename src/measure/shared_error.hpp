// SPDX-License-Identifier: Apache-2.0
/// The error that all blocks of a row share, over the rows of a campaign.
#pragma once

#include <optional>
#include <span>

#include "measure/campaign_rows.hpp"
#include "measure/references.hpp"
#include "measure/statistics.hpp"
#include "measure/stopping.hpp"

namespace oplat::measure {

/// Of the compute reference in all blocks of these rows; see usual_full_clock_ns().
std::optional<double> full_clock_ns(std::span<const CampaignRow> rows);

/// How far blocks lie apart, by all of these rows; `full_clock_ns` is theirs.
SpreadOfBlocks spread_of(std::span<const CampaignRow> rows,
                         const std::optional<double>& full_clock_ns);

/// Asks for one more block of each row that the stop rule took for precise, although an error that
/// all of its blocks share makes its interval wider than aimed at: the neighbour may have left, and
/// two blocks at full clock tell. Up to twice the least number of blocks, and no more than the rule
/// allows, since more of the same kind tell nothing. A row that gets one at full clock by then goes
/// on by the stop rule. Says whether there is such a row.
bool ask_for_blocks_at_full_clock(std::span<CampaignRow> rows, const StopRule& rule,
                                  References& references);

}  // namespace oplat::measure
