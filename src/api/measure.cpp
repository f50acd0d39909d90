// SPDX-License-Identifier: Apache-2.0
#include "oplat/measure.hpp"

#include <utility>

#include "api/boundary.hpp"
#include "api/events.hpp"
#include "api/program.hpp"
#include "api/values.hpp"
#include "app/measure_models.hpp"
#include "app/profile.hpp"
#include "oplat/profile.hpp"

namespace oplat {
namespace {

app::RuntimeRequest runtime_request(const RuntimeRequest& from) {
  app::RuntimeRequest to;
  to.runtime = from.runtime;
  // This program is not oplat: it must not be started as a worker.
  to.worker_command = {api::program(), "worker", from.runtime};
  to.worker_arguments = from.worker_arguments;
  to.threads = from.threads;
  to.precision = from.precision;
  to.options = from.options;
  to.device = from.device;
  return to;
}

app::CampaignOptions campaign_options(const CampaignOptions& from, std::string record) {
  app::CampaignOptions to;
  to.budget_s = from.budget_s;
  to.seed = from.seed;
  to.target_error = from.target_error;
  to.retry_refused = from.retry_refused;
  to.record = std::move(record);
  return to;
}

std::optional<InferenceTimes> inferences_of(const std::optional<table::InferenceTimes>& from) {
  if (!from) return std::nullopt;
  const auto ms = [](double ns) { return ns / 1e6; };
  InferenceTimes to;
  to.count = from->count;
  to.blocks = from->blocks;
  to.mean_ms = ms(from->mean_ns);
  to.p50_ms = ms(from->p50_ns);
  to.p90_ms = ms(from->p90_ns);
  if (from->p99_ns) to.p99_ms = ms(*from->p99_ns);
  to.max_ms = ms(from->max_ns);
  return to;
}

CampaignSummary summary_of(const measure::Summary& from) {
  CampaignSummary to;
  to.kernels = from.kernels.total;
  to.kernels_measured = from.kernels.measured();
  to.seconds = from.seconds;
  to.budget_ended = from.budget_ended;
  to.interrupted = from.interrupted;
  for (const measure::Refusal& refusal : from.refusals)
    to.refusals.push_back({refusal.key, base::printable_message(refusal.reason)});
  return to;
}

}  // namespace

Result<MeasureResult> measure_models(const MeasureRequest& request, Events* events) {
  app::MeasureRequest asked;
  asked.models = request.models;
  asked.inputs = api::inputs_of(request.inputs);
  asked.table = request.table;
  asked.runtime = runtime_request(request.runtime);
  asked.campaign = campaign_options(request.campaign, "oplat::measure_models");
  api::PassedEvents passed(events);
  OPLAT_API_TRY(measured, app::measure_models(asked, passed));
  MeasureResult result;
  for (const auto& line : measured.measurement.models)
    result.models.push_back({line.path, line.batch, api::timing_of(line.timing), line.flags,
                             inferences_of(line.inferences)});
  for (const auto& one : measured.measurement.failed)
    result.failed.push_back({one.path, base::printable_error(one.error)});
  result.device = api::device_of(measured.measurement.device);
  result.setting = api::setting_of(measured.measurement.setting);
  result.summary = summary_of(measured.summary);
  return result;
}

Result<CampaignSummary> profile_models(const ProfileRequest& request, Events* events) {
  app::ProfileRequest asked;
  asked.models = request.models;
  asked.inputs = api::inputs_of(request.inputs);
  asked.keys_file = request.keys_file;
  asked.table = request.table;
  asked.runtime = runtime_request(request.runtime);
  asked.campaign = campaign_options(request.campaign, "oplat::profile_models");
  api::PassedEvents passed(events);
  OPLAT_API_TRY(profiled, app::profile(asked, passed));
  return summary_of(profiled.summary);
}

}  // namespace oplat
