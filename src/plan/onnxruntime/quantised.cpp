// SPDX-License-Identifier: Apache-2.0
/// Networks of eight bits: an operator between a dequantisation of each operand and a quantisation
/// of its result becomes a kernel of eight bits (qdq_transformer/).
#include <algorithm>
#include <array>
#include <cmath>

#include "plan/onnxruntime/passes.hpp"
#include "plan/onnxruntime/quantised.hpp"

namespace oplat::plan::ort {
bool is_quantise(const Net& net, NodeId id) {
  return net.is(id, "QuantizeLinear") || net.is(id, "QuantizeLinear", kMs);
}
bool is_dequantise(const Net& net, NodeId id) {
  return net.is(id, "DequantizeLinear") || net.is(id, "DequantizeLinear", kMs);
}
namespace {

/// Equal constants, or one tensor.
bool is_same(const Net& net, TensorId a, TensorId b) {
  if (a == b) return true;
  if (a == kNone || b == kNone || !net.is_constant(a) || !net.is_constant(b)) return false;
  const Tensor& x = net.tensor(a);
  const Tensor& y = net.tensor(b);
  return x.dtype == y.dtype && x.dims == y.dims && x.value != nullptr && y.value != nullptr &&
         *x.value == *y.value;
}

}  // namespace

bool is_pair(const Net& net, NodeId dequantise, NodeId quantise) {
  return net.tensor(net.input(dequantise, 0)).dtype == net.tensor(net.result(quantise)).dtype &&
         is_same(net, net.input(dequantise, 1), net.input(quantise, 1)) &&
         is_same(net, net.input(dequantise, 2), net.input(quantise, 2));
}

std::vector<Reading> readings_of(const Net& net, TensorId id) {
  std::vector<Reading> all;
  std::vector<NodeId> readers = net.tensor(id).readers;
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  for (const NodeId reader : readers)
    for (std::size_t i = 0; i < net.node(reader).inputs.size(); ++i)
      if (net.input(reader, i) == id) all.push_back({reader, i});
  return all;
}

void insert_pairs(Net& net, TensorId id, const std::vector<Reading>& readings, NodeId like) {
  const Tensor was = net.tensor(id);
  const TensorId scale = net.input(like, 1), zero = net.input(like, 2);
  const ir::Dtype narrow = is_quantise(net, like) ? net.tensor(net.result(like)).dtype
                                                  : net.tensor(net.input(like, 0)).dtype;
  const TensorId small = net.add_tensor(narrow, was.dims);
  Ids inputs = {id, scale};
  if (zero != kNone) inputs.push_back(zero);
  const std::string_view domain = net.node(like).domain;
  Ids back;
  for (const Reading& one : readings) {
    back.push_back(net.add_tensor(was.dtype, was.dims));
    net.set_input(one.reader, one.operand, back.back());
  }
  net.add(domain, "QuantizeLinear", inputs, {small}, nullptr);
  inputs[0] = small;
  for (const TensorId one : back) net.add(domain, "DequantizeLinear", inputs, {one}, nullptr);
}

bool has_scalars(const Net& net, NodeId id) {
  return net.is_constant(net.input(id, 1)) && net.tensor(net.input(id, 1)).dims.elements() == 1;
}

namespace {

bool is_16_bits(ir::Dtype dtype) { return dtype == ir::Dtype::I16 || dtype == ir::Dtype::U16; }

bool passes_on(const Net& net, NodeId id) {
  constexpr std::int64_t kFirstMaxPool = 12;
  if (net.is(id, "MaxPool") && net.opset() < kFirstMaxPool) return false;
  return net.is_any(id, {"MaxPool", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice"});
}

}  // namespace

// ensure_unique_dq_for_node_unit.cc
bool copy_dequantisations(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!is_dequantise(net, id)) continue;
    const TensorId result = net.result(id);
    const Ids readers = net.tensor(result).readers;
    const Tensor was = net.tensor(result);
    for (std::size_t r = was.output ? 0 : 1; r < readers.size(); ++r) {
      const Ids inputs = net.node(readers[r]).inputs;
      // Of a node that reads it twice each place is a reader.
      const auto at = std::find(inputs.rbegin(), inputs.rend(), result);
      if (at == inputs.rend()) continue;
      const TensorId copy = net.add_tensor(was.dtype, was.dims);
      net.add_like(id, net.node(id).domain, net.node(id).op, net.node(id).inputs, {copy});
      net.set_input(readers[r], static_cast<std::size_t>(inputs.rend() - at - 1), copy);
      changed = true;
    }
  }
  return changed;
}

// qdq_propagation.cc: what only moves numbers does so in eight bits
bool propagate_quantisation(Net& net, const Machine&) {
  bool changed = false;
  // Pairs that are put in on the way are for the next round.
  const std::vector<NodeId> nodes = net.order();
  for (const NodeId id : nodes) {
    if (!is_quantise(net, id) || !has_scalars(net, id)) continue;
    NodeId before = net.before(id, 0);
    while (passes_on(net, before) && net.uses(before) == 1 && !net.makes_output(before)) {
      const TensorId x = net.input(before, 0);
      const NodeId source = net.producer(x);
      const bool given = source == kNoNode && net.tensor(x).input;
      if (!given && (source == kNoNode || is_dequantise(net, source) ||
                     net.tensor(x).readers.size() != 1 || net.tensor(x).output))
        break;
      insert_pairs(net, x, {{before, 0}}, id);
      changed = true;
      before = source;
    }
  }
  for (const NodeId id : nodes) {
    if (!is_dequantise(net, id) || !has_scalars(net, id) || net.makes_output(id)) continue;
    if (net.is_constant(net.input(id, 0))) continue;
    std::vector<NodeId> passing = {net.only_reader(id)};
    while (!passing.empty()) {
      const NodeId at = passing.back();
      passing.pop_back();
      if (!passes_on(net, at) || net.tensor(net.result(at)).output) continue;
      std::vector<Reading> onwards = readings_of(net, net.result(at));
      std::erase_if(onwards, [&](const Reading& one) { return is_quantise(net, one.reader); });
      if (onwards.empty()) continue;
      insert_pairs(net, net.result(at), onwards, id);
      changed = true;
      for (const Reading& one : onwards) passing.push_back(one.reader);
    }
  }
  return changed;
}

namespace {

/// The only node that reads a result, however often; else kNoNode.
NodeId only_node_after(const Net& net, TensorId id) {
  const Ids& readers = net.tensor(id).readers;
  const bool one = !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                                   [&](NodeId at) { return at == readers[0]; });
  return one ? readers[0] : kNoNode;
}

/// Whether nothing but activations is between the node and a quantisation.
bool leads_to_quantisation(const Net& net, NodeId id) {
  NodeId at = id;
  do {
    if (net.node(at).outputs.size() != 1) return false;
    at = only_node_after(net, net.result(at));
  } while (net.is_any(at, {"Relu", "Clip"}));
  return at != kNoNode && is_quantise(net, at);
}

/// Whether scales of the weight are one, or one for each number of a bias of `size`.
bool are_scales_of_bias(const Net& net, NodeId id, NodeId dequantise, std::int64_t size) {
  const TensorId scale = net.input(dequantise, 1);
  if (!net.is_constant(scale)) return false;
  if (has_scalars(net, dequantise)) return true;
  const Dims& dims = net.tensor(scale).dims;
  if (dims.size() != 1 || dims[0] != size || net.attribute_int(dequantise, "block_size", 0) != 0)
    return false;
  std::int64_t axis = net.attribute_int(dequantise, "axis", 1);
  if (axis < 0) axis += net.tensor(net.result(dequantise)).dims.size();
  const bool results_last = net.is(id, "ConvTranspose") ||
                            (net.is(id, "Gemm") && net.attribute_int(id, "transB", 0) == 0);
  return axis == (results_last ? 1 : 0);
}

}  // namespace

// weight_bias_quantization.cc: between a dequantisation and a quantisation, weights of floats
// become some of eight bits with one scale, and biases some of 32 bits
bool quantise_weights_and_biases(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is_any(id, {"Conv", "ConvTranspose", "Gemm"})) continue;
    const NodeId x = net.before(id, 0), w = net.before(id, 1);
    const TensorId weight = net.input(id, 1), bias = net.input(id, 2);
    if (!is_dequantise(net, x) || !has_scalars(net, x) || !leads_to_quantisation(net, id)) continue;
    const bool quantised = is_dequantise(net, w);
    if (!quantised && (!net.is_constant(weight) || net.tensor(weight).dtype != ir::Dtype::F32))
      continue;
    const Tensor of_bias = net.tensor(bias);
    if (bias != kNone &&
        (!net.is_constant(bias) || of_bias.dims.size() != 1 || of_bias.dtype != ir::Dtype::F32))
      continue;
    if (quantised && (bias == kNone || !are_scales_of_bias(net, id, w, of_bias.dims[0]))) continue;
    TensorId scale = quantised ? net.input(w, 1) : kNone;
    if (!quantised) {
      const Tensor was = net.tensor(weight);
      const TensorId small = net.add_constant(ir::Dtype::I8, was.dims);
      scale = net.add_constant(ir::Dtype::F32, Dims());
      const TensorId zero = net.add_constant(ir::Dtype::I8, Dims());  // the weights decide it
      const TensorId back = net.add_tensor(was.dtype, was.dims);
      net.add("", "DequantizeLinear", {small, scale, zero}, {back}, nullptr);
      net.set_input(id, 1, back);
    }
    if (bias != kNone) {
      const Dims of_x = net.tensor(net.input(x, 1)).dims, of_w = net.tensor(scale).dims;
      const TensorId small = net.add_constant(ir::Dtype::I32, of_bias.dims);
      const TensorId product = net.add_constant(ir::Dtype::F32, of_w.size() > 0 ? of_w : of_x);
      const TensorId back = net.add_tensor(of_bias.dtype, of_bias.dims);
      std::vector<ir::NamedValue> attributes;
      if (of_w.elements() != 1) attributes.emplace_back("axis", ir::Value(std::int64_t{0}));
      net.add("", "DequantizeLinear", {small, product}, {back}, nullptr, std::move(attributes));
      net.set_input(id, 2, back);
    }
    changed = true;
  }
  return changed;
}

// relu_quantizelinear.cc, clip_quantizelinear.cc: what the range of the eight bits does anyway
bool drop_clips_of_quantisation(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is_any(id, {"Relu", "Clip"})) continue;
    const NodeId next = net.only_reader(id);
    if (!is_quantise(net, next)) continue;
    const auto scale = net.number(net.input(next, 1));
    const auto zero =
        net.input(next, 2) == kNone ? std::optional(0.0) : net.number(net.input(next, 2));
    if (!scale || !zero) continue;
    const ir::Dtype dtype = net.tensor(net.result(next)).dtype;
    if (dtype != ir::Dtype::U8 && dtype != ir::Dtype::I8) continue;
    const double least = dtype == ir::Dtype::U8 ? 0 : -128,
                 most = dtype == ir::Dtype::U8 ? 255 : 127;
    if (net.is(id, "Relu")) {
      if (*zero != least) continue;
    } else {
      const auto low = net.attribute(id, "min") != nullptr
                           ? std::optional(net.attribute_real(id, "min", 0))
                       : net.input(id, 1) == kNone ? std::optional(-3.4e38)
                                                   : net.number(net.input(id, 1));
      const auto high = net.attribute(id, "max") != nullptr
                            ? std::optional(net.attribute_real(id, "max", 0))
                        : net.input(id, 2) == kNone ? std::optional(3.4e38)
                                                    : net.number(net.input(id, 2));
      if (!low || !high) continue;
      constexpr double kSlack = 1e-6;
      if (*low > *scale * (least - *zero) + kSlack || *high < *scale * (most - *zero) - kSlack)
        continue;
    }
    changed = net.bypass(id) || changed;
  }
  return changed;
}

// qdq_s8_to_u8.cc: signed activations become unsigned ones, since the kernels of x86-64 are for
// those
bool make_activations_unsigned(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!is_quantise(net, id) || net.tensor(net.result(id)).dtype != ir::Dtype::I8) continue;
    const TensorId small = net.result(id);
    if (net.tensor(small).output) continue;
    // Where several read them, they stay signed.
    const Ids readers = net.tensor(small).readers;
    if (readers.size() != 1 || !is_dequantise(net, readers[0])) continue;
    if (net.input(id, 2) == kNone || net.tensor(net.input(id, 2)).dims.elements() != 1) continue;
    const auto shifted = [&](NodeId node) {
      const TensorId zero = net.input(node, 2);
      const auto number = net.number(zero);
      const TensorId other = net.add_constant(ir::Dtype::U8, net.tensor(zero).dims);
      if (number) net.give_number(other, static_cast<std::int64_t>(*number) + 128);
      net.set_input(node, 2, other);
    };
    shifted(id);
    for (const NodeId one : readers) shifted(one);
    net.edit(small).dtype = ir::Dtype::U8;
    changed = true;
  }
  return changed;
}

namespace {

/// The quantised neighbours of a node.
struct Group {
  std::vector<NodeId> before;  ///< dequantisations, in the order of operands
  std::vector<NodeId> after;   ///< quantisations
};

std::optional<Group> group_of(const Net& net, NodeId id) {
  Group group;
  for (const TensorId one : net.node(id).inputs) {
    const NodeId before = net.producer(one);
    if (one == kNone || !is_dequantise(net, before)) continue;
    if (net.uses(before) != 1 || net.makes_output(before)) return std::nullopt;
    group.before.push_back(before);
  }
  for (const TensorId one : net.node(id).outputs) {
    if (one == kNone) continue;
    for (const NodeId reader : net.tensor(one).readers)
      if (is_quantise(net, reader)) group.after.push_back(reader);
  }
  return group;
}

/// The numbers of a scale, one for each channel or one for all; empty: they are not known.
std::vector<double> scales_of(const Net& net, NodeId dequantise) {
  std::vector<double> scales;
  const TensorId id = net.input(dequantise, 1);
  if (!net.is_constant(id) || net.tensor(id).value == nullptr) return scales;
  for (const ir::Value& one : *net.tensor(id).value) {
    if (one.real() == nullptr) return {};
    scales.push_back(*one.real());
  }
  return scales;
}

/// Whether a bias is in units of the operand's times the weight's: another one is not left out.
bool is_scaled_bias(const Net& net, NodeId x, NodeId w, NodeId bias) {
  const auto of_x = scales_of(net, x), of_w = scales_of(net, w), own = scales_of(net, bias);
  if (of_x.empty() || of_w.empty() || own.empty()) return true;
  constexpr double kTolerance = 1e-3;
  for (std::size_t i = 0; i < std::max(of_w.size(), own.size()); ++i) {
    const double wanted = of_x[0] * of_w[of_w.size() == 1 ? 0 : std::min(i, of_w.size() - 1)];
    const double given = own[own.size() == 1 ? 0 : std::min(i, own.size() - 1)];
    if (std::abs(given - wanted) > kTolerance * std::abs(wanted)) return false;
  }
  return true;
}

/// Whether every result is quantised once and read by nobody else.
bool is_closed(const Net& net, NodeId id, const Group& group) {
  return !net.makes_output(id) && group.after.size() == net.node(id).outputs.size() &&
         net.uses(id) == group.after.size();
}

std::size_t operands_given(const Net& net, NodeId id) {
  return static_cast<std::size_t>(std::count_if(net.node(id).inputs.begin(),
                                                net.node(id).inputs.end(),
                                                [](TensorId one) { return one != kNone; }));
}

ir::Dtype narrow(const Net& net, NodeId dequantise) {
  return net.tensor(net.input(dequantise, 0)).dtype;
}
ir::Dtype made_narrow(const Net& net, NodeId quantise) {
  return net.tensor(net.result(quantise)).dtype;
}

void append(const Net& net, Ids& inputs, NodeId dequantise) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
    inputs.push_back(net.input(dequantise, i));
}
void append_result(const Net& net, Ids& inputs, NodeId quantise) {
  inputs.push_back(net.input(quantise, 1));
  inputs.push_back(net.input(quantise, 2));
}

void replace(Net& net, NodeId id, const Group& group, std::string_view domain, std::string_view op,
             Ids inputs) {
  const TensorId result = group.after.empty() ? net.result(id) : net.result(group.after.front());
  const NodeId made = net.add_like(id, domain, op, std::move(inputs), {});
  net.remove(id);
  for (const NodeId one : group.after) net.remove(one);
  for (const NodeId one : group.before)
    if (net.uses(one) == 0) net.remove(one);
  net.adopt(made, result);
}

/// The node itself computes in eight bits. The runtime gives quantisation i the result i, even if
/// two of them read one.
void strip(Net& net, NodeId id, const Group& group) {
  net.set_input(id, 0, net.input(group.before.front(), 0));
  for (const NodeId one : group.before)
    if (net.uses(one) == 0) net.remove(one);
  for (std::size_t i = 0; i < group.after.size(); ++i) {
    const TensorId result = net.result(group.after[i]);
    net.remove(group.after[i]);
    net.set_output(id, i, result);
  }
}

bool fuse_movement(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != 1 || !is_closed(net, id, group)) return false;
  if (net.before(id, 0) != group.before.front()) return false;
  const bool wide = net.is_any(id, {"MaxPool", "Resize", "ReduceMax", "ReduceMin"}) &&
                    is_16_bits(narrow(net, group.before[0]));
  for (const NodeId one : group.after)
    if (!is_pair(net, group.before[0], one)) return false;
  if (wide || group.after.empty()) return false;
  strip(net, id, group);
  return true;
}

bool fuse_unary(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != 1 || group.after.size() != 1 || !is_closed(net, id, group))
    return false;
  const ir::Dtype dtype = narrow(net, group.before[0]);
  if (dtype != made_narrow(net, group.after[0]) || is_16_bits(dtype)) return false;
  Ids inputs;
  append(net, inputs, group.before[0]);
  append_result(net, inputs, group.after[0]);
  const std::string_view op = net.node(id).op;
  static constexpr std::array kNames = {
      std::pair{std::string_view("AveragePool"), std::string_view("QLinearAveragePool")},
      std::pair{std::string_view("LeakyRelu"), std::string_view("QLinearLeakyRelu")},
      std::pair{std::string_view("GlobalAveragePool"),
                std::string_view("QLinearGlobalAveragePool")},
      std::pair{std::string_view("Sigmoid"), std::string_view("QLinearSigmoid")},
      std::pair{std::string_view("Softmax"), std::string_view("QLinearSoftmax")}};
  const auto* name =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& one) { return one.first == op; });
  const bool softmax = op == "Softmax";
  const TensorId result = net.result(group.after[0]);
  replace(net, id, group, kMs, name->second, std::move(inputs));
  if (softmax) {
    constexpr std::int64_t kAnyAxis = 13;
    net.set_attribute(net.producer(result), "opset",
                      ir::Value(net.opset() >= kAnyAxis ? kAnyAxis
                                : net.opset() >= 11     ? 11
                                                        : 1));
  }
  return true;
}

bool fuse_binary(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != 2 || group.after.size() != 1 || !is_closed(net, id, group))
    return false;
  const ir::Dtype dtype = narrow(net, group.before[0]);
  if (dtype != narrow(net, group.before[1]) || dtype != made_narrow(net, group.after[0]) ||
      is_16_bits(dtype))
    return false;
  Ids inputs;
  for (const NodeId one : group.before) append(net, inputs, one);
  append_result(net, inputs, group.after[0]);
  replace(net, id, group, kMs, net.node(id).op == "Add" ? "QLinearAdd" : "QLinearMul",
          std::move(inputs));
  return true;
}

bool fuse_concat(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != operands_given(net, id) || group.after.size() != 1 ||
      !is_closed(net, id, group))
    return false;
  const ir::Dtype dtype = narrow(net, group.before[0]);
  for (const NodeId one : group.before)
    if (narrow(net, one) != dtype) return false;
  if (dtype != made_narrow(net, group.after[0]) || is_16_bits(dtype)) return false;
  Ids inputs;
  append_result(net, inputs, group.after[0]);
  for (const NodeId one : group.before) append(net, inputs, one);
  replace(net, id, group, kMs, "QLinearConcat", std::move(inputs));
  return true;
}

bool fuse_conv(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != operands_given(net, id) || group.after.size() != 1 ||
      !is_closed(net, id, group))
    return false;
  const ir::Dtype dtype = narrow(net, group.before[0]);
  if (dtype != made_narrow(net, group.after[0]) || is_16_bits(dtype) || dtype == ir::Dtype::I8)
    return false;
  if (group.before.size() == 3 &&
      (narrow(net, group.before[2]) != ir::Dtype::I32 ||
       !is_scaled_bias(net, group.before[0], group.before[1], group.before[2])))
    return false;
  Ids inputs;
  append(net, inputs, group.before[0]);
  append(net, inputs, group.before[1]);
  append_result(net, inputs, group.after[0]);
  if (group.before.size() == 3) inputs.push_back(net.input(group.before[2], 0));
  replace(net, id, group, "", "QLinearConv", std::move(inputs));
  return true;
}

bool fuse_matmul(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != 2) return false;
  const ir::Dtype dtype = narrow(net, group.before[0]);
  if (dtype == ir::Dtype::I8 || is_16_bits(dtype) || is_16_bits(narrow(net, group.before[1])))
    return false;
  Ids inputs;
  if (group.after.empty()) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
      for (const NodeId one : group.before) inputs.push_back(net.input(one, i));
    replace(net, id, group, kMs, "MatMulIntegerToFloat", std::move(inputs));
    return true;
  }
  if (group.after.size() != 1 || !is_closed(net, id, group) ||
      dtype != made_narrow(net, group.after[0]))
    return false;
  for (const NodeId one : group.before) append(net, inputs, one);
  append_result(net, inputs, group.after[0]);
  replace(net, id, group, "", "QLinearMatMul", std::move(inputs));
  return true;
}

bool fuse_gemm(Net& net, NodeId id, const Group& group) {
  if (group.before.size() != operands_given(net, id)) return false;
  if (!group.after.empty() && !is_closed(net, id, group)) return false;
  const ir::Dtype a = narrow(net, group.before[0]), b = narrow(net, group.before[1]);
  if (a == ir::Dtype::I8 && a != b) return false;
  if (!group.after.empty() && made_narrow(net, group.after[0]) != a) return false;
  if (is_16_bits(a) || is_16_bits(b)) return false;
  if (group.before.size() == 3 &&
      (net.attribute_real(id, "beta", 1) != 1 || narrow(net, group.before[2]) != ir::Dtype::I32))
    return false;
  Ids inputs;
  append(net, inputs, group.before[0]);
  append(net, inputs, group.before[1]);
  inputs.push_back(group.before.size() == 3 ? net.input(group.before[2], 0) : kNone);
  if (!group.after.empty()) append_result(net, inputs, group.after[0]);
  while (!inputs.empty() && inputs.back() == kNone) inputs.pop_back();
  const TensorId result = group.after.empty() ? net.result(id) : net.result(group.after[0]);
  replace(net, id, group, kMs, "QGemm", std::move(inputs));
  net.drop_attribute(net.producer(result), "beta");
  return true;
}

bool fuse_quantised_node(Net& net, NodeId id) {
  if (!net.node(id).domain.empty() || net.node(id).outputs.empty()) return false;
  const std::string_view op = net.node(id).op;
  static constexpr std::array<std::string_view, 23> kKnown = {
      "MaxPool",   "Resize",    "Gather",    "Reshape",     "Transpose", "Squeeze",
      "Unsqueeze", "Split",     "Flatten",   "Slice",       "Expand",    "GatherElements",
      "Tile",      "ReduceMax", "ReduceMin", "AveragePool", "LeakyRelu", "GlobalAveragePool",
      "Sigmoid",   "Softmax",   "Add",       "Mul",         "Concat"};
  const bool known = std::find(kKnown.begin(), kKnown.end(), op) != kKnown.end() || op == "Conv" ||
                     op == "MatMul" || op == "Gemm" || op == "ArgMax";
  if (!known) return false;
  const auto group = group_of(net, id);
  if (!group || group->before.empty()) return false;
  if (op == "Conv") return fuse_conv(net, id, *group);
  if (op == "MatMul") return fuse_matmul(net, id, *group);
  if (op == "Gemm") return fuse_gemm(net, id, *group);
  if (op == "Add" || op == "Mul") return fuse_binary(net, id, *group);
  if (op == "Concat") return fuse_concat(net, id, *group);
  if (op == "ArgMax") {
    if (group->before.size() != 1) return false;
    strip(net, id, {group->before, {}});
    return true;
  }
  if (op == "AveragePool" || op == "LeakyRelu" || op == "GlobalAveragePool" || op == "Sigmoid" ||
      op == "Softmax")
    return fuse_unary(net, id, *group);
  return fuse_movement(net, id, *group);
}

}  // namespace

// selectors_actions/qdq_selector_action_transformer.cc
bool fuse_quantised(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order())
    if (net.alive(id)) changed = fuse_quantised_node(net, id) || changed;
  return changed;
}

// qdq_final_cleanup.cc: a dequantisation and the same quantisation behind it are nothing
bool drop_empty_pairs(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!is_quantise(net, id)) continue;
    const NodeId before = net.before(id, 0);
    if (!is_dequantise(net, before) || net.only_reader(before) != id || !is_pair(net, before, id))
      continue;
    const TensorId from = net.input(before, 0);
    const TensorId result = net.result(id);
    if (net.tensor(result).output) continue;
    net.remove(id);
    net.remove(before);
    net.redirect(result, from);
    changed = true;
  }
  return changed;
}

}  // namespace oplat::plan::ort
