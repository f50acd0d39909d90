// SPDX-License-Identifier: Apache-2.0
#include "app/export_table.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "app/table_source.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"

namespace oplat::app {
namespace {

using ExportPair = std::pair<table::DeviceId, table::SettingId>;

/// Device and setting whose imported files fit the filter; where there are none, those whose
/// measured rows do.
Result<ExportPair> choose_export(const table::Table& table, const table::TableCodec& codec,
                                 const predict::RowFilter& rows) {
  OPLAT_TRY(files, table.foreign_files());
  OPLAT_TRY(device_list, table.devices());
  OPLAT_TRY(setting_list, table.settings());
  const std::map<table::DeviceId, table::Device> devices(device_list.begin(), device_list.end());
  const std::map<table::SettingId, table::Setting> settings(setting_list.begin(),
                                                            setting_list.end());
  std::set<ExportPair> fitting;
  for (const table::StoredForeignFile& file : files) {
    const auto device = devices.find(file.device);
    const auto setting = settings.find(file.setting);
    if (file.origin.format != codec.name() || device == devices.end() || setting == settings.end())
      continue;
    if (predict::matches(rows, device->second, setting->second))
      fitting.emplace(file.device, file.setting);
  }
  if (fitting.empty()) {
    OPLAT_TRY(selection, select_rows(table, rows));
    return ExportPair{selection.device_id, selection.setting_ids.front()};
  }
  if (fitting.size() == 1) return *fitting.begin();
  std::vector<std::string> lines;
  for (const ExportPair& pair : fitting) {
    lines.push_back(fmt::format("{} on device {}", table::describe(settings.at(pair.second)),
                                base::printable(devices.at(pair.first).name)));
  }
  return fail(Code::Usage,
              "{}: holds several imports; choose one with --device, --precision, --runtime, "
              "--runtime-version, --threads or --option: {}",
              table.path().string(), base::join(lines, "; "));
}

}  // namespace

Result<ExportTableResult> export_table(const ExportTableRequest& request, Events& events) {
  OPLAT_TRY(codec, compat::find_codec(request.format));
  predict::RowFilter rows = request.rows;
  // The format's word for a precision, if it is one.
  if (rows.precision) {
    if (const auto asked = codec->setting("", *rows.precision)) rows.precision = asked->precision;
  }
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(pair, choose_export(table, *codec, rows));
  OPLAT_TRY(exported, table::export_foreign(table, *codec, pair.first, pair.second));
  OPLAT_CHECK(base::write_file(request.file, exported.bytes));
  if (exported.merged > 0) {
    events.warn(
        fmt::format("{} rows are averaged with others, since the format {} cannot distinguish them",
                    exported.merged, codec->name()));
  }
  if (exported.told_already > 0) {
    events.warn(fmt::format(
        "{} rows of other formats are left out, since rows imported from {} cover their operators",
        exported.told_already, codec->name()));
  }
  if (exported.left_out > 0) {
    events.warn(fmt::format("{} rows are left out, since the format {} cannot represent their keys",
                            exported.left_out, codec->name()));
    for (const std::string& key : exported.left_keys)
      events.warn(fmt::format("left out: {}", base::printable(key, 200)));
    if (exported.left_out > exported.left_keys.size()) {
      events.warn(fmt::format("and {} more", exported.left_out - exported.left_keys.size()));
    }
  }
  return ExportTableResult{exported.rows};
}

}  // namespace oplat::app
