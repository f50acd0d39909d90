// SPDX-License-Identifier: Apache-2.0
/// Opening and closing a table, its transactions, and the kernels that all records depend on.
#include "table/table.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "base/hash.hpp"
#include "base/interrupt.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/import_hint.hpp"
#include "table/opening.hpp"
#include "table/schema.hpp"

namespace oplat::table {
namespace {

/// After which a reader counts as one that will not end.
constexpr std::chrono::minutes kLongestRead{10};

}  // namespace

Table::Impl::Impl(std::filesystem::path path_, Mode mode_)
    : path(std::move(path_)), mode(mode_), process(getpid()) {}

Table::Impl::~Impl() {
  if (!database) return;
  if (process != getpid()) {
    // Closing would drop the parent's locks and give its lease away.
    database->abandon();
    return;
  }
  if (database->in_transaction()) roll_back();
  if (lease) lease->release(*database);
}

Result<std::unique_ptr<Table::Impl>> Table::Impl::open(const std::filesystem::path& path, Mode mode,
                                                       std::span<const Migration> steps) {
  auto impl = std::make_unique<Impl>(path, mode);
  OPLAT_TRY(opened, open_database(path, mode, steps));
  impl->copy = std::move(opened.copy);
  impl->database = std::move(opened.database);
  if (mode != Mode::Read) {
    OPLAT_TRY(lease, Lease::take(*impl->database));
    impl->lease = std::move(lease);
  }
  return impl;
}

Status Table::Impl::write(const std::function<Status()>& work) {
  if (mode == Mode::Read)
    return fail(Code::Refused, "{}: is open for reading only", database->shown());
  return depth == 0 ? run_in_transaction(work) : run_in_savepoint(work);
}

Status Table::Impl::begin() {
  OPLAT_CHECK(database->execute_often("BEGIN IMMEDIATE"));
  Status kept = lease->keep(*database);
  if (!kept) roll_back();
  return kept;
}

void Table::Impl::roll_back() {
  forget();
  // After a full disk SQLite may have rolled back by itself.
  if (database->in_transaction()) static_cast<void>(database->execute("ROLLBACK"));
}

Status Table::Impl::run_in_transaction(const std::function<Status()>& work) {
  OPLAT_CHECK(begin());
  ++depth;
  Status done;
  try {
    done = work();
  } catch (...) {
    --depth;
    roll_back();
    throw;
  }
  --depth;
  if (done && !database->in_transaction()) {
    done = fail(Code::Write, "{}: an earlier error undid the transaction", database->shown());
  }
  if (done) done = commit();
  if (!done) roll_back();
  return done;
}

/// Whoever reads the table, a pager behind a shell's query say, keeps a commit waiting, and no more
/// than that: other writers are kept out by the lease, and what was measured must not be lost.
Status Table::Impl::commit() {
  const auto until = std::chrono::steady_clock::now() + kLongestRead;
  while (true) {
    Status done = database->execute_often("COMMIT");
    const bool is_busy =
        !done && (database->last_code() & 0xff) == SQLITE_BUSY && database->in_transaction();
    if (!is_busy || base::interrupted() != 0 || std::chrono::steady_clock::now() >= until)
      return done;
  }
}

Status Table::Impl::run_in_savepoint(const std::function<Status()>& work) {
  OPLAT_CHECK(database->execute_often("SAVEPOINT nested"));
  ++depth;
  Status done;
  try {
    done = work();
  } catch (...) {
    --depth;
    throw;  // the outermost transaction undoes everything
  }
  --depth;
  if (!done) {
    forget();
    if (database->in_transaction())
      static_cast<void>(database->execute("ROLLBACK TO nested; RELEASE nested"));
    return done;
  }
  return database->execute_often("RELEASE nested");
}

void Table::Impl::forget() {
  rows_memo.clear();
  rows_memo_bytes = 0;
  kernel_memo.clear();
}

void Table::Impl::remember(RowsQuestion question, const std::vector<StoredRow>& rows) {
  const std::size_t bytes = (rows.size() + 1) * std::get<std::string>(question).size();
  if (bytes > kMaxMemoBytes) return;
  if (rows_memo.size() >= kMaxMemo || rows_memo_bytes + bytes > kMaxMemoBytes) {
    rows_memo.clear();
    rows_memo_bytes = 0;
  }
  rows_memo_bytes += bytes;
  rows_memo.emplace(std::move(question), rows);
}

Result<std::optional<KernelId>> Table::Impl::find_kernel(std::string_view key) {
  const std::string text(key);
  if (const auto at = kernel_memo.find(text); at != kernel_memo.end())
    return std::optional(at->second);
  const auto bytes = base::hash128(key).bytes();
  OPLAT_TRY(statement, database->prepare("SELECT id, key FROM kernel WHERE hash = ?1"));
  statement.add_blob({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  OPLAT_TRY(row, statement.step());
  if (!row) return std::nullopt;
  Cells cells(statement, "kernel");
  const std::string found = cells.text(1);
  OPLAT_CHECK(cells.status());
  if (found != key)
    return database->corrupt("kernel {}: its hash does not match its key", cells.id());
  if (kernel_memo.size() >= kMaxMemo) kernel_memo.clear();
  kernel_memo.emplace(text, cells.id());
  return std::optional(cells.id());
}

Result<KernelId> Table::Impl::put_kernel(std::string_view key) {
  OPLAT_TRY(found, find_kernel(key));
  if (found) return *found;
  const auto bytes = base::hash128(key).bytes();
  OPLAT_TRY(statement, database->prepare("INSERT INTO kernel(hash, key) VALUES (?1, ?2)"));
  statement.add_blob({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).add(key);
  OPLAT_CHECK(statement.run());
  const KernelId id = sqlite3_last_insert_rowid(database->handle());
  if (kernel_memo.size() >= kMaxMemo) kernel_memo.clear();
  kernel_memo.emplace(std::string(key), id);
  return id;
}

Result<Table> Table::open(const std::filesystem::path& path, Mode mode, CodecList codecs) {
  auto impl = Impl::open(path, mode, migrations());
  if (impl) return Table(*std::move(impl));
  Error error = std::move(impl).error();
  if (error.code == Code::Input) error.message += import_hint(path, codecs);
  return fail(std::move(error));
}

Table::Table(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;
Table::~Table() = default;

const std::filesystem::path& Table::path() const { return impl_->path; }
int Table::schema_version() { return static_cast<int>(kSchemaVersion); }
std::int64_t Table::application_id() { return kApplicationId; }

Status Table::transaction(const std::function<Status()>& work) { return impl_->write(work); }
Status Table::keep_lease() {
  return impl_->write([] { return Status{}; });
}

Table::Reading::Reading(const Table& table) {
  Database& database = *table.impl_->database;
  // Where this fails, the look-ups themselves say why.
  if (table.impl_->mode == Mode::Read && !database.in_transaction() &&
      database.execute_often("BEGIN"))
    table_ = &table;
}

Table::Reading::~Reading() {
  // A forked child leaves its parent's connection alone.
  if (table_ == nullptr || table_->impl_->process != ::getpid()) return;
  Database& database = *table_->impl_->database;
  if (database.in_transaction()) static_cast<void>(database.execute_often("COMMIT"));
}

}  // namespace oplat::table
