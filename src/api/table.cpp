// SPDX-License-Identifier: Apache-2.0
#include "oplat/table.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <variant>

#include "api/boundary.hpp"
#include "api/events.hpp"
#include "api/values.hpp"

namespace oplat {
namespace {

/// Devices and settings by id, those left out that the filter does not want.
struct WantedContexts {
  std::map<table::DeviceId, std::string> devices;
  std::map<table::SettingId, Setting> settings;
};

bool wants(const std::optional<std::string>& asked, const std::string& value) {
  return !asked || *asked == value;
}

Result<WantedContexts> wanted_contexts(const table::Table& table, const RowFilter& filter) {
  WantedContexts wanted;
  OPLAT_API_TRY(devices, table.devices());
  for (const auto& [id, device] : devices) {
    if (wants(filter.device, device.name)) wanted.devices.emplace(id, device.name);
  }
  OPLAT_API_TRY(settings, table.settings());
  for (const auto& [id, setting] : settings) {
    if (wants(filter.runtime, setting.runtime) && wants(filter.version, setting.version) &&
        wants(filter.precision, setting.precision) &&
        (!filter.threads || *filter.threads == setting.threads))
      wanted.settings.emplace(id, api::setting_of(setting));
  }
  return wanted;
}

struct OutcomeInto {
  Row& row;
  void operator()(const table::Timing& timing) const { row.timing = api::timing_of(timing); }
  void operator()(const auto& refusal) const { row.reason = refusal.reason; }
};

Row row_of(const table::StoredRow& stored, const std::string& device, const Setting& setting) {
  Row row;
  row.id = stored.id;
  row.key = stored.row.key;
  row.device = device;
  row.setting = setting;
  row.reuse_bytes = stored.row.reuse_bytes;
  row.flags = stored.row.method.flags;
  std::visit(OutcomeInto{row}, stored.row.outcome);
  return row;
}

/// The stored rows of one key, in order of id: few, and found by SQLite's index.
Result<std::vector<table::StoredRow>> rows_of_key(const table::Table& table, const std::string& key,
                                                  const WantedContexts& wanted) {
  std::vector<table::StoredRow> all;
  for (const auto& [device, name] : wanted.devices) {
    for (const auto& [setting, facts] : wanted.settings) {
      OPLAT_API_TRY(rows, table.rows_of(key, device, setting));
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

/// The stored rows that the filter wants, in order of id, with the names of where they were
/// measured.
Status each_wanted(
    const table::Table& table, const RowFilter& filter,
    const std::function<bool(const table::StoredRow&, const std::string&, const Setting&)>& visit) {
  OPLAT_API_TRY(wanted, wanted_contexts(table, filter));
  if (filter.key) {
    OPLAT_API_TRY(rows, rows_of_key(table, *filter.key, wanted));
    for (const table::StoredRow& row : rows) {
      if (filter.with_time && !std::holds_alternative<table::Timing>(row.row.outcome)) continue;
      if (!visit(row, wanted.devices.at(row.device), wanted.settings.at(row.setting))) break;
    }
    return {};
  }
  table::RowFilter asked;
  asked.timed = filter.with_time;
  if (wanted.devices.size() == 1) asked.device = wanted.devices.begin()->first;
  asked.settings.emplace();
  for (const auto& [id, setting] : wanted.settings) asked.settings->push_back(id);
  return table.each_row(asked, [&](const table::StoredRow& stored) {
    const auto device = wanted.devices.find(stored.device);
    const auto setting = wanted.settings.find(stored.setting);
    if (device == wanted.devices.end() || setting == wanted.settings.end()) return true;
    return visit(stored, device->second, setting->second);
  });
}

}  // namespace

Result<Table> Table::open(const std::string& path, const OpenOptions& options, Events* events) {
  app::OpenTableOptions opening;
  opening.rows.threads = options.threads;
  opening.rows.precision = options.precision;
  opening.skip_bad_rows = options.skip_bad_rows;
  api::PassedEvents passed(events);
  OPLAT_API_TRY(opened, app::open_table(path, opening, passed));
  return Table(std::unique_ptr<Impl>(new Impl{path, std::move(opened)}));
}

Table::Table(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;
Table::~Table() = default;

const std::string& Table::path() const { return impl_->path; }

Result<std::vector<Context>> Table::contexts() const {
  const table::Table& table = impl_->opened.table();
  OPLAT_API_TRY(devices, table.devices());
  OPLAT_API_TRY(settings, table.settings());
  OPLAT_API_TRY(counted, table.contexts());
  std::map<table::DeviceId, Device> device_of;
  for (const auto& [id, device] : devices) device_of.emplace(id, api::device_of(device));
  std::map<table::SettingId, Setting> setting_of;
  for (const auto& [id, setting] : settings) setting_of.emplace(id, api::setting_of(setting));
  std::vector<Context> contexts;
  for (const table::Context& one : counted) {
    contexts.push_back({device_of[one.device], setting_of[one.setting], one.rows, one.timings});
  }
  return contexts;
}

Status Table::each_row(const RowFilter& filter,
                       const std::function<bool(const Row&)>& visit) const {
  return each_wanted(
      impl_->opened.table(), filter,
      [&](const table::StoredRow& stored, const std::string& device, const Setting& setting) {
        return visit(row_of(stored, device, setting));
      });
}

Result<std::vector<Row>> Table::rows(const RowFilter& filter) const {
  std::vector<Row> rows;
  OPLAT_API_CHECK(each_row(filter, [&rows](const Row& row) {
    rows.push_back(row);
    return true;
  }));
  return rows;
}

Result<std::int64_t> Table::count(const RowFilter& filter) const {
  std::int64_t count = 0;
  OPLAT_API_CHECK(
      each_wanted(impl_->opened.table(), filter,
                  [&count](const table::StoredRow&, const std::string&, const Setting&) {
                    ++count;
                    return true;
                  }));
  return count;
}

}  // namespace oplat
