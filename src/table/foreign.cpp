// SPDX-License-Identifier: Apache-2.0
/// Foreign files: a hundred thousand rows in one transaction, and back in the file's order.
#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.hpp"
#include "table/cells.hpp"
#include "table/fits.hpp"
#include "table/impl.hpp"
#include "table/rows.hpp"
#include "table/schema.hpp"
#include "table/table.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

// The pages of an import fit in memory, so that none is written twice.
constexpr std::string_view kLargeCache = "PRAGMA cache_size = -131072";  // KiB

Status validate_bytes(std::string_view what, std::string_view bytes) {
  if (bytes.size() <= kMaxForeignText) return {};
  return fail(Code::Input, "{}: has {} bytes; the limit is {}", what, bytes.size(),
              kMaxForeignText);
}

Status validate(const ForeignOrigin& origin, const ForeignFile& file) {
  OPLAT_CHECK(validate_text("format", origin.format));
  OPLAT_CHECK(validate_text("name", origin.name));
  if (origin.format.empty() || origin.format == "own") {
    return fail(Code::Input, "'{}' is not a format for import", origin.format);
  }
  OPLAT_CHECK(validate_bytes("head", file.head));
  OPLAT_CHECK(validate_bytes("tail", file.tail));
  for (const ForeignRow& row : file.rows) {
    OPLAT_CHECK(validate_key(row.key));
    OPLAT_CHECK(table::validate(row.outcome));
    OPLAT_CHECK(validate_text("device", row.device));
    OPLAT_CHECK(validate_bytes("bytes before a row", row.before));
    if (row.text) OPLAT_CHECK(validate_bytes("text of a row", *row.text));
  }
  return {};
}

/// The indexes of rows, which a table without rows does without until they stand in it: sorted at
/// once they take a third of the time. All within the caller's transaction.
class RowIndexes {
 public:
  static Result<RowIndexes> drop_of_empty(Database& database) {
    RowIndexes indexes;
    OPLAT_TRY(rows, database.integer("SELECT EXISTS(SELECT 1 FROM \"row\")"));
    if (rows != 0) return indexes;
    for (const SchemaObject& object : schema_objects()) {
      if (object.type == "index" && object.name.starts_with("row_"))
        indexes.dropped_.push_back(object);
    }
    for (const SchemaObject& object : indexes.dropped_)
      OPLAT_CHECK(database.execute(fmt::format("DROP INDEX {}", object.name)));
    return indexes;
  }
  Status make_again(Database& database) const {
    for (const SchemaObject& object : dropped_)
      OPLAT_CHECK(database.execute(std::string(object.sql)));
    return {};
  }

 private:
  std::vector<SchemaObject> dropped_;
};

/// The statements that add rows, prepared once.
class RowWriter {
 public:
  static Result<RowWriter> make(Database& database, std::size_t rows) {
    OPLAT_TRY(known, database.integer("SELECT EXISTS(SELECT 1 FROM kernel)"));
    OPLAT_TRY(find_kernel, database.prepare("SELECT id, key FROM kernel WHERE hash = ?1"));
    OPLAT_TRY(add_kernel, database.prepare("INSERT INTO kernel(hash, key) VALUES (?1, ?2)"));
    OPLAT_TRY(
        add_row,
        database.prepare(
            "INSERT INTO \"row\"(kernel, device, setting, origin, file, copies, topology, flags, "
            "outcome, reason, median_ns, sd_log, ci_low_ns, ci_high_ns, ci_level, min_ns, "
            "p10_ns, p90_ns, blocks, processes) VALUES (?1, ?2, ?3, ?4, ?5, 1, '', '[]', ?6, "
            "?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"));
    OPLAT_TRY(add_native,
              database.prepare("INSERT INTO native(\"row\", gap, text) VALUES (?1, ?2, ?3)"));
    RowWriter writer(database, known != 0, std::move(find_kernel), std::move(add_kernel),
                     std::move(add_row), std::move(add_native));
    writer.kernels_.reserve(rows);
    return writer;
  }

  Status add(const ForeignRow& row, DeviceId device, SettingId setting, std::string_view format,
             FileId file) {
    OPLAT_TRY(kernel, kernel_of(row.key));
    add_row_.again().add(kernel).add(device).add(setting).add(format).add(file);
    add_outcome(add_row_, row.outcome);
    OPLAT_CHECK(add_row_.run());
    if (row.before.empty() && !row.text) return {};
    const RowId id = sqlite3_last_insert_rowid(database_->handle());
    add_native_.again().add(id).add_blob(row.before);
    if (row.text) {
      add_native_.add_blob(*row.text);
    } else {
      add_native_.add_null();
    }
    return add_native_.run();
  }

 private:
  RowWriter(Database& database, bool has_kernels, Statement find_kernel, Statement add_kernel,
            Statement add_row, Statement add_native)
      : database_(&database),
        has_kernels_(has_kernels),
        find_kernel_(std::move(find_kernel)),
        add_kernel_(std::move(add_kernel)),
        add_row_(std::move(add_row)),
        add_native_(std::move(add_native)) {}

  Result<KernelId> kernel_of(std::string_view key) {
    const base::Hash128 hash = base::hash128(key);
    const auto [at, is_new] = kernels_.try_emplace(hash, 0);
    if (!is_new) return at->second;
    const auto bytes = hash.bytes();
    const std::string_view blob(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (has_kernels_) {
      OPLAT_TRY(line, find_kernel_.again().add_blob(blob).step());
      if (line) {
        Cells cells(find_kernel_, "kernel");
        const std::string found = cells.text(1);
        OPLAT_CHECK(cells.status());
        if (found != key)
          return database_->corrupt("kernel {}: its hash does not match its key", cells.id());
        at->second = cells.id();
        return at->second;
      }
    }
    OPLAT_CHECK(add_kernel_.again().add_blob(blob).add(key).run());
    at->second = sqlite3_last_insert_rowid(database_->handle());
    return at->second;
  }

  Database* database_;
  bool has_kernels_;  ///< before the first row
  Statement find_kernel_, add_kernel_, add_row_, add_native_;
  std::unordered_map<base::Hash128, KernelId> kernels_;
};

Result<FileId> add_file(Database& database, DeviceId device, SettingId setting,
                        const ForeignOrigin& origin, const ForeignFile& file) {
  OPLAT_TRY(
      statement,
      database.prepare("INSERT INTO native_file(format, name, hash, device, setting, head, tail) "
                       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  const auto bytes = origin.hash.bytes();
  statement.add(origin.format).add(origin.name);
  statement.add_blob({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  OPLAT_CHECK(statement.add(device).add(setting).add_blob(file.head).add_blob(file.tail).run());
  return sqlite3_last_insert_rowid(database.handle());
}

/// The second column of native's rows.
Result<std::optional<std::string>> read_text(const Statement& statement) {
  Cells cells(statement, "native");
  if (cells.is_null(1)) return std::nullopt;
  std::string text(cells.bytes(1));
  OPLAT_CHECK(cells.status());
  return std::optional(std::move(text));
}

}  // namespace

Result<FileId> Table::add_foreign(DeviceId device, SettingId setting, const ForeignOrigin& origin,
                                  const ForeignFile& file) {
  OPLAT_CHECK(validate(origin, file));
  auto added = impl_->write_for<FileId>([&]() -> Result<FileId> {
    Database& database = *impl_->database;
    OPLAT_CHECK(database.execute_often(kLargeCache));
    OPLAT_TRY(id, add_file(database, device, setting, origin, file));
    OPLAT_TRY(indexes, RowIndexes::drop_of_empty(database));
    OPLAT_TRY(writer, RowWriter::make(database, file.rows.size()));
    std::unordered_map<std::string_view, DeviceId> devices = {{std::string_view(), device}};
    for (const ForeignRow& row : file.rows) {
      const auto [at, is_new] = devices.try_emplace(row.device, device);
      if (is_new) {
        OPLAT_TRY(own, find_or_put_device(row.device));
        at->second = own;
      }
      OPLAT_CHECK(writer.add(row, at->second, setting, origin.format, id));
    }
    OPLAT_CHECK(indexes.make_again(database));
    return id;
  });
  impl_->rows_memo.clear();
  return added;
}

Result<DeviceId> Table::find_or_put_device(const std::string& name) {
  OPLAT_TRY(known, find_device(name));
  if (known) return *known;
  Device device;
  device.name = name;
  return put_device(device);
}

Status Table::remove_foreign(FileId id) {
  const Status removed = impl_->write([&]() -> Status {
    Database& database = *impl_->database;
    OPLAT_CHECK(void_fits_of_file(database, id));
    OPLAT_TRY(rows, database.prepare("DELETE FROM \"row\" WHERE file = ?1"));
    OPLAT_CHECK(rows.add(id).run());
    OPLAT_TRY(file, database.prepare("DELETE FROM native_file WHERE id = ?1"));
    return file.add(id).run();
  });
  impl_->rows_memo.clear();
  return removed;
}

Result<std::vector<StoredForeignFile>> Table::foreign_files() const {
  Database& database = *impl_->database;
  OPLAT_TRY(statement,
            database.prepare(
                "SELECT id, format, name, hash, device, setting FROM native_file ORDER BY id"));
  std::vector<StoredForeignFile> files;
  Ascending ascending;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return files;
    Cells cells(statement, "native_file");
    StoredForeignFile file;
    file.id = cells.id();
    file.origin.format = cells.text(1);
    file.origin.name = cells.text(2);
    file.origin.hash = base::Hash128::from_bytes(cells.blob(3, 16)).value_or(base::Hash128{});
    file.device = cells.integer(4);
    file.setting = cells.integer(5);
    OPLAT_CHECK(cells.status());
    if (!ascending.next(file.id)) return database.corrupt("native_file {} appears twice", file.id);
    files.push_back(std::move(file));
  }
}

Result<std::map<FileId, std::set<DeviceId>>> Table::foreign_devices() const {
  OPLAT_TRY(statement, impl_->database->prepare(
                           "SELECT DISTINCT 0, file, device FROM \"row\" WHERE file IS NOT NULL"));
  std::map<FileId, std::set<DeviceId>> devices;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return devices;
    Cells cells(statement, "row");
    devices[cells.integer(1)].insert(cells.integer(2));
    OPLAT_CHECK(cells.status());
  }
}

Result<ForeignFile> Table::foreign_file(FileId id) const {
  Database& database = *impl_->database;
  ForeignFile file;
  DeviceId file_device = 0;
  {
    OPLAT_TRY(statement,
              database.prepare("SELECT id, head, tail, device FROM native_file WHERE id = ?1"));
    OPLAT_TRY(line, statement.add(id).step());
    if (!line) return fail(Code::Internal, "{}: has no foreign file {}", database.shown(), id);
    Cells cells(statement, "native_file");
    file.head = cells.bytes(1);
    file.tail = cells.bytes(2);
    file_device = cells.integer(3);
    OPLAT_CHECK(cells.status());
  }
  std::unordered_map<DeviceId, std::string> names;
  OPLAT_TRY(known, devices());
  for (auto& [device, record] : known) names.emplace(device, std::move(record.name));
  OPLAT_TRY(statement, database.prepare("SELECT " OPLAT_ROW_COLUMNS ", gap, text" OPLAT_ROW_TABLES
                                        "LEFT JOIN native ON native.\"row\" = \"row\".id "
                                        "WHERE file = ?1 ORDER BY \"row\".id"));
  statement.add(id);
  Ascending ascending;
  SharedBytes keys;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return file;
    OPLAT_TRY(stored, read_row(statement));
    if (!ascending.next(stored.id)) return database.corrupt("row {} appears twice", stored.id);
    OPLAT_CHECK(keys.add(database, stored.row.key.size()));
    Cells cells(statement, "native of row");
    ForeignRow row{std::move(stored.row.key), std::move(stored.row.outcome), {}, {}};
    if (stored.device != file_device) row.device = names[stored.device];
    if (!cells.is_null(kRowColumns)) row.before = cells.bytes(kRowColumns);
    if (!cells.is_null(kRowColumns + 1)) row.text = std::string(cells.bytes(kRowColumns + 1));
    OPLAT_CHECK(cells.status());
    file.rows.push_back(std::move(row));
  }
}

Result<std::optional<std::string>> Table::foreign_text(RowId row) const {
  OPLAT_TRY(statement,
            impl_->database->prepare("SELECT \"row\", text FROM native WHERE \"row\" = ?1"));
  OPLAT_TRY(line, statement.add(row).step());
  if (!line) return std::nullopt;
  return read_text(statement);
}

Result<std::vector<std::optional<std::string>>> Table::foreign_texts_of(DeviceId device,
                                                                        SettingId setting) const {
  Database& database = *impl_->database;
  OPLAT_TRY(
      statement,
      database.prepare(
          "SELECT \"row\".id, text FROM \"row\" LEFT JOIN native ON native.\"row\" = \"row\".id "
          "WHERE device = ?1 AND setting = ?2 AND outcome = 'timing' ORDER BY \"row\".id"));
  statement.add(device).add(setting);
  std::vector<std::optional<std::string>> texts;
  Ascending ascending;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return texts;
    const RowId id = Cells(statement, "row").id();
    if (!ascending.next(id)) return database.corrupt("row {} appears twice", id);
    OPLAT_TRY(text, read_text(statement));
    texts.push_back(std::move(text));
  }
}

}  // namespace oplat::table
