// SPDX-License-Identifier: Apache-2.0
#include "oplat/predict.hpp"

#include <utility>

#include "api/boundary.hpp"
#include "api/events.hpp"
#include "api/program.hpp"
#include "api/values.hpp"
#include "app/estimate.hpp"

namespace oplat {
namespace {

/// Of a prediction that is complete.
Prediction prediction_of(predict::Prediction from, const EstimateOptions& options) {
  Prediction to;
  to.median_ms = *from.latency_ns / api::kNsPerMs;
  to.interval =
      from.interval ? api::interval_of(*from.interval) : Interval{to.median_ms, to.median_ms};
  to.level = from.level;
  if (from.measured) to.measured_ms = from.measured->median_ns / api::kNsPerMs;
  to.batch = from.batch;
  for (const auto& [source, share] : from.coverage.time)
    to.coverage[api::source_of(source)] = share;
  to.overhead = from.coverage.overhead.value_or(0);
  for (const predict::KernelPrediction& kernel : from.kernels)
    to.kernels.push_back(api::kernel_time_of(kernel, options.level));
  to.missing = std::move(from.missing);
  for (const std::string& text : from.warnings)
    to.warnings.push_back(base::printable_message(text));
  to.device = api::device_of(from.device);
  to.setting = api::setting_of(from.setting);
  to.plan = std::move(from.plan_source);
  return to;
}

}  // namespace

std::string_view source_name(Source source) noexcept {
  switch (source) {
    case Source::Measured:
      return "measured";
    case Source::Interpolated:
      return "interpolated";
    case Source::Learned:
      return "learned";
    case Source::Roofline:
      return "roofline";
    case Source::Free:
      return "free";
    case Source::Missing:
      break;
  }
  return "missing";
}

Result<Prediction> predict_model(const Table& table, const PredictRequest& request,
                                 Events* events) {
  app::PredictRequest asked;
  asked.model = request.model;
  asked.inputs = api::inputs_of(request.inputs);
  asked.rows = api::rows_of(request.rows);
  OPLAT_API_TRY(plan, app::parse_plan_source(request.plan));
  asked.plan = std::move(plan);
  asked.plan.program = api::program();
  asked.options = api::options_of(request.estimate);
  api::PassedEvents passed(events);
  OPLAT_API_TRY(result, app::predict(asked, table.impl().opened, table.impl().memo, passed));
  OPLAT_API_CHECK(predict::require_complete(result.prediction));
  return prediction_of(std::move(result.prediction), request.estimate);
}

Result<Prediction> predict_model(const Table& table, const Graph& graph,
                                 const PredictRequest& request, Events* events) {
  PredictRequest of_graph = request;
  of_graph.model = graph.path();
  of_graph.inputs = graph.model_inputs();
  return predict_model(table, of_graph, events);
}

Result<std::vector<KernelTime>> estimate_kernels(const Table& table, std::span<const Key> keys,
                                                 const EstimateRequest& request) {
  app::EstimateRequest asked;
  for (const Key& key : keys) asked.keys.push_back(key.text());
  asked.rows = api::rows_of(request.rows);
  asked.options = api::options_of(request.options);
  asked.reuse_bytes = request.reuse_bytes;
  OPLAT_API_TRY(result, app::estimate(asked, table.impl().opened.table()));
  OPLAT_API_CHECK(app::require_estimates(result, asked.options.missing));
  std::vector<KernelTime> times;
  for (const predict::KernelPrediction& kernel : result.kernels)
    times.push_back(api::kernel_time_of(kernel, request.options.level));
  return times;
}

}  // namespace oplat
