// SPDX-License-Identifier: Apache-2.0
/// The order of a pass.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "measure/units.hpp"

namespace oplat::measure {

/// Number of blocks of the unfinished units that have the fewest; nothing where all are finished.
std::optional<std::int64_t> pass_level(std::span<const Unit> units);

/// Indices of the unfinished units with `level` blocks, in an order that depends on seed and level
/// alone: a campaign that was interrupted in this pass goes on in the same order.
std::deque<std::size_t> pass_order(std::span<const Unit> units, std::int64_t level,
                                   std::uint64_t seed);

}  // namespace oplat::measure
