// SPDX-License-Identifier: Apache-2.0
/// Readers and producers kept up to date through rewriting, and the order of what is left.
#include "plan/rules/work_graph.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace oplat::plan::rules {
namespace {

int find_slot(const std::vector<std::string>& slots, std::size_t count, std::string_view slot,
              std::string_view prefix) {
  if (slots.empty()) {
    if (!slot.starts_with(prefix)) return -1;
    const auto number = base::parse_int(slot.substr(prefix.size()));
    return number && *number >= 0 && *number < static_cast<std::int64_t>(count)
               ? static_cast<int>(*number)
               : -1;
  }
  for (std::size_t i = 0; i < slots.size() && i < count; ++i) {
    if (slots[i] == slot) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

int find_input(const ir::Node& node, std::string_view slot) {
  return find_slot(node.input_slots, node.inputs.size(), slot, "in");
}
int find_output(const ir::Node& node, std::string_view slot) {
  return find_slot(node.output_slots, node.outputs.size(), slot, "out");
}

const ir::Value* find_attribute(const ir::Node& node, std::string_view name) {
  for (const auto& [given, value] : node.attributes) {
    if (given == name) return &value;
  }
  return nullptr;
}

void set_attribute(ir::Node& node, std::string_view name, ir::Value value) {
  for (auto& [given, old] : node.attributes) {
    if (given != name) continue;
    old = std::move(value);
    return;
  }
  node.attributes.emplace_back(std::string(name), std::move(value));
}

bool is_marked(const ir::Node& node, std::string_view attribute) {
  const ir::Value* given = find_attribute(node, attribute);
  if (given == nullptr) return false;
  if (const auto* word = given->text()) return *word == "true";
  const auto* number = given->integer();
  return number != nullptr && *number != 0;
}

WorkGraph::WorkGraph(const ir::Graph& graph) : graph_(graph) {
  nodes_ = std::move(graph_.nodes);
  graph_.nodes.clear();
  alive_.assign(nodes_.size(), true);
  readers_.resize(graph_.tensors.size());
  producer_.assign(graph_.tensors.size(), kNone);
  output_.assign(graph_.tensors.size(), false);
  for (const ir::TensorId id : graph_.outputs) {
    if (id != ir::kNoTensor) output_[index(id)] = true;
  }
  for (NodeId id = 0; id < size(); ++id) attach(id);
}

const std::vector<WorkGraph::NodeId>& WorkGraph::with_op(const std::string& op) const {
  static const std::vector<NodeId> kNobody;
  const auto found = by_op_.find(op);
  return found == by_op_.end() ? kNobody : found->second;
}

void WorkGraph::attach(NodeId id) {
  const ir::Node& node = nodes_[index(id)];
  auto& same = by_op_[node.op];
  if (const auto at = std::lower_bound(same.begin(), same.end(), id); at == same.end() || *at != id)
    same.insert(at, id);
  for (const ir::TensorId input : node.inputs) {
    if (input != ir::kNoTensor) readers_[index(input)].push_back(id);
  }
  for (const ir::TensorId captured : node.captured) {
    if (captured != ir::kNoTensor) readers_[index(captured)].push_back(id);
  }
  for (const ir::TensorId output : node.outputs) {
    if (output != ir::kNoTensor) producer_[index(output)] = id;
  }
}

void WorkGraph::detach(NodeId id) {
  const ir::Node& node = nodes_[index(id)];
  const auto forget = [&](ir::TensorId tensor) {
    if (tensor != ir::kNoTensor) std::erase(readers_[index(tensor)], id);
  };
  for (const ir::TensorId input : node.inputs) forget(input);
  for (const ir::TensorId captured : node.captured) forget(captured);
  for (const ir::TensorId output : node.outputs) {
    if (output != ir::kNoTensor && producer_[index(output)] == id) producer_[index(output)] = kNone;
  }
}

void WorkGraph::replace(NodeId id, ir::Node node) {
  detach(id);
  nodes_[index(id)] = std::move(node);
  attach(id);
}

WorkGraph::NodeId WorkGraph::add(ir::Node node) {
  nodes_.push_back(std::move(node));
  alive_.push_back(true);
  attach(size() - 1);
  return size() - 1;
}

void WorkGraph::remove(NodeId id) {
  detach(id);
  alive_[index(id)] = false;
}

void WorkGraph::forward(ir::TensorId from, ir::TensorId to) {
  if (from == to) return;
  std::vector<NodeId> readers = std::move(readers_[index(from)]);
  readers_[index(from)].clear();
  for (const NodeId reader : readers) {
    ir::Node& node = nodes_[index(reader)];
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    std::replace(node.captured.begin(), node.captured.end(), from, to);
    readers_[index(to)].push_back(reader);
  }
  if (!output_[index(from)]) return;
  std::replace(graph_.outputs.begin(), graph_.outputs.end(), from, to);
  output_[index(from)] = false;
  output_[index(to)] = true;
}

void WorkGraph::set_output(std::size_t position, ir::TensorId to) {
  const ir::TensorId from = graph_.outputs[position];
  graph_.outputs[position] = to;
  output_[index(to)] = true;
  output_[index(from)] =
      std::find(graph_.outputs.begin(), graph_.outputs.end(), from) != graph_.outputs.end();
}

ir::TensorId WorkGraph::add_tensor(ir::TensorInfo info) {
  graph_.tensors.push_back(std::move(info));
  readers_.emplace_back();
  producer_.push_back(kNone);
  output_.push_back(false);
  return tensor_count() - 1;
}

std::vector<WorkGraph::NodeId> WorkGraph::ordered(bool depth_first) const {
  std::vector<NodeId> order;
  if (!depth_first) {
    for (NodeId id = 0; id < size(); ++id) {
      if (alive(id)) order.push_back(id);
    }
    return order;
  }
  // Before a node come those that write what it reads, the earliest first; each walk starts at the
  // earliest that is left.
  struct Step {
    NodeId node;
    std::vector<NodeId> before;
    std::size_t next = 0;
  };
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<Step> walk;
  const auto enter = [&](NodeId id) {
    seen[index(id)] = true;
    Step step{id, {}};
    for (const ir::TensorId input : node(id).inputs) {
      if (input != ir::kNoTensor && producer(input) != kNone)
        step.before.push_back(producer(input));
    }
    for (const ir::TensorId captured : node(id).captured) {
      if (captured != ir::kNoTensor && producer(captured) != kNone)
        step.before.push_back(producer(captured));
    }
    std::sort(step.before.begin(), step.before.end());
    walk.push_back(std::move(step));
  };
  for (NodeId start = 0; start < size(); ++start) {
    if (!alive(start) || seen[index(start)]) continue;
    enter(start);
    while (!walk.empty()) {
      Step& top = walk.back();
      if (top.next == top.before.size()) {
        order.push_back(top.node);
        walk.pop_back();
        continue;
      }
      const NodeId before = top.before[top.next++];
      if (!seen[index(before)]) enter(before);
    }
  }
  return order;
}

ir::Graph WorkGraph::take(bool depth_first) {
  for (const NodeId id : ordered(depth_first)) graph_.nodes.push_back(std::move(nodes_[index(id)]));
  return std::move(graph_);
}

}  // namespace oplat::plan::rules
