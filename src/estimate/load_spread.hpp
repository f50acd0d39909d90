// SPDX-License-Identifier: Apache-2.0
/// What a time may miss by because other programs kept the machine busy while it was measured
/// (docs/adr/0053): from a start value, and from the rows of a table that were measured on a busy
/// and on a quiet machine.
#pragma once

#include <span>

#include "base/result.hpp"
#include "table/table.hpp"

namespace oplat::estimate {

/// Start values: nine rows in ten were up to 20 % longer, whole models up to half again as long.
inline constexpr double kUnderLoadSd = 0.1;
inline constexpr double kLoadedModelSd = 0.3;
/// A start value counts like so many rows. Rows of one busy moment err together, so that few of
/// them are less than they seem.
inline constexpr double kRowsOfAStartValue = 20;

/// Standard deviation of the logarithm of a loaded time: nine in ten rows moved by no more than
/// 1.64 of it. `start_sd` if there are no rows.
double load_sd(std::span<const table::BlocksByLoad> rows, double start_sd);

/// Of the rows, or of the whole models, of all `settings`. Reads their blocks. Code::Input for a
/// corrupt table.
Result<double> load_sd_of_rows(const table::Table& table, table::DeviceId device,
                               std::span<const table::SettingId> settings);
Result<double> load_sd_of_models(const table::Table& table, table::DeviceId device,
                                 std::span<const table::SettingId> settings);

}  // namespace oplat::estimate
