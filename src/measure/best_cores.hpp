// SPDX-License-Identifier: Apache-2.0
/// What campaigns saw of their cores, handed on from one to the next in the table's facts
/// (docs/adr/0081): a new process takes the cores that it finds for the best there are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "measure/kernel_runner.hpp"
#include "table/table.hpp"

namespace oplat::measure {

/// Of the fact table::kBestCores.
std::string encode(const Cores& cores);
/// std::nullopt for a text that says no cores.
std::optional<Cores> decode_cores(std::string_view text);

/// What a further campaign begins with: the least round trip that campaigns of this device and
/// setting saw while their cores were at their best, and a look that takes 10 % longer than their
/// least, since the clock may be lower for good. Zeros where none says.
Cores cores_of(std::span<const table::StoredCampaign> campaigns, table::DeviceId device,
               table::SettingId setting);

/// Whether cores that were taken for the best there are were shared, or far from each other, as is
/// known from better ones. False where `then` says nothing of several cores. Cores that are nearer
/// and slower are no better: two hardware threads of one are both.
bool were_worse(const Cores& then, const Cores& now);

/// Blocks of campaigns of this device and setting whose cores never were as good as `best` say so
/// from now on, and rows without other blocks are table::kNeverQuiet; how many blocks. One
/// transaction. `running`: a campaign that has no fact yet, and of which all blocks until now are
/// meant.
Result<std::int64_t> mark_worse_cores(table::Table& table, table::DeviceId device,
                                      table::SettingId setting, const Cores& best,
                                      std::optional<table::CampaignId> running = std::nullopt);

}  // namespace oplat::measure
