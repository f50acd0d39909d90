// SPDX-License-Identifier: Apache-2.0
/// Types of tensors where some nodes compute in a narrower type than others, and the casts between.
#include <algorithm>
#include <unordered_map>

#include "plan/rules/rewrite.hpp"

namespace oplat::plan::rules {
namespace {

/// The narrow type is that of marked nodes; others compute in F32. A marked node writes narrow
/// numbers where all that read its result are marked.
class Casts {
 public:
  Casts(WorkGraph& graph, const CastRule& rule) : graph_(graph), rule_(rule) {}

  void run() {
    const WorkGraph::NodeId nodes = graph_.size();
    for (WorkGraph::NodeId id = 0; id < nodes; ++id) {
      if (graph_.alive(id) && is_narrow(id)) give_types(id);
    }
    for (WorkGraph::NodeId id = 0; id < nodes; ++id) {
      if (graph_.alive(id) && is_narrow(id)) cast_operands(id);
    }
    if (rule_.marked.empty()) cast_outputs();
  }

 private:
  bool is_narrow(WorkGraph::NodeId id) const {
    return rule_.marked.empty() || is_marked(graph_.node(id), rule_.marked);
  }
  bool is_float(ir::TensorId tensor) const {
    return tensor != ir::kNoTensor && graph_.tensor(tensor).dtype == ir::Dtype::F32;
  }

  void give_types(WorkGraph::NodeId id) {
    const ir::Node& node = graph_.node(id);
    for (const ir::TensorId result : node.outputs) {
      if (!is_float(result)) continue;
      const auto& readers = graph_.readers(result);
      const bool inside =
          rule_.marked.empty() || (!readers.empty() && !graph_.is_output(result) &&
                                   std::all_of(readers.begin(), readers.end(),
                                               [&](WorkGraph::NodeId r) { return is_narrow(r); }));
      if (inside) graph_.tensor(result).dtype = rule_.narrow;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!is_float(node.inputs[i]) || !graph_.tensor(node.inputs[i]).constant) continue;
      const bool weight =
          i < node.input_slots.size() && std::find(rule_.weights.begin(), rule_.weights.end(),
                                                   node.input_slots[i]) != rule_.weights.end();
      if (!weight && !rule_.marked.empty()) continue;
      ir::TensorInfo& tensor = graph_.tensor(node.inputs[i]);
      tensor.dtype = rule_.narrow;
      const auto bits = ir::bits(rule_.narrow);
      constexpr std::uint64_t kFloatBits = 32;
      if (bits)
        tensor.constant_bytes =
            tensor.constant_bytes * static_cast<std::uint64_t>(*bits) / kFloatBits;
    }
  }

  void cast_operands(WorkGraph::NodeId id) {
    ir::Node node = graph_.node(id);
    bool changed = false;
    for (ir::TensorId& operand : node.inputs) {
      if (!is_float(operand) || graph_.tensor(operand).constant) continue;
      // Of a graph in one narrow type, an input is cast once; else every reader has its own.
      const auto made = rule_.marked.empty() ? casts_.find(operand) : casts_.end();
      operand = made != casts_.end() ? made->second : cast(operand, rule_.narrow);
      changed = true;
    }
    if (changed) graph_.replace(id, std::move(node));
  }

  void cast_outputs() {
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      const ir::TensorId output = graph_.outputs()[i];
      if (output != ir::kNoTensor && graph_.tensor(output).dtype == rule_.narrow)
        graph_.set_output(i, cast(output, ir::Dtype::F32));
    }
  }

  ir::TensorId cast(ir::TensorId from, ir::Dtype to) {
    const std::string name = rule_.op + std::to_string(count_++);
    ir::TensorInfo info = graph_.tensor(from);
    info.name = name;
    info.dtype = to;
    const ir::TensorId made = graph_.add_tensor(std::move(info));
    ir::Node node;
    node.name = name;
    node.op = rule_.op;
    node.inputs = {from};
    node.outputs = {made};
    node.input_slots = {rule_.in};
    node.output_slots = {rule_.out};
    graph_.add(std::move(node));
    casts_.emplace(from, made);
    return made;
  }

  WorkGraph& graph_;
  const CastRule& rule_;
  std::unordered_map<ir::TensorId, ir::TensorId> casts_;
  std::size_t count_ = 0;
};

}  // namespace

void apply(WorkGraph& graph, const CastRule& rule) { Casts(graph, rule).run(); }

}  // namespace oplat::plan::rules
