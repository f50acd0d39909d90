// SPDX-License-Identifier: Apache-2.0
/// Runs the steps from an older schema to this one, on a copy.
#include "table/migrate.hpp"

#include <algorithm>
#include <system_error>

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
    const auto step = std::find_if(steps.begin(), steps.end(),
                                   [&](const Migration& m) { return m.from == version; });
    if (step == steps.end()) return database.corrupt("schema {} is unknown", version);
    OPLAT_CHECK(step->apply(database));
    ++version;
    OPLAT_CHECK(database.execute(fmt::format("PRAGMA user_version = {}", version)));
  }
  return {};
}

/// Schema 2 keeps of a foreign file what its rows do not say, and says of a row which file it is
/// from. No oplat of schema 1 imported anything, so there is nothing to carry over.
Status to_schema_2(Database& database) {
  OPLAT_CHECK(database.execute("DROP TABLE native; DROP TABLE native_file"));
  OPLAT_CHECK(
      database.execute("CREATE TABLE native_file(id INTEGER PRIMARY KEY, format TEXT NOT NULL, "
                       "name TEXT NOT NULL, hash BLOB NOT NULL, "
                       "device INTEGER NOT NULL REFERENCES device(id), setting INTEGER NOT NULL "
                       "REFERENCES setting(id), "
                       "head BLOB NOT NULL, tail BLOB NOT NULL)"));
  OPLAT_CHECK(database.execute(
      "CREATE TABLE native(\"row\" INTEGER PRIMARY KEY REFERENCES row(id) ON DELETE CASCADE, "
      "gap BLOB NOT NULL, text BLOB)"));
  return database.execute(
      "ALTER TABLE \"row\" ADD COLUMN file INTEGER REFERENCES native_file(id) ON DELETE CASCADE");
}

/// Schema 3 says of a block how busy others kept the machine, and of a plan's kernel whether the
/// runtime put it in. For existing records neither is known.
Status to_schema_3(Database& database) {
  return database.execute(
      "ALTER TABLE block ADD COLUMN other_load REAL; ALTER TABLE model_block ADD COLUMN other_load "
      "REAL; "
      "ALTER TABLE plan_kernel ADD COLUMN put_in INTEGER");
}

/// Schema 4 keeps the times of single inferences of whole models. Those of existing records were
/// not kept.
Status to_schema_4(Database& database) {
  return database.execute(
      "ALTER TABLE model_block ADD COLUMN inferences TEXT; "
      "ALTER TABLE model_row ADD COLUMN inferences INTEGER; "
      "ALTER TABLE model_row ADD COLUMN inference_blocks INTEGER; "
      "ALTER TABLE model_row ADD COLUMN inference_mean_ns REAL; "
      "ALTER TABLE model_row ADD COLUMN inference_p50_ns REAL; "
      "ALTER TABLE model_row ADD COLUMN inference_p90_ns REAL; "
      "ALTER TABLE model_row ADD COLUMN inference_p99_ns REAL; "
      "ALTER TABLE model_row ADD COLUMN inference_max_ns REAL");
}

/// Schema 5 says of a plan's kernel what it reads of the model's inputs. Of existing plans that is
/// not known.
Status to_schema_5(Database& database) {
  return database.execute("ALTER TABLE plan_kernel ADD COLUMN input_bytes REAL");
}

constexpr Migration kMigrations[] = {
    {1, to_schema_2}, {2, to_schema_3}, {3, to_schema_4}, {4, to_schema_5}};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Status migrate_copy(Database& from, const std::filesystem::path& to,
                    std::span<const Migration> steps) {
  OPLAT_TRY(copy, Database::open(to.string(), Database::Access::Create, from.shown()));
  OPLAT_CHECK(copy_pages(from, *copy));
  OPLAT_CHECK(copy->execute("BEGIN IMMEDIATE"));
  OPLAT_CHECK(apply_steps(*copy, steps));
  OPLAT_CHECK(verify_schema(*copy));
  return copy->execute("COMMIT");
}

Status keep_file(Database& from, const std::filesystem::path& file,
                 const std::filesystem::path& kept) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (fs::equivalent(file, kept, code)) return {};  // kept by a migration that was killed then
  fs::create_hard_link(file, kept, code);
  if (!code) return {};
  // By SQLite: closing the file here would give up the locks that this process holds on it.
  const auto copy = [&]() -> Status {
    OPLAT_TRY(to, Database::open(kept.string(), Database::Access::Create, from.shown()));
    return copy_pages(from, *to);
  };
  const Status copied = copy();
  if (!copied) fs::remove(kept, code);
  return copied;
}

}  // namespace oplat::table
