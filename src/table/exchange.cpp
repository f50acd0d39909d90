// SPDX-License-Identifier: Apache-2.0
/// Importing once, exporting what was imported and what was measured since.
#include "table/exchange.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"

namespace oplat::table {
namespace {

constexpr std::size_t kMaxLeftKeys = 10;

/// What of an earlier import bears on this one.
struct Standing {
  bool same_bytes = false;       ///< under whatever name
  std::vector<FileId> outdated;  ///< other bytes under this name
};

/// The devices that the rows of a file will stand under, by name.
std::set<std::string> devices_of(const ImportRequest& request, const ForeignFile& file) {
  std::set<std::string> names;
  for (const ForeignRow& row : file.rows)
    names.insert(row.device.empty() ? request.device : row.device);
  if (names.empty()) names.insert(request.device);
  return names;
}

/// Earlier imports of the same bytes or the same file name, for this setting.
Result<std::vector<StoredForeignFile>> alike(const Table& table, const ImportRequest& request) {
  OPLAT_TRY(setting, table.find_setting(request.setting));
  OPLAT_TRY(files, table.foreign_files());
  std::erase_if(files, [&](const StoredForeignFile& file) {
    return file.setting != setting || file.origin.format != request.origin.format ||
           (file.origin.hash != request.origin.hash && file.origin.name != request.origin.name);
  });
  return std::move(files);
}

/// Rows may name their devices: a file is the one of before if any of its rows stands under one of
/// the same devices, whichever device was said to be the file's. Phones of which each has a file of
/// one name are kept apart.
Result<Standing> standing(const Table& table, const ImportRequest& request,
                          const ForeignFile& file) {
  Standing found;
  OPLAT_TRY(earlier, alike(table, request));
  if (earlier.empty()) return found;
  OPLAT_TRY(devices, table.foreign_devices());
  const std::set<std::string> names = devices_of(request, file);
  std::set<DeviceId> ours;
  for (const std::string& name : names) {
    OPLAT_TRY(device, table.find_device(name));
    if (device) ours.insert(*device);
  }
  for (const StoredForeignFile& one : earlier) {
    std::set<DeviceId>& theirs = devices[one.id];
    if (theirs.empty()) theirs.insert(one.device);
    if (one.origin.hash == request.origin.hash && ours.size() == names.size() && ours == theirs) {
      found.same_bytes = true;
      continue;
    }
    const bool shared = std::any_of(theirs.begin(), theirs.end(),
                                    [&](DeviceId device) { return ours.contains(device); });
    if (shared && one.origin.name == request.origin.name) found.outdated.push_back(one.id);
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

/// Rows that no file of the format holds, those that it can say. Of oplat's own one a key where
/// they have cache states: libraries hold times of kernels that are called again and again.
Result<std::vector<StoredRow>> hottest(const Table& table, DeviceId device, SettingId setting,
                                       const TableCodec& codec, Exported& exported) {
  OPLAT_TRY(rows, table.rows_beside(device, setting, codec.name()));
  std::vector<StoredRow> chosen;
  std::unordered_map<std::string, std::size_t> states;
  for (StoredRow& stored : rows) {
    const Row& row = stored.row;
    if (!codec.accepts(row.key, std::holds_alternative<Timing>(row.outcome))) {
      if (exported.left_keys.size() < kMaxLeftKeys) exported.left_keys.push_back(row.key);
      ++exported.left_out;
      continue;
    }
    if (row.reuse_bytes) {
      const auto [at, is_new] = states.try_emplace(row.key, chosen.size());
      if (!is_new) {
        StoredRow& other = chosen[at->second];
        if (*row.reuse_bytes < *other.row.reuse_bytes) other = std::move(stored);
        continue;
      }
    }
    chosen.push_back(std::move(stored));
  }
  return chosen;
}

/// A time of one more row that the format cannot tell from those before it: as many calls of each
/// are expected.
void take_into(Timing& all, const Timing& one, std::size_t rows_before) {
  const auto before = static_cast<double>(rows_before);
  const auto mean = [&](double a, double b) { return (a * before + b) / (before + 1); };
  all.median_ns = mean(all.median_ns, one.median_ns);
  all.ci_low_ns = std::min(all.ci_low_ns, one.ci_low_ns);
  all.ci_high_ns = std::max(all.ci_high_ns, one.ci_high_ns);
  all.min_ns = std::min(all.min_ns, one.min_ns);
  all.p10_ns = std::min(all.p10_ns, one.p10_ns);
  all.p90_ns = std::max(all.p90_ns, one.p90_ns);
}

/// Those rows, each text once. What an imported file of the format says itself counts before
/// another format's row.
Result<ForeignFile> beside(const Table& table, std::vector<StoredRow> rows,
                           const ForeignFile& files, const std::string& device,
                           const TableCodec& codec, Exported& exported) {
  std::unordered_set<std::string> told;
  const auto is_foreign = [](const StoredRow& stored) { return stored.row.origin != "own"; };
  if (std::any_of(rows.begin(), rows.end(), is_foreign)) {
    for (const ForeignRow& row : files.rows) told.insert(codec.identity(row.key));
  }
  ForeignFile file;
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>>
      places;  // of the row, and how many are in it
  for (StoredRow& stored : rows) {
    std::string identity = codec.identity(stored.row.key);
    if (is_foreign(stored) && told.contains(identity)) {
      ++exported.told_already;
      continue;
    }
    const auto [at, is_new] = places.try_emplace(std::move(identity), file.rows.size(), 1);
    if (!is_new) {
      auto* all = std::get_if<Timing>(&file.rows[at->second.first].outcome);
      const auto* one = std::get_if<Timing>(&stored.row.outcome);
      if (all != nullptr && one != nullptr) {
        take_into(*all, *one, at->second.second++);
        ++exported.merged;
        continue;
      }
    }
    OPLAT_TRY(slowest, slowest_block(table, stored.id));
    file.rows.push_back(
        {std::move(stored.row.key), std::move(stored.row.outcome), {}, {}, device, slowest});
  }
  return file;
}

/// Rows of a file that stand under this device, each with its own text; what stands between rows is
/// the file's.
ForeignFile rows_of_device(ForeignFile file, const std::string& device) {
  std::erase_if(file.rows, [&](const ForeignRow& row) { return row.device != device; });
  file.head.clear();
  file.tail.clear();
  for (ForeignRow& row : file.rows) row.before.clear();
  return file;
}

}  // namespace

Result<ImportOutcome> import_foreign(Table& table, const TableCodec& codec,
                                     const ImportRequest& request, const ForeignFile& file) {
  OPLAT_TRY(found, standing(table, request, file));
  if (found.same_bytes && found.outdated.empty()) return ImportOutcome::Unchanged;
  if (!found.outdated.empty() && !request.replace) {
    return fail(Code::Refused,
                "{}: already holds rows of another {} for {} on device {}; replace them with "
                "--replace, or import under another file name to keep both",
                table.path().string(), base::printable(request.origin.name),
                describe(request.setting), base::printable(request.device));
  }
  const Status stored = table.transaction([&]() -> Status {
    OPLAT_TRY(device, table.find_or_put_device(request.device));
    OPLAT_TRY(setting, table.put_setting(request.setting));
    if (!found.same_bytes) OPLAT_CHECK(table.add_foreign(device, setting, request.origin, file));
    for (const FileId outdated : found.outdated) OPLAT_CHECK(table.remove_foreign(outdated));
    // Rows may stand under devices that they name themselves.
    OPLAT_TRY(contexts, table.context_outlines());
    for (const ContextOutline& context : contexts) {
      if (context.setting == setting) OPLAT_CHECK(codec.index(table, context.device, setting));
    }
    return {};
  });
  if (!stored) return fail(stored.error());
  return found.outdated.empty() ? ImportOutcome::Added : ImportOutcome::Replaced;
}

Result<std::optional<double>> slowest_block(const Table& table, RowId row) {
  OPLAT_TRY(blocks, table.blocks_of(row));
  std::optional<double> slowest;
  for (const Block& block : blocks) slowest = std::max(slowest.value_or(0), block.value_ns);
  return slowest;
}

Result<Exported> export_foreign(const Table& table, const TableCodec& codec, DeviceId device,
                                SettingId setting) {
  Exported exported;
  ForeignFile all;
  OPLAT_TRY(files, table.foreign_files());
  OPLAT_TRY(name, table.device_name(device));
  bool first = true;
  for (const StoredForeignFile& stored : files) {
    if (stored.setting != setting || stored.origin.format != codec.name()) continue;
    OPLAT_TRY(file, table.foreign_file(stored.id));
    if (stored.device != device) file = rows_of_device(std::move(file), name);
    if (stored.device != device && file.rows.empty()) continue;
    if (first) {
      all = std::move(file);
    } else {
      append(all, std::move(file));
    }
    first = false;
  }
  OPLAT_TRY(chosen, hottest(table, device, setting, codec, exported));
  OPLAT_TRY(others, beside(table, std::move(chosen), all, name, codec, exported));
  if (!others.rows.empty()) append(all, std::move(others));
  exported.rows = all.rows.size();
  if (exported.rows == 0) {
    return fail(Code::Refused,
                "{0}: the format {1} can represent none of its rows for this device and setting{2}",
                table.path().string(), codec.name(),
                exported.left_keys.empty()
                    ? ""
                    : fmt::format("; the first of {} has the key {}", exported.left_out,
                                  base::printable(exported.left_keys.front(), 200)));
  }
  OPLAT_TRY(settings, table.settings());
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const auto& each) { return each.first == setting; });
  OPLAT_TRY(bytes, codec.write(all, found == settings.end() ? Setting() : found->second));
  exported.bytes = std::move(bytes);
  return exported;
}

}  // namespace oplat::table
