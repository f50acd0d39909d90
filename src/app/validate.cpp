// SPDX-License-Identifier: Apache-2.0
/// End-to-end times of the table, or measured now, next to predictions from its
/// kernels.
#include "app/validate.hpp"

#include <algorithm>

#include "app/fit.hpp"
#include "app/table_source.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "predict/fit.hpp"

namespace oplat::app {
namespace {

/// Each model of the table is predicted by a fit without it, up to so many models.
constexpr std::int64_t kMaxModelsLeftOut = 500;

using ModelRows = std::vector<std::optional<table::StoredModelRow>>;

/// End-to-end times: those of the table, and a measurement now of what it lacks
/// (or of everything). `result` gets why models have none.
Result<ModelRows> model_times(const ValidateRequest& request, const Session& session,
                              const table::Table& table, const std::vector<PlannedModel>& planned,
                              ValidateResult& result, Events& events) {
  ModelRows rows(planned.size());
  if (!request.measure_anew) {
    OPLAT_TRY(stored, measured_models(table, planned, session.setting, session.device));
    rows = std::move(stored);
  }
  if (request.need_inferences)
    for (auto& row : rows)
      if (row && !row->row.inferences) row.reset();
  std::vector<PlannedModel> lacking;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!rows[i]) lacking.push_back(planned[i]);
  }
  if (lacking.empty()) return rows;
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-validate"));
  OPLAT_TRY(scratch, table::Table::open(folder.path() / "validate.oplat", table::Mode::Create));
  CampaignOptions options;
  options.record = request.record;
  OPLAT_TRY(summary, run_campaign(session, {}, lacking, options, scratch, events));
  result.interrupted = summary.interrupted;
  result.refusals = std::move(summary.refusals);
  OPLAT_TRY(fresh, measured_models(scratch, lacking, session.setting, session.device));
  for (std::size_t i = 0, next = 0; i < planned.size(); ++i) {
    if (!rows[i]) rows[i] = fresh[next++];
  }
  return rows;
}

void add_distinct(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& one : more) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  }
}

}  // namespace

Result<ValidateResult> validate(const ValidateRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(session, start_session(request.runtime, events));
  predict::RowFilter filter = rows_of(session);
  filter.fitted = request.fitted;
  OPLAT_TRY(selection, select_rows(table, filter));
  OPLAT_TRY(planned, plan_models(session, request.models, request.inputs, events));
  OPLAT_TRY(unseen, UnseenByFit::create(table, selection, kMaxModelsLeftOut));
  ValidateResult result;
  result.unmeasured = request.models.size() - planned.size();
  OPLAT_TRY(rows, model_times(request, session, table, planned, result, events));
  predict::Validation& validation = result.validation;
  validation.level = request.level;
  validation.device = selection.device;
  validation.setting = selection.setting;
  validation.warnings = selection.warnings;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!rows[i]) {
      ++result.unmeasured;
      continue;
    }
    predict::Options how;
    how.level = request.level;
    const predict::Selection chosen = unseen.selection_without(selection, planned[i].plan);
    OPLAT_TRY(prediction, predict::predict(table, chosen, planned[i].plan, how));
    prediction.model = planned[i].plan.model;
    add_distinct(validation.warnings, prediction.warnings);
    if (rows[i]->row.method.has(table::kUnderLoad)) {
      validation.warnings.push_back(
          fmt::format("{} was measured on a busy machine", base::printable(planned[i].plan.model)));
    }
    validation.models.push_back(
        predict::beside(prediction, std::get<table::Timing>(rows[i]->row.outcome)));
    validation.models.back().inferences = rows[i]->row.inferences;
    result.incomplete += validation.models.back().predicted_ns ? 0U : 1U;
  }
  if (result.interrupted && validation.models.empty())
    return fail(Code::Interrupted, "stopped before any model was measured");
  return result;
}

Status require_validated(const ValidateRequest& request, const ValidateResult& result) {
  if (result.interrupted)
    return fail(Code::Interrupted, "stopped before {} of {} models were measured",
                result.unmeasured, request.models.size());
  if (result.unmeasured > 0) {
    return fail(Code::Runtime, "{} of {} models could not be measured and are left out above",
                result.unmeasured, request.models.size());
  }
  if (result.incomplete > 0)
    return fail(Code::Missing, "{} of {} models have kernels that the table lacks; profile them",
                result.incomplete, result.validation.models.size());
  return {};
}

}  // namespace oplat::app
