// SPDX-License-Identifier: Apache-2.0
#include "app/compare.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "app/fit.hpp"
#include "app/table_source.hpp"
#include "compat/registry.hpp"

namespace oplat::app {

std::vector<std::string> CompareResult::warnings() const {
  std::vector<std::string> distinct;
  for (const predict::Prediction& one : models)
    for (const std::string& warning : one.warnings)
      if (std::find(distinct.begin(), distinct.end(), warning) == distinct.end())
        distinct.push_back(warning);
  return distinct;
}

Result<CompareResult> compare(const CompareRequest& request, Events& events) {
  if (request.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.rows.runtime));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  return compare(request, table, events);
}

Result<CompareResult> compare(const CompareRequest& request, const table::Table& table,
                              Events& events) {
  if (request.rows.runtime) OPLAT_CHECK(check_rows_runtime(*request.rows.runtime));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(selection, select_rows(table, request.rows));
  predict::Options options;
  options.level = request.options.level;
  options.missing = request.options.missing;
  options.profile = request.options.estimator;
  // As predict: a measured model teaches nothing of its own prediction.
  OPLAT_TRY(unseen, UnseenByFit::create(table, selection, predict::kMinConformalModels - 1));
  CompareResult result;
  result.mismatch = selection.mismatch;
  for (std::size_t i = 0; i < request.models.size(); ++i) {
    const std::string& model = request.models[i];
    std::vector<std::string> warnings;
    WarningsInto collected(warnings, events);
    OPLAT_TRY(planned, plan_model(table, selection, model, request.inputs, request.plan,
                                  request.rows, collected));
    options.given_data_decide = planned.given_data_decide;
    const predict::Selection chosen =
        unseen.selection_for(planned.selection, planned.plan.identity);
    OPLAT_TRY(prediction, predict::predict(table, chosen, planned.plan, options));
    prediction.model = model;
    prediction.warnings.insert(prediction.warnings.end(), warnings.begin(), warnings.end());
    OPLAT_CHECK(predict::require_complete(prediction));
    if (!prediction.latency_ns || !prediction.interval)
      return fail(Code::Missing, "{}: has no prediction to compare", model);
    result.models[i] = std::move(prediction);
  }
  return result;
}

}  // namespace oplat::app
