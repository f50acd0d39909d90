// SPDX-License-Identifier: Apache-2.0
/// Devices and settings: what rows are measured on and under.
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/json_text.hpp"
#include "table/table.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

/// Zero means unknown in memory; a reader of the file sees NULL.
std::optional<std::int64_t> known(std::int64_t bytes) {
  return bytes == 0 ? std::nullopt : std::optional(bytes);
}

Status validate_device(const Device& device) {
  if (device.name.empty())
    return fail(Code::Input, "a device needs a name to be stored in a table");
  OPLAT_CHECK(validate_text("device name", device.name));
  OPLAT_CHECK(validate_text("cpu", device.cpu));
  OPLAT_CHECK(validate_text("architecture", device.architecture));
  OPLAT_CHECK(validate_text("isa", device.isa));
  OPLAT_CHECK(validate_count("cores", device.cores));
  OPLAT_CHECK(validate_count("memory_bytes", device.memory_bytes));
  OPLAT_CHECK(validate_count("l1d_bytes", device.l1d_bytes));
  OPLAT_CHECK(validate_count("l2_bytes", device.l2_bytes));
  return validate_count("llc_bytes", device.llc_bytes);
}

void add_facts(Statement& statement, const Device& device) {
  statement.add(device.cpu).add(device.architecture).add(device.cores).add(device.memory_bytes);
  statement.add(known(device.l1d_bytes))
      .add(known(device.l2_bytes))
      .add(known(device.llc_bytes))
      .add(device.isa);
}

std::int64_t bytes_or_unknown(Cells& cells, int column) {
  return cells.is_null(column) ? 0 : cells.count(column);
}

Device read_device(Cells& cells) {
  Device device;
  device.name = cells.text(1);
  device.cpu = cells.text(2);
  device.architecture = cells.text(3);
  device.cores = cells.count(4);
  device.memory_bytes = cells.count(5);
  device.l1d_bytes = bytes_or_unknown(cells, 6);
  device.l2_bytes = bytes_or_unknown(cells, 7);
  device.llc_bytes = bytes_or_unknown(cells, 8);
  device.isa = cells.text(9);
  return device;
}

Setting read_setting(Cells& cells) {
  Setting setting;
  setting.runtime = cells.text(1);
  setting.version = cells.text(2);
  setting.build = cells.text(3);
  setting.precision = cells.text(4);
  setting.threads = cells.integer(5);
  if (auto options = parse_json_object(cells.text(6))) {
    setting.options = *std::move(options);
  } else {
    cells.bad(6, "text that is not a JSON object of strings");
  }
  return setting;
}

/// Every line of a statement whose first column is an ascending id.
template <class T>
Result<std::vector<std::pair<std::int64_t, T>>> read_all(Database& database, std::string_view sql,
                                                         std::string_view table,
                                                         T (*read)(Cells&)) {
  OPLAT_TRY(statement, database.prepare(sql));
  std::vector<std::pair<std::int64_t, T>> all;
  Ascending ascending;
  while (true) {
    OPLAT_TRY(row, statement.step());
    if (!row) return all;
    Cells cells(statement, table);
    T value = read(cells);
    OPLAT_CHECK(cells.status());
    if (!ascending.next(cells.id()))
      return database.corrupt("{} {} appears twice", table, cells.id());
    all.emplace_back(cells.id(), std::move(value));
  }
}

Result<std::optional<std::int64_t>> find_id(Database& database, std::string_view sql,
                                            std::string_view text) {
  OPLAT_TRY(statement, database.prepare(sql));
  OPLAT_TRY(row, statement.add(text).step());
  if (!row) return std::nullopt;
  Cells cells(statement, "line");
  OPLAT_CHECK(cells.status());
  return std::optional(cells.id());
}

constexpr std::string_view kFindDevice = "SELECT id FROM device WHERE name = ?1";
constexpr std::string_view kFindSetting = "SELECT id FROM setting WHERE canonical = ?1";

}  // namespace

Result<std::vector<std::pair<DeviceId, Device>>> Table::devices() const {
  return read_all<Device>(*impl_->database,
                          "SELECT id, name, cpu, architecture, cores, memory_bytes, l1d_bytes, "
                          "l2_bytes, llc_bytes, isa "
                          "FROM device ORDER BY id",
                          "device", read_device);
}

Result<std::vector<std::pair<SettingId, Setting>>> Table::settings() const {
  return read_all<Setting>(
      *impl_->database,
      "SELECT id, runtime, version, build, precision, threads, options FROM setting ORDER BY id",
      "setting", read_setting);
}

Result<std::optional<DeviceId>> Table::find_device(std::string_view name) const {
  return find_id(*impl_->database, kFindDevice, name);
}

Result<std::string> Table::device_name(DeviceId device) const {
  OPLAT_TRY(all, devices());
  for (auto& [id, record] : all) {
    if (id == device) return std::move(record.name);
  }
  // Lines of a hostile file may refer to what it does not hold.
  return impl_->database->corrupt("it refers to device {}, which it does not hold", device);
}

Result<std::optional<SettingId>> Table::find_setting(const Setting& setting) const {
  OPLAT_TRY(canonical, canonical_text(setting));
  return find_id(*impl_->database, kFindSetting, canonical);
}

Result<DeviceId> Table::put_device(const Device& device) {
  OPLAT_CHECK(validate_device(device));
  return impl_->write_for<DeviceId>([&]() -> Result<DeviceId> {
    OPLAT_TRY(found, find_id(*impl_->database, kFindDevice, device.name));
    OPLAT_TRY(
        statement,
        impl_->database->prepare(
            found
                ? "UPDATE device SET cpu = ?1, architecture = ?2, cores = ?3, memory_bytes = ?4, "
                  "l1d_bytes = ?5, l2_bytes = ?6, llc_bytes = ?7, isa = ?8 WHERE name = ?9"
                : "INSERT INTO device(cpu, architecture, cores, memory_bytes, l1d_bytes, l2_bytes, "
                  "llc_bytes, isa, name) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"));
    add_facts(statement, device);
    OPLAT_CHECK(statement.add(device.name).run());
    return found ? *found : sqlite3_last_insert_rowid(impl_->database->handle());
  });
}

Result<SettingId> Table::put_setting(const Setting& setting) {
  OPLAT_TRY(canonical, canonical_text(setting));
  OPLAT_CHECK(validate_text("setting", canonical));
  OPLAT_TRY(options, json_object(setting.options));
  return impl_->write_for<SettingId>([&]() -> Result<SettingId> {
    OPLAT_TRY(found, find_id(*impl_->database, kFindSetting, canonical));
    if (found) return *found;
    OPLAT_TRY(statement, impl_->database->prepare(
                             "INSERT INTO setting(canonical, runtime, version, build, precision, "
                             "threads, options) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
    statement.add(canonical)
        .add(setting.runtime)
        .add(setting.version)
        .add(setting.build)
        .add(setting.precision);
    OPLAT_CHECK(statement.add(setting.threads).add(options).run());
    return sqlite3_last_insert_rowid(impl_->database->handle());
  });
}

}  // namespace oplat::table
