// SPDX-License-Identifier: Apache-2.0
/// Look-ups by the original's rule in a table.
#include "oplat/table/lut_rows.hpp"

#include <utility>

#include "table/limits.hpp"

namespace oplat::table {

Result<LutFound> LutRows::find(const ir::LutQuery& query) {
  const base::Hash128 identity = lut_identity(query, {});
  if (const auto at = memo_.find(identity); at != memo_.end()) return at->second;
  OPLAT_TRY(found, look_up(query));
  if (memo_.size() >= kMostMemo) memo_.clear();
  return memo_.emplace(identity, std::move(found)).first->second;
}

Result<LutFound> LutRows::look_up(const ir::LutQuery& query) const {
  const std::string key = lut_key_text(query);
  for (const SettingId setting : settings_) {
    OPLAT_TRY(rows, table_->rows_of(key, device_, setting));
    OPLAT_TRY(found, found_in(rows, query));
    if (!found.times.empty()) return found;
  }
  return LutFound{};
}

Result<LutFound> LutRows::found_in(const std::vector<StoredRow>& rows, const ir::LutQuery& query) const {
  const base::Hash128 asked = lut_identity(query, {});
  std::vector<LutRecord> records;
  bool measured = false;
  for (const StoredRow& stored : rows) {
    const auto* timing = std::get_if<Timing>(&stored.row.outcome);
    if (timing == nullptr) continue;
    OPLAT_TRY(text, table_->foreign_text(stored.id));
    if (text) {
      OPLAT_TRY(record, read_lut_record(*text));
      if (lut_identity(record.query, {}) != asked) continue;
      // The line's bytes are gone after this step.
      record.before = record.text = {};
      records.push_back(std::move(record));
      continue;
    }
    // Rows of oplat's own have several cache states; the first is the hottest, as the original's loop has it.
    if (measured) continue;
    measured = true;
    LutRecord& record = records.emplace_back();
    record.query = query;
    record.p50 = lut_time_of_ns(timing->median_ns);
  }
  LutFound found;
  std::vector<const LutRecord*> equal;
  for (const LutRecord& record : records) {
    found.times.push_back(record.p50);
    equal.push_back(&record);
  }
  found.contradiction = contradiction(equal);
  return found;
}

}  // namespace oplat::table
