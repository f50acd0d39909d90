// SPDX-License-Identifier: Apache-2.0
/// A campaign of whole models alone.
#include "app/measure_models.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "app/fit.hpp"
#include "app/kernels_in_model.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"

namespace oplat::app {

namespace {

/// Why models of a campaign have no time. Those of one file name have their reasons in order; those
/// that are one model share one.
class Reasons {
 public:
  explicit Reasons(const measure::Summary& summary) : summary_(&summary) {
    for (const auto& refusal : summary.refusals) of_name_[refusal.key].push_back(&refusal);
  }
  Error next(const PlannedModel& model) {
    const auto found = of_name_.find(model.plan.model);
    if (found != of_name_.end()) {
      const auto& refusals = found->second;
      const measure::Refusal& refusal =
          *refusals[std::min(used_[model.plan.model]++, refusals.size() - 1)];
      return {Code::Runtime,
              fmt::format("{}: {}: {}", model.path, refusal.outcome, refusal.reason)};
    }
    if (summary_->interrupted)
      return {Code::Interrupted, fmt::format("{}: stopped before it was measured", model.path)};
    return {Code::Runtime,
            summary_->budget_ended
                ? fmt::format("{}: the budget ended before it was measured; set a larger --budget",
                              model.path)
                : fmt::format("{}: could not be measured", model.path)};
  }
  /// Whether a model without a time waits for a larger budget, and for nothing else.
  [[nodiscard]] bool waits(const PlannedModel& model) const {
    return summary_->budget_ended && !summary_->interrupted && !of_name_.contains(model.plan.model);
  }

 private:
  const measure::Summary* summary_;
  std::map<std::string, std::vector<const measure::Refusal*>> of_name_;
  std::map<std::string, std::size_t> used_;
};

/// Models that can be asked for; of several, the others are put into `unplanned`.
Result<std::vector<std::string>> readable_models(const std::vector<std::string>& models,
                                                 std::vector<UnplannedModel>& unplanned) {
  std::vector<std::string> readable;
  for (const std::string& model : models) {
    const Status good = check_model_file(model);
    if (!good && models.size() == 1) return fail(good.error());
    if (good)
      readable.push_back(model);
    else
      unplanned.push_back({model, good.error()});
  }
  return readable;
}

/// What the kernels of each measured model take inside it.
Status add_kernels(report::Measurement& measurement, Session& session,
                   std::span<const PlannedModel> planned, const table::Table& table,
                   Events& events) {
  for (report::Measurement::Line& line : measurement.models) {
    const auto model = std::find_if(planned.begin(), planned.end(),
                                    [&](const auto& one) { return one.path == line.path; });
    if (model == planned.end() || !model->has_kernels) {
      events.warn(fmt::format("{}: has no plan, so there are no times by operator",
                              base::printable(line.path, 400)));
      continue;
    }
    events.progress({.done = 0, .total = 0, .eta_s = {}, .what = "profiling", .item = line.path});
    OPLAT_TRY(in_model, kernels_in_model(session, *model, table, events));
    line.in_model = std::move(in_model);
  }
  return {};
}

/// Both lists as one, in the order of `models`.
std::vector<UnplannedModel> in_order(const std::vector<std::string>& models,
                                     std::vector<UnplannedModel> unreadable,
                                     std::vector<UnplannedModel> unplanned) {
  std::vector<UnplannedModel> all;
  auto first = unreadable.begin();
  auto second = unplanned.begin();
  for (const std::string& model : models) {
    if (first != unreadable.end() && first->path == model)
      all.push_back(std::move(*first++));
    else if (second != unplanned.end() && second->path == model)
      all.push_back(std::move(*second++));
  }
  return all;
}

}  // namespace

Result<report::Measurement> measurement_of(const table::Table& table,
                                           std::span<const std::string> models,
                                           std::span<const PlannedModel> planned,
                                           std::span<const UnplannedModel> unplanned,
                                           const Session& session,
                                           const measure::Summary& summary) {
  OPLAT_TRY(rows, measured_models(table, planned, session.setting, session.device));
  report::Measurement measurement;
  measurement.device = session.device;
  measurement.setting = session.setting;
  Reasons reasons(summary);
  // Both lists are in the order of the models, of which one path may stand there twice.
  std::size_t next = 0;
  auto bad = unplanned.begin();
  for (std::size_t position = 0; position < models.size(); ++position) {
    if (next < planned.size() && planned[next].path == models[position]) {
      const PlannedModel& model = planned[next];
      const auto& row = rows[next++];
      const auto* timing = row ? std::get_if<table::Timing>(&row->row.outcome) : nullptr;
      if (timing == nullptr)
        measurement.failed.push_back(
            {position, model.path, reasons.next(model), reasons.waits(model)});
      else
        measurement.models.push_back({model.path, model.plan.model, model.plan.batch, *timing,
                                      row->row.method.flags, row->row.inferences});
    } else if (bad != unplanned.end() && bad->path == models[position]) {
      measurement.failed.push_back({position, bad->path, bad->error});
      ++bad;
    }
  }
  return measurement;
}

MeasureEnd end_of(const MeasureRequest& request) {
  if (request.table.empty())
    return {"set a larger budget, or --table to keep what is measured",
            "give --table to keep what is measured"};
  return {"run the same command to resume", "what was measured is kept"};
}

Result<MeasureResult> measure_models(const MeasureRequest& request, Events& events) {
  OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_options(request.campaign));
  std::vector<UnplannedModel> unreadable;
  OPLAT_TRY(readable, readable_models(request.models, unreadable));
  OPLAT_TRY(session, start_session(request.runtime, events));
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-measure"));
  const std::string path =
      request.table.empty() ? (folder.path() / "measure.oplat").string() : request.table;
  std::vector<UnplannedModel> unplanned;
  OPLAT_TRY(planned, plan_models(session, readable, request.inputs, events, WithoutPlan::Keep,
                                 request.models.size() > 1 ? &unplanned : nullptr));
  const std::vector<UnplannedModel> all_unplanned =
      in_order(request.models, std::move(unreadable), std::move(unplanned));
  if (planned.empty()) {
    MeasureResult none;
    none.measurement.device = session.device;
    none.measurement.setting = session.setting;
    for (std::size_t i = 0; i < all_unplanned.size(); ++i)
      none.measurement.failed.push_back({i, all_unplanned[i].path, all_unplanned[i].error});
    return none;
  }
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Create, compat::codecs()));
  OPLAT_CHECK(check_device(table, session.device));
  OPLAT_CHECK(store_plans(table, planned));
  CampaignOptions options = request.campaign;
  options.retry_refused = true;  // an old failure does not answer a request to measure
  options.need_inferences = true;
  OPLAT_TRY(summary, run_campaign(session, {}, planned, options, table, events));
  OPLAT_CHECK(forget_earlier_plans(table, planned));
  if (!request.table.empty() && !summary.interrupted) update_composition(session, table, events);
  OPLAT_TRY(measurement,
            measurement_of(table, request.models, planned, all_unplanned, session, summary));
  if (request.per_op && !summary.interrupted) {
    // The models are measured, whatever is not profiled any more.
    const Status added = add_kernels(measurement, session, planned, table, events);
    summary.interrupted = !added && added.error().code == Code::Interrupted;
    if (!summary.interrupted) OPLAT_CHECK(added);
  }
  return MeasureResult{std::move(measurement), std::move(summary)};
}

}  // namespace oplat::app
