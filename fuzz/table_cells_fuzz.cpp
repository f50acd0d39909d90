// SPDX-License-Identifier: Apache-2.0
/// A sound SQLite file with hostile cells: "TABLE.COLUMN=KIND VALUE" puts the value into that
/// column of all lines of a table, KIND being t for text, b for a blob, i for an integer, r for a
/// number and n for null. "LINE" may follow the column as "@3": only the line of that rowid.
/// Changes are separated by the byte 0x1e. Hashes of keys are set right, so that keys are read.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "table_file.hpp"

namespace {

/// A name that may stand in quotes.
bool is_name(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos;
}

class Cells {
 public:
  explicit Cells(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle_) != SQLITE_OK) std::abort();
    sqlite3_exec(handle_,
                 "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; "
                 "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN",
                 nullptr, nullptr, nullptr);
  }
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  ~Cells() {
    sqlite3_exec(handle_, "COMMIT", nullptr, nullptr, nullptr);
    sqlite3_close(handle_);
  }

  void apply(std::string_view change) {
    const std::size_t dot = change.find('.');
    const std::size_t equals = change.find('=');
    if (dot == std::string_view::npos || equals == std::string_view::npos || equals < dot) return;
    const std::string_view table = change.substr(0, dot);
    std::string_view column = change.substr(dot + 1, equals - dot - 1);
    std::string where;
    if (const std::size_t at = column.find('@'); at != std::string_view::npos) {
      const auto line = oplat::base::parse_int(column.substr(at + 1));
      column = column.substr(0, at);
      if (line) where = fmt::format(" WHERE rowid = {}", *line);
    }
    if (!is_name(table) || !is_name(column)) return;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = fmt::format("UPDATE \"{}\" SET \"{}\" = ?1{}", table, column, where);
    if (sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return;
    bind(statement, change.substr(equals + 1));
    sqlite3_step(statement);
    sqlite3_finalize(statement);
  }

  void set_hashes_right() {
    sqlite3_stmt* read = nullptr;
    if (sqlite3_prepare_v2(handle_, "SELECT id, key FROM kernel WHERE typeof(key) = 'text'", -1,
                           &read, nullptr) != SQLITE_OK)
      return;
    std::vector<std::pair<std::int64_t, std::string>> keys;
    while (sqlite3_step(read) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(read, 1));
      const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(read, 1));
      keys.emplace_back(sqlite3_column_int64(read, 0), std::string(text, bytes));
    }
    sqlite3_finalize(read);
    for (const auto& [id, key] : keys) {
      const std::string hash = oplat::base::hash128(key).hex();
      sqlite3_exec(handle_,
                   fmt::format("UPDATE kernel SET hash = x'{}' WHERE id = {}", hash, id).c_str(),
                   nullptr, nullptr, nullptr);
    }
  }

 private:
  static void bind(sqlite3_stmt* statement, std::string_view value) {
    const char kind = value.empty() ? 'n' : value.front();
    const std::string rest(value.substr(std::min<std::size_t>(value.size(), 2)));
    const auto length = static_cast<int>(rest.size());
    switch (kind) {
      case 't':
        sqlite3_bind_text(statement, 1, rest.data(), length, SQLITE_TRANSIENT);
        break;
      case 'b':
        sqlite3_bind_blob(statement, 1, rest.empty() ? "" : rest.data(), length, SQLITE_TRANSIENT);
        break;
      case 'i':
        sqlite3_bind_int64(statement, 1, oplat::base::parse_int(rest).value_or(length));
        break;
      case 'r':
        sqlite3_bind_double(statement, 1, oplat::base::parse_double(rest).value_or(length));
        break;
      default:
        sqlite3_bind_null(statement, 1);
    }
  }

  sqlite3* handle_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kMaxChanges = 20;
  oplat::fuzz::put_table(oplat::fuzz::sound_table());
  {
    Cells cells(oplat::fuzz::table_path().string());
    std::size_t done = 0;
    for (const std::string& change : oplat::base::split(input, '\x1e')) {
      if (++done > kMaxChanges) break;
      cells.apply(change);
    }
    cells.set_hashes_right();
  }
  oplat::fuzz::ask_everything();
  return 0;
}
