// SPDX-License-Identifier: Apache-2.0
/// The latency table: one SQLite file (docs/reference/table-format.md). All I/O of tables is here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "table/foreign.hpp"
#include "table/records.hpp"

namespace oplat::table {

class TableCodec;
/// The foreign formats that a function is to know; what it points to outlives the call.
using CodecList = std::span<const TableCodec* const>;

using DeviceId = std::int64_t;
using SettingId = std::int64_t;
using CampaignId = std::int64_t;
using RowId = std::int64_t;
using FileId = std::int64_t;

enum class Mode {
  Read,    ///< an untrusted file: read-only, defensive, nothing of it is run
  Write,   ///< must exist; takes the writer's lease
  Create,  ///< Write, made where missing
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
/// Which rows are meant. An empty filter means all of them.
struct RowFilter {
  std::optional<DeviceId> device = std::nullopt;
  std::optional<std::vector<SettingId>> settings =
      std::nullopt;    ///< of any of these; an empty list means no row
  bool timed = false;  ///< only rows that hold a time
};

/// A (device, setting) pair that has rows, with their number.
struct Context {
  DeviceId device = 0;
  SettingId setting = 0;
  std::int64_t rows = 0;
  std::int64_t timings = 0;  ///< rows that hold a time
};

/// A (device, setting) pair that has rows, without their number.
struct ContextOutline {
  DeviceId device = 0;
  SettingId setting = 0;
  bool timed = false;  ///< whether any row holds a time
};

/// Times of a (device, setting) pair, and how many of them were measured while other programs kept
/// the machine busy.
struct Load {
  std::int64_t timings = 0;
  std::int64_t under_load = 0;
};

/// The times of a row's blocks in which other programs kept the machine busy, and of its other
/// ones. Neither list is empty; heavily disturbed blocks are in none.
struct BlocksByLoad {
  std::vector<double> quiet_ns, loaded_ns;
};

/// A foreign file that was imported.
struct StoredForeignFile {
  FileId id = 0;
  DeviceId device = 0;
  SettingId setting = 0;
  ForeignOrigin origin;
};

/// Something that was learned from the rows of a (device, setting) pair: a cache that can be made
/// again.
struct Fit {
  std::string format;  ///< of the blob: name and version
  std::uint64_t seed = 0;
  std::string blob;
};
struct FoundFit {
  Fit fit;
  bool current = false;  ///< of the rows that stand there now
};

/// How much a table holds.
struct Counts {
  std::int64_t devices = 0;
  std::int64_t settings = 0;
  std::int64_t campaigns = 0;
  std::int64_t kernels = 0;
  std::int64_t timings = 0;  ///< rows by outcome; their sum is the number of rows
  std::int64_t unsupported = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::int64_t foreign = 0;  ///< rows that were imported, of any outcome
  std::int64_t blocks = 0;
  std::int64_t model_rows = 0;
  std::int64_t model_blocks = 0;
  std::int64_t plans = 0;
  std::int64_t fits = 0;
  [[nodiscard]] std::int64_t rows() const { return timings + unsupported + skipped + failed; }
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// One thread at a time. A reader sees each committed transaction whole or not at all; what a
/// look-up has answered once it answers again, whatever another process has written since.
class Table {
 public:
  /// Code::Input: missing, no table, corrupt. Code::Refused: newer schema, locked by another
  /// writer, read-only. A table of an older schema is migrated: for reading in a temporary copy,
  /// for writing in place, with the old file kept next to it as PATH.schemaN. `codecs`: the formats
  /// that the error names if the file is one of theirs and no table.
  static Result<Table> open(const std::filesystem::path& path, Mode mode, CodecList codecs = {});
  Table(Table&&) noexcept;
  Table& operator=(Table&&) noexcept;
  ~Table();

  [[nodiscard]] const std::filesystem::path& path() const;
  static int schema_version();
  /// "OPLT" as a number: what PRAGMA application_id of every table gives.
  static std::int64_t application_id();

  // What is there.
  Result<std::vector<std::pair<DeviceId, Device>>> devices() const;
  Result<std::vector<std::pair<SettingId, Setting>>> settings() const;
  Result<std::vector<Context>> contexts() const;
  /// The same pairs at a cost that does not grow with the number of rows.
  Result<std::vector<ContextOutline>> context_outlines() const;
  /// Zero rows if the pair has none.
  Result<Context> context_of(DeviceId device, SettingId setting) const;
  /// Reads all rows of the pair.
  Result<Load> load_of_rows(DeviceId device, SettingId setting) const;
  Result<Load> load_of_models(DeviceId device, SettingId setting) const;
  /// Of the pair's rows with blocks of both kinds, in order of id. Reads all blocks of the pair.
  Result<std::vector<BlocksByLoad>> row_blocks_by_load(DeviceId device, SettingId setting) const;
  Result<std::vector<BlocksByLoad>> model_blocks_by_load(DeviceId device, SettingId setting) const;
  Result<std::vector<StoredCampaign>> campaigns() const;
  Result<std::optional<DeviceId>> find_device(std::string_view name) const;
  Result<std::string> device_name(DeviceId device) const;
  Result<std::optional<SettingId>> find_setting(const Setting& setting) const;
  Result<Counts> counts() const;
  /// Reads the whole file: SQLite's own check of pages and indexes, and references without a
  /// target. One line per finding, none where all is well; at most 100.
  Result<std::vector<std::string>> integrity() const;

  /// While it lives, look-ups see one state of the file and take its lock once instead of each for
  /// itself. Other readers are not held up; a writer that commits waits for its end. The table must
  /// outlive it. Of one that is open for writing it does nothing.
  class Reading {
   public:
    explicit Reading(const Table& table);
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    const Table* table_ = nullptr;  ///< null: nothing to end
  };

  // Look-ups. Exact by key text; lazy, memoised in memory.
  /// Rows of one kernel, all cache states, those without a state last.
  Result<std::vector<StoredRow>> rows_of(std::string_view key, DeviceId device,
                                         SettingId setting) const;
  /// The rows that the filter means, in order of id, one at a time; stops where `visit` returns
  /// false. SQLite filters, so that other rows are not read. `visit` may use the table.
  Status each_row(const RowFilter& filter,
                  const std::function<bool(const StoredRow&)>& visit) const;
  /// The number of different kernels of these rows, up to `most`: the count stops there.
  Result<std::size_t> count_kernels(const RowFilter& filter, std::size_t most) const;
  Result<std::optional<StoredRow>> row(RowId id) const;
  /// base::hash128 of the text of every key.
  Result<std::vector<base::Hash128>> kernel_hashes() const;
  /// In the order in which they were added.
  Result<std::vector<Block>> blocks_of(RowId row) const;
  Result<std::vector<StoredModelRow>> model_rows() const;
  Result<std::vector<Block>> blocks_of_model(RowId row) const;
  Result<std::optional<StoredModelRow>> find_model_row(std::string_view plan_identity,
                                                       DeviceId device, SettingId setting) const;
  Result<std::optional<Plan>> find_plan(std::string_view identity) const;
  Result<std::vector<Plan>> plans() const;
  /// The hash remembered for a model file whose path, size and time of change are as given.
  Result<std::optional<std::string>> known_model_hash(std::string_view path, std::int64_t size,
                                                      std::int64_t mtime_ns) const;

  /// In the order in which they were imported.
  Result<std::vector<StoredForeignFile>> foreign_files() const;
  /// The devices under which rows of each file stand.
  Result<std::map<FileId, std::set<DeviceId>>> foreign_devices() const;
  /// Its rows as they stand now, in the file's order.
  Result<ForeignFile> foreign_file(FileId id) const;
  /// The bytes of a foreign row, where its file's format cannot make them from key and outcome.
  Result<std::optional<std::string>> foreign_text(RowId row) const;
  /// The same of every row of the pair that holds a time, in order of id.
  Result<std::vector<std::optional<std::string>>> foreign_texts_of(DeviceId device,
                                                                   SettingId setting) const;
  /// Rows of the pair that no file of this format holds, in order of id: oplat's own, and those of
  /// files of other formats.
  Result<std::vector<StoredRow>> rows_beside(DeviceId device, SettingId setting,
                                             std::string_view format) const;

  /// The fit of this format for the pair, whatever rows it is of.
  Result<std::optional<FoundFit>> find_fit(std::string_view format, DeviceId device,
                                           SettingId setting) const;

  // Writing. Each call is one transaction unless inside transaction(). Code::Input for values that
  // no table may hold: times that are negative, infinite or NaN, texts beyond 1 MiB; Code::Refused
  // where another writer took the table over.
  Result<DeviceId> put_device(
      const Device& device);  ///< finds or adds; facts of an equal name are updated
  Result<DeviceId> find_or_put_device(
      const std::string& name);  ///< facts of one that is there stay as they are
  Result<SettingId> put_setting(const Setting& setting);  ///< finds or adds
  Result<CampaignId> add_campaign(DeviceId device, SettingId setting, const Campaign& c,
                                  const Environment& e);
  Status update_campaign(CampaignId id, const Campaign& c);
  /// Adds facts to the campaign's environment, or replaces those of the same name.
  Status add_campaign_facts(CampaignId id, const std::map<std::string, std::string>& facts);
  /// Finds or adds the row of (key, device, setting, reuse_bytes) of origin "own" and replaces
  /// outcome and method; rows of another origin are always added.
  Result<RowId> put_row(DeviceId device, SettingId setting, std::optional<CampaignId> campaign,
                        const Row& row);
  /// Adds a file with its rows, which get the file's format as their origin; made for 100,000 of
  /// them. Rows that name a device of their own stand under that one.
  Result<FileId> add_foreign(DeviceId device, SettingId setting, const ForeignOrigin& origin,
                             const ForeignFile& file);
  /// Forgets a file and its rows; fits of their pairs are current no more.
  Status remove_foreign(FileId id);
  /// Blocks stay when a row is put again, so that a resumed campaign adds to them; see
  /// remove_blocks().
  Status add_block(RowId row, const Block& block);
  /// Says of all blocks that a campaign stored so far, of kernels and of models, that their cores
  /// were not apart (kTicksNotApart); how many did not say so.
  Result<std::int64_t> mark_not_apart(CampaignId campaign);
  /// Forgets the blocks of a row that is to be measured afresh.
  Status remove_blocks(RowId row);
  /// Finds or adds by (plan_identity, device, setting).
  Result<RowId> put_model_row(DeviceId device, SettingId setting,
                              std::optional<CampaignId> campaign, const ModelRow& row);
  Status add_model_block(RowId row, const Block& block);
  /// Replaces the fit of the same format for the pair, and notes of which rows it is: those that
  /// stand there now.
  Status put_fit(DeviceId device, SettingId setting, const Fit& fit);
  /// Forgets the pair's fit of a format, if there is one.
  Status erase_fit(std::string_view format, DeviceId device, SettingId setting);
  Status put_plan(const Plan& plan);  ///< replaces the plan of the same identity
  /// Forgets a plan, if it is there. Rows of whole models that name it stay.
  Status erase_plan(std::string_view identity);
  Status remember_model_hash(std::string_view path, std::int64_t size, std::int64_t mtime_ns,
                             std::string_view hash);
  /// Runs `work` in one transaction; rolls back if it returns an error. Nests: an inner one that
  /// fails undoes its own part only, and the outer one goes on unless it hands the error on.
  Status transaction(const std::function<Status()>& work);
  /// Tells other processes that this writer lives. Every write does so; only a writer that is
  /// silent for more than about 30 s needs to call it, and only for the sake of writers on other
  /// hosts.
  Status keep_lease();

 private:
  struct Impl;
  explicit Table(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace oplat::table
