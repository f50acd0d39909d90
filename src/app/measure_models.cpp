// SPDX-License-Identifier: Apache-2.0
/// A campaign of whole models alone.
#include "app/measure_models.hpp"

#include "app/fit.hpp"
#include "base/files.hpp"
#include "compat/registry.hpp"

namespace oplat::app {

Result<report::Measurement> measurement_of(const table::Table& table,
                                           std::span<const PlannedModel> planned,
                                           const Session& session) {
  OPLAT_TRY(rows, measured_models(table, planned, session.setting, session.device));
  report::Measurement measurement;
  measurement.device = session.device;
  measurement.setting = session.setting;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const auto* timing = rows[i] ? std::get_if<table::Timing>(&rows[i]->row.outcome) : nullptr;
    if (timing == nullptr) continue;
    measurement.models.push_back({planned[i].path, planned[i].plan.model, planned[i].plan.batch,
                                  *timing, rows[i]->row.method.flags, rows[i]->row.inferences});
  }
  return measurement;
}

Result<MeasureResult> measure_models(const MeasureRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_options(request.campaign));
  for (const std::string& model : request.models) OPLAT_CHECK(check_model_file(model));
  OPLAT_TRY(session, start_session(request.runtime, events));
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-measure"));
  const std::string path =
      request.table.empty() ? (folder.path() / "measure.oplat").string() : request.table;
  OPLAT_TRY(planned,
            plan_models(session, request.models, request.inputs, events, WithoutPlan::Keep));
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Create, compat::codecs()));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_CHECK(store_plans(table, planned));
  CampaignOptions options = request.campaign;
  options.retry_refused = true;  // an old failure does not answer a request to measure
  options.need_inferences = true;
  OPLAT_TRY(summary, run_campaign(session, {}, planned, options, table, events));
  OPLAT_CHECK(forget_earlier_plans(table, planned));
  if (!request.table.empty() && !summary.interrupted) update_composition(session, table, events);
  OPLAT_TRY(measurement, measurement_of(table, planned, session));
  return MeasureResult{std::move(measurement), std::move(summary)};
}

}  // namespace oplat::app
