// SPDX-License-Identifier: Apache-2.0
/// A space as JSON: oplat.space.latencies/1.
#include <nlohmann/json.hpp>

#include "search/axes.hpp"
#include "search/write.hpp"

namespace oplat::search {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& ns) { return ns ? Json(microseconds(*ns)) : Json(); }

Json cell_json(const SearchSpace& space, const Layer& layer, const ExpandedLayer& expanded,
               const Cell& cell, const CellLatency& latency) {
  Json json;
  json["choice"] = space.blocks[layer.choices[cell.choice]].name;
  json["in_channels"] = expanded.in_channels[cell.in];
  json["out_channels"] = expanded.out_channels[cell.out];
  json["latency_us"] = or_null(latency.ns);
  json["interval_us"] = latency.interval ? Json{microseconds(latency.interval->low),
                                                microseconds(latency.interval->high)}
                                         : Json();
  json["source"] = Json::object();
  for (const auto& [source, share] : latency.shares)
    json["source"][std::string(estimate::document_name(source))] = share;
  json["kernels"] = cell.kernels;
  return json;
}

Json kernel_json(const predict::KernelPrediction& kernel) {
  Json json;
  json["key"] = kernel.key;
  json["latency_us"] = or_null(kernel.latency_ns);
  json["sd_log"] = kernel.sd_log ? Json(*kernel.sd_log) : Json();
  json["source"] = estimate::document_name(kernel.source);
  json["why"] = kernel.why;
  json["evicted_bytes"] = kernel.evicted_bytes;
  return json;
}

Json resolution_json(const SpaceLatencies& all, const ResolutionLatencies& timed) {
  Json json;
  json["resolution"] = timed.expansion.resolution;
  json["overhead_us"] = microseconds(timed.overhead_ns);
  json["reuse_bytes"] = timed.reuse_bytes;
  json["layers"] = Json::array();
  for (std::size_t i = 0; i < timed.expansion.layers.size(); ++i) {
    const Layer& layer = all.space.layers[i];
    const ExpandedLayer& expanded = timed.expansion.layers[i];
    Json one;
    one["layer"] = layer.name;
    one["fixed"] = is_fixed(layer, expanded);
    one["size"] = expanded.size;
    one["stride"] = layer.stride;
    one["cells"] = Json::array();
    for (std::size_t c = 0; c < expanded.cells.size(); ++c) {
      one["cells"].push_back(
          cell_json(all.space, layer, expanded, expanded.cells[c], timed.cells[i][c]));
    }
    json["layers"].push_back(std::move(one));
  }
  json["kernels"] = Json::array();
  for (const predict::KernelPrediction& kernel : timed.kernels)
    json["kernels"].push_back(kernel_json(kernel));
  return json;
}

}  // namespace

std::string to_json(const SpaceLatencies& latencies) {
  const Axes axes = axes_of(latencies);
  Json json;
  json["schema"] = "oplat.space.latencies/1";
  json["space"] = latencies.space.name;
  json["family"] = latencies.space.family->name();
  json["batch"] = latencies.space.batch;
  json["choices"] = Json::array();
  for (const std::size_t block : axes.choices)
    json["choices"].push_back(latencies.space.blocks[block].name);
  json["level"] = latencies.level;
  json["statistic"] = "median";
  const predict::Composition& composition = latencies.composition;
  json["composition"] = {{"c0_us", microseconds(composition.c0_ns)},
                         {"c1_us", microseconds(composition.c1_ns)},
                         {"c2_us_per_byte", microseconds(composition.c2_ns_per_byte)},
                         {"scale", composition.scale},
                         {"scale_int8", composition.scale_int8},
                         {"fitted", composition.fitted},
                         {"calibration_models", composition.calibration_models}};
  json["device"] = latencies.device.name;
  json["setting"] = table::describe(latencies.setting);
  json["mismatch"] = Json::array();
  for (const predict::Mismatch& one : latencies.mismatch)
    json["mismatch"].push_back({{"field", one.field}, {"asked", one.asked}, {"used", one.used}});
  json["resolutions"] = Json::array();
  for (const ResolutionLatencies& timed : latencies.resolutions)
    json["resolutions"].push_back(resolution_json(latencies, timed));
  json["missing"] = latencies.missing;
  json["warnings"] = latencies.warnings;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace oplat::search
