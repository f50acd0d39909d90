// SPDX-License-Identifier: Apache-2.0
/// One JSON document per report; each names its schema.
#include <ostream>

#include "report/json_accuracy.hpp"
#include "report/json_documents.hpp"
#include "report/json_fit.hpp"
#include "report/json_values.hpp"
#include "report/json_verification.hpp"
#include "report/renderers.hpp"

namespace oplat::report {
namespace {

/// Kernels named in "uncertainty"; every kernel's share is next to it.
constexpr std::size_t kMaxUncertain = 5;

template <class Name>
Json word(const std::optional<Name>& value) {
  return value ? Json(name(*value)) : Json(nullptr);
}

}  // namespace

Json kernels_of(const PredictionReport& report) {
  Json list = json_of(report.prediction.kernels);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(i);
    list[i]["label"] = more.label.text;
    list[i]["flops"] = number(more.flops);
    list[i]["bytes"] = number(more.bytes);
    list[i]["gflops_per_s"] = number(more.gflops_per_s);
    list[i]["gbytes_per_s"] = number(more.gbytes_per_s);
    list[i]["bound"] = word(more.bound);
    list[i]["bound_share"] = number(more.bound_share);
    list[i]["uncertainty_share"] = number(more.uncertainty_share);
    list[i]["movement"] = word(more.movement);
    list[i]["by_runtime"] = flag(more.inserted_by_runtime);
  }
  return list;
}

Json operators_of(const predict::Diagnosis& diagnosis) {
  Json list = Json::array();
  for (const predict::OperatorSum& sum : diagnosis.operators)
    list.push_back({{"operator", sum.type},
                    {"calls", sum.calls},
                    {"kernels", sum.kernels},
                    {"missing", sum.missing},
                    {"time_ns", sum.time_ns},
                    {"time_share", number(sum.time_share)},
                    {"gflops_per_s", number(sum.gflops_per_s)},
                    {"gbytes_per_s", number(sum.gbytes_per_s)},
                    {"bound", word(sum.bound)}});
  return list;
}

namespace {

Json commands_of(const predict::Prediction& prediction) {
  Json commands = Json::array();
  if (prediction.missing.empty()) return commands;
  for (const std::string* command :
       {&prediction.help.fit_command, &prediction.help.profile_command})
    if (!command->empty()) commands.push_back(*command);
  return commands;
}

Json uncertainty_of(const PredictionReport& report) {
  const auto& uncertainty = report.diagnosis.uncertainty;
  if (!uncertainty) return nullptr;
  Json most = Json::array();
  for (const predict::UncertainKernel& one : uncertainty->most) {
    if (most.size() == kMaxUncertain) break;
    most.push_back({{"key", report.prediction.kernels.at(one.first).key},
                    {"count", one.count},
                    {"share", one.share},
                    {"remedy", name(one.remedy)}});
  }
  return {{"kernels", uncertainty->kernels},   {"composition", uncertainty->composition},
          {"moments", uncertainty->moments},   {"control", uncertainty->control},
          {"mismatch", uncertainty->mismatch}, {"most", std::move(most)}};
}

Json inserted_of(const predict::Diagnosis& diagnosis) {
  Json list = Json::array();
  for (const predict::MovementSum& sum : diagnosis.movement)
    list.push_back({{"kind", name(sum.movement)},
                    {"by_runtime", flag(sum.inserted_by_runtime)},
                    {"kernels", sum.kernels},
                    {"time_ns", sum.time_ns},
                    {"time_share", number(sum.time_share)}});
  return list;
}

Json ceilings_of(const predict::Ceilings& ceilings) {
  Json flops = Json::object();
  for (const auto& [dtype, rate] : ceilings.flops_per_ns)
    flops[std::string(ir::name(dtype))] = rate;
  Json memory = Json::array();
  for (const predict::MemoryLevel& level : ceilings.memory)
    memory.push_back(
        {{"up_to_bytes", number(level.up_to_bytes)}, {"gbytes_per_s", level.bytes_per_ns}});
  return {{"node_ns", number(ceilings.node_ns)},
          {"gflops_per_s", std::move(flops)},
          {"memory", std::move(memory)},
          {"rows", ceilings.rows}};
}

Json measured_of(const std::optional<predict::MeasuredModel>& measured) {
  if (!measured) return nullptr;
  return {{"median_ns", measured->median_ns},
          {"ci_ns", json_of(std::optional(measured->ci_ns))},
          {"under_load", measured->under_load}};
}

Json document(const PredictionReport& report) {
  const predict::Prediction& p = report.prediction;
  Json time = Json::object();
  for (const auto& [source, share] : p.coverage.time)
    time[std::string(estimate::document_name(source))] = share;
  if (p.coverage.overhead) time["overhead"] = *p.coverage.overhead;
  Json count = Json::object();
  for (const auto& [source, n] : p.coverage.count)
    count[std::string(estimate::document_name(source))] = n;
  Json json;
  json["schema"] = "oplat.prediction/1";
  json["model"] = p.model;
  json["latency_ns"] = number(p.latency_ns);
  json["interval_ns"] = json_of(p.interval);
  json["level"] = p.level;
  json["statistic"] = "median";
  json["measured"] = measured_of(p.measured);
  json["batch"] = p.batch;
  json["composition"] = {{"c0_ns", p.composition.c0_ns},
                         {"c1_ns", p.composition.c1_ns},
                         {"c2_ns_per_byte", p.composition.c2_ns_per_byte},
                         {"scale", p.composition.scale},
                         {"scale_int8", p.composition.scale_int8},
                         {"n_kernels", p.composition.n_kernels},
                         {"result_bytes", p.composition.evicted_bytes},
                         {"foreign_bytes", p.composition.foreign_bytes},
                         {"fitted", p.composition.fitted},
                         {"calibration_models", p.composition.calibration_models}};
  json["coverage"] = {{"time", std::move(time)}, {"count", std::move(count)}};
  json["missing"] = p.missing;
  json["missing_commands"] = commands_of(p);
  json["by_operator"] = operators_of(report.diagnosis);
  json["kernels"] = kernels_of(report);
  json["uncertainty"] = uncertainty_of(report);
  json["inserted"] = inserted_of(report.diagnosis);
  json["ceilings"] = ceilings_of(report.diagnosis.ceilings);
  json["device"] = json_of(p.device);
  json["setting"] = json_of(p.setting);
  json["mismatch"] = json_of(p.mismatch);
  json["warnings"] = p.warnings;
  json["table"] = {{"path", p.table_path.string()}, {"schema_version", p.schema_version}};
  json["plan"] = {{"source", p.plan_source}, {"hash", p.plan_hash}};
  return json;
}

Json document(const Comparison& comparison) {
  Json models = Json::array();
  for (const predict::Prediction& p : comparison.models)
    models.push_back({{"model", p.model},
                      {"latency_ns", number(p.latency_ns)},
                      {"interval_ns", json_of(p.interval)},
                      {"mismatch", json_of(p.mismatch)},
                      {"warnings", p.warnings}});
  return {{"schema", "oplat.comparison/1"},
          {"models", std::move(models)},
          {"ratio", number(comparison.ratio())},
          {"intervals_apart", comparison.intervals_apart()}};
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
                      {"missing", model.missing},
                      {"inferences", json_of(model.inferences)}});
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
    kernels.push_back({{"name", kernel.name},
                       {"key", kernel.key},
                       {"count", kernel.count},
                       {"by_runtime", flag(kernel.inserted_by_runtime)},
                       {"input_bytes", number(kernel.input_bytes)}});
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
  Json contexts = Json::array();
  for (const auto& line : info.contexts)
    contexts.push_back({{"device", json_of(line.device)},
                        {"setting", json_of(line.setting)},
                        {"rows", line.rows},
                        {"timings", line.timings}});
  return {{"schema", "oplat.table/1"},
          {"path", info.path},
          {"schema_version", info.schema_version},
          {"campaigns", info.campaigns},
          {"plans", info.plans},
          {"models", info.models},
          {"populations", std::move(contexts)}};
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

Json error_of(const std::optional<Error>& error) {
  if (!error) return nullptr;
  return {{"code", code_name(error->code)}, {"message", error->message}};
}

std::vector<Json> entries_of(const PredictionList& list) {
  std::vector<Json> entries;
  for (const auto& entry : list.models)
    entries.push_back({{"model", entry.model},
                       {"error", error_of(entry.error)},
                       {"prediction", entry.report ? document(*entry.report) : Json(nullptr)}});
  return entries;
}

std::vector<Json> entries_of(const PlanList& list) {
  std::vector<Json> entries;
  for (const auto& entry : list.models)
    entries.push_back({{"model", entry.model},
                       {"error", error_of(entry.error)},
                       {"plan", entry.plan ? document(entry.plan->plan) : Json(nullptr)}});
  return entries;
}

Json document(const PredictionList& list) {
  return {{"schema", "oplat.predictions/1"}, {"models", entries_of(list)}};
}

Json document(const PlanList& list) {
  return {{"schema", "oplat.plans/1"}, {"models", entries_of(list)}};
}

Json document(const Verification& verification) { return verification_document(verification); }
Json document(const FitReport& fit) { return fit_document(fit); }
Json document(const AccuracyReport& accuracy) { return accuracy_document(accuracy); }
Json document(const ForeignReport& foreign) { return foreign->json(); }
Json document(const RulesPlan& made) { return document(made.plan); }
template <class Document>
requires requires(const Document& other) { json_document(other); }
Json document(const Document& other) { return json_document(other); }

/// Whether the command's warnings are part of the document; the others hold warnings of their own.
bool leaves_warnings_to_others(const ReportModel& model) {
  return std::holds_alternative<table::Plan>(model.subject) ||
         std::holds_alternative<RulesPlan>(model.subject) ||
         std::holds_alternative<PlanList>(model.subject) ||
         std::holds_alternative<Measurement>(model.subject) ||
         std::holds_alternative<Sweep>(model.subject) ||
         std::holds_alternative<ProfileReport>(model.subject);
}

/// Names come from untrusted files and need not be UTF-8: replaced, so that the document stays
/// JSON.
std::string printed(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

class JsonLines final : public Renderer {
  std::string_view do_name() const override { return "jsonl"; }
  Status do_render(const ReportModel& model, std::ostream& out) const override {
    return std::visit(
        [&](const auto& subject) -> Status {
          if constexpr (requires { entries_of(subject); }) {
            for (const Json& entry : entries_of(subject)) out << printed(entry, -1);
            return {};
          } else {
            return fail(Code::Internal, "a document of one model reached the renderer of lines");
          }
        },
        model.subject);
  }
};

class JsonRenderer final : public Renderer {
  std::string_view do_name() const override { return "json"; }
  Status do_render(const ReportModel& model, std::ostream& out) const override {
    Json made = std::visit([](const auto& subject) { return document(subject); }, model.subject);
    if (leaves_warnings_to_others(model)) made["warnings"] = model.warnings;
    out << printed(made, 2);
    return {};
  }
};

}  // namespace

std::unique_ptr<Renderer> create_json_lines_renderer() { return std::make_unique<JsonLines>(); }
std::unique_ptr<Renderer> create_json_renderer() { return std::make_unique<JsonRenderer>(); }

}  // namespace oplat::report
