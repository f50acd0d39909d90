// SPDX-License-Identifier: Apache-2.0
#include "plan/inspection.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <unordered_set>

#include "ir/key_head.hpp"
#include "plan/plan.hpp"

namespace oplat::plan {
namespace {

std::optional<double> bytes_of(const ir::TensorInfo& tensor) {
  const auto elements = tensor.shape.ranked ? tensor.shape.elements() : std::nullopt;
  const auto bits = tensor.dtype ? ir::bits(*tensor.dtype) : std::nullopt;
  if (!elements || !bits) return std::nullopt;
  return static_cast<double>(*elements) * *bits / 8;
}

bool is_parameter(ir::Dtype dtype) {
  return dtype != ir::Dtype::I64 && dtype != ir::Dtype::Bool && dtype != ir::Dtype::String &&
         ir::bits(dtype).has_value();
}

/// Adds a constant that holds parameters, each tensor once. Equal bytes are not shared ones: biases
/// of many layers are all zero.
void add_parameters(const ir::Graph& graph, ir::TensorId id,
                    std::unordered_set<ir::TensorId>& counted, ParameterSum& sum) {
  if (id == ir::kNoTensor || !counted.insert(id).second) return;
  const ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(id)];
  if ((!tensor.constant && !tensor.overridable) || tensor.outer || !tensor.dtype) return;
  if (!is_parameter(*tensor.dtype)) return;
  const auto elements = tensor.shape.elements();
  if (!elements) return;
  sum.count += static_cast<double>(*elements);
  sum.bytes += bytes_of(tensor).value_or(0);
}

/// The same for all nodes and what is in their bodies. Tensors of an enclosing graph count there.
void add_parameters(const ir::Graph& graph, ParameterSum& sum) {
  std::unordered_set<ir::TensorId> counted;
  for (const ir::Node& node : graph.nodes) {
    for (const ir::TensorId id : node.inputs) add_parameters(graph, id, counted, sum);
    for (const ir::TensorId id : node.captured) add_parameters(graph, id, counted, sum);
    for (const auto& [name, body] : node.bodies) add_parameters(*body, sum);
  }
}

bool is_known(const ir::TensorInfo& tensor) { return bytes_of(tensor).has_value(); }

/// The key of each node, by the name of the node; of two nodes of one name none.
std::unordered_map<std::string_view, const PlanKernel*> by_name(
    std::span<const PlanKernel> kernels) {
  std::unordered_map<std::string_view, const PlanKernel*> named;
  for (const PlanKernel& kernel : kernels) {
    if (kernel.name.empty()) continue;
    const auto [at, added] = named.emplace(kernel.name, &kernel);
    if (!added) at->second = nullptr;
  }
  return named;
}

/// Whether kernels and nodes are the same operators in the same order.
bool agree(const ir::Graph& graph, std::span<const PlanKernel> kernels) {
  return kernels.size() == graph.nodes.size() &&
         std::equal(kernels.begin(), kernels.end(), graph.nodes.begin(),
                    [](const PlanKernel& kernel, const ir::Node& node) {
                      return ir::head_of(kernel.key).op == node.op;
                    });
}

/// First and last node during which a buffer is alive.
struct Life {
  std::size_t first = 0;
  std::size_t last = 0;
  double bytes = 0;
  bool used = false;
};

/// Tensors whose bytes are those of another, by the first of them.
class SharedBuffers {
 public:
  SharedBuffers(const ir::Graph& graph, const ir::Catalogue& catalogue)
      : root_(graph.tensors.size()) {
    for (std::size_t i = 0; i < root_.size(); ++i) root_[i] = i;
    for (const ir::Node& node : graph.nodes) {
      const ir::OperatorInfo* info = catalogue.find(node.domain, node.op);
      if (info == nullptr || !info->view || node.inputs.empty() || node.outputs.empty()) continue;
      if (node.inputs[0] == ir::kNoTensor || node.outputs[0] == ir::kNoTensor) continue;
      root_[static_cast<std::size_t>(node.outputs[0])] =
          root_[static_cast<std::size_t>(node.inputs[0])];
    }
  }
  [[nodiscard]] std::size_t of(ir::TensorId tensor) const {
    return root_[static_cast<std::size_t>(tensor)];
  }

 private:
  std::vector<std::size_t> root_;
};

}  // namespace

Result<std::vector<PlanKernel>> kernels_of_file(const ir::Graph& graph) {
  ir::Graph named = graph;
  std::vector<NodeRun> runs;
  std::unordered_map<std::string, std::string> own_name;
  for (std::size_t i = 0; i < named.nodes.size(); ++i) {
    ir::Node& node = named.nodes[i];
    std::string name = fmt::format("#{}", i);
    own_name.emplace(name, node.name);
    node.name = name;
    node.bodies.clear();  // whose names may be those of other nodes
    runs.push_back({std::move(name), {}, {}, {}});
  }
  named.outputs.clear();  // a constant or view that leaves the graph is copied by a runtime
  OPLAT_TRY(kernels, kernels_of(named, runs));
  for (PlanKernel& kernel : kernels)
    if (const auto at = own_name.find(kernel.name); at != own_name.end()) kernel.name = at->second;
  return std::move(kernels);
}

bool is_complete(const ir::Graph& graph, std::span<const PlanKernel> kernels) {
  const auto has_body = [](const ir::Node& node) { return !node.bodies.empty(); };
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), has_body)) return false;
  return std::all_of(kernels.begin(), kernels.end(), [](const PlanKernel& kernel) {
    const auto key = ir::parse(kernel.key);
    return key && !ir::has_unknown(*key);
  });
}

void take_sizes(std::span<const PlanKernel> kernels, ir::Graph& graph) {
  const auto named = by_name(kernels);
  const bool in_order = agree(graph, kernels);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const auto at = named.find(node.name);
    const PlanKernel* kernel = at != named.end() && at->second != nullptr ? at->second
                               : in_order                                 ? &kernels[n]
                                                                          : nullptr;
    if (kernel == nullptr || ir::head_of(kernel->key).op != node.op) continue;
    const auto key = ir::parse(kernel->key);
    if (!key) continue;
    for (std::size_t r = 0; r < node.outputs.size(); ++r) {
      if (node.outputs[r] == ir::kNoTensor) continue;
      ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(node.outputs[r])];
      const ir::TensorEntry* result = key->result(r);
      if (is_known(tensor) || result == nullptr) continue;
      tensor.dtype = result->dtype;
      tensor.shape = result->shape;
    }
  }
}

ParameterSum parameters_of(const ir::Graph& graph) {
  ParameterSum sum;
  add_parameters(graph, sum);
  return sum;
}

ParameterSum parameters_of(const ir::Graph& graph, const ir::Node& node) {
  ParameterSum sum;
  std::unordered_set<ir::TensorId> counted;
  for (const ir::TensorId id : node.inputs) add_parameters(graph, id, counted, sum);
  return sum;
}

ParameterSum parameters_of(const ir::Key& key) {
  ParameterSum sum;
  for (const ir::Entry& entry : key.operands) {
    const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
    if (tensor == nullptr || !tensor->constant || !is_parameter(tensor->dtype)) continue;
    const auto elements = tensor->shape.elements();
    if (!elements) continue;
    sum.count += static_cast<double>(*elements);
    sum.bytes += static_cast<double>(*elements) * *ir::bits(tensor->dtype) / 8;
  }
  return sum;
}

std::optional<PeakMemory> peak_memory(const ir::Graph& graph, const ir::Catalogue& catalogue) {
  if (graph.nodes.empty()) return PeakMemory{};
  const SharedBuffers buffers(graph, catalogue);
  const std::size_t end = graph.nodes.size() - 1;
  std::vector<Life> lives(graph.tensors.size());
  bool known = true;
  const auto touch = [&](ir::TensorId id, std::size_t first, std::size_t last) {
    if (id == ir::kNoTensor) return;
    const ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(id)];
    Life& life = lives[buffers.of(id)];
    const ir::TensorInfo& root = graph.tensors[buffers.of(id)];
    if (root.constant || root.overridable || tensor.constant || tensor.overridable) return;
    const auto bytes = bytes_of(tensor);
    known = known && bytes.has_value();
    life.bytes = std::max(life.bytes, bytes.value_or(0));
    life.first = life.used ? std::min(life.first, first) : first;
    life.last = life.used ? std::max(life.last, last) : last;
    life.used = true;
  };
  std::unordered_set<ir::TensorId> read(graph.outputs.begin(), graph.outputs.end());
  for (const ir::Node& node : graph.nodes) {
    read.insert(node.inputs.begin(), node.inputs.end());
    read.insert(node.captured.begin(), node.captured.end());
  }
  for (const ir::TensorId id : graph.inputs) touch(id, 0, end);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ir::TensorId id : graph.nodes[n].inputs) touch(id, n, n);
    for (const ir::TensorId id : graph.nodes[n].captured) touch(id, n, n);
    // A result that nobody reads need not be there at all.
    for (const ir::TensorId id : graph.nodes[n].outputs)
      if (read.contains(id)) touch(id, n, n);
  }
  for (const ir::TensorId id : graph.outputs) touch(id, end, end);
  if (!known) return std::nullopt;
  std::vector<double> change(graph.nodes.size() + 1, 0);
  for (const Life& life : lives) {
    if (!life.used) continue;
    change[life.first] += life.bytes;
    change[life.last + 1] -= life.bytes;
  }
  PeakMemory peak;
  double alive = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    alive += change[n];
    if (alive > peak.bytes) peak = {alive, graph.nodes[n].name};
  }
  return peak;
}

}  // namespace oplat::plan
