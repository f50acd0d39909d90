// SPDX-License-Identifier: Apache-2.0
/// How much of a table was measured on a busy machine, and what that added to the times of rows
/// that were measured on a quiet one, too.
#include <vector>

#include "base/text.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/table.hpp"

namespace oplat::table {
namespace {

/// The flag is looked for in its quotes: no other text of ours holds them. Statements are kept by
/// their texts, so these last.
constexpr std::string_view kOfRows =
    "SELECT ?1, coalesce(sum(1), 0), coalesce(sum(instr(flags, ?3) > 0), 0) FROM \"row\" WHERE "
    "device = ?1 AND setting = ?2 AND outcome = 'timing'";
constexpr std::string_view kOfModels =
    "SELECT ?1, coalesce(sum(1), 0), coalesce(sum(instr(flags, ?3) > 0), 0) FROM model_row WHERE "
    "device = ?1 AND setting = ?2 AND outcome = 'timing'";

Result<Load> load_of(Database& database, std::string_view query, DeviceId device,
                     SettingId setting) {
  const std::string flag = fmt::format("\"{}\"", kUnderLoad);
  OPLAT_TRY(statement, database.prepare(query));
  OPLAT_TRY(line, statement.add(device).add(setting).add(flag).step());
  if (!line) return Load{};
  Cells cells(statement, "rows of device");
  const Load load{cells.count(1), cells.count(2)};
  OPLAT_CHECK(cells.status());
  return load;
}

/// Blocks that do not say how busy the machine was are of neither kind.
constexpr std::string_view kBlocksOfRows =
    "SELECT block.id, block.\"row\", value_ns, steal_ticks, other_load FROM \"row\" JOIN block ON "
    "block.\"row\" = \"row\".id WHERE device = ?1 AND setting = ?2 AND outcome = 'timing' AND "
    "other_load IS NOT NULL ORDER BY block.\"row\", block.id";
constexpr std::string_view kBlocksOfModels =
    "SELECT model_block.id, model_block.\"row\", value_ns, steal_ticks, other_load FROM model_row "
    "JOIN model_block ON model_block.\"row\" = model_row.id WHERE device = ?1 AND setting = ?2 AND "
    "outcome = 'timing' AND other_load IS NOT NULL ORDER BY model_block.\"row\", model_block.id";

Result<std::vector<BlocksByLoad>> blocks_by_load(Database& database, std::string_view query,
                                                 DeviceId device, SettingId setting) {
  OPLAT_TRY(statement, database.prepare(query));
  statement.add(device).add(setting);
  std::vector<BlocksByLoad> rows;
  BlocksByLoad row;
  std::int64_t id = 0;
  const auto finish_row = [&] {
    if (!row.quiet_ns.empty() && !row.loaded_ns.empty()) rows.push_back(std::move(row));
    row = {};
  };
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) break;
    Cells cells(statement, "blocks of row");
    Block block;
    const std::int64_t row_id = cells.integer(1);
    block.value_ns = cells.number(2);
    block.steal_ticks = cells.count(3);
    block.other_load = cells.number(4);
    OPLAT_CHECK(cells.status());
    if (row_id != id) finish_row();
    id = row_id;
    // A time of 0 has no ratio to others.
    if (block.value_ns <= 0 || is_heavily_disturbed(block.steal_ticks, block.other_load)) continue;
    (is_loaded(block) ? row.loaded_ns : row.quiet_ns).push_back(block.value_ns);
  }
  finish_row();
  return rows;
}

}  // namespace

Result<Load> Table::load_of_rows(DeviceId device, SettingId setting) const {
  return load_of(*impl_->database, kOfRows, device, setting);
}

Result<Load> Table::load_of_models(DeviceId device, SettingId setting) const {
  return load_of(*impl_->database, kOfModels, device, setting);
}

Result<std::vector<BlocksByLoad>> Table::row_blocks_by_load(DeviceId device,
                                                            SettingId setting) const {
  return blocks_by_load(*impl_->database, kBlocksOfRows, device, setting);
}

Result<std::vector<BlocksByLoad>> Table::model_blocks_by_load(DeviceId device,
                                                              SettingId setting) const {
  return blocks_by_load(*impl_->database, kBlocksOfModels, device, setting);
}

}  // namespace oplat::table
