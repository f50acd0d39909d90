// SPDX-License-Identifier: Apache-2.0
/// Chains of small operators that are one function: error functions, normalisations.
#include <algorithm>
#include <cmath>

#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

constexpr double kRootHalf = 0.7071067811865476;
constexpr double kRoot2 = 1.4142135623730951;

bool computes_floats(const Net& net, TensorId id) {
  return id != kNone &&
         (net.tensor(id).dtype == ir::Dtype::F32 || net.tensor(id).dtype == ir::Dtype::F16);
}

/// The other operand of a node of two; kNone if it does not read `one`.
TensorId other_operand(const Net& net, NodeId id, TensorId one) {
  if (net.node(id).inputs.size() != 2) return kNone;
  if (net.input(id, 0) == one) return net.input(id, 1);
  return net.input(id, 1) == one ? net.input(id, 0) : kNone;
}

/// The node that replaces a chain writes the result of its last node.
NodeId replace_chain(Net& net, const std::vector<NodeId>& chain, NodeId last,
                     std::string_view domain, std::string_view op, Ids inputs,
                     std::vector<ir::NamedValue> attributes) {
  const TensorId result = net.result(last);
  const ir::Node* source = net.node(last).source;
  for (const NodeId one : chain) net.remove(one);
  return net.add(domain, op, std::move(inputs), {result}, source, std::move(attributes));
}

}  // namespace

// gelu_fusion.cc: x * (erf(x / sqrt 2) + 1) * 0.5 in either order
bool fuse_gelu(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId scale : net.order()) {
    const bool divides = net.is(scale, "Div");
    if (!divides && !net.is(scale, "Mul")) continue;
    const TensorId x =
        net.is_constant(net.input(scale, 0)) ? net.input(scale, 1) : net.input(scale, 0);
    const TensorId factor = other_operand(net, scale, x);
    if (!computes_floats(net, x) || !net.is_number(factor, divides ? kRoot2 : kRootHalf)) continue;
    if (divides && net.input(scale, 0) != x) continue;
    const NodeId erf = net.only_reader(scale);
    if (!net.is(erf, "Erf")) continue;
    const NodeId add = net.only_reader(erf);
    if (!net.is(add, "Add") || !net.is_number(other_operand(net, add, net.result(erf)), 1))
      continue;
    const NodeId mul = net.only_reader(add);
    if (!net.is(mul, "Mul")) continue;
    const TensorId by = other_operand(net, mul, net.result(add));
    if (by == x) {
      const NodeId half = net.only_reader(mul);
      if (!net.is(half, "Mul") || !net.is_number(other_operand(net, half, net.result(mul)), 0.5))
        continue;
      replace_chain(net, {scale, erf, add, mul, half}, half, kMs, "Gelu", {x}, {});
    } else {
      const NodeId half = net.producer(by);
      if (!net.is(half, "Mul") || net.only_reader(half) != mul ||
          !net.is_number(other_operand(net, half, x), 0.5))
        continue;
      replace_chain(net, {scale, erf, add, half, mul}, mul, kMs, "Gelu", {x}, {});
    }
    changed = true;
  }
  return changed;
}

// bias_gelu_fusion.cc
bool fuse_bias_gelu(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId add : net.order()) {
    if (!net.is(add, "Add")) continue;
    const NodeId gelu = net.only_reader(add);
    const bool fast = net.is(gelu, "FastGelu", kMs);
    if (!fast && !net.is(gelu, "Gelu", kMs)) continue;
    if (net.node(gelu).inputs.size() != 1) continue;
    for (const std::size_t at : {std::size_t{1}, std::size_t{0}}) {
      const TensorId bias = net.input(add, at), x = net.input(add, 1 - at);
      if (bias == kNone || x == kNone || net.tensor(bias).dims.size() != 1 ||
          net.tensor(x).dims.size() < 1 ||
          net.tensor(x).dims[net.tensor(x).dims.size() - 1] != net.tensor(bias).dims[0])
        continue;
      replace_chain(net, {add, gelu}, gelu, kMs, fast ? "FastGelu" : "BiasGelu", {x, bias}, {});
      changed = true;
      break;
    }
  }
  return changed;
}

// fast_gelu_fusion.cc: 0.5 x (1 + tanh(0.79788 (x + 0.044715 x^3))), with the cube as a power or
// as 0.044715 x x
bool fuse_fast_gelu(Net& net, const Machine&) {
  bool changed = false;
  constexpr double kCubic = 0.044715, kRoot = 0.7978845608028654;
  for (const NodeId tanh : net.order()) {
    if (!net.is(tanh, "Tanh")) continue;
    const NodeId scale = net.before(tanh, 0);
    if (!net.is(scale, "Mul") || net.only_reader(scale) != tanh) continue;
    std::vector<NodeId> chain = {scale, tanh};
    TensorId x = kNone;
    TensorId sum = kNone;
    for (const TensorId one : net.node(scale).inputs)
      if (!net.is_number(one, kRoot)) sum = one;
    if (sum == kNone || !net.is_number(other_operand(net, scale, sum), kRoot)) continue;
    const NodeId add = net.producer(sum);
    if (!net.is(add, "Add") || net.only_reader(add) != scale) continue;
    chain.push_back(add);
    for (const TensorId cube : net.node(add).inputs) {
      const NodeId mul = net.producer(cube);
      if (!net.is(mul, "Mul") || net.only_reader(mul) != add) continue;
      const TensorId candidate = other_operand(net, add, cube);
      for (const TensorId one : net.node(mul).inputs) {
        const NodeId pow = net.producer(one);
        if (net.is(pow, "Pow") && net.input(pow, 0) == candidate &&
            net.is_number(net.input(pow, 1), 3) && net.only_reader(pow) == mul &&
            net.is_number(other_operand(net, mul, one), kCubic)) {
          x = candidate;
          chain.push_back(mul);
          chain.push_back(pow);
          break;
        }
      }
      if (x != kNone) break;
    }
    if (x == kNone || !computes_floats(net, x)) continue;
    const NodeId one = net.only_reader(tanh);
    if (!net.is(one, "Add") || !net.is_number(other_operand(net, one, net.result(tanh)), 1))
      continue;
    const NodeId mul = net.only_reader(one);
    if (!net.is(mul, "Mul")) continue;
    chain.push_back(one);
    chain.push_back(mul);
    const TensorId by = other_operand(net, mul, net.result(one));
    NodeId last = mul;
    if (by == x) {
      const NodeId half = net.only_reader(mul);
      if (!net.is(half, "Mul") || !net.is_number(other_operand(net, half, net.result(mul)), 0.5))
        continue;
      chain.push_back(half);
      last = half;
    } else {
      const NodeId half = net.producer(by);
      if (!net.is(half, "Mul") || net.only_reader(half) != mul ||
          !net.is_number(other_operand(net, half, x), 0.5))
        continue;
      chain.push_back(half);
    }
    replace_chain(net, chain, last, kMs, "FastGelu", {x}, {});
    changed = true;
  }
  return changed;
}

// quick_gelu_fusion.cc: x * sigmoid(alpha x)
bool fuse_quick_gelu(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId sigmoid : net.order()) {
    if (!net.is(sigmoid, "Sigmoid") || !computes_floats(net, net.input(sigmoid, 0))) continue;
    const NodeId mul = net.only_reader(sigmoid);
    if (!net.is(mul, "Mul")) continue;
    const TensorId by = other_operand(net, mul, net.result(sigmoid));
    TensorId x = net.input(sigmoid, 0);
    double alpha = 1;
    std::vector<NodeId> chain = {sigmoid, mul};
    if (by != x) {
      const NodeId scale = net.producer(x);
      if (!net.is(scale, "Mul") || net.only_reader(scale) != sigmoid) continue;
      const auto factor = net.number(other_operand(net, scale, by));
      if (!factor) continue;
      alpha = *factor;
      x = by;
      chain.push_back(scale);
    }
    replace_chain(net, chain, mul, kMs, "QuickGelu", {x}, {{"alpha", alpha}});
    changed = true;
  }
  return changed;
}

namespace {

std::optional<Ints> reduced_axes(const Net& net, NodeId reduce) {
  auto axes = net.attribute_ints(reduce, "axes");
  if (!axes && net.input(reduce, 1) != kNone) axes = net.ints(net.input(reduce, 1));
  return axes;
}

/// Whether the axes are the last ones of the rank, ascending and next to each other.
bool are_last(Ints axes, int rank) {
  for (std::int64_t& one : axes)
    if (one < 0) one += rank;
  std::sort(axes.begin(), axes.end());
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != rank - static_cast<std::int64_t>(axes.size()) + static_cast<std::int64_t>(i))
      return false;
  return !axes.empty();
}

/// A constant or an input of the model, of as many dimensions as there are axes.
bool is_parameter(const Net& net, TensorId id, std::size_t axes) {
  return id != kNone &&
         (net.tensor(id).constant || net.tensor(id).input || net.tensor(id).overridable) &&
         static_cast<std::size_t>(net.tensor(id).dims.size()) == axes;
}

/// Sqrt(ReduceMean(Pow(x, 2)) + epsilon) as `root`: x, and the nodes of it.
struct Deviation {
  TensorId x = kNone;
  NodeId mean = kNoNode;
  TensorId epsilon = kNone;
  std::vector<NodeId> nodes;
};

std::optional<Deviation> deviation_of(const Net& net, NodeId root) {
  if (!net.is(root, "Sqrt") || net.uses(root) != 1 || net.makes_output(root)) return std::nullopt;
  const NodeId add = net.before(root, 0);
  if (!net.is(add, "Add") || net.only_reader(add) != root) return std::nullopt;
  Deviation found;
  for (const TensorId one : net.node(add).inputs)
    if (net.is(net.producer(one), "ReduceMean")) found.mean = net.producer(one);
  if (found.mean == kNoNode || net.only_reader(found.mean) != add) return std::nullopt;
  found.epsilon = other_operand(net, add, net.result(found.mean));
  const NodeId pow = net.before(found.mean, 0);
  if (!net.is(pow, "Pow") || net.only_reader(pow) != found.mean ||
      !net.is_number(net.input(pow, 1), 2))
    return std::nullopt;
  found.x = net.input(pow, 0);
  found.nodes = {pow, found.mean, add, root};
  return found;
}

std::vector<ir::NamedValue> norm_attributes(const Net& net, const Deviation& deviation,
                                            std::int64_t axis) {
  const double epsilon = net.number(deviation.epsilon).value_or(1e-5);
  return {{"axis", axis}, {"epsilon", epsilon}, {"stash_type", 1}};
}

}  // namespace

// layer_norm_fusion.cc
bool fuse_layer_norm(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId mean : net.order()) {
    if (!net.is(mean, "ReduceMean") || net.makes_output(mean) || net.uses(mean) < 1 ||
        net.uses(mean) > 2 || !computes_floats(net, net.input(mean, 0)))
      continue;
    const TensorId x = net.input(mean, 0);
    // One difference that two nodes read, or two equal ones.
    std::vector<NodeId> subs = net.tensor(net.result(mean)).readers;
    const bool fits = std::all_of(subs.begin(), subs.end(), [&](NodeId one) {
      return net.is(one, "Sub") && net.input(one, 0) == x &&
             net.input(one, 1) == net.result(mean) && !net.makes_output(one) &&
             net.uses(one) == (subs.size() == 1 ? 2U : 1U);
    });
    if (!fits) continue;
    NodeId div = kNoNode;
    for (const NodeId sub : subs)
      for (const NodeId one : net.tensor(net.result(sub)).readers)
        if (net.is(one, "Div") && net.input(one, 0) == net.result(sub)) div = one;
    if (div == kNoNode || net.makes_output(div)) continue;
    const auto deviation = deviation_of(net, net.before(div, 1));
    if (!deviation) continue;
    const NodeId source = net.producer(deviation->x);
    if (std::find(subs.begin(), subs.end(), source) == subs.end()) continue;
    const NodeId mul = net.only_reader(div);
    if (!net.is(mul, "Mul")) continue;
    const NodeId add = net.only_reader(mul);
    if (!net.is(add, "Add")) continue;
    const auto axes = reduced_axes(net, mean), others = reduced_axes(net, deviation->mean);
    if (!axes || !others || *axes != *others || !are_last(*axes, net.tensor(x).dims.size()))
      continue;
    const TensorId scale = other_operand(net, mul, net.result(div));
    const TensorId bias = other_operand(net, add, net.result(mul));
    if (!is_parameter(net, scale, axes->size()) || !is_parameter(net, bias, axes->size()) ||
        !(net.tensor(scale).dims == net.tensor(bias).dims))
      continue;
    std::vector<NodeId> chain = deviation->nodes;
    chain.insert(chain.end(), subs.begin(), subs.end());
    chain.insert(chain.end(), {mean, div, mul, add});
    auto attributes = norm_attributes(net, *deviation, axes->front());
    replace_chain(net, chain, add, "", "LayerNormalization", {x, scale, bias},
                  std::move(attributes));
    changed = true;
  }
  return changed;
}

bool fuse_layer_norm_of_onnx(Net& net, const Machine& machine) {
  constexpr std::int64_t kSince = 17;
  return net.opset() >= kSince && fuse_layer_norm(net, machine);
}

// layer_norm_fusion.cc, SimplifiedLayerNormFusion
bool fuse_simplified_layer_norm(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId pow : net.order()) {
    if (!net.is(pow, "Pow") || !computes_floats(net, net.input(pow, 0))) continue;
    const NodeId mean = net.only_reader(pow);
    if (!net.is(mean, "ReduceMean")) continue;
    const NodeId add = net.only_reader(mean);
    if (!net.is(add, "Add")) continue;
    const auto deviation = deviation_of(net, net.only_reader(add));
    if (!deviation || deviation->mean != mean) continue;
    const NodeId div = net.only_reader(net.only_reader(add));
    if (!net.is(div, "Div") || net.input(div, 0) != deviation->x) continue;
    const NodeId mul = net.only_reader(div);
    if (!net.is(mul, "Mul")) continue;
    const auto axes = reduced_axes(net, mean);
    if (!axes || !are_last(*axes, net.tensor(deviation->x).dims.size())) continue;
    const TensorId scale = other_operand(net, mul, net.result(div));
    if (!is_parameter(net, scale, axes->size())) continue;
    std::vector<NodeId> chain = deviation->nodes;
    chain.insert(chain.end(), {div, mul});
    auto attributes = norm_attributes(net, *deviation, axes->front());
    replace_chain(net, chain, mul, "", "SimplifiedLayerNormalization", {deviation->x, scale},
                  std::move(attributes));
    changed = true;
  }
  return changed;
}

// skip_layer_norm_fusion.cc: a sum of two tensors of one size that nobody else reads
bool fuse_skip_layer_norm(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId norm : net.order()) {
    if (!net.is(norm, "LayerNormalization") || net.node(norm).inputs.size() < 3 ||
        net.node(norm).outputs.size() != 1)
      continue;
    const NodeId add = net.before(norm, 0);
    if (!net.is(add, "Add") || net.only_reader(add) != norm) continue;
    const TensorId a = net.input(add, 0), b = net.input(add, 1);
    if (a == kNone || b == kNone || net.tensor(a).dims.size() != 3 || !computes_floats(net, a) ||
        !(net.tensor(a).dims == net.tensor(b).dims))
      continue;
    const std::int64_t axis = net.attribute_int(norm, "axis", -1);
    if (axis != -1 && axis != 2) continue;
    // A bias that was added to either of them before goes in, too.
    Ids inputs = {a, b, net.input(norm, 1), net.input(norm, 2)};
    std::vector<NodeId> chain = {add, norm};
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
      const NodeId before = net.producer(inputs[at]);
      if (!net.is(before, "Add") || net.only_reader(before) != add) continue;
      const auto is_product = [&](TensorId one) { return net.is(net.producer(one), "MatMul"); };
      for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
        const TensorId bias = net.input(before, k), rest = net.input(before, 1 - k);
        // bias_skip_layer_norm_fusion.cc takes a bias on either side, of products alone.
        const bool first_of_other = k == 0 && !is_product(rest);
        if (inputs.size() > 4 || first_of_other || !net.is_constant(bias) ||
            net.tensor(bias).dims.size() != 1 || net.tensor(rest).dims.size() != 3 ||
            net.tensor(rest).dims[2] != net.tensor(bias).dims[0])
          continue;
        inputs[at] = rest;
        inputs.push_back(bias);
        chain.push_back(before);
      }
      if (inputs.size() > 4) break;
    }
    const double epsilon = net.attribute_real(norm, "epsilon", 1e-5);
    replace_chain(net, chain, norm, kMs, "SkipLayerNormalization", std::move(inputs),
                  {{"epsilon", epsilon}});
    changed = true;
  }
  return changed;
}

}  // namespace oplat::plan::ort
