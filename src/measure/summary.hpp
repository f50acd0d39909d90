// SPDX-License-Identifier: Apache-2.0
/// What became of the rows.
#pragma once

#include "measure/units.hpp"

namespace oplat::measure {

/// Counts and refusals of all units; the caller adds what happened on the way.
Summary summarise(const Units& units, const measure::StopRule& rule);

}  // namespace oplat::measure
