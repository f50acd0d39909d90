// SPDX-License-Identifier: Apache-2.0
/// Buffers and their last readers.
#include "plan/liveness.hpp"

#include <algorithm>

namespace oplat::plan {
namespace {

bool leaves(const GraphView& graph, ir::TensorId tensor) {
  return std::find(graph.outputs.begin(), graph.outputs.end(), tensor) != graph.outputs.end();
}

/// Tensors that share their bytes (views) share a buffer, named by its first tensor.
class Buffers {
 public:
  Buffers(const GraphView& graph, std::span<const ir::OperatorInfo* const> infos)
      : root_(graph.tensors.size()) {
    for (std::size_t i = 0; i < root_.size(); ++i) root_[i] = static_cast<ir::TensorId>(i);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      const NodeView& node = graph.nodes[n];
      if (infos[n] == nullptr || !infos[n]->view || node.inputs.empty() || node.outputs.empty())
        continue;
      if (leaves(graph, node.outputs[0])) continue;  // copied: into memory of its own
      if (node.inputs[0] != ir::kNoTensor && node.outputs[0] != ir::kNoTensor) {
        root_[static_cast<std::size_t>(node.outputs[0])] = of(node.inputs[0]);
      }
    }
  }
  [[nodiscard]] ir::TensorId of(ir::TensorId tensor) const {
    return root_[static_cast<std::size_t>(tensor)];
  }

 private:
  std::vector<ir::TensorId> root_;
};

}  // namespace

std::vector<std::vector<std::size_t>> overwritable_operands(
    const GraphView& graph, std::span<const ir::OperatorInfo* const> infos) {
  const Buffers buffers(graph, infos);
  constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  struct LastRead {
    std::size_t node = 0;
    int times = 0;  // a node that reads a buffer twice must not write over it
  };
  std::vector<LastRead> last_reads(graph.tensors.size());
  const auto last_read = [&](ir::TensorId tensor) -> LastRead& {
    return last_reads[static_cast<std::size_t>(buffers.of(tensor))];
  };
  const auto read = [&](ir::TensorId tensor, std::size_t at) {
    if (tensor == ir::kNoTensor) return;
    LastRead& last = last_read(tensor);
    if (last.node != at) last = {at, 0};
    ++last.times;
  };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ir::TensorId id : graph.nodes[n].inputs) read(id, n);
    for (const ir::TensorId id : graph.nodes[n].captured) read(id, n);
  }
  const auto keep = [&](ir::TensorId tensor) {
    if (tensor != ir::kNoTensor) last_read(tensor).node = kNever;
  };
  for (const ir::TensorId id : graph.inputs) keep(id);
  for (const ir::TensorId id : graph.outputs) keep(id);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].constant || graph.tensors[t].overridable || graph.tensors[t].outer)
      keep(static_cast<ir::TensorId>(t));
  }

  std::vector<std::vector<std::size_t>> found(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const NodeView& node = graph.nodes[n];
    const ir::OperatorInfo* info = infos[n];
    if (info == nullptr || node.outputs.empty() || node.outputs[0] == ir::kNoTensor) continue;
    // A result that leaves the graph is allocated by the caller.
    if (last_read(node.outputs[0]).node == kNever) continue;
    for (const std::size_t operand : info->overwritable) {
      if (operand >= node.inputs.size() || node.inputs[operand] == ir::kNoTensor) continue;
      const LastRead& last = last_read(node.inputs[operand]);
      if (last.node == n && last.times == 1) found[n].push_back(operand);
    }
  }
  return found;
}

}  // namespace oplat::plan
