// SPDX-License-Identifier: Apache-2.0
/// The schema's text. A change here goes into docs/reference/table-format.md, and into migrate.cpp
/// where old readers would misread it.
#include "table/schema.hpp"

#include <map>
#include <set>
#include <string>

#include "base/text.hpp"

namespace oplat::table {
namespace {

// The comments stand in the file itself: `.schema` of the sqlite3 tool shows them.
constexpr SchemaObject kObjects[] = {
    {"table", "device", R"(CREATE TABLE device(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,      -- what a person calls it
  cpu TEXT NOT NULL,              -- model string
  architecture TEXT NOT NULL,     -- x86_64, aarch64
  cores INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  l1d_bytes INTEGER,              -- per core; NULL: unknown
  l2_bytes INTEGER,               -- per core; NULL: unknown
  llc_bytes INTEGER,              -- last-level cache; NULL: unknown
  isa TEXT NOT NULL               -- instruction sets, sorted, separated by a space
))"},
    {"table", "setting", R"(CREATE TABLE setting(
  id INTEGER PRIMARY KEY,
  canonical TEXT NOT NULL UNIQUE, -- JSON object of all fields, names sorted
  runtime TEXT NOT NULL,
  version TEXT NOT NULL,
  build TEXT NOT NULL,
  precision TEXT NOT NULL,        -- "model": what the model states
  threads INTEGER NOT NULL,
  options TEXT NOT NULL           -- JSON object, name: text
))"},
    {"table", "environment", R"(CREATE TABLE environment(
  id INTEGER PRIMARY KEY,
  kernel TEXT NOT NULL,           -- release of the operating system
  hostname_hash TEXT NOT NULL,
  started_at TEXT NOT NULL,       -- UTC, ISO 8601
  load_average REAL NOT NULL,     -- of one minute, before the campaign
  facts TEXT NOT NULL             -- JSON object, name: text
))"},
    {"table", "campaign", R"(CREATE TABLE campaign(
  id INTEGER PRIMARY KEY,
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  environment INTEGER NOT NULL REFERENCES environment(id),
  argv TEXT NOT NULL,
  commit_id TEXT NOT NULL,        -- of oplat
  seed TEXT NOT NULL,             -- decimal, 0 to 2^64-1
  reference_compute_ns REAL,
  reference_memory_ns REAL,
  empty_call_ns REAL              -- a call of the runtime that computes nothing
))"},
    {"table", "kernel", R"(CREATE TABLE kernel(
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,      -- XXH3, 128 bits, big-endian, of key
  key TEXT NOT NULL
))"},
    {"table", "row", R"(CREATE TABLE row(
  id INTEGER PRIMARY KEY,
  kernel INTEGER NOT NULL REFERENCES kernel(id),
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  reuse_bytes REAL,               -- cache state; NULL: the source does not say
  campaign INTEGER REFERENCES campaign(id),
  origin TEXT NOT NULL,           -- own, or the format it was imported from
  outcome TEXT NOT NULL,          -- timing, unsupported, skipped, failed
  reason TEXT,                    -- NULL for a timing
  median_ns REAL,                 -- from here to processes: NULL unless a timing
  sd_log REAL,
  ci_low_ns REAL,
  ci_high_ns REAL,
  ci_level REAL,
  min_ns REAL,
  p10_ns REAL,
  p90_ns REAL,
  blocks INTEGER,
  processes INTEGER,
  copies INTEGER NOT NULL,        -- k of the slope
  topology TEXT NOT NULL,         -- chain, fan, single, or empty
  flags TEXT NOT NULL,            -- JSON array of words
  file INTEGER REFERENCES native_file(id) ON DELETE CASCADE -- that it was imported from; rows of a file keep its order
))"},
    {"index", "row_own",
     "CREATE UNIQUE INDEX row_own ON row(kernel, device, setting, coalesce(reuse_bytes, -1.0)) "
     "WHERE origin = 'own'"},
    {"index", "row_kernel", "CREATE INDEX row_kernel ON row(kernel, device, setting)"},
    {"index", "row_population", "CREATE INDEX row_population ON row(device, setting, outcome)"},
    {"table", "block", R"(CREATE TABLE block(
  id INTEGER PRIMARY KEY,
  "row" INTEGER NOT NULL REFERENCES row(id) ON DELETE CASCADE,
  campaign INTEGER REFERENCES campaign(id), -- of the row when the block was added
  pass INTEGER NOT NULL,          -- number in the campaign
  process INTEGER NOT NULL,       -- number in the campaign
  value_ns REAL NOT NULL,         -- slope: one execution of the kernel
  reference_compute_ns REAL,
  reference_memory_ns REAL,
  rounds INTEGER NOT NULL,        -- calls behind the value
  switches INTEGER NOT NULL,      -- involuntary context switches
  steal_ticks INTEGER NOT NULL,
  other_load REAL                 -- CPUs that other programs kept busy; NULL: not known
))"},
    {"index", "block_row", "CREATE INDEX block_row ON block(\"row\")"},
    {"table", "native_file", R"(CREATE TABLE native_file(
  id INTEGER PRIMARY KEY,
  format TEXT NOT NULL,
  name TEXT NOT NULL,             -- of the file that was imported
  hash BLOB NOT NULL,             -- XXH3, 128 bits, big-endian, of its bytes
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  head BLOB NOT NULL,             -- bytes before its first row
  tail BLOB NOT NULL              -- bytes after its last row
))"},
    {"table", "native", R"(CREATE TABLE native(
  "row" INTEGER PRIMARY KEY REFERENCES row(id) ON DELETE CASCADE,
  gap BLOB NOT NULL,              -- bytes between the row before and this one
  text BLOB                       -- the row's own bytes; NULL: the format makes the same ones from key and outcome
))"},
    {"table", "model_row", R"(CREATE TABLE model_row(
  id INTEGER PRIMARY KEY,
  plan_identity TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device(id),
  setting INTEGER NOT NULL REFERENCES setting(id),
  campaign INTEGER REFERENCES campaign(id),
  name TEXT NOT NULL,             -- of the model file
  batch INTEGER NOT NULL,
  outcome TEXT NOT NULL,          -- from here on as in row; times are of one run of the whole batch
  reason TEXT,
  median_ns REAL,
  sd_log REAL,
  ci_low_ns REAL,
  ci_high_ns REAL,
  ci_level REAL,
  min_ns REAL,
  p10_ns REAL,
  p90_ns REAL,
  blocks INTEGER,
  processes INTEGER,
  copies INTEGER NOT NULL,
  topology TEXT NOT NULL,
  flags TEXT NOT NULL,
  inferences INTEGER,             -- single runs behind the following columns; NULL: not known
  inference_blocks INTEGER,       -- blocks that they are from
  inference_mean_ns REAL,
  inference_p50_ns REAL,
  inference_p90_ns REAL,
  inference_p99_ns REAL,          -- NULL for fewer than 100 inferences
  inference_max_ns REAL
))"},
    {"index", "model_row_identity",
     "CREATE UNIQUE INDEX model_row_identity ON model_row(plan_identity, device, setting)"},
    {"table", "model_block", R"(CREATE TABLE model_block(
  id INTEGER PRIMARY KEY,
  "row" INTEGER NOT NULL REFERENCES model_row(id) ON DELETE CASCADE,
  campaign INTEGER REFERENCES campaign(id),
  pass INTEGER NOT NULL,
  process INTEGER NOT NULL,
  value_ns REAL NOT NULL,         -- lower quartile of the block's runs of the model
  reference_compute_ns REAL,
  reference_memory_ns REAL,
  rounds INTEGER NOT NULL,
  switches INTEGER NOT NULL,
  steal_ticks INTEGER NOT NULL,
  other_load REAL,                -- CPUs that other programs kept busy; NULL: not known
  inferences TEXT                 -- times of its runs: SUM MIN MAX BIN:COUNT ...; NULL: not known
))"},
    {"index", "model_block_row", "CREATE INDEX model_block_row ON model_block(\"row\")"},
    {"table", "plan", R"(CREATE TABLE plan(
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE,  -- hash of model and external bytes, shapes, setting, ISA, plan format
  model TEXT NOT NULL,            -- file name
  source TEXT NOT NULL,           -- runtime, rules:NAME
  batch INTEGER NOT NULL,
  weight_bytes REAL NOT NULL,     -- distinct constant bytes of the kernels
  activation_bytes REAL NOT NULL  -- bytes of distinct results of one run
))"},
    {"table", "plan_kernel", R"(CREATE TABLE plan_kernel(
  id INTEGER PRIMARY KEY,
  plan INTEGER NOT NULL REFERENCES plan(id) ON DELETE CASCADE,
  position INTEGER NOT NULL,      -- in execution order, from 0
  name TEXT NOT NULL,             -- of the node
  kernel INTEGER NOT NULL REFERENCES kernel(id),
  count INTEGER NOT NULL,         -- executions per run of the model
  put_in INTEGER,                 -- 1: it moves data and the runtime put it in, 0: the model has it; NULL: not known
  input_bytes REAL                -- of the model's inputs, that it is the first to read; NULL: not known
))"},
    {"index", "plan_kernel_position",
     "CREATE UNIQUE INDEX plan_kernel_position ON plan_kernel(plan, position)"},
    {"table", "fit", R"(CREATE TABLE fit(
  id INTEGER PRIMARY KEY,
  format TEXT NOT NULL,           -- of blob; a fit of unknown format is ignored
  seed TEXT NOT NULL,             -- decimal, 0 to 2^64-1
  rows_hash BLOB NOT NULL,        -- of the rows it was fitted to; a fit of other rows is ignored
  blob BLOB NOT NULL
))"},
    {"table", "model_file", R"(CREATE TABLE model_file(
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,          -- bytes
  mtime_ns INTEGER NOT NULL,      -- time of last change, ns since 1970
  hash TEXT NOT NULL
))"},
    {"table", "lease", R"(CREATE TABLE lease(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  token TEXT NOT NULL,            -- random, of the writer
  pid INTEGER NOT NULL,
  process_start INTEGER,          -- clock ticks after boot; NULL: unknown
  host TEXT NOT NULL,             -- hash of host name, boot and process namespace
  since_ms INTEGER NOT NULL,      -- since 1970, UTC
  heartbeat_ms INTEGER NOT NULL   -- since 1970, UTC
))"},
};

// More objects than any version of ours has; the check itself must not be made long.
constexpr std::size_t kMaxObjects = 200;

struct Found {
  std::string type;
  std::string sql;
  std::int64_t root_page = 0;
};

std::string cell_text(const Statement& statement, int column) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement.handle(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement.handle(), column));
  return data == nullptr ? std::string() : std::string(data, size);
}

Result<std::map<std::string, Found>> objects_of(Database& database) {
  OPLAT_TRY(statement, database.prepare("SELECT name, type, rootpage, sql FROM sqlite_master"));
  std::map<std::string, Found> objects;
  while (true) {
    OPLAT_TRY(row, statement.step());
    if (!row) return objects;
    std::string name = cell_text(statement, 0);
    Found found{cell_text(statement, 1), cell_text(statement, 3),
                sqlite3_column_int64(statement.handle(), 2)};
    if (objects.size() >= kMaxObjects)
      return database.corrupt("more than {} tables and indexes", kMaxObjects);
    if (found.type != "table" && found.type != "index") {
      return database.corrupt("holds the {} {}; expected only tables and indexes",
                              base::printable(found.type), base::printable(name));
    }
    objects[std::move(name)] = std::move(found);
  }
}

/// Columns and their declared types, hidden ones told apart.
Result<std::map<std::string, std::string>> columns_of(Database& database, std::string_view table) {
  OPLAT_TRY(statement, database.prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?1)"));
  statement.add(table);
  std::map<std::string, std::string> columns;
  while (true) {
    OPLAT_TRY(row, statement.step());
    if (!row) return columns;
    std::string name = cell_text(statement, 0);
    if (sqlite3_column_int64(statement.handle(), 2) != 0) {
      return database.corrupt("table {}: column {} is generated", table, base::printable(name));
    }
    columns[std::move(name)] = cell_text(statement, 1);
  }
}

/// For a table whose text is not ours to the byte: later versions add columns, tools rewrite the
/// text.
Status verify_columns(Database& database, Database& ours, std::string_view table) {
  OPLAT_TRY(expected, columns_of(ours, table));
  OPLAT_TRY(found, columns_of(database, table));
  for (const auto& [name, type] : expected) {
    const auto at = found.find(name);
    if (at == found.end()) return database.corrupt("table {} has no column {}", table, name);
    if (at->second != type) {
      return database.corrupt("table {}: column {} is declared as {}; expected {}", table, name,
                              base::printable(at->second), type);
    }
  }
  return {};
}

}  // namespace

std::span<const SchemaObject> schema_objects() { return kObjects; }

Status create_schema(Database& database) {
  for (const SchemaObject& object : kObjects)
    OPLAT_CHECK(database.execute(std::string(object.sql)));
  return database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                      kApplicationId, kSchemaVersion));
}

Status verify_schema(Database& database) {
  OPLAT_TRY(found, objects_of(database));
  std::unique_ptr<Database> ours;
  for (const auto& [name, object] : found) {
    if (object.type == "table" && object.root_page <= 0) {
      return database.corrupt("{} is a virtual table", base::printable(name));
    }
  }
  for (const SchemaObject& object : kObjects) {
    const auto at = found.find(std::string(object.name));
    if (at == found.end() || at->second.type != object.type)
      return database.corrupt("the {} {} is missing", object.type, object.name);
    if (at->second.sql == object.sql) continue;
    if (object.type == "index")
      return database.corrupt("index {} differs from that of the format", object.name);
    if (!ours) {
      OPLAT_TRY(memory, Database::open(":memory:", Database::Access::Create, "schema"));
      OPLAT_CHECK(create_schema(*memory));
      ours = std::move(memory);
    }
    OPLAT_CHECK(verify_columns(database, *ours, object.name));
  }
  return {};
}

}  // namespace oplat::table
