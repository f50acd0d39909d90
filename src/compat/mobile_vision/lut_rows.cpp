// SPDX-License-Identifier: Apache-2.0
/// Look-ups by the original's rule in a table.
#include "compat/mobile_vision/lut_rows.hpp"

#include <algorithm>
#include <utility>

#include "compat/mobile_vision/lut_row_index.hpp"
#include "table/limits.hpp"

namespace oplat::compat::mobile_vision {
namespace {

LutFound found_of(const std::vector<LutRecord>& records) {
  LutFound found;
  std::vector<const LutRecord*> equal;
  for (const LutRecord& record : records) {
    found.times.push_back(record.p50);
    equal.push_back(&record);
  }
  found.contradiction = contradiction(equal);
  return found;
}

}  // namespace

struct LutRows::Source {
  table::SettingId setting = 0;
  bool asked = false;  ///< whether there is an index
  std::optional<LutRowIndex> index;
};

LutRows::LutRows(const table::Table& table, table::DeviceId device,
                 const std::vector<table::SettingId>& settings)
    : table_(&table), device_(device) {
  for (const table::SettingId setting : settings) sources_.push_back({setting, false, {}});
}
LutRows::LutRows(LutRows&&) noexcept = default;
LutRows& LutRows::operator=(LutRows&&) noexcept = default;
LutRows::~LutRows() = default;

Result<LutFound> LutRows::find(const formats::caffe2::LutQuery& query) {
  const base::Hash128 identity = lut_identity(query, {});
  if (const auto at = memo_.find(identity); at != memo_.end()) return at->second;
  LutFound found;
  bool read_rows = false;
  for (Source& source : sources_) {
    OPLAT_TRY(index, index_of(source));
    read_rows = read_rows || index == nullptr;
    auto here = index != nullptr ? in_index(*index, identity, query)
                                 : in_rows(source.setting, identity, query);
    if (!here) return fail(std::move(here).error());
    found = *std::move(here);
    if (!found.times.empty()) break;
  }
  if (!read_rows) return found;
  if (memo_.size() >= table::kMaxMemo) memo_.clear();
  return memo_.emplace(identity, std::move(found)).first->second;
}

Result<const LutRowIndex*> LutRows::index_of(Source& source) {
  if (!source.asked) {
    OPLAT_TRY(index, LutRowIndex::load(*table_, device_, source.setting));
    source.index = std::move(index);
    source.asked = true;
  }
  return source.index ? &*source.index : nullptr;
}

Result<LutFound> LutRows::in_index(const LutRowIndex& index, const base::Hash128& identity,
                                   const formats::caffe2::LutQuery& query) const {
  LutFound found;
  found.times = index.find(identity);
  if (found.times.size() < 2) return found;
  OPLAT_TRY(device, table_->device_name(device_));
  std::vector<LutRecord> records(found.times.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].query = query;
    records[i].device = device;
    records[i].p50 = found.times[i];
  }
  return found_of(records);
}

Result<LutFound> LutRows::in_rows(table::SettingId setting, const base::Hash128& identity,
                                  const formats::caffe2::LutQuery& query) const {
  OPLAT_TRY(rows, table_->rows_of(lut_key_text(query), device_, setting));
  std::vector<LutRecord> records;
  bool measured = false;
  for (const table::StoredRow& stored : rows) {
    const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
    if (timing == nullptr) continue;
    OPLAT_TRY(text, table_->foreign_text(stored.id));
    if (text) {
      OPLAT_TRY(record, read_lut_record(*text));
      if (lut_identity(record.query, {}) != identity) continue;
      // The line's bytes are gone after this step.
      record.before = record.text = {};
      records.push_back(std::move(record));
      continue;
    }
    // Rows of oplat's own have several cache states; the first is the hottest, as the original's
    // loop has it.
    if (measured) continue;
    measured = true;
    LutRecord& record = records.emplace_back();
    record.query = query;
    record.p50 = lut_time_of_ns(timing->median_ns);
  }
  return found_of(records);
}

}  // namespace oplat::compat::mobile_vision
