// SPDX-License-Identifier: Apache-2.0
/// Rows: look-ups by key, the walk over all of them, and putting one.
#include <algorithm>
#include <limits>

#include <fmt/ranges.h>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/outcome.hpp"
#include "table/rows.hpp"
#include "table/table.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

#define OPLAT_SELECT_ROW "SELECT " OPLAT_ROW_COLUMNS OPLAT_ROW_TABLES
// Lines are read in pages of this size, so that no lock is held and no statement is open while a
// visitor runs.
constexpr std::size_t kPage = 512;  // the LIMIT of the statement below

/// The condition of a RowFilter; its parameters are ?1 to ?3, see add_filter().
#define OPLAT_ROW_FILTER                                              \
  "(?1 IS NULL OR device = ?1) "                                      \
  "AND (?2 IS NULL OR setting IN (SELECT value FROM json_each(?2))) " \
  "AND (?3 = 0 OR outcome = 'timing') "

/// The filter's settings as a JSON list. Statements keep no copy of a text, so it must outlive
/// them.
std::optional<std::string> settings_text(const RowFilter& filter) {
  if (!filter.settings) return std::nullopt;
  return fmt::format("[{}]", fmt::join(*filter.settings, ","));
}

void add_filter(Statement& statement, const RowFilter& filter,
                const std::optional<std::string>& settings) {
  statement.add(filter.device).add(settings).add(std::int64_t{filter.timed});
}

/// At most `most` rows that the statement gives, ids ascending.
Result<std::vector<StoredRow>> read_rows(Statement& statement, std::size_t most) {
  std::vector<StoredRow> rows;
  SharedBytes keys;
  Ascending ascending;
  while (rows.size() < most) {
    OPLAT_TRY(line, statement.step());
    if (!line) break;
    OPLAT_TRY(row, read_row(statement));
    if (!ascending.next(row.id))
      return statement.database().corrupt("row {} appears twice", row.id);
    OPLAT_CHECK(keys.add(statement.database(), row.row.key.size()));
    rows.push_back(std::move(row));
  }
  return rows;
}

bool state_before(const StoredRow& a, const StoredRow& b) {
  constexpr double kLast = std::numeric_limits<double>::infinity();
  return a.row.reuse_bytes.value_or(kLast) < b.row.reuse_bytes.value_or(kLast);
}

Result<std::optional<RowId>> find_own_row(Database& database, KernelId kernel, DeviceId device,
                                          SettingId setting, std::optional<double> reuse_bytes) {
  OPLAT_TRY(statement,
            database.prepare(
                "SELECT id FROM \"row\" WHERE kernel = ?1 AND device = ?2 AND setting = ?3 AND "
                "coalesce(reuse_bytes, -1.0) = coalesce(?4, -1.0) AND origin = 'own'"));
  OPLAT_TRY(line, statement.add(kernel).add(device).add(setting).add(reuse_bytes).step());
  if (!line) return std::nullopt;
  Cells cells(statement, "row");
  OPLAT_CHECK(cells.status());
  return std::optional(cells.id());
}

Status update_row(Database& database, RowId id, std::optional<CampaignId> campaign,
                  const OutcomeCells& outcome) {
  OPLAT_TRY(
      statement,
      database.prepare("UPDATE \"row\" SET campaign = ?1, (" OPLAT_OUTCOME_COLUMNS
                       ") = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16) "
                       "WHERE id = ?17"));
  statement.add(campaign);
  outcome.add_to(statement);
  return statement.add(id).run();
}

Result<RowId> insert_row(Database& database, KernelId kernel, DeviceId device, SettingId setting,
                         std::optional<CampaignId> campaign, const Row& row,
                         const OutcomeCells& outcome) {
  OPLAT_TRY(statement, database.prepare("INSERT INTO \"row\"(kernel, device, setting, reuse_bytes, "
                                        "campaign, origin, " OPLAT_OUTCOME_COLUMNS
                                        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                                        "?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)"));
  statement.add(kernel).add(device).add(setting).add(row.reuse_bytes).add(campaign).add(row.origin);
  outcome.add_to(statement);
  OPLAT_CHECK(statement.run());
  return sqlite3_last_insert_rowid(database.handle());
}

}  // namespace

Result<StoredRow> read_row(const Statement& statement) {
  Cells cells(statement, "row");
  StoredRow stored;
  stored.id = cells.id();
  stored.row.key = cells.text(1);
  const std::string_view hash = cells.blob(2, 16);
  stored.device = cells.integer(3);
  stored.setting = cells.integer(4);
  stored.row.reuse_bytes = cells.optional_number(5);
  stored.campaign = cells.optional_integer(6);
  stored.row.origin = cells.text(7);
  stored.row.outcome = read_outcome(cells, kFirstOutcomeColumn);
  stored.row.method = read_method(cells, kFirstOutcomeColumn);
  OPLAT_CHECK(cells.status());
  if (base::Hash128::from_bytes(hash) != base::hash128(stored.row.key)) {
    return statement.database().corrupt("row {}: the hash of its kernel does not match the key {}",
                                        stored.id, base::printable(stored.row.key));
  }
  return stored;
}

Result<std::vector<StoredRow>> Table::rows_of(std::string_view key, DeviceId device,
                                              SettingId setting) const {
  Impl::RowsQuestion question{std::string(key), device, setting};
  if (const auto at = impl_->rows_memo.find(question); at != impl_->rows_memo.end())
    return at->second;
  std::vector<StoredRow> rows;
  OPLAT_TRY(kernel, impl_->find_kernel(key));
  if (kernel) {
    OPLAT_TRY(statement, impl_->database->prepare(
                             OPLAT_SELECT_ROW "WHERE kernel = ?1 AND device = ?2 AND setting = ?3 "
                                              "ORDER BY \"row\".id"));
    statement.add(*kernel).add(device).add(setting);
    OPLAT_TRY(found, read_rows(statement, std::numeric_limits<std::size_t>::max()));
    rows = std::move(found);
    std::stable_sort(rows.begin(), rows.end(), state_before);
  }
  impl_->remember(std::move(question), rows);
  return rows;
}

Result<std::optional<StoredRow>> Table::row(RowId id) const {
  OPLAT_TRY(statement, impl_->database->prepare(OPLAT_SELECT_ROW "WHERE \"row\".id = ?1"));
  OPLAT_TRY(line, statement.add(id).step());
  if (!line) return std::nullopt;
  OPLAT_TRY(row, read_row(statement));
  return std::optional(std::move(row));
}

Status Table::each_row(const RowFilter& filter,
                       const std::function<bool(const StoredRow&)>& visit) const {
  const std::optional<std::string> settings = settings_text(filter);
  std::int64_t next = std::numeric_limits<std::int64_t>::min();
  SharedBytes keys;  // visitors keep them
  while (true) {
    std::vector<StoredRow> page;
    {
      OPLAT_TRY(statement,
                impl_->database->prepare(OPLAT_SELECT_ROW
                                         "WHERE " OPLAT_ROW_FILTER
                                         "AND \"row\".id >= ?4 ORDER BY \"row\".id LIMIT 512"));
      add_filter(statement, filter, settings);
      OPLAT_TRY(rows, read_rows(statement.add(next), kPage));
      page = std::move(rows);
    }
    if (!page.empty() && page.front().id < next) {
      return impl_->database->corrupt("row {} appears twice", page.front().id);
    }
    for (const StoredRow& row : page) {
      if (!visit(row)) return {};
      OPLAT_CHECK(keys.add(*impl_->database, row.row.key.size()));
    }
    if (page.size() < kPage || page.back().id == std::numeric_limits<std::int64_t>::max())
      return {};
    next = page.back().id + 1;
  }
}

Result<std::size_t> Table::count_kernels(const RowFilter& filter, std::size_t most) const {
  const std::optional<std::string> settings = settings_text(filter);
  OPLAT_TRY(statement,
            impl_->database->prepare("SELECT count(*) FROM (SELECT DISTINCT kernel FROM \"row\" "
                                     "WHERE " OPLAT_ROW_FILTER "LIMIT ?4)"));
  add_filter(statement, filter, settings);
  constexpr std::size_t kMax = std::numeric_limits<std::int64_t>::max();
  statement.add(static_cast<std::int64_t>(std::min(most, kMax)));
  OPLAT_TRY(line, statement.step());
  if (!line) return impl_->database->corrupt("no number where one is expected");
  Cells cells(statement, "row");
  const std::int64_t count = cells.integer(0);
  OPLAT_CHECK(cells.status());
  return static_cast<std::size_t>(count);
}

Result<std::vector<base::Hash128>> Table::kernel_hashes() const {
  OPLAT_TRY(statement, impl_->database->prepare("SELECT id, hash FROM kernel"));
  std::vector<base::Hash128> hashes;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return hashes;
    Cells cells(statement, "kernel");
    const auto hash = base::Hash128::from_bytes(cells.blob(1, 16));
    OPLAT_CHECK(cells.status());
    if (!hash) return impl_->database->corrupt("the hash of a kernel does not have 16 bytes");
    hashes.push_back(*hash);
  }
}

Result<std::vector<StoredRow>> Table::rows_beside(DeviceId device, SettingId setting,
                                                  std::string_view format) const {
  OPLAT_TRY(statement,
            impl_->database->prepare(OPLAT_SELECT_ROW
                                     "WHERE \"row\".device = ?1 AND \"row\".setting = ?2 "
                                     "AND (file IS NULL OR origin <> ?3) ORDER BY \"row\".id"));
  return read_rows(statement.add(device).add(setting).add(format),
                   std::numeric_limits<std::size_t>::max());
}

Result<RowId> Table::put_row(DeviceId device, SettingId setting, std::optional<CampaignId> campaign,
                             const Row& row) {
  OPLAT_CHECK(validate_key(row.key));
  OPLAT_CHECK(validate_number("reuse_bytes", row.reuse_bytes));
  OPLAT_CHECK(validate_text("origin", row.origin));
  OPLAT_TRY(outcome, OutcomeCells::make(row.outcome, row.method));
  auto id = impl_->write_for<RowId>([&]() -> Result<RowId> {
    Database& database = *impl_->database;
    OPLAT_TRY(kernel, impl_->put_kernel(row.key));
    if (row.origin == "own") {
      OPLAT_TRY(found, find_own_row(database, kernel, device, setting, row.reuse_bytes));
      if (found) {
        OPLAT_CHECK(update_row(database, *found, campaign, outcome));
        return *found;
      }
    }
    return insert_row(database, kernel, device, setting, campaign, row, outcome);
  });
  impl_->rows_memo.erase({row.key, device, setting});
  return id;
}

}  // namespace oplat::table
