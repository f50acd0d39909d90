// SPDX-License-Identifier: Apache-2.0
#include "plan/loops.hpp"

#include <algorithm>

namespace oplat::plan {
namespace {

const ir::Node* producer(const ir::Graph& graph, ir::TensorId tensor) {
  const auto at = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& node) {
    return !node.outputs.empty() && node.outputs[0] == tensor;
  });
  return at == graph.nodes.end() ? nullptr : &*at;
}

/// The tensor that a body hands on as its condition, perhaps through nodes that copy it; kNoTensor
/// without one.
ir::TensorId condition_origin(const ir::Graph& body) {
  constexpr int kMaxHops = 8;
  if (body.outputs.empty()) return ir::kNoTensor;
  ir::TensorId condition = body.outputs[0];
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const ir::Node* from = producer(body, condition);
    if (from == nullptr || from->op != "Identity" || from->inputs.empty()) break;
    condition = from->inputs[0];
  }
  return condition;
}

std::optional<std::int64_t> one_integer(const ir::TensorInfo& tensor) {
  const ir::List* list = tensor.small_value ? tensor.small_value->list() : nullptr;
  if (list == nullptr || list->size() != 1 || list->front().integer() == nullptr)
    return std::nullopt;
  return *list->front().integer();
}

}  // namespace

bool computes_condition(const ir::Graph& body) {
  const ir::TensorId condition = condition_origin(body);
  if (condition == ir::kNoTensor) return false;
  if (body.inputs.size() > 1 && condition == body.inputs[1]) return false;
  const ir::Node* from = producer(body, condition);
  if (from != nullptr) return from->op != "Constant";
  return !body.tensors[static_cast<std::size_t>(condition)].constant;
}

std::optional<std::int64_t> constant_steps(const ir::Graph& graph, const ir::Node& loop) {
  if (loop.inputs.empty() || loop.inputs[0] == ir::kNoTensor || loop.bodies.empty())
    return std::nullopt;
  const ir::TensorInfo& operand = graph.tensors[static_cast<std::size_t>(loop.inputs[0])];
  const auto count = one_integer(operand);
  const ir::Graph& body = *loop.bodies.front().second;
  if (!operand.constant || !count || computes_condition(body)) return std::nullopt;
  if (loop.inputs.size() > 1 && loop.inputs[1] != ir::kNoTensor) {
    const ir::TensorInfo& first = graph.tensors[static_cast<std::size_t>(loop.inputs[1])];
    if (first.constant && one_integer(first) == 0) return 0;
  }
  const ir::TensorId condition = condition_origin(body);
  // A condition that is always false ends the loop after its first step.
  const bool ends = condition != ir::kNoTensor &&
                    one_integer(body.tensors[static_cast<std::size_t>(condition)]) == 0;
  const std::int64_t steps = std::max<std::int64_t>(0, *count);
  return ends ? std::min<std::int64_t>(1, steps) : steps;
}

}  // namespace oplat::plan
