// SPDX-License-Identifier: Apache-2.0
/// What a table holds in numbers, and whether the file is sound.
#include <array>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/table.hpp"

namespace oplat::table {
namespace {

// Lines are summed, not counted: count(*) walks the pages inside one step of SQLite's machine,
// where a file whose pages name one another in circles could not be stopped.
constexpr std::array<std::pair<std::int64_t Counts::*, std::string_view>, 10> kSimpleCounts{{
    {&Counts::devices, "SELECT coalesce(sum(1), 0) FROM device"},
    {&Counts::settings, "SELECT coalesce(sum(1), 0) FROM setting"},
    {&Counts::campaigns, "SELECT coalesce(sum(1), 0) FROM campaign"},
    {&Counts::kernels, "SELECT coalesce(sum(1), 0) FROM kernel"},
    {&Counts::foreign, "SELECT coalesce(sum(origin <> 'own'), 0) FROM \"row\""},
    {&Counts::blocks, "SELECT coalesce(sum(1), 0) FROM block"},
    {&Counts::model_rows, "SELECT coalesce(sum(1), 0) FROM model_row"},
    {&Counts::model_blocks, "SELECT coalesce(sum(1), 0) FROM model_block"},
    {&Counts::plans, "SELECT coalesce(sum(1), 0) FROM plan"},
    {&Counts::fits, "SELECT coalesce(sum(1), 0) FROM fit"},
}};

Status count_outcomes(Database& database, Counts& counts) {
  OPLAT_TRY(statement, database.prepare("SELECT sum(1), outcome FROM \"row\" GROUP BY outcome"));
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return {};
    Cells cells(statement, "rows of an outcome:");
    const std::string outcome = cells.text(1);
    OPLAT_CHECK(cells.status());
    if (outcome == "timing") {
      counts.timings = cells.id();
    } else if (outcome == "unsupported") {
      counts.unsupported = cells.id();
    } else if (outcome == "skipped") {
      counts.skipped = cells.id();
    } else if (outcome == "failed") {
      counts.failed = cells.id();
    } else {
      return database.corrupt("{} rows hold the unknown outcome '{}'", cells.id(),
                              base::printable(outcome));
    }
  }
}

using Pair = std::pair<DeviceId, SettingId>;
constexpr std::int64_t kBeforeAllIds = std::numeric_limits<std::int64_t>::min();

/// The pair of a line whose first columns are device and setting.
Result<std::optional<Pair>> read_pair(Statement& statement) {
  OPLAT_TRY(line, statement.step());
  if (!line) return std::nullopt;
  Cells cells(statement, "rows of device");
  const Pair pair{cells.id(), cells.integer(1)};
  OPLAT_CHECK(cells.status());
  return std::optional(pair);
}

/// The next pair under which rows stand. Two searches: SQLite would scan every row of the device
/// for one comparison of pairs.
Result<std::optional<Pair>> pair_after(Database& database, const Pair& at) {
  OPLAT_TRY(
      same_device,
      database.prepare("SELECT device, setting FROM \"row\" WHERE device = ?1 AND setting > ?2 "
                       "ORDER BY setting LIMIT 1"));
  OPLAT_TRY(found, read_pair(same_device.add(at.first).add(at.second)));
  if (found) return found;
  OPLAT_TRY(later_device, database.prepare("SELECT device, setting FROM \"row\" WHERE device > ?1 "
                                           "ORDER BY device, setting LIMIT 1"));
  return read_pair(later_device.add(at.first));
}

constexpr std::size_t kMaxFindings = 100;

Status add_findings(Database& database, std::string_view sql, std::vector<std::string>& findings) {
  OPLAT_TRY(statement, database.prepare(sql));
  while (findings.size() < kMaxFindings) {
    OPLAT_TRY(line, statement.step());
    if (!line) return {};
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.handle(), 0));
    const std::string finding = text == nullptr ? "unnamed finding" : base::printable(text, 400);
    if (finding != "ok") findings.push_back(finding);
  }
  return {};
}

}  // namespace

Result<std::vector<Context>> Table::contexts() const {
  OPLAT_TRY(statement, impl_->database->prepare(
                           "SELECT device, setting, sum(1), sum(outcome = 'timing') FROM \"row\" "
                           "GROUP BY device, setting"));
  std::vector<Context> all;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return all;
    Cells cells(statement, "rows of device");
    all.push_back({cells.id(), cells.integer(1), cells.count(2), cells.count(3)});
    OPLAT_CHECK(cells.status());
  }
}

Result<std::vector<ContextOutline>> Table::context_outlines() const {
  Database& database = *impl_->database;
  std::vector<ContextOutline> all;
  Pair at{kBeforeAllIds, kBeforeAllIds};
  while (true) {
    OPLAT_TRY(found, pair_after(database, at));
    if (!found) return all;
    // A damaged index can lead in circles.
    if (*found <= at)
      return database.corrupt("rows of device {}, setting {} appear twice", found->first,
                              found->second);
    at = *found;
    OPLAT_TRY(any_timing,
              database.prepare("SELECT 1 FROM \"row\" WHERE device = ?1 AND setting = ?2 AND "
                               "outcome = 'timing' LIMIT 1"));
    OPLAT_TRY(timed, any_timing.add(at.first).add(at.second).step());
    all.push_back({at.first, at.second, timed});
  }
}

Result<Context> Table::context_of(DeviceId device, SettingId setting) const {
  OPLAT_TRY(statement, impl_->database->prepare(
                           "SELECT ?1, coalesce(sum(1), 0), coalesce(sum(outcome = 'timing'), 0) "
                           "FROM \"row\" WHERE device = ?1 AND setting = ?2"));
  OPLAT_TRY(line, statement.add(device).add(setting).step());
  if (!line) return Context{device, setting, 0, 0};
  Cells cells(statement, "rows of device");
  const Context context{device, setting, cells.count(1), cells.count(2)};
  OPLAT_CHECK(cells.status());
  return context;
}

Result<Counts> Table::counts() const {
  Counts counts;
  for (const auto& [field, sql] : kSimpleCounts) {
    OPLAT_TRY(number, impl_->database->integer(sql));
    counts.*field = number;
  }
  OPLAT_CHECK(count_outcomes(*impl_->database, counts));
  return counts;
}

Result<std::vector<std::string>> Table::integrity() const {
  std::vector<std::string> findings;
  OPLAT_CHECK(add_findings(*impl_->database, "PRAGMA integrity_check(100)", findings));
  OPLAT_CHECK(add_findings(
      *impl_->database,
      "SELECT \"table\" || ' ' || coalesce(rowid, '?') || ': refers to a line of ' || parent || "
      "' that does not exist' FROM pragma_foreign_key_check",
      findings));
  return findings;
}

}  // namespace oplat::table
