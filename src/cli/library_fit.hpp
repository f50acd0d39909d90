// SPDX-License-Identifier: Apache-2.0
/// The fit of a table that `oplat tinynas predict` keeps: made where it is missing.
#pragma once

#include "base/result.hpp"
#include "cli/options.hpp"
#include "table/table.hpp"

namespace oplat::cli {

/// Whether the table has the fit that learn() would make now of its rows as they stand, or too few
/// rows for one. Code::Input where its fit is damaged.
Result<bool> has_fit(const table::Table& table);
/// Makes the fits that are missing, with progress on stderr. `table` is open for writing.
Status ensure_fit(table::Table& table, bool calibrate, const Verbosity& verbosity);

}  // namespace oplat::cli
