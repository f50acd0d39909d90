// SPDX-License-Identifier: Apache-2.0
/// One JSON document per report; each names its schema.
#include <ostream>

#include "json_values.hpp"
#include "renderers.hpp"

namespace oplat::report {
namespace {

Json document(const predict::Prediction& p) {
  Json time = Json::object();
  for (const auto& [source, share] : p.coverage.time) time[std::string(estimate::name(source))] = share;
  if (p.coverage.overhead) time["overhead"] = *p.coverage.overhead;
  Json count = Json::object();
  for (const auto& [source, n] : p.coverage.count) count[std::string(estimate::name(source))] = n;
  Json json;
  json["schema"] = "oplat.prediction/1";
  json["latency_ns"] = number(p.latency_ns);
  json["interval_ns"] = json_of(p.interval);
  json["level"] = p.level;
  json["statistic"] = "median";
  json["batch"] = p.batch;
  json["composition"] = {{"c0_ns", p.composition.c0_ns},
                         {"c1_ns", p.composition.c1_ns},
                         {"n_kernels", p.composition.n_kernels},
                         {"fitted", p.composition.fitted},
                         {"calibration_models", p.composition.calibration_models}};
  json["coverage"] = {{"time", std::move(time)}, {"count", std::move(count)}};
  json["missing"] = p.missing;
  json["kernels"] = json_of(p.kernels);
  json["device"] = json_of(p.device);
  json["setting"] = json_of(p.setting);
  json["mismatch"] = json_of(p.mismatch);
  json["warnings"] = p.warnings;
  json["table"] = {{"path", p.table_path.string()}, {"schema_version", p.schema_version}};
  json["plan"] = {{"source", p.plan_source}, {"hash", p.plan_hash}};
  return json;
}

Json document(const predict::Validation& validation) {
  Json models = Json::array();
  for (const auto& model : validation.models) {
    const auto inside = model.inside();
    models.push_back({{"name", model.name},
                      {"predicted_ns", number(model.predicted_ns)},
                      {"interval_ns", json_of(model.interval)},
                      {"measured", json_of(model.measured)},
                      {"signed_error", number(model.signed_error())},
                      {"inside_interval", inside ? Json(*inside) : Json(nullptr)},
                      {"missing", model.missing}});
  }
  const predict::ValidationSummary summary = predict::summarise(validation.models);
  Json json;
  json["schema"] = "oplat.validation/1";
  json["level"] = validation.level;
  json["models"] = std::move(models);
  json["summary"] = {{"models", summary.models},
                     {"predicted", summary.predicted},
                     {"mape", number(summary.mape)},
                     {"bias", number(summary.bias)},
                     {"within_5_percent", number(summary.within_5_percent)},
                     {"within_10_percent", number(summary.within_10_percent)},
                     {"interval_coverage", number(summary.interval_coverage)},
                     {"rank_correlation", number(summary.rank_correlation)}};
  json["device"] = json_of(validation.device);
  json["setting"] = json_of(validation.setting);
  json["warnings"] = validation.warnings;
  return json;
}

Json document(const table::Plan& plan) {
  Json kernels = Json::array();
  for (const auto& kernel : plan.kernels)
    kernels.push_back({{"name", kernel.name}, {"key", kernel.key}, {"count", kernel.count}});
  return {{"schema", "oplat.plan/1"},
          {"model", plan.model},
          {"source", plan.source},
          {"hash", plan.identity},
          {"batch", plan.batch},
          {"weight_bytes", plan.weight_bytes},
          {"activation_bytes", plan.activation_bytes},
          {"kernels", std::move(kernels)}};
}

Json document(const EstimateListing& listing) {
  return {{"schema", "oplat.estimates/1"},         {"kernels", json_of(listing.kernels)},
          {"device", json_of(listing.device)},     {"setting", json_of(listing.setting)},
          {"mismatch", json_of(listing.mismatch)}, {"warnings", listing.warnings}};
}

Json document(const TableInfo& info) {
  Json populations = Json::array();
  for (const auto& line : info.populations)
    populations.push_back({{"device", json_of(line.device)},
                           {"setting", json_of(line.setting)},
                           {"rows", line.rows},
                           {"timings", line.timings}});
  return {{"schema", "oplat.table/1"},
          {"path", info.path},
          {"schema_version", info.schema_version},
          {"campaigns", info.campaigns},
          {"plans", info.plans},
          {"models", info.models},
          {"populations", std::move(populations)}};
}

Json document(const RowListing& listing) {
  Json rows = Json::array();
  for (const auto& line : listing.rows) {
    const table::Row& row = line.row.row;
    Json one;
    one["id"] = line.row.id;
    one["device"] = line.device;
    one["setting"] = json_of(line.setting);
    one["key"] = row.key;
    one["reuse_bytes"] = number(row.reuse_bytes);
    one["origin"] = row.origin;
    one["outcome"] = table::outcome_name(row.outcome);
    std::visit(
        [&](const auto& outcome) {
          if constexpr (requires { outcome.reason; })
            one["reason"] = outcome.reason;
          else
            one["timing"] = json_of(outcome);
        },
        row.outcome);
    one["copies"] = row.method.copies;
    one["topology"] = row.method.topology;
    one["flags"] = row.method.flags;
    rows.push_back(std::move(one));
  }
  return {{"schema", "oplat.rows/1"}, {"cut", listing.cut}, {"rows", std::move(rows)}};
}

class JsonRenderer final : public Renderer {
  std::string_view do_name() const override { return "json"; }
  Status do_render(const ReportModel& model, std::ostream& out) const override {
    // Names come from strangers' files and need not be UTF-8: replaced, so that the document stays JSON.
    out << std::visit([](const auto& subject) { return document(subject); }, model.subject)
               .dump(2, ' ', false, Json::error_handler_t::replace)
        << "\n";
    return {};
  }
};

}  // namespace

std::unique_ptr<Renderer> create_json_renderer() { return std::make_unique<JsonRenderer>(); }

}  // namespace oplat::report
