// SPDX-License-Identifier: Apache-2.0
/// Convolutions and the functions behind them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

struct Activation {
  std::string_view name;
  std::array<double, 2> parameters = {};
  std::size_t count = 0;  ///< of parameters
};

std::optional<double> bound_of(const Net& net, NodeId clip, std::size_t at,
                               std::string_view attribute, double otherwise) {
  if (net.attribute(clip, attribute) != nullptr)
    return net.attribute_real(clip, attribute, otherwise);
  if (net.input(clip, at) == kNone) return otherwise;
  return net.number(net.input(clip, at));
}

/// What a convolution can apply to its result.
std::optional<Activation> activation_of(const Net& net, NodeId id) {
  if (!net.alive(id) || !net.node(id).domain.empty()) return std::nullopt;
  const std::string_view op = net.node(id).op;
  const auto real = [&](std::string_view name, double otherwise) {
    return net.attribute_real(id, name, otherwise);
  };
  if (op == "Relu" || op == "Sigmoid" || op == "Tanh") return Activation{op};
  if (op == "LeakyRelu") return Activation{op, {real("alpha", 0.01)}, 1};
  if (op == "HardSigmoid") return Activation{op, {real("alpha", 0.2), real("beta", 0.5)}, 2};
  if (op == "Clip") {
    constexpr double kMax = std::numeric_limits<float>::max();
    const auto low = bound_of(net, id, 1, "min", -kMax), high = bound_of(net, id, 2, "max", kMax);
    if (low && high) return Activation{op, {*low, *high}, 2};
  }
  return std::nullopt;
}

void set_activation(Net& net, NodeId conv, const Activation& activation) {
  net.set_attribute(conv, "activation", ir::Value(std::string(activation.name)));
  const auto first = activation.parameters.begin();
  const auto end = first + static_cast<std::ptrdiff_t>(activation.count);
  if (first != end) net.set_attribute(conv, "activation_params", ir::Value(ir::List(first, end)));
}

/// x * HardSigmoid(x) of the definition's numbers behind a convolution is one of its activations.
bool fuse_hard_swish(Net& net, NodeId conv) {
  const TensorId x = net.result(conv);
  if (net.makes_output(conv) || net.uses(conv) != 2) return false;
  NodeId sigmoid = kNoNode, mul = kNoNode;
  for (const NodeId reader : net.tensor(x).readers) {
    if (net.is(reader, "HardSigmoid")) sigmoid = reader;
    if (net.is(reader, "Mul")) mul = reader;
  }
  if (sigmoid == kNoNode || mul == kNoNode || net.only_reader(sigmoid) != mul) return false;
  if (net.makes_output(mul)) return false;
  constexpr double kSlack = 1e-6;
  if (std::abs(net.attribute_real(sigmoid, "alpha", 0.2) - 1.0 / 6) > kSlack ||
      std::abs(net.attribute_real(sigmoid, "beta", 0.5) - 0.5) > kSlack)
    return false;
  const TensorId result = net.result(mul);
  const NodeId fused = net.add_like(conv, kMs, "FusedConv", net.node(conv).inputs, {});
  set_activation(net, fused, Activation{"HardSwish"});
  for (const NodeId one : {conv, sigmoid, mul}) net.remove(one);
  net.adopt(fused, result);
  return true;
}

}  // namespace

// conv_activation_fusion.cc
bool fuse_convolution_activation(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "Conv") || net.tensor(net.input(id, 0)).dtype != ir::Dtype::F32) continue;
    if (fuse_hard_swish(net, id)) {
      changed = true;
      continue;
    }
    const NodeId next = net.only_reader(id);
    const auto activation = activation_of(net, next);
    if (!activation) continue;
    const TensorId result = net.result(next);
    const NodeId fused = net.add_like(id, kMs, "FusedConv", net.node(id).inputs, {});
    set_activation(net, fused, *activation);
    net.remove(id);
    net.remove(next);
    net.adopt(fused, result);
    changed = true;
  }
  return changed;
}

// conv_add_act_fusion.cc: what the blocked layout left. The sum goes into the convolution that is
// made last of its operands, and an activation behind it, too.
bool fuse_convolution_add_activation(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "Add")) continue;
    const TensorId a = net.input(id, 0), b = net.input(id, 1);
    if (a == b || a == kNone || b == kNone || !(net.tensor(a).dims == net.tensor(b).dims)) continue;
    NodeId conv = kNoNode;
    std::size_t other = 0;
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
      const NodeId before = net.before(id, at);
      const bool plain = net.is(before, "Conv") && net.only_reader(before) == id &&
                         net.tensor(net.input(before, 0)).dtype == ir::Dtype::F32 &&
                         net.tensor(net.input(before, 0)).dims.size() == 4;
      if (!plain || before < conv) continue;
      conv = before;
      other = 1 - at;
    }
    if (conv == kNoNode || net.is_constant(net.input(id, other))) continue;
    const NodeId next = net.only_reader(id);
    const auto activation = activation_of(net, next);
    Ids inputs = net.node(conv).inputs;
    inputs.resize(3, kNone);
    inputs.push_back(net.input(id, other));
    const TensorId result = activation ? net.result(next) : net.result(id);
    const NodeId fused = net.add_like(conv, kMs, "FusedConv", std::move(inputs), {});
    if (activation) set_activation(net, fused, *activation);
    net.remove(conv);
    net.remove(id);
    if (activation) net.remove(next);
    net.adopt(fused, result);
    changed = true;
  }
  return changed;
}

}  // namespace oplat::plan::ort
