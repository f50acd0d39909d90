// SPDX-License-Identifier: Apache-2.0
#include "plan/loops.hpp"

#include <algorithm>

namespace oplat::plan {

bool computes_condition(const ir::Graph& body) {
  constexpr int kMaxHops = 8;
  if (body.outputs.empty()) return false;
  ir::TensorId condition = body.outputs[0];
  for (int hop = 0; hop < kMaxHops; ++hop) {
    const auto from = std::find_if(body.nodes.begin(), body.nodes.end(), [&](const ir::Node& node) {
      return !node.outputs.empty() && node.outputs[0] == condition;
    });
    if (from == body.nodes.end()) break;
    if (from->op == "Constant") return false;
    if (from->op != "Identity" || from->inputs.empty()) return true;
    condition = from->inputs[0];
  }
  if (condition == ir::kNoTensor) return false;
  const bool handed_on = body.inputs.size() > 1 && condition == body.inputs[1];
  return !handed_on && !body.tensors[static_cast<std::size_t>(condition)].constant;
}

std::optional<std::int64_t> constant_steps(const ir::Graph& graph, const ir::Node& loop) {
  if (loop.inputs.empty() || loop.inputs[0] == ir::kNoTensor || loop.bodies.empty())
    return std::nullopt;
  const ir::TensorInfo& count = graph.tensors[static_cast<std::size_t>(loop.inputs[0])];
  const ir::List* list = count.small_value ? count.small_value->list() : nullptr;
  const bool one = list != nullptr && list->size() == 1 && list->front().integer() != nullptr;
  if (!count.constant || !one || computes_condition(*loop.bodies.front().second))
    return std::nullopt;
  return std::max<std::int64_t>(0, *list->front().integer());
}

}  // namespace oplat::plan
