// SPDX-License-Identifier: Apache-2.0
/// The index as a fit: found by the pair, and void once other rows stand there.
#include "table/codecs/lut_row_index.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "oplat/base/bytes.hpp"
#include "table/limits.hpp"

namespace oplat::table {
namespace {

constexpr std::string_view kFormat = "oplat.lut-index/1";
constexpr std::size_t kEntryBytes = 40;  // identity, us, ns, whole
/// Some for the files.
constexpr std::size_t kMostEntries = (kMostFit >> 1) / kEntryBytes;

bool is_time(double value) { return std::isfinite(value) && value >= 0; }

/// The files whose lines may stand under the pair.
Result<std::vector<StoredForeignFile>> files_of(const Table& table, SettingId setting) {
  OPLAT_TRY(files, table.foreign_files());
  std::erase_if(files, [&](const StoredForeignFile& file) { return file.setting != setting || file.origin.format != "lut"; });
  return files;
}

std::vector<FileId> ids_of(const std::vector<StoredForeignFile>& files) {
  std::vector<FileId> ids;
  for (const StoredForeignFile& file : files) ids.push_back(file.id);
  return ids;
}

}  // namespace

Result<std::optional<LutRowIndex>> LutRowIndex::load(const Table& table, DeviceId device, SettingId setting) {
  OPLAT_TRY(found, table.find_fit(kFormat, device, setting));
  if (!found || !found->current) return std::nullopt;
  auto index = decode(found->fit.blob);
  if (!index) return std::nullopt;
  // A fit does not notice rows that go; they go with their file.
  OPLAT_TRY(files, files_of(table, setting));
  if (index->files_ != ids_of(files)) return std::nullopt;
  return index;
}

Status LutRowIndex::store(Table& table, DeviceId device, SettingId setting) {
  OPLAT_TRY(own, table.rows_of_no_file(device, setting));
  if (!own.empty()) return {};
  OPLAT_TRY(name, table.device_name(device));
  OPLAT_TRY(files, files_of(table, setting));
  LutRowIndex index;
  index.files_ = ids_of(files);
  for (const StoredForeignFile& stored : files) {
    OPLAT_TRY(file, table.foreign_file(stored.id));
    for (const ForeignRow& row : file.rows) {
      if (!row.text || !(row.device.empty() ? stored.device == device : row.device == name)) continue;
      OPLAT_TRY(record, read_lut_record(*row.text));
      index.entries_.push_back({lut_identity(record.query, {}), record.p50});
    }
  }
  if (index.entries_.size() > kMostEntries) return {};
  std::stable_sort(index.entries_.begin(), index.entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.identity < b.identity; });
  return table.put_fit(device, setting, {std::string(kFormat), 0, index.encode()});
}

std::vector<LutTime> LutRowIndex::find(const base::Hash128& identity) const {
  std::vector<LutTime> times;
  auto at = std::partition_point(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.identity < identity; });
  for (; at != entries_.end() && at->identity == identity; ++at) times.push_back(at->time);
  return times;
}

std::optional<LutRowIndex> LutRowIndex::decode(std::string_view blob) {
  base::ByteReader reader(blob);
  LutRowIndex index;
  index.files_.resize(reader.count(sizeof(std::uint64_t)));
  for (FileId& file : index.files_) file = static_cast<FileId>(reader.u64());
  index.entries_.resize(reader.count(kEntryBytes));
  for (Entry& entry : index.entries_) {
    entry.identity.high = reader.u64();
    entry.identity.low = reader.u64();
    entry.time.us = reader.f64();
    entry.time.ns = reader.f64();
    entry.time.whole = reader.u64() != 0;
    if (!is_time(entry.time.us) || !is_time(entry.time.ns)) return std::nullopt;
  }
  const bool sorted = std::is_sorted(index.entries_.begin(), index.entries_.end(),
                                     [](const Entry& a, const Entry& b) { return a.identity < b.identity; });
  if (!reader.done() || !sorted) return std::nullopt;
  return index;
}

std::string LutRowIndex::encode() const {
  base::ByteWriter writer;
  writer.u64(files_.size());
  for (const FileId file : files_) writer.u64(static_cast<std::uint64_t>(file));
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

}  // namespace oplat::table
