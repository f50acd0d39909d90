// SPDX-License-Identifier: Apache-2.0
/// What a campaign finds out of its machine's memory, before its rows and after them
/// (docs/adr/0051).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "app/events.hpp"
#include "app/session.hpp"
#include "base/result.hpp"
#include "measure/campaign.hpp"
#include "table/memory_text.hpp"

namespace oplat::app {

/// What a campaign does about the memory of its machine.
struct CampaignMemory {
  table::StateSizes sizes;                   ///< what the states of its rows are made from
  std::map<std::string, std::string> facts;  ///< for its environment
  double seconds_after = 0;                  ///< for looks when it is done; 0: none are wanted
  const char* fact_after = table::kMemoryAfterFact;
};

/// Looks at memory if the table knows nothing of this machine's, and rows are to be begun: their
/// states need it. Where rows exist, looks can wait until the campaign had something to do.
/// `budget_s`: of the campaign, in seconds. Errors are those of reading the table; where memory
/// cannot be measured, `events` is warned.
Result<CampaignMemory> memory_before(const Session& session, std::size_t kernels,
                                     std::optional<double> budget_s, const table::Table& table,
                                     Events& events);

/// Looks again when the rows are measured: other tenants come and go. What is found is a fact of
/// the summary's campaign.
Status memory_after(const Session& session, const CampaignMemory& memory,
                    const measure::Summary& summary, table::Table& table, Events& events);

}  // namespace oplat::app
