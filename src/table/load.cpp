// SPDX-License-Identifier: Apache-2.0
/// How much of a table was measured on a busy machine.
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

}  // namespace

Result<Load> Table::load_of_rows(DeviceId device, SettingId setting) const {
  return load_of(*impl_->database, kOfRows, device, setting);
}

Result<Load> Table::load_of_models(DeviceId device, SettingId setting) const {
  return load_of(*impl_->database, kOfModels, device, setting);
}

}  // namespace oplat::table
