// SPDX-License-Identifier: Apache-2.0
/// The connection: hardening, limits, and what SQLite's codes mean to a user of tables.
#include "table/sqlite.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "table/limits.hpp"

namespace oplat::table {
namespace {

// Readers hold their locks for well under a second, writers for one commit; longer means that
// somebody sits on the file.
constexpr int kBusyTimeoutMs = 3000;
// A damaged or malicious B-tree can name one page many times, so that a scan of a small file never
// ends. An honest scan takes about 30 virtual-machine steps per row of at least 4 bytes.
constexpr std::int64_t kWorkPerByte = 20;
constexpr std::int64_t kMinWork = 10'000'000;
constexpr int kProgressStep = 10'000;

Code meaning(int extended, bool writable) {
  switch (extended) {
    case SQLITE_IOERR_READ:
    case SQLITE_IOERR_SHORT_READ:
    case SQLITE_IOERR_CORRUPTFS:
      return Code::Input;
    default:
      break;
  }
  switch (extended & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Code::Refused;
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return Code::Write;
    case SQLITE_CANTOPEN:
      return writable ? Code::Refused : Code::Input;
    case SQLITE_NOMEM:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_INTERNAL:
      return Code::Internal;
    default:
      return Code::Input;
  }
}

}  // namespace

Statement::Statement(Database& database, sqlite3_stmt* handle, std::string_view sql)
    : database_(&database), handle_(handle), sql_(sql) {}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      sql_(other.sql_),
      parameters_(other.parameters_),
      bind_code_(other.bind_code_) {}

Statement::~Statement() {
  if (handle_ != nullptr) database_->give_back(sql_, handle_);
}

void Statement::bound(int code) {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
}

Statement& Statement::add(std::int64_t value) {
  bound(sqlite3_bind_int64(handle_, ++parameters_, value));
  return *this;
}
Statement& Statement::add(double value) {
  bound(sqlite3_bind_double(handle_, ++parameters_, value));
  return *this;
}
Statement& Statement::add(std::string_view text) {
  // A null pointer would bind NULL where an empty text is meant.
  const char* data = text.empty() ? "" : text.data();
  bound(sqlite3_bind_text64(handle_, ++parameters_, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}
Statement& Statement::add_blob(std::string_view bytes) {
  const char* data = bytes.empty() ? "" : bytes.data();
  bound(sqlite3_bind_blob64(handle_, ++parameters_, data, bytes.size(), SQLITE_STATIC));
  return *this;
}
Statement& Statement::add_null() {
  bound(sqlite3_bind_null(handle_, ++parameters_));
  return *this;
}

Result<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) return database_->error(bind_code_);
  switch (sqlite3_step(handle_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return database_->error(database_->last_code());
  }
}

Status Statement::run() {
  OPLAT_TRY(row, step());
  while (row) {
    OPLAT_TRY(next, step());
    row = next;
  }
  return {};
}

Statement& Statement::again() {
  database_->refill();
  sqlite3_reset(handle_);
  parameters_ = 0;
  return *this;
}

Database::Database(sqlite3* handle, Access access, std::string shown)
    : handle_(handle), access_(access), shown_(std::move(shown)) {}

Database::~Database() {
  if (handle_ == nullptr) return;
  for (auto& [sql, statements] : pool_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close_v2(handle_);
}

Result<std::unique_ptr<Database>> Database::open(const std::string& file, Access access,
                                                 std::string shown) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (access) {
    case Access::Read:
      flags |= SQLITE_OPEN_READONLY;
      break;
    case Access::Write:
      flags |= SQLITE_OPEN_READWRITE;
      break;
    case Access::Create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      break;
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle, access, std::move(shown)));
  if (code != SQLITE_OK) return database->error(code);
  database->file_ = file;
  database->work_full_ = database->work_for_file();
  database->harden();
  return database;
}

void Database::harden() {
  const auto set = [this](int option, int value) {
    sqlite3_db_config(handle_, option, value, nullptr);
  };
  set(SQLITE_DBCONFIG_DEFENSIVE, 1);
  set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  set(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
  set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
  set(SQLITE_DBCONFIG_DQS_DML, 0);
  set(SQLITE_DBCONFIG_DQS_DDL, 0);
  set(SQLITE_DBCONFIG_ENABLE_FKEY, 1);
  const auto limit = [this](int what, int most) { sqlite3_limit(handle_, what, most); };
  limit(SQLITE_LIMIT_LENGTH, static_cast<int>(kMaxCell));
  limit(SQLITE_LIMIT_SQL_LENGTH, 100'000);
  limit(SQLITE_LIMIT_COLUMN, 100);
  limit(SQLITE_LIMIT_EXPR_DEPTH, 100);
  limit(SQLITE_LIMIT_COMPOUND_SELECT, 20);
  limit(SQLITE_LIMIT_VDBE_OP, 100'000);
  limit(SQLITE_LIMIT_FUNCTION_ARG, 16);
  limit(SQLITE_LIMIT_ATTACHED, 0);
  limit(SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100);
  limit(SQLITE_LIMIT_VARIABLE_NUMBER, 100);
  limit(SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  limit(SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_busy_timeout(handle_, kBusyTimeoutMs);
  refill();
  sqlite3_progress_handler(handle_, kProgressStep, &Database::on_progress, this);
}

std::int64_t Database::work_for_file() const {
  std::error_code no_size;
  const auto size = std::filesystem::file_size(file_, no_size);
  return kMinWork + (no_size ? 0 : static_cast<std::int64_t>(size) * kWorkPerByte);
}

int Database::on_progress(void* self) {
  auto* database = static_cast<Database*>(self);
  database->work_left_ -= kProgressStep;
  if (database->work_left_ >= 0) return 0;
  // The file may have grown since it was opened.
  const std::int64_t more = database->work_for_file() - database->work_full_;
  if (more <= 0) return 1;
  database->work_full_ += more;
  database->work_left_ += more;
  return database->work_left_ < 0 ? 1 : 0;
}

void Database::refill() { work_left_ = work_full_; }

Result<Statement> Database::prepare(std::string_view sql) {
  refill();
  auto& free = pool_[sql];
  if (!free.empty()) {
    sqlite3_stmt* handle = free.back();
    free.pop_back();
    return Statement(*this, handle, sql);
  }
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(*this, handle, sql);
}

void Database::give_back(std::string_view sql, sqlite3_stmt* handle) {
  if (handle_ == nullptr) return;
  sqlite3_reset(handle);
  sqlite3_clear_bindings(handle);
  pool_[sql].push_back(handle);
}

Status Database::execute(const std::string& sql) {
  refill();
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

Status Database::execute_often(std::string_view sql) {
  OPLAT_TRY(statement, prepare(sql));
  return statement.run();
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  OPLAT_TRY(statement, prepare(sql));
  OPLAT_TRY(row, statement.step());
  if (!row || sqlite3_column_type(statement.handle(), 0) != SQLITE_INTEGER) {
    return corrupt("a value is not a number");
  }
  return sqlite3_column_int64(statement.handle(), 0);
}

tl::unexpected<Error> Database::error(int code) const {
  // SQLite quotes the file's own schema.
  const std::string text =
      base::printable(handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code), 400);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(Code::Refused, "{}: is locked by another process; try again when it has finished",
                  shown_);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return fail(Code::Refused,
                  "{}: is not writable; check the permissions of the file and its folder", shown_);
    case SQLITE_CANTOPEN:
      if (access_ == Access::Read)
        return fail(Code::Input, "{}: cannot be opened: {}", shown_, text);
      return fail(
          Code::Refused,
          "{}: cannot be opened for writing; check the permissions of the file and its folder",
          shown_);
    case SQLITE_FULL:
      return fail(Code::Write, "{}: the disk is full; what was committed before is safe", shown_);
    case SQLITE_NOTADB:
      return fail(Code::Input, "{}: is not a table of oplat (not a SQLite database)", shown_);
    case SQLITE_CORRUPT:
      return corrupt("{}", text);
    case SQLITE_INTERRUPT:
      return corrupt("a query does not end, since its pages form a cycle");
    case SQLITE_ERROR:
      return corrupt("unexpected schema: {}", text);
    default:
      return fail(meaning(code, access_ != Access::Read), "{}: {} (SQLite code {})", shown_, text,
                  code);
  }
}

}  // namespace oplat::table
