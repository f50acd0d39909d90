// SPDX-License-Identifier: Apache-2.0
/// Blocks: read in the order in which they were added.
#include "table/blocks.hpp"

#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/validate.hpp"

namespace oplat::table {

// The campaign is taken from the row, so that pass and process stay meaningful when a later
// campaign goes on with it.
const BlockStatements kRowBlocks{"block",
                                 "SELECT id, pass, process, value_ns, reference_compute_ns, "
                                 "reference_memory_ns, rounds, switches, steal_ticks, other_load "
                                 "FROM block WHERE \"row\" = ?1 ORDER BY id",
                                 "INSERT INTO block(\"row\", campaign, pass, process, value_ns, "
                                 "reference_compute_ns, reference_memory_ns, rounds, "
                                 "switches, steal_ticks, other_load) SELECT id, campaign, ?2, ?3, "
                                 "?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM \"row\" WHERE id = ?1",
                                 "DELETE FROM block WHERE \"row\" = ?1",
                                 "UPDATE block SET steal_ticks = ?2 WHERE campaign = ?1 AND "
                                 "steal_ticks < ?2"};
const BlockStatements kModelBlocks{
    "model_block",
    "SELECT id, pass, process, value_ns, reference_compute_ns, reference_memory_ns, rounds, "
    "switches, steal_ticks, other_load, inferences "
    "FROM model_block WHERE \"row\" = ?1 ORDER BY id",
    "INSERT INTO model_block(\"row\", campaign, pass, process, value_ns, reference_compute_ns, "
    "reference_memory_ns, "
    "rounds, switches, steal_ticks, other_load, inferences) SELECT id, campaign, ?2, ?3, ?4, ?5, "
    "?6, ?7, ?8, ?9, ?10, ?11 FROM model_row WHERE id = ?1",
    "DELETE FROM model_block WHERE \"row\" = ?1",
    "UPDATE model_block SET steal_ticks = ?2 WHERE campaign = ?1 AND steal_ticks < ?2",
    true};

Result<std::vector<Block>> read_blocks(Database& database, const BlockStatements& statements,
                                       RowId row) {
  OPLAT_TRY(statement, database.prepare(statements.select));
  statement.add(row);
  std::vector<Block> blocks;
  Ascending ascending;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return blocks;
    Cells cells(statement, statements.table);
    Block block;
    block.pass = cells.count(1);
    block.process = cells.count(2);
    block.value_ns = cells.number(3);
    block.reference_compute_ns = cells.optional_number(4);
    block.reference_memory_ns = cells.optional_number(5);
    block.rounds = cells.count(6);
    block.switches = cells.count(7);
    block.steal_ticks = cells.count(8);
    block.other_load = cells.optional_number(9);
    if (const auto text = statements.of_models ? cells.optional_text(10) : std::nullopt) {
      if (auto sketch = base::TimeSketch::parse(*text))
        block.inferences = *std::move(sketch);
      else
        cells.bad(10, fmt::format("a malformed text: {}", sketch.error().message));
    }
    OPLAT_CHECK(cells.status());
    if (!ascending.next(cells.id()))
      return database.corrupt("{} {} appears twice", statements.table, cells.id());
    blocks.push_back(std::move(block));
  }
}

Status insert_block(Database& database, const BlockStatements& statements, RowId row,
                    const Block& block) {
  OPLAT_TRY(statement, database.prepare(statements.insert));
  statement.add(row).add(block.pass).add(block.process).add(block.value_ns);
  statement.add(block.reference_compute_ns).add(block.reference_memory_ns);
  statement.add(block.rounds).add(block.switches).add(block.steal_ticks).add(block.other_load);
  const std::string inferences = block.inferences ? block.inferences->text() : std::string();
  if (statements.of_models && block.inferences) statement.add(inferences);
  if (statements.of_models && !block.inferences) statement.add_null();
  OPLAT_CHECK(statement.run());
  if (sqlite3_changes64(database.handle()) == 1) return {};
  return fail(Code::Internal, "{}: has no row {} to add a {} to", database.shown(), row,
              statements.table);
}

Status erase_blocks(Database& database, const BlockStatements& statements, RowId row) {
  OPLAT_TRY(statement, database.prepare(statements.erase));
  return statement.add(row).run();
}

Result<std::vector<Block>> Table::blocks_of(RowId row) const {
  return read_blocks(*impl_->database, kRowBlocks, row);
}

Result<std::vector<Block>> Table::blocks_of_model(RowId row) const {
  return read_blocks(*impl_->database, kModelBlocks, row);
}

Status Table::add_block(RowId row, const Block& block) {
  OPLAT_CHECK(validate(block));
  return impl_->write([&] { return insert_block(*impl_->database, kRowBlocks, row, block); });
}

Status Table::add_model_block(RowId row, const Block& block) {
  OPLAT_CHECK(validate(block));
  return impl_->write([&] { return insert_block(*impl_->database, kModelBlocks, row, block); });
}

Result<std::int64_t> Table::mark_not_apart(CampaignId campaign) {
  std::int64_t marked = 0;
  const auto mark = [&]() -> Status {
    for (const BlockStatements* statements : {&kRowBlocks, &kModelBlocks}) {
      OPLAT_TRY(statement, impl_->database->prepare(statements->mark));
      OPLAT_CHECK(statement.add(campaign).add(kTicksNotApart).run());
      marked += sqlite3_changes64(impl_->database->handle());
    }
    return {};
  };
  return impl_->write(mark).map([&] { return marked; });
}

Status Table::remove_blocks(RowId row) {
  return impl_->write([&] { return erase_blocks(*impl_->database, kRowBlocks, row); });
}

}  // namespace oplat::table
