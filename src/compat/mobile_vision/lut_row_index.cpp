// SPDX-License-Identifier: Apache-2.0
/// The index as a fit: found by the pair, and void once other rows stand there.
#include "compat/mobile_vision/lut_row_index.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/bytes.hpp"
#include "table/limits.hpp"

namespace oplat::compat::mobile_vision {
namespace {

constexpr std::string_view kFormat = "oplat.lut-index/1";
constexpr std::size_t kEntryBytes = 40;  // identity, us, ns, whole
constexpr std::size_t kMaxEntries = (table::kMaxFit - sizeof(std::uint64_t)) / kEntryBytes;

bool is_time(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

Result<std::optional<LutRowIndex>> LutRowIndex::load(const table::Table& table,
                                                     table::DeviceId device,
                                                     table::SettingId setting) {
  OPLAT_TRY(found, table.find_fit(kFormat, device, setting));
  if (!found || !found->current) return std::nullopt;
  return decode(found->fit.blob);
}

Status LutRowIndex::store(table::Table& table, table::DeviceId device, table::SettingId setting) {
  OPLAT_TRY(lines, table.foreign_texts_of(device, setting));
  if (lines.size() > kMaxEntries) return {};
  LutRowIndex index;
  index.entries_.reserve(lines.size());
  for (const std::optional<std::string>& line : lines) {
    if (!line) return {};
    const auto record = read_lut_record(*line);
    if (!record) return {};  // whoever looks the row up is told
    index.entries_.push_back({lut_identity(record->query, {}), record->p50});
  }
  std::stable_sort(index.entries_.begin(), index.entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.identity < b.identity; });
  return table.put_fit(device, setting, {std::string(kFormat), 0, index.encode()});
}

std::vector<LutTime> LutRowIndex::find(const base::Hash128& identity) const {
  std::vector<LutTime> times;
  auto at = std::partition_point(entries_.begin(), entries_.end(),
                                 [&](const Entry& e) { return e.identity < identity; });
  for (; at != entries_.end() && at->identity == identity; ++at) times.push_back(at->time);
  return times;
}

std::optional<LutRowIndex> LutRowIndex::decode(std::string_view blob) {
  base::ByteReader reader(blob);
  LutRowIndex index;
  index.entries_.resize(reader.count(kEntryBytes));
  for (Entry& entry : index.entries_) {
    entry.identity.high = reader.u64();
    entry.identity.low = reader.u64();
    entry.time.us = reader.f64();
    entry.time.ns = reader.f64();
    entry.time.whole = reader.u64() != 0;
    if (!is_time(entry.time.us) || !is_time(entry.time.ns)) return std::nullopt;
  }
  const bool sorted =
      std::is_sorted(index.entries_.begin(), index.entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.identity < b.identity; });
  if (!reader.done() || !sorted) return std::nullopt;
  return index;
}

std::string LutRowIndex::encode() const {
  base::ByteWriter writer;
  writer.u64(entries_.size());
  for (const Entry& entry : entries_) {
    writer.u64(entry.identity.high);
    writer.u64(entry.identity.low);
    writer.f64(entry.time.us);
    writer.f64(entry.time.ns);
    writer.u64(entry.time.whole ? 1 : 0);
  }
  return writer.take();
}

}  // namespace oplat::compat::mobile_vision
