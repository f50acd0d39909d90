// SPDX-License-Identifier: Apache-2.0
/// Whole models: their measurements, and the memory of their files' hashes.
#include "table/cells.hpp"
#include "table/impl.hpp"
#include "table/outcome.hpp"
#include "table/table.hpp"
#include "table/validate.hpp"

namespace oplat::table {
namespace {

#define OPLAT_INFERENCE_COLUMNS                                         \
  "inferences, inference_blocks, inference_mean_ns, inference_p50_ns, " \
  "inference_p90_ns, inference_p99_ns, inference_max_ns"
#define OPLAT_SELECT_MODEL_ROW                                                               \
  "SELECT id, plan_identity, device, setting, campaign, name, batch, " OPLAT_OUTCOME_COLUMNS \
  ", " OPLAT_INFERENCE_COLUMNS " FROM model_row "
constexpr int kModelOutcomeColumn = 7;
constexpr int kInferenceColumn = kModelOutcomeColumn + kOutcomeColumns;

void add_inferences(Statement& statement, const std::optional<InferenceTimes>& times) {
  if (!times) {
    for (int i = 0; i < 7; ++i) statement.add_null();
    return;
  }
  statement.add(times->count).add(times->blocks).add(times->mean_ns).add(times->p50_ns);
  statement.add(times->p90_ns).add(times->p99_ns).add(times->max_ns);
}

std::optional<InferenceTimes> read_inferences(Cells& cells) {
  if (cells.is_null(kInferenceColumn)) return std::nullopt;
  InferenceTimes times;
  times.count = cells.count(kInferenceColumn);
  times.blocks = cells.count(kInferenceColumn + 1);
  times.mean_ns = cells.number(kInferenceColumn + 2);
  times.p50_ns = cells.number(kInferenceColumn + 3);
  times.p90_ns = cells.number(kInferenceColumn + 4);
  times.p99_ns = cells.optional_number(kInferenceColumn + 5);
  times.max_ns = cells.number(kInferenceColumn + 6);
  return times;
}

Result<StoredModelRow> read_model_row(const Statement& statement) {
  Cells cells(statement, "model_row");
  StoredModelRow stored;
  stored.id = cells.id();
  stored.row.plan_identity = cells.text(1);
  stored.device = cells.integer(2);
  stored.setting = cells.integer(3);
  stored.campaign = cells.optional_integer(4);
  stored.row.name = cells.text(5);
  stored.row.batch = cells.count(6);
  stored.row.outcome = read_outcome(cells, kModelOutcomeColumn);
  stored.row.method = read_method(cells, kModelOutcomeColumn);
  stored.row.inferences = read_inferences(cells);
  OPLAT_CHECK(cells.status());
  return stored;
}

Status update_model_row(Database& database, RowId id, std::optional<CampaignId> campaign,
                        const ModelRow& row, const OutcomeCells& outcome) {
  OPLAT_TRY(
      statement,
      database.prepare("UPDATE model_row SET campaign = ?1, name = ?2, batch = ?3, "
                       "(" OPLAT_OUTCOME_COLUMNS ", " OPLAT_INFERENCE_COLUMNS
                       ") = (?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
                       "?19, ?20, ?21, ?22, ?23, ?24, ?25) WHERE id = ?26"));
  statement.add(campaign).add(row.name).add(row.batch);
  outcome.add_to(statement);
  add_inferences(statement, row.inferences);
  return statement.add(id).run();
}

Result<RowId> insert_model_row(Database& database, DeviceId device, SettingId setting,
                               std::optional<CampaignId> campaign, const ModelRow& row,
                               const OutcomeCells& outcome) {
  OPLAT_TRY(statement, database.prepare("INSERT INTO model_row(plan_identity, device, setting, "
                                        "campaign, name, batch, " OPLAT_OUTCOME_COLUMNS
                                        ", " OPLAT_INFERENCE_COLUMNS
                                        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
                                        "?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, "
                                        "?23, ?24, ?25, ?26, ?27, ?28)"));
  statement.add(row.plan_identity)
      .add(device)
      .add(setting)
      .add(campaign)
      .add(row.name)
      .add(row.batch);
  outcome.add_to(statement);
  add_inferences(statement, row.inferences);
  OPLAT_CHECK(statement.run());
  return sqlite3_last_insert_rowid(database.handle());
}

}  // namespace

Result<std::vector<StoredModelRow>> Table::model_rows() const {
  OPLAT_TRY(statement, impl_->database->prepare(OPLAT_SELECT_MODEL_ROW "ORDER BY id"));
  std::vector<StoredModelRow> rows;
  Ascending ascending;
  while (true) {
    OPLAT_TRY(line, statement.step());
    if (!line) return rows;
    OPLAT_TRY(row, read_model_row(statement));
    if (!ascending.next(row.id))
      return impl_->database->corrupt("model_row {} appears twice", row.id);
    rows.push_back(std::move(row));
  }
}

Result<std::optional<StoredModelRow>> Table::find_model_row(std::string_view plan_identity,
                                                            DeviceId device,
                                                            SettingId setting) const {
  OPLAT_TRY(statement,
            impl_->database->prepare(OPLAT_SELECT_MODEL_ROW
                                     "WHERE plan_identity = ?1 AND device = ?2 AND setting = ?3"));
  OPLAT_TRY(line, statement.add(plan_identity).add(device).add(setting).step());
  if (!line) return std::nullopt;
  OPLAT_TRY(row, read_model_row(statement));
  return std::optional(std::move(row));
}

Result<RowId> Table::put_model_row(DeviceId device, SettingId setting,
                                   std::optional<CampaignId> campaign, const ModelRow& row) {
  OPLAT_CHECK(validate_text("plan_identity", row.plan_identity));
  OPLAT_CHECK(validate_text("name", row.name));
  OPLAT_CHECK(validate_count("batch", row.batch));
  if (row.inferences) OPLAT_CHECK(validate(*row.inferences));
  OPLAT_TRY(outcome, OutcomeCells::make(row.outcome, row.method));
  return impl_->write_for<RowId>([&]() -> Result<RowId> {
    OPLAT_TRY(found, find_model_row(row.plan_identity, device, setting));
    if (!found) return insert_model_row(*impl_->database, device, setting, campaign, row, outcome);
    OPLAT_CHECK(update_model_row(*impl_->database, found->id, campaign, row, outcome));
    return found->id;
  });
}

Result<std::optional<std::string>> Table::known_model_hash(std::string_view path, std::int64_t size,
                                                           std::int64_t mtime_ns) const {
  OPLAT_TRY(statement,
            impl_->database->prepare(
                "SELECT id, hash FROM model_file WHERE path = ?1 AND size = ?2 AND mtime_ns = ?3"));
  OPLAT_TRY(line, statement.add(path).add(size).add(mtime_ns).step());
  if (!line) return std::nullopt;
  Cells cells(statement, "model_file");
  std::string hash = cells.text(1);
  OPLAT_CHECK(cells.status());
  return std::optional(std::move(hash));
}

Status Table::remember_model_hash(std::string_view path, std::int64_t size, std::int64_t mtime_ns,
                                  std::string_view hash) {
  OPLAT_CHECK(validate_text("path", path));
  OPLAT_CHECK(validate_text("hash", hash));
  return impl_->write([&]() -> Status {
    OPLAT_TRY(statement, impl_->database->prepare(
                             "INSERT OR REPLACE INTO model_file(path, size, mtime_ns, hash) "
                             "VALUES (?1, ?2, ?3, ?4)"));
    return statement.add(path).add(size).add(mtime_ns).add(hash).run();
  });
}

}  // namespace oplat::table
