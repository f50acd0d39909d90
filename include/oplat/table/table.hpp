// SPDX-License-Identifier: Apache-2.0
/// The latency table: one SQLite file (docs/format.md). All I/O of tables is here.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oplat/base/result.hpp"
#include "oplat/table/records.hpp"

namespace oplat::table {

using DeviceId = std::int64_t;
using SettingId = std::int64_t;
using CampaignId = std::int64_t;
using RowId = std::int64_t;

enum class Mode {
  Read,    ///< a stranger's file: read-only, defensive, nothing of it is run
  Write,   ///< must exist; takes the writer's lease
  Create,  ///< Write, made where absent
};

/// A row with where it stands.
struct StoredRow {
  RowId id = 0;
  DeviceId device = 0;
  SettingId setting = 0;
  std::optional<CampaignId> campaign;
  Row row;
};
struct StoredModelRow {
  RowId id = 0;
  DeviceId device = 0;
  SettingId setting = 0;
  std::optional<CampaignId> campaign;
  ModelRow row;
};
struct StoredCampaign {
  CampaignId id = 0;
  DeviceId device = 0;
  SettingId setting = 0;
  Campaign campaign;
  Environment environment;
};
/// A (device, setting) pair under which rows stand, with their number.
struct Population {
  DeviceId device = 0;
  SettingId setting = 0;
  std::int64_t rows = 0;
  std::int64_t timings = 0;  ///< rows that hold a time
};

class Table {
 public:
  /// Code::Input: absent, no table, corrupt. Code::Refused: newer schema, locked by another writer, read-only.
  static Result<Table> open(const std::filesystem::path& path, Mode mode);
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;
  ~Table();

  [[nodiscard]] const std::filesystem::path& path() const;
  static int schema_version();

  // What is there.
  Result<std::vector<std::pair<DeviceId, Device>>> devices() const;
  Result<std::vector<std::pair<SettingId, Setting>>> settings() const;
  Result<std::vector<Population>> populations() const;
  Result<std::vector<StoredCampaign>> campaigns() const;

  // Look-ups. Exact by key text; lazy, memoised in memory.
  /// Rows of one kernel, all cache states, those without a state last.
  Result<std::vector<StoredRow>> rows_of(std::string_view key, DeviceId device, SettingId setting) const;
  /// Every row, in order of id, one at a time; stops where `visit` returns false.
  Status each_row(const std::function<bool(const StoredRow&)>& visit) const;
  Result<std::vector<Block>> blocks_of(RowId row) const;
  Result<std::vector<StoredModelRow>> model_rows() const;
  Result<std::vector<Block>> blocks_of_model(RowId row) const;
  Result<std::optional<Plan>> find_plan(std::string_view identity) const;
  Result<std::vector<Plan>> plans() const;
  /// The hash remembered for a model file whose path, size and time of change are as given.
  Result<std::optional<std::string>> known_model_hash(std::string_view path, std::int64_t size, std::int64_t mtime_ns) const;

  // Writing. Each call is one transaction unless inside transaction().
  Result<DeviceId> put_device(const Device& device);       ///< finds or adds; facts of an equal name are updated
  Result<SettingId> put_setting(const Setting& setting);   ///< finds or adds
  Result<CampaignId> add_campaign(DeviceId device, SettingId setting, const Campaign& c, const Environment& e);
  Status update_campaign(CampaignId id, const Campaign& c);
  /// Finds or adds the row of (key, device, setting, reuse_bytes) of origin "own" and replaces outcome and method;
  /// rows of another origin are always added.
  Result<RowId> put_row(DeviceId device, SettingId setting, std::optional<CampaignId> campaign, const Row& row);
  Status add_block(RowId row, const Block& block);
  /// Finds or adds by (plan_identity, device, setting).
  Result<RowId> put_model_row(DeviceId device, SettingId setting, std::optional<CampaignId> campaign, const ModelRow& row);
  Status add_model_block(RowId row, const Block& block);
  Status put_plan(const Plan& plan);                        ///< replaces the plan of the same identity
  Status remember_model_hash(std::string_view path, std::int64_t size, std::int64_t mtime_ns, std::string_view hash);
  /// Runs `work` in one transaction; rolls back if it returns an error.
  Status transaction(const std::function<Status()>& work);

 private:
  struct Impl;
  explicit Table(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplat::table
