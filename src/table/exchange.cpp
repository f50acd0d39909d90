// SPDX-License-Identifier: Apache-2.0
/// Importing once, exporting what was imported and what was measured since.
#include "oplat/table/exchange.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "oplat/base/text.hpp"

namespace oplat::table {
namespace {

constexpr std::size_t kMostLeftKeys = 10;

/// What of an earlier import bears on this one.
struct Standing {
  bool same_bytes = false;
  std::optional<FileId> same_name;
};

Result<Standing> standing(const Table& table, const ImportRequest& request) {
  Standing found;
  OPLAT_TRY(device, table.find_device(request.device));
  OPLAT_TRY(setting, table.find_setting(request.setting));
  if (!device || !setting) return found;
  OPLAT_TRY(files, table.foreign_files());
  for (const StoredForeignFile& file : files) {
    if (file.device != *device || file.setting != *setting || file.origin.format != request.origin.format) continue;
    if (file.origin.hash == request.origin.hash) found.same_bytes = true;
    if (file.origin.name == request.origin.name) found.same_name = file.id;
  }
  return found;
}

/// Another file's rows after those that are there.
void append(ForeignFile& all, ForeignFile file) {
  // A last line without an end gets one, now that it is the last no more.
  std::string between = std::move(all.tail);
  if (!between.empty() && between.back() != '\n') between += '\n';
  between += file.head;
  if (file.rows.empty()) {
    all.tail = between + file.tail;
    return;
  }
  file.rows.front().before = between + file.rows.front().before;
  std::move(file.rows.begin(), file.rows.end(), std::back_inserter(all.rows));
  all.tail = std::move(file.tail);
}

/// Rows of oplat's own that the format can say, one a key where they have cache states: libraries hold times of kernels
/// that are called again and again.
ForeignFile hottest(std::vector<StoredRow> rows, const TableCodec& codec, Exported& exported) {
  ForeignFile file;
  struct At {
    std::size_t index;
    double reuse_bytes;
  };
  std::unordered_map<std::string, At> states;
  for (StoredRow& stored : rows) {
    Row& row = stored.row;
    if (!codec.accepts(row.key)) {
      if (exported.left_keys.size() < kMostLeftKeys) exported.left_keys.push_back(row.key);
      ++exported.left_out;
      continue;
    }
    if (row.reuse_bytes) {
      const auto [at, is_new] = states.try_emplace(row.key, At{file.rows.size(), *row.reuse_bytes});
      if (!is_new) {
        if (*row.reuse_bytes < at->second.reuse_bytes) {
          at->second.reuse_bytes = *row.reuse_bytes;
          file.rows[at->second.index].outcome = std::move(row.outcome);
        }
        continue;
      }
    }
    file.rows.push_back({std::move(row.key), std::move(row.outcome), {}, {}});
  }
  return file;
}

}  // namespace

Result<ImportOutcome> import_foreign(Table& table, const ImportRequest& request, const ForeignFile& file) {
  OPLAT_TRY(found, standing(table, request));
  if (found.same_bytes) return ImportOutcome::Unchanged;
  if (found.same_name && !request.replace) {
    return fail(Code::Refused, "{}: holds the rows of another {} for {} on device {}; put these in their place with --replace, "
                "or import them under another file name to keep both", table.path().string(),
                base::printable(request.origin.name), describe(request.setting), base::printable(request.device));
  }
  const Status stored = table.transaction([&]() -> Status {
    OPLAT_TRY(known, table.find_device(request.device));
    std::optional<DeviceId> device = known;
    if (!device) {
      Device added;
      added.name = request.device;
      OPLAT_TRY(id, table.put_device(added));
      device = id;
    }
    OPLAT_TRY(setting, table.put_setting(request.setting));
    OPLAT_CHECK(table.add_foreign(*device, setting, request.origin, file));
    return found.same_name ? table.remove_foreign(*found.same_name) : Status{};
  });
  if (!stored) return fail(stored.error());
  return found.same_name ? ImportOutcome::Replaced : ImportOutcome::Added;
}

Result<Exported> export_foreign(const Table& table, const TableCodec& codec, DeviceId device, SettingId setting) {
  Exported exported;
  ForeignFile all;
  OPLAT_TRY(files, table.foreign_files());
  bool first = true;
  for (const StoredForeignFile& stored : files) {
    if (stored.device != device || stored.setting != setting || stored.origin.format != codec.name()) continue;
    OPLAT_TRY(file, table.foreign_file(stored.id));
    if (first) {
      all = std::move(file);
    } else {
      append(all, std::move(file));
    }
    first = false;
  }
  OPLAT_TRY(own, table.rows_of_no_file(device, setting));
  ForeignFile measured = hottest(std::move(own), codec, exported);
  if (!measured.rows.empty()) append(all, std::move(measured));
  exported.rows = all.rows.size();
  if (exported.rows == 0) {
    return fail(Code::Refused, "{}: none of its rows for this device and setting can be said in the format {}{}",
                table.path().string(), codec.name(),
                exported.left_keys.empty() ? "" : fmt::format("; the first of {} is of {}", exported.left_out,
                                                              base::printable(exported.left_keys.front(), 200)));
  }
  OPLAT_TRY(bytes, codec.write(all));
  exported.bytes = std::move(bytes);
  return exported;
}

}  // namespace oplat::table
