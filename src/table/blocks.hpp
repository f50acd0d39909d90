// SPDX-License-Identifier: Apache-2.0
/// Blocks of rows and of model rows: two tables of one form.
#pragma once

#include <string_view>
#include <vector>

#include "table/sqlite.hpp"
#include "table/table.hpp"

namespace oplat::table {

/// The statements on one of the two tables.
struct BlockStatements {
  std::string_view table;
  std::string_view select;
  std::string_view insert;
  std::string_view erase;
  std::string_view mark;   ///< steal_ticks of a campaign's blocks that say less
  bool of_models = false;  ///< blocks hold the times of single inferences, in a last column
};
extern const BlockStatements kRowBlocks;
extern const BlockStatements kModelBlocks;

Result<std::vector<Block>> read_blocks(Database& database, const BlockStatements& statements,
                                       RowId row);
Status insert_block(Database& database, const BlockStatements& statements, RowId row,
                    const Block& block);
Status erase_blocks(Database& database, const BlockStatements& statements, RowId row);

}  // namespace oplat::table
