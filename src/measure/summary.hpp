// SPDX-License-Identifier: Apache-2.0
/// What became of the rows.
#pragma once

#include "measure/campaign_rows.hpp"

namespace oplat::measure {

/// Counts and refusals of all rows; the caller adds what happened on the way.
Summary summarise(const CampaignRows& rows, const measure::StopRule& rule);

}  // namespace oplat::measure
