// SPDX-License-Identifier: Apache-2.0
/// Values of other layers as JSON.
#include "report/json_values.hpp"
#include "base/interval.hpp"

namespace oplat::report {
namespace {

/// Facts of a device use 0 for unknown; a document says null.
Json known(std::int64_t value) { return value > 0 ? Json(value) : Json(nullptr); }

}  // namespace

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json whole_number(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json flag(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

Json json_of(const table::Device& device) {
  return {{"name", device.name},
          {"cpu", device.cpu},
          {"architecture", device.architecture},
          {"cores", known(device.cores)},
          {"memory_bytes", known(device.memory_bytes)},
          {"l1d_bytes", known(device.l1d_bytes)},
          {"l2_bytes", known(device.l2_bytes)},
          {"llc_bytes", known(device.llc_bytes)},
          {"isa", device.isa}};
}

Json json_of(const table::Setting& setting) {
  Json options = Json::object();
  for (const auto& [name, value] : setting.options) options[name] = value;
  return {{"runtime", setting.runtime}, {"version", setting.version},
          {"build", setting.build},     {"precision", setting.precision},
          {"threads", setting.threads}, {"options", std::move(options)}};
}

Json json_of(const table::Timing& timing) {
  return {{"median_ns", timing.median_ns}, {"ci_ns", {timing.ci_low_ns, timing.ci_high_ns}},
          {"ci_level", timing.ci_level},   {"sd_log", timing.sd_log},
          {"min_ns", timing.min_ns},       {"p10_ns", timing.p10_ns},
          {"p90_ns", timing.p90_ns},       {"blocks", timing.blocks},
          {"processes", timing.processes}};
}

Json json_of(const std::optional<table::InferenceTimes>& times) {
  if (!times) return nullptr;
  return {{"count", times->count},   {"blocks", times->blocks}, {"mean_ns", times->mean_ns},
          {"p50_ns", times->p50_ns}, {"p90_ns", times->p90_ns}, {"p99_ns", number(times->p99_ns)},
          {"max_ns", times->max_ns}};
}

Json json_of(const std::optional<base::Interval>& interval) {
  if (!interval) return nullptr;
  return Json::array({interval->low, interval->high});
}

Json json_of(const std::vector<predict::Mismatch>& mismatch) {
  Json list = Json::array();
  for (const auto& one : mismatch)
    list.push_back({{"field", one.field}, {"asked", one.asked}, {"used", one.used}});
  return list;
}

Json json_of(const std::vector<predict::KernelPrediction>& kernels) {
  Json list = Json::array();
  for (const auto& kernel : kernels)
    list.push_back({{"name", kernel.name},
                    {"key", kernel.key},
                    {"count", kernel.count},
                    {"latency_ns", number(kernel.latency_ns)},
                    {"sd_log", number(kernel.sd_log)},
                    {"source", estimate::document_name(kernel.source)},
                    {"why", kernel.why},
                    {"in_model_ns", json_of(kernel.in_model_ns)}});
  return list;
}

}  // namespace oplat::report
