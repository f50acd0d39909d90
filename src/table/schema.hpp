// SPDX-License-Identifier: Apache-2.0
/// The schema of a table file (docs/reference/table-format.md): its text, its making, and the check
/// that a file holds it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "table/sqlite.hpp"

namespace oplat::table {

/// "OPLT" in ASCII: what PRAGMA application_id gives for every table of oplat.
constexpr std::int64_t kApplicationId = 0x4F504C54;
/// PRAGMA user_version. Raised by a change that an older reader would misread, and by columns that
/// this one asks for.
constexpr std::int64_t kSchemaVersion = 5;

/// A table or index of the schema.
struct SchemaObject {
  std::string_view type;  ///< "table" or "index"
  std::string_view name;
  std::string_view sql;  ///< as in sqlite_master
};
std::span<const SchemaObject> schema_objects();

/// Makes every table and index and stamps the file. Must run inside a transaction.
Status create_schema(Database& database);
/// Code::Input if the file lacks a table, column or index, or holds a view, a trigger, a virtual
/// table or a generated column. Tables and columns beyond ours are allowed: a later version of
/// oplat may have added them.
Status verify_schema(Database& database);

}  // namespace oplat::table
