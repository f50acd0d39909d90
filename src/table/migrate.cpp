// SPDX-License-Identifier: Apache-2.0
/// Runs the steps from an older schema to this one, on a copy.
#include "table/migrate.hpp"

#include <algorithm>

#include "table/schema.hpp"

namespace oplat::table {
namespace {

Status copy_pages(Database& from, Database& to) {
  sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) return to.error(to.last_code());
  int code = SQLITE_OK;
  do {
    code = sqlite3_backup_step(backup, 4096);
  } while (code == SQLITE_OK);
  sqlite3_backup_finish(backup);
  if (code != SQLITE_DONE) return to.error(code);
  return {};
}

Status apply_steps(Database& database, std::span<const Migration> steps) {
  OPLAT_TRY(version, database.integer("PRAGMA user_version"));
  while (version < kSchemaVersion) {
    const auto step = std::find_if(steps.begin(), steps.end(), [&](const Migration& m) { return m.from == version; });
    if (step == steps.end()) return database.corrupt("schema {} was never released", version);
    OPLAT_CHECK(step->apply(database));
    ++version;
    OPLAT_CHECK(database.execute(fmt::format("PRAGMA user_version = {}", version)));
  }
  return {};
}

}  // namespace

std::span<const Migration> migrations() { return {}; }

Status migrate_copy(Database& from, const std::filesystem::path& to, std::span<const Migration> steps) {
  OPLAT_TRY(copy, Database::open(to.string(), Database::Access::Create, from.shown()));
  OPLAT_CHECK(copy_pages(from, *copy));
  OPLAT_CHECK(copy->execute("BEGIN IMMEDIATE"));
  OPLAT_CHECK(apply_steps(*copy, steps));
  OPLAT_CHECK(verify_schema(*copy));
  return copy->execute("COMMIT");
}

}  // namespace oplat::table
