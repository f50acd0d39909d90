// SPDX-License-Identifier: Apache-2.0
/// Rules of one node and its neighbours: what computes nothing goes, and what a convolution can do
/// itself goes into it. The files are named at each rule.
#include <algorithm>
#include <limits>

#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

// identity_elimination.cc, dropout_elimination.cc
bool drop_identity(Net& net, NodeId id) {
  const Node& node = net.node(id);
  if (node.op == "Dropout" && node.outputs.size() > 1 && node.outputs[1] != kNone &&
      (net.tensor(node.outputs[1]).output || !net.tensor(node.outputs[1]).readers.empty()))
    return false;
  return net.bypass(id);
}

// slice_elimination.cc: whole axes by what the node says alone, not by the operand's size
bool drop_slice(Net& net, NodeId id) {
  const auto starts = net.ints_given(id, "starts", 1);
  const auto ends = net.ints_given(id, "ends", 2);
  const auto steps = net.ints_given(id, "steps", 4);
  if (!starts || !ends || starts->size() != ends->size()) return false;
  if (net.input(id, 4) != kNone && !steps) return false;
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < starts->size(); ++i) {
    if ((*starts)[i] != 0 || (*ends)[i] < kEnd) return false;
    if (steps && (*steps)[i] != 1) return false;
  }
  return net.bypass(id);
}

// expand_elimination.cc, cast_elimination.cc
bool drop_same(Net& net, NodeId id) {
  const Tensor& from = net.tensor(net.input(id, 0));
  const Tensor& to = net.tensor(net.result(id));
  return from.dtype == to.dtype && from.dims == to.dims && net.bypass(id);
}

// noop_elimination.cc
bool drop_neutral(Net& net, NodeId id) {
  const std::string_view op = net.node(id).op;
  const double neutral = op == "Add" || op == "Sub" ? 0 : 1;
  for (const std::size_t at : {std::size_t{1}, std::size_t{0}}) {
    if (at == 0 && (op == "Sub" || op == "Div")) continue;
    const TensorId constant = net.input(id, at);
    const TensorId other = net.input(id, 1 - at);
    if (constant == kNone || other == kNone || net.number(constant) != neutral) continue;
    if (net.tensor(constant).dims.size() > net.tensor(other).dims.size()) continue;
    return net.bypass(id, 1 - at);
  }
  return false;
}

// div_mul_fusion.cc: (1 / x) * y is y / x
bool fuse_div_mul(Net& net, NodeId id) {
  if (net.number(net.input(id, 0)) != 1.0) return false;
  const NodeId next = net.only_reader(id);
  if (!net.is(next, "Mul")) return false;
  const TensorId own = net.result(id);
  const std::size_t at = net.input(next, 0) == own ? 0 : 1;
  const TensorId other = net.input(next, 1 - at);
  net.set_inputs(id, {other, net.input(id, 1)});
  const TensorId result = net.result(next);
  net.remove(next);
  net.set_output(id, 0, result);
  return true;
}

// relu_clip_fusion.cc: a bound below 0, or none, is raised to 0
bool fuse_relu_clip(Net& net, NodeId id) {
  const NodeId next = net.only_reader(id);
  if (!net.is(next, "Clip") || net.input(next, 0) != net.result(id) ||
      net.tensor(net.result(id)).dtype != ir::Dtype::F32)
    return false;
  constexpr std::int64_t kBoundsAsOperands = 11;
  const bool operand = net.opset() >= kBoundsAsOperands;
  const double lowest = std::numeric_limits<float>::lowest();
  std::optional<double> low = lowest;
  if (!operand) low = net.attribute_real(next, "min", lowest);
  if (operand && net.input(next, 1) != kNone) low = net.number(net.input(next, 1));
  if (!low || !net.bypass(id)) return false;
  if (*low >= 0) return true;
  if (!operand) {
    net.set_attribute(next, "min", ir::Value(0.0));
    return true;
  }
  const TensorId zero = net.add_constant(ir::Dtype::F32, Dims());
  net.set_value(zero, ir::List{ir::Value(0.0)});
  net.set_input(next, 1, zero);
  return true;
}

struct PerChannel {
  bool fits = false;
  bool scalar = false;
};

/// Whether a constant has one number for each result of a convolution: Cx1x1 or 1xCx1x1.
PerChannel per_channel(const Net& net, TensorId constant, const Dims& weight) {
  if (!net.is_constant(constant)) return {};
  const Dims& dims = net.tensor(constant).dims;
  int axis = -1;
  if (dims.size() == weight.size()) axis = 1;
  if (dims.size() == weight.size() - 1) axis = 0;
  if (dims.size() == 0) return {true, true};
  if (axis < 0 || dims[axis] != weight[0]) return {};
  for (int i = 0; i < dims.size(); ++i)
    if (i != axis && dims[i] != 1) return {};
  return {true, false};
}

/// The convolution takes over the result of what follows it, with weights and bias of its own.
bool absorb(Net& net, NodeId conv, NodeId next, bool weights, bool bias) {
  const Tensor w = net.tensor(net.input(conv, 1));
  const std::int64_t channels = net.tensor(net.result(conv)).dims[1];
  if (weights) net.set_input(conv, 1, net.add_constant(w.dtype, w.dims));
  if (bias || net.input(conv, 2) != kNone)
    net.set_input(conv, 2, net.add_constant(w.dtype, Dims{channels}));
  const TensorId result = net.result(next);
  net.remove(next);
  net.set_output(conv, 0, result);
  return true;
}

// conv_add_fusion.cc, conv_mul_fusion.cc, conv_bn_fusion.cc
bool fuse_after_conv(Net& net, NodeId id) {
  const NodeId next = net.only_reader(id);
  if (next == kNoNode || !net.is_constant(net.input(id, 1))) return false;
  if (net.input(id, 2) != kNone && !net.is_constant(net.input(id, 2))) return false;
  const Dims weight = net.tensor(net.input(id, 1)).dims;
  if (net.is(next, "BatchNormalization")) {
    if (net.node(next).outputs.size() > 1) return false;
    for (std::size_t i = 1; i < 5; ++i)
      if (!net.is_constant(net.input(next, i))) return false;
    return absorb(net, id, next, true, true);
  }
  const bool add = net.is(next, "Add");
  if (!net.is(id, "Conv")) return false;
  if (!add && !net.is(next, "Mul")) return false;
  const TensorId other = net.input(next, net.input(next, 0) == net.result(id) ? 1 : 0);
  const PerChannel fit = per_channel(net, other, weight);
  if (!fit.fits || (add && fit.scalar)) return false;
  return absorb(net, id, next, !add, add);
}

// pad_fusion.cc. A third operand that is there but has no name is none of the constants that the
// rule wants.
bool fuse_pad(Net& net, NodeId id) {
  const NodeId next = net.only_reader(id);
  if (!net.is_any(next, {"Conv", "MaxPool", "AveragePool"})) return false;
  if (net.node(next).outputs.size() > 1 || net.attribute(next, "pads") == nullptr ||
      net.attribute_text(next, "auto_pad", "NOTSET") != "NOTSET" ||
      net.input(next, 0) != net.result(id))
    return false;
  if (net.attribute_text(id, "mode", "constant") != "constant") return false;
  std::optional<Ints> pads = net.attribute_ints(id, "pads");
  if (!pads) {
    if (net.node(id).inputs.size() > 3 || net.input(id, 1) == kNone) return false;
    pads = net.ints(net.input(id, 1));
    if (net.node(id).inputs.size() > 2 &&
        (net.input(id, 2) == kNone || net.number(net.input(id, 2)) != 0.0))
      return false;
  } else if (net.attribute_real(id, "value", 0) != 0) {
    return false;
  }
  auto own = net.attribute_ints(next, "pads");
  if (!pads || !own || pads->size() != own->size() + 4) return false;
  const std::size_t half = pads->size() / 2;
  if ((*pads)[0] != 0 || (*pads)[1] != 0 || (*pads)[half] != 0 || (*pads)[half + 1] != 0)
    return false;
  if (std::any_of(pads->begin(), pads->end(), [](std::int64_t one) { return one < 0; }))
    return false;
  for (std::size_t i = 2; i < half; ++i) {
    (*own)[i - 2] += (*pads)[i];
    (*own)[own->size() / 2 + i - 2] += (*pads)[half + i];
  }
  net.set_attribute(next, "pads", ir::Value::ints(*own));
  // The mean counts the zeros that stood there before.
  if (net.is(next, "AveragePool")) net.set_attribute(next, "count_include_pad", ir::Value(1));
  return net.bypass(id);
}

// gemm_transpose_fusion.cc
bool fuse_gemm_transposes(Net& net, NodeId id) {
  bool changed = false;
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
    const NodeId before = net.before(id, at);
    if (!net.is(before, "Transpose") || net.makes_output(before)) continue;
    const auto perm = net.attribute_ints(before, "perm");
    if (perm && *perm != Ints{1, 0}) continue;
    net.set_input(id, at, net.input(before, 0));
    const std::string_view name = at == 0 ? "transA" : "transB";
    net.set_attribute(id, name, ir::Value(1 - net.attribute_int(id, name, 0)));
    if (net.uses(before) == 0) net.remove(before);
    changed = true;
  }
  return changed;
}

// gemm_sum_fusion.cc
bool fuse_gemm_sum(Net& net, NodeId id) {
  const NodeId next = net.only_reader(id);
  if (!net.is(next, "Sum") || net.node(next).inputs.size() != 2 || net.input(id, 2) != kNone)
    return false;
  const TensorId other = net.input(next, net.input(next, 0) == net.result(id) ? 1 : 0);
  if (other == net.result(id)) return false;
  net.set_input(id, 2, other);
  net.set_attribute(id, "beta", ir::Value(1.0));
  const TensorId result = net.result(next);
  net.remove(next);
  net.set_output(id, 0, result);
  return true;
}

// not_where_fusion.cc
bool fuse_not_where(Net& net, NodeId id) {
  const NodeId before = net.before(id, 0);
  if (!net.is(before, "Not") || net.makes_output(before) || net.uses(before) != 1) return false;
  net.set_inputs(id, {net.input(before, 0), net.input(id, 2), net.input(id, 1)});
  net.remove(before);
  return true;
}

bool rewrite(Net& net, NodeId id) {
  const std::string_view op = net.node(id).op;
  if (!net.node(id).domain.empty()) return false;
  if (op == "Conv" || op == "ConvTranspose") return fuse_after_conv(net, id);
  if (op == "Identity" || op == "Dropout") return drop_identity(net, id);
  if (op == "Slice") return drop_slice(net, id);
  if (op == "Expand" || op == "Cast") return drop_same(net, id);
  if (op == "Div" && fuse_div_mul(net, id)) return true;
  if (op == "Add" || op == "Sub" || op == "Mul" || op == "Div") return drop_neutral(net, id);
  if (op == "Relu") return fuse_relu_clip(net, id);
  if (op == "Pad") return fuse_pad(net, id);
  if (op == "Gemm") return fuse_gemm_sum(net, id) || fuse_gemm_transposes(net, id);
  if (op == "Where") return fuse_not_where(net, id);
  return false;
}

}  // namespace

bool rewrite_nodes(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order())
    while (net.alive(id) && rewrite(net, id)) changed = true;
  return changed;
}

}  // namespace oplat::plan::ort
