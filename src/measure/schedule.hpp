// SPDX-License-Identifier: Apache-2.0
/// The order of a pass.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "measure/campaign_rows.hpp"

namespace oplat::measure {

/// Number of blocks of the unfinished rows that have the fewest, of those that cannot wait;
/// std::nullopt if there are none.
std::optional<std::int64_t> pass_level(std::span<const CampaignRow> rows);

/// Indices of the unfinished rows with `level` blocks that cannot wait, in an order that depends on
/// seed and level alone: a campaign that was interrupted in this pass goes on in the same order.
std::deque<std::size_t> pass_order(std::span<const CampaignRow> rows, std::int64_t level,
                                   std::uint64_t seed);

}  // namespace oplat::measure
