// SPDX-License-Identifier: Apache-2.0
/// SQLite behind RAII: a connection that trusts no file, and statements that go back to its pool
/// when they end.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace oplat::table {

class Database;

/// A prepared statement in use. Parameters are added in order; the destructor resets it and hands
/// it back.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* handle, std::string_view sql);
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& add(std::int64_t value);
  Statement& add(double value);
  /// The text must outlive the run of the statement.
  Statement& add(std::string_view text);
  Statement& add_blob(std::string_view bytes);
  Statement& add_null();
  template <class T>
  Statement& add(const std::optional<T>& value) {
    return value ? add(*value) : add_null();
  }

  /// Whether a line of the result stands ready.
  Result<bool> step();
  /// For statements without a result.
  Status run();
  /// Ready for another run: parameters are added from the first again.
  Statement& again();
  [[nodiscard]] sqlite3_stmt* handle() const { return handle_; }
  [[nodiscard]] Database& database() const { return *database_; }

 private:
  void bound(int code);

  Database* database_;
  sqlite3_stmt* handle_;
  std::string_view sql_;
  int parameters_ = 0;
  int bind_code_ = SQLITE_OK;
};

/// One connection. Extensions, triggers, views and attached files are off, sizes are limited,
/// endless scans are cut.
class Database {
 public:
  enum class Access { Read, Write, Create };
  /// `shown` is the path for messages. The file's content is not looked at yet.
  static Result<std::unique_ptr<Database>> open(const std::string& file, Access access,
                                                std::string shown);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// `sql` must be a literal, or live as long as the connection: it names the statement in the
  /// pool.
  Result<Statement> prepare(std::string_view sql);
  /// Runs statements that take no parameters and whose results nobody needs.
  Status execute(const std::string& sql);
  /// The same for one statement that is run often; `sql` as for prepare().
  Status execute_often(std::string_view sql);
  /// The single integer that `sql` gives.
  Result<std::int64_t> integer(std::string_view sql);

  /// What a code of SQLite means to the caller; see docs/reference/table-format.md "Errors".
  [[nodiscard]] tl::unexpected<Error> error(int code) const;
  /// Code::Input: the file is not what it claims to be.
  template <class... Args>
  [[nodiscard]] tl::unexpected<Error> corrupt(fmt::format_string<Args...> format,
                                              Args&&... args) const {
    return fail(Code::Input, "{}: corrupt table: {}", shown_,
                fmt::format(format, std::forward<Args>(args)...));
  }

  [[nodiscard]] sqlite3* handle() const { return handle_; }
  [[nodiscard]] const std::string& shown() const { return shown_; }
  /// Extended code of the last error.
  [[nodiscard]] int last_code() const { return sqlite3_extended_errcode(handle_); }
  [[nodiscard]] bool in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  /// Gives the next statement its share of work; see kWorkPerByte.
  void refill();
  /// Forgets the connection without closing it: in a forked child the file belongs to the parent.
  void abandon() { handle_ = nullptr; }

 private:
  friend class Statement;
  Database(sqlite3* handle, Access access, std::string shown);
  void harden();
  void give_back(std::string_view sql, sqlite3_stmt* handle);
  static int on_progress(void* self);
  [[nodiscard]] std::int64_t work_for_file() const;

  sqlite3* handle_;
  Access access_;
  std::string shown_;
  std::string file_;
  std::int64_t work_left_ = 0;
  std::int64_t work_full_ = 0;
  std::map<std::string_view, std::vector<sqlite3_stmt*>> pool_;
};

}  // namespace oplat::table
