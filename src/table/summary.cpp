// SPDX-License-Identifier: Apache-2.0
/// What a table holds in numbers, and whether the file is sound.
#include <array>
#include <utility>

#include "oplat/base/text.hpp"
#include "oplat/table/table.hpp"
#include "table/cells.hpp"
#include "table/impl.hpp"

namespace oplat::table {
namespace {

// Lines are summed, not counted: count(*) walks the pages inside one step of SQLite's machine, where a file whose pages
// name one another in circles could not be stopped.
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
      return database.corrupt("{} rows hold the outcome '{}', which is none", cells.id(), base::printable(outcome));
    }
  }
}

constexpr std::size_t kMostFindings = 100;

Status add_findings(Database& database, std::string_view sql, std::vector<std::string>& findings) {
  OPLAT_TRY(statement, database.prepare(sql));
  while (findings.size() < kMostFindings) {
    OPLAT_TRY(line, statement.step());
    if (!line) return {};
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement.handle(), 0));
    const std::string finding = text == nullptr ? "unnamed finding" : base::printable(text, 400);
    if (finding != "ok") findings.push_back(finding);
  }
  return {};
}

}  // namespace

Result<std::vector<Population>> Table::populations() const {
  OPLAT_TRY(statement, impl_->database->prepare("SELECT device, setting, sum(1), sum(outcome = 'timing') FROM \"row\" "
                                                "GROUP BY device, setting"));
  std::vector<Population> all;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return all;
    Cells cells(statement, "rows of device");
    all.push_back({cells.id(), cells.integer(1), cells.count(2), cells.count(3)});
    OPLAT_CHECK(cells.status());
  }
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
  OPLAT_CHECK(add_findings(*impl_->database,
                           "SELECT \"table\" || ' ' || coalesce(rowid, '?') || ': refers to a line of ' || parent || "
                           "' that does not exist' FROM pragma_foreign_key_check",
                           findings));
  return findings;
}

}  // namespace oplat::table
