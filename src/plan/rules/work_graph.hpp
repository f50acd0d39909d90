// SPDX-License-Identifier: Apache-2.0
/// A graph under rewriting: who reads and who writes each tensor is always known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.hpp"

namespace oplat::plan::rules {

/// Index of the operand (or result) in a slot; -1 where the node lacks it. Formats that do not name
/// their slots have "in0", "in1", ... and "out0", ...
int find_input(const ir::Node& node, std::string_view slot);
int find_output(const ir::Node& node, std::string_view slot);
const ir::Value* find_attribute(const ir::Node& node, std::string_view name);
void set_attribute(ir::Node& node, std::string_view name, ir::Value value);
/// Whether an attribute is true, however formats spell it.
bool is_marked(const ir::Node& node, std::string_view attribute);

class WorkGraph {
 public:
  using NodeId = std::int32_t;
  static constexpr NodeId kNone = -1;

  explicit WorkGraph(const ir::Graph& graph);

  [[nodiscard]] NodeId size() const {
    return static_cast<NodeId>(nodes_.size());
  }  ///< removed ones included
  [[nodiscard]] bool alive(NodeId id) const { return alive_[index(id)]; }
  [[nodiscard]] const ir::Node& node(NodeId id) const { return nodes_[index(id)]; }
  [[nodiscard]] const std::vector<NodeId>& with_op(
      const std::string& op) const;  ///< in order, some removed or changed
  [[nodiscard]] const ir::TensorInfo& tensor(ir::TensorId id) const {
    return graph_.tensors[index(id)];
  }
  [[nodiscard]] ir::TensorInfo& tensor(ir::TensorId id) { return graph_.tensors[index(id)]; }
  [[nodiscard]] std::int32_t tensor_count() const {
    return static_cast<std::int32_t>(graph_.tensors.size());
  }
  /// Each as often as it reads the tensor.
  [[nodiscard]] const std::vector<NodeId>& readers(ir::TensorId id) const {
    return readers_[index(id)];
  }
  [[nodiscard]] NodeId producer(ir::TensorId id) const { return producer_[index(id)]; }
  [[nodiscard]] bool is_output(ir::TensorId id) const { return output_[index(id)]; }
  [[nodiscard]] const std::vector<ir::TensorId>& inputs() const { return graph_.inputs; }
  [[nodiscard]] const std::vector<ir::TensorId>& outputs() const { return graph_.outputs; }

  void replace(NodeId id, ir::Node node);
  NodeId add(ir::Node node);
  void remove(NodeId id);
  /// Readers of `from`, the graph's results included, read `to`.
  void forward(ir::TensorId from, ir::TensorId to);
  void set_output(std::size_t position, ir::TensorId to);
  ir::TensorId add_tensor(ir::TensorInfo info);

  /// What is left; nodes in order of their ids, or as a depth-first walk leaves them.
  [[nodiscard]] ir::Graph take(bool depth_first);

 private:
  static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
  void attach(NodeId id);
  void detach(NodeId id);
  [[nodiscard]] std::vector<NodeId> ordered(bool depth_first) const;

  ir::Graph graph_;  ///< its nodes stand below
  std::vector<ir::Node> nodes_;
  std::vector<bool> alive_;
  std::unordered_map<std::string, std::vector<NodeId>> by_op_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<NodeId> producer_;
  std::vector<bool> output_;
};

}  // namespace oplat::plan::rules
