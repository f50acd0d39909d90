// SPDX-License-Identifier: Apache-2.0
#include "app/list_table.hpp"

#include "compat/registry.hpp"
#include "table/table.hpp"

namespace oplat::app {

Result<report::TableInfo> table_info(const std::string& path) {
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Read, compat::codecs()));
  return report::table_info(table);
}

Result<report::RowListing> table_rows(const std::string& path) {
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Read, compat::codecs()));
  return report::table_rows(table);
}

}  // namespace oplat::app
