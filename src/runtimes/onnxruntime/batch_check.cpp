// SPDX-License-Identifier: Apache-2.0
#include "runtimes/onnxruntime/batch_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

/// Whether one dimension of `after` grew from `from` to `to` parts, and all others are equal.
bool is_grown(const ir::Shape& before, const ir::Shape& after, std::int64_t from, std::int64_t to) {
  if (before.dims.size() != after.dims.size()) return false;
  int grown = 0;
  for (std::size_t i = 0; i < before.dims.size(); ++i) {
    if (!before.dims[i] || !after.dims[i]) return false;
    if (before.dims[i] == after.dims[i]) continue;
    if (*before.dims[i] * to != *after.dims[i] * from) return false;
    ++grown;
  }
  return grown == 1;
}

using RunsByNode = std::unordered_map<std::string_view, const plan::NodeRun*>;

RunsByNode by_node(const GraphRun& run) {
  RunsByNode found;
  for (const plan::NodeRun& one : run.runs) found.emplace(one.node, &one);
  return found;
}

bool have_grown(const plan::NodeRun& before, const plan::NodeRun& after, std::int64_t from,
                std::int64_t to) {
  return std::equal(before.outputs.begin(), before.outputs.end(), after.outputs.begin(),
                    after.outputs.end(), [&](const auto& old, const auto& grown) {
                      return is_grown(old.shape, grown.shape, from, to);
                    });
}

}  // namespace

Status check_batch(const GraphRun& before, const GraphRun& after, std::int64_t from,
                   std::int64_t to) {
  const RunsByNode old_runs = by_node(before);
  const RunsByNode new_runs = by_node(after);
  std::unordered_set<ir::TensorId> data(after.graph.inputs.begin(), after.graph.inputs.end());
  for (const ir::Node& node : after.graph.nodes) {
    const bool reached = std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ir::TensorId id) { return data.contains(id); });
    // What is computed from sizes follows from the sizes.
    if (!reached || node.op == "Shape" || node.op == "Size") continue;
    data.insert(node.outputs.begin(), node.outputs.end());
    data.erase(ir::kNoTensor);
    const auto old_run = old_runs.find(node.name);
    const auto new_run = new_runs.find(node.name);
    const bool known = old_run != old_runs.end() && new_run != new_runs.end();
    if (known && have_grown(*old_run->second, *new_run->second, from, to)) continue;
    const std::string result =
        node.outputs.empty() || node.outputs.front() == ir::kNoTensor
            ? node.name
            : after.graph.tensors.at(static_cast<std::size_t>(node.outputs.front())).name;
    return fail(Code::Usage,
                "--batch {} cannot be set: the model fixes its batch to {}, and {} '{}' {}; export "
                "it with an open batch dimension",
                to, from, base::printable(node.op), base::printable(result),
                known ? "does not grow with it" : "cannot be compared");
  }
  return {};
}

double peak_bytes(const GraphRun& run) {
  const ir::Graph& graph = run.graph;
  const auto bytes_of = [](std::optional<ir::Dtype> dtype, const ir::Shape& shape) {
    const auto elements = shape.elements();
    const auto bits = dtype ? ir::bits(*dtype) : std::nullopt;
    return elements && bits ? static_cast<double>(*elements) * *bits / 8 : 0;
  };
  std::unordered_map<std::string_view, const ir::Node*> nodes;
  for (const ir::Node& node : graph.nodes) nodes.emplace(node.name, &node);
  std::vector<const ir::Node*> order;
  std::unordered_map<ir::TensorId, std::size_t> last_read;
  for (const plan::NodeRun& one : run.runs) {
    const auto node = nodes.find(one.node);
    order.push_back(node == nodes.end() ? nullptr : node->second);
    if (order.back() == nullptr) continue;
    for (const ir::TensorId id : order.back()->inputs) last_read[id] = order.size() - 1;
  }
  for (const ir::TensorId id : graph.outputs) last_read[id] = order.size();
  std::unordered_map<ir::TensorId, double> held;
  double now = 0;
  for (const ir::TensorId id : graph.inputs) {
    const ir::TensorInfo& tensor = graph.tensors.at(static_cast<std::size_t>(id));
    now += held[id] = bytes_of(tensor.dtype, tensor.shape);
  }
  double peak = now;
  for (std::size_t step = 0; step < order.size(); ++step) {
    if (order[step] == nullptr) continue;
    // The run leaves out results that are missing, so that both lists are walked together.
    auto seen = run.runs[step].outputs.begin();
    for (const ir::TensorId id : order[step]->outputs) {
      if (id == ir::kNoTensor || seen == run.runs[step].outputs.end()) continue;
      now += held[id] = bytes_of(seen->dtype, seen->shape);
      ++seen;
    }
    peak = std::max(peak, now);
    const auto free = [&](ir::TensorId id) {
      const auto last = last_read.find(id);
      if (last != last_read.end() && last->second > step) return;
      const auto at = held.find(id);
      if (at == held.end()) return;
      now -= at->second;
      held.erase(at);
    };
    for (const ir::TensorId id : order[step]->inputs) free(id);
    for (const ir::TensorId id : order[step]->outputs) free(id);
  }
  return peak;
}

}  // namespace oplat::runtimes::onnxruntime
