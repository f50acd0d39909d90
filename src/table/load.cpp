// SPDX-License-Identifier: Apache-2.0
/// How much of a table was measured on a busy machine.
#include "oplat/base/text.hpp"
#include "oplat/table/table.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"

namespace oplat::table {
namespace {

/// `lines`: row or model_row. The flag is looked for in its quotes: no other text of ours holds them.
Result<Load> load_of(Database& database, std::string_view lines, DeviceId device, SettingId setting) {
  OPLAT_TRY(statement, database.prepare(fmt::format("SELECT ?1, coalesce(sum(1), 0), coalesce(sum(instr(flags, '\"{}\"') > 0), 0) FROM \"{}\" "
                                                    "WHERE device = ?1 AND setting = ?2 AND outcome = 'timing'",
                                                    kUnderLoad, lines)));
  OPLAT_TRY(line, statement.add(device).add(setting).step());
  if (!line) return Load{};
  Cells cells(statement, "rows of device");
  const Load load{cells.count(1), cells.count(2)};
  OPLAT_CHECK(cells.status());
  return load;
}

}  // namespace

Result<Load> Table::load_of_rows(DeviceId device, SettingId setting) const { return load_of(*impl_->database, "row", device, setting); }

Result<Load> Table::load_of_models(DeviceId device, SettingId setting) const {
  return load_of(*impl_->database, "model_row", device, setting);
}

}  // namespace oplat::table
