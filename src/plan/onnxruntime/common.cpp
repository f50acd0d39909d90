// SPDX-License-Identifier: Apache-2.0
/// Equal nodes once.
#include <algorithm>
#include <array>

#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

/// constant_sharing.cc makes equal constants of so few elements one, where they are of these types.
constexpr std::int64_t kMaxShared = 8;
constexpr std::array kShared = {ir::Dtype::F32, ir::Dtype::F16, ir::Dtype::F64, ir::Dtype::I32,
                                ir::Dtype::I64};

bool is_equal(const Net& net, TensorId a, TensorId b) {
  if (a == b) return true;
  if (!net.is_constant(a) || !net.is_constant(b)) return false;
  const Tensor& x = net.tensor(a);
  const Tensor& y = net.tensor(b);
  // Those that the optimiser itself made stay apart.
  if (x.info == nullptr || y.info == nullptr) return false;
  return x.dtype == y.dtype && x.dims == y.dims && x.value != nullptr && y.value != nullptr &&
         x.dims.elements() <= kMaxShared && *x.value == *y.value &&
         std::find(kShared.begin(), kShared.end(), x.dtype) != kShared.end();
}

bool is_equal_node(const Net& net, NodeId a, NodeId b) {
  const Node& x = net.node(a);
  const Node& y = net.node(b);
  if (x.op != y.op || x.domain != y.domain || x.inputs.size() != y.inputs.size() ||
      x.outputs.size() != y.outputs.size())
    return false;
  for (std::size_t i = 0; i < x.inputs.size(); ++i)
    if (!is_equal(net, x.inputs[i], y.inputs[i])) return false;
  const AttributeLists of_x = x.attribute_lists(), of_y = y.attribute_lists();
  if (of_x[0].size() + of_x[1].size() != of_y[0].size() + of_y[1].size()) return false;
  return std::all_of(of_x.begin(), of_x.end(), [&](std::span<const ir::NamedValue> list) {
    return std::all_of(list.begin(), list.end(), [&](const ir::NamedValue& one) {
      const ir::Value* other = net.attribute(b, one.first);
      return other != nullptr && *other == one.second;
    });
  });
}

}  // namespace

// common_subexpression_elimination.cc
bool share_equal_nodes(Net& net, const Machine&) {
  bool changed = false;
  const std::vector<NodeId> order = net.order();
  std::vector<bool> passed(static_cast<std::size_t>(net.size()), false);
  for (const NodeId id : order) {
    passed[static_cast<std::size_t>(id)] = true;
    if (net.makes_output(id) || net.node(id).op.starts_with("Random") ||
        net.node(id).op == "DequantizeLinear")
      continue;
    TensorId moving = kNone;
    for (const TensorId one : net.node(id).inputs)
      if (moving == kNone && one != kNone && !net.is_constant(one)) moving = one;
    if (moving == kNone || net.tensor(moving).readers.size() < 2) continue;
    for (const NodeId other : net.tensor(moving).readers) {
      if (other == id || !passed[static_cast<std::size_t>(other)] || !is_equal_node(net, other, id))
        continue;
      for (std::size_t i = 0; i < net.node(id).outputs.size(); ++i)
        if (net.node(id).outputs[i] != kNone && net.node(other).outputs[i] != kNone)
          net.redirect(net.node(id).outputs[i], net.node(other).outputs[i]);
      net.remove(id);
      changed = true;
      break;
    }
  }
  return changed;
}

}  // namespace oplat::plan::ort
