// SPDX-License-Identifier: Apache-2.0
/// Lines of the table `row` joined with their kernels, as several questions read them.
#pragma once

#include "table/outcome.hpp"
#include "table/sqlite.hpp"
#include "table/table.hpp"

namespace oplat::table {

#define OPLAT_ROW_COLUMNS                                                                         \
  "\"row\".id, kernel.key, kernel.hash, \"row\".device, \"row\".setting, reuse_bytes, campaign, " \
  "origin, " OPLAT_OUTCOME_COLUMNS
constexpr int kFirstOutcomeColumn = 8;
constexpr int kRowColumns = kFirstOutcomeColumn + kOutcomeColumns;
/// A left join, so that a row whose kernel is gone is seen and refused instead of being left out.
#define OPLAT_ROW_TABLES " FROM \"row\" LEFT JOIN kernel ON kernel.id = \"row\".kernel "

/// The current line of a statement whose first kRowColumns columns are OPLAT_ROW_COLUMNS.
Result<StoredRow> read_row(const Statement& statement);

}  // namespace oplat::table
