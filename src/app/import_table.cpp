// SPDX-License-Identifier: Apache-2.0
#include "app/import_table.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"

namespace oplat::app {
namespace {

/// A file of a few million rows; the largest library known has 100,000.
constexpr std::uint64_t kMaxImportBytes = std::uint64_t{128} << 20;

void warn_of_left_out(const std::string& file, const table::ForeignRead& read, Events& events) {
  if (read.skipped == 0) return;
  events.warn(fmt::format("{}: {} left out; an export writes {} back", file,
                          base::counted(read.skipped, "malformed row was", "malformed rows were"),
                          base::one_or_many(read.skipped, "it", "them")));
  for (const std::string& note : read.notes) events.warn(fmt::format("{}: {}", file, note));
  if (read.skipped > read.notes.size())
    events.warn(fmt::format("{}: and {} more", file, read.skipped - read.notes.size()));
}

/// The devices that rows name themselves, in order of first appearance.
std::vector<std::string> devices_of(const table::ForeignFile& file) {
  std::vector<std::string> devices;
  std::unordered_set<std::string_view> seen;
  for (const table::ForeignRow& row : file.rows) {
    if (!row.device.empty() && seen.insert(row.device).second) devices.push_back(row.device);
  }
  return devices;
}

/// The device of the file: `known` from request or name; or what its rows say, of which the request
/// can only choose one.
Result<std::string> device_of(const ImportTableRequest& request,
                              const std::optional<std::string>& known,
                              const std::vector<std::string>& devices) {
  if (devices.empty() && known) return *known;
  if (devices.empty())
    return fail(
        Code::Usage,
        "{}: neither the file's name nor its content names the device; set it with --device",
        request.file);
  if (!request.device) return devices.front();
  if (std::find(devices.begin(), devices.end(), *request.device) != devices.end())
    return *request.device;
  return fail(Code::Usage,
              "--device {}: the rows of {} name the device themselves ({}); omit the flag",
              base::printable(*request.device), request.file,
              base::printable(base::join(devices, ", "), 400));
}

}  // namespace

Result<ImportTableResult> import_table(const ImportTableRequest& request, Events& events) {
  OPLAT_TRY(codec, compat::find_codec(request.format));
  if (request.device && request.device->empty()) {
    return fail(Code::Usage,
                "--device: the name is empty; name the device on which the rows were measured");
  }
  table::ImportRequest import;
  import.origin.format = codec->name();
  import.origin.name = std::filesystem::path(request.file).filename().string();
  import.replace = request.replace;
  const auto known = request.device ? request.device : codec->device_of_file(import.origin.name);
  if (!known && !codec->may_name_device()) {
    return fail(Code::Usage,
                "{}: neither the file's name nor its rows name the device; set it with --device",
                request.file);
  }
  OPLAT_TRY(setting, codec->setting(import.origin.name, request.precision));

  OPLAT_TRY(bytes, base::read_file(request.file, kMaxImportBytes));
  import.origin.hash = base::hash128(bytes);
  OPLAT_TRY(read, codec->read(bytes, {request.file, setting.precision, request.skip_bad_rows}));
  // Rows that do not say their precision have that of the others.
  if (request.precision.empty() && read.told.precision &&
      *read.told.precision != setting.precision) {
    setting.precision = *read.told.precision;
    OPLAT_TRY(again, codec->read(bytes, {request.file, setting.precision, request.skip_bad_rows}));
    read = std::move(again);
  }
  ImportTableResult result;
  result.devices = devices_of(read.file);
  OPLAT_TRY(device, device_of(request, known ? known : read.told.device, result.devices));
  if (result.devices.empty()) result.devices.push_back(device);
  import.device = device;
  if (!request.runtime.empty()) setting.runtime = request.runtime;
  setting.version = request.runtime_version.empty() ? read.told.version : request.runtime_version;
  if (const auto threads = request.threads ? request.threads : read.told.threads)
    setting.threads = *threads;
  for (const auto& [name, value] : read.told.options) setting.options[name] = value;
  import.setting = setting;
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Create, compat::codecs()));
  OPLAT_TRY(outcome, table::import_foreign(table, *codec, import, read.file));
  warn_of_left_out(request.file, read, events);
  for (const std::string& one : read.warnings)
    events.warn(fmt::format("{}: {}", request.file, one));
  result.outcome = outcome;
  result.setting = std::move(setting);
  result.rows = read.file.rows.size();
  for (const table::ForeignRow& row : read.file.rows)
    result.timed += std::holds_alternative<table::Timing>(row.outcome) ? 1U : 0U;
  return result;
}

std::string import_text(const ImportTableRequest& request, const ImportTableResult& result) {
  const std::string where = fmt::format("{} on device {}", table::describe(result.setting),
                                        base::printable(base::join(result.devices, ", "), 400));
  const std::string table = base::printable(request.table, 400);
  if (result.outcome == table::ImportOutcome::Unchanged)
    return fmt::format("{}: already holds these rows of {}; nothing was changed\n", table, where);
  return fmt::format("{}: {} rows, {} with a time and {} failed, of {}{}\n", table, result.rows,
                     result.timed, result.rows - result.timed, where,
                     result.outcome == table::ImportOutcome::Replaced
                         ? "; they replace earlier rows of this file"
                         : "");
}

}  // namespace oplat::app
