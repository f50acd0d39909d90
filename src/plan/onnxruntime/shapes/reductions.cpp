// SPDX-License-Identifier: Apache-2.0
/// Reductions, and what makes a tensor of sizes and numbers.
#include <algorithm>
#include <cmath>

#include "plan/onnxruntime/shapes/rules.hpp"

namespace oplat::plan::ort::shapes {
namespace {

bool reduce(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const bool empty_is_none = net.attribute_int(id, "noop_with_empty_axes", 0) == 1;
  const auto axes = axes_of(net, id, 1, x.dims.size(), !empty_is_none);
  if (!axes) return false;
  const bool keep = net.attribute_int(id, "keepdims", 1) == 1;
  Dims dims;
  for (int i = 0; i < x.dims.size(); ++i) {
    if (!(*axes)[static_cast<std::size_t>(i)]) {
      dims.push(x.dims[i]);
    } else if (keep) {
      dims.push(1);
    }
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool arg_reduce(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto axis = axis_in(net.attribute_int(id, "axis", 0), x.dims.size());
  if (!axis) return false;
  Dims dims;
  for (int i = 0; i < x.dims.size(); ++i) {
    if (i != *axis) dims.push(x.dims[i]);
    if (i == *axis && net.attribute_int(id, "keepdims", 1) == 1) dims.push(1);
  }
  set(net, id, 0, ir::Dtype::I64, dims);
  return true;
}

bool qlinear_reduce(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto axes = axes_of(net, id, 99, x.dims.size(), true);
  if (!axes) return false;
  Dims dims;
  for (int i = 0; i < x.dims.size(); ++i) {
    const bool goes = (*axes)[static_cast<std::size_t>(i)];
    if (!goes) dims.push(x.dims[i]);
    if (goes && net.attribute_int(id, "keepdims", 1) == 1) dims.push(1);
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool shape(Net& net, NodeId id) {
  const std::int64_t rank = operand(net, id, 0).dims.size();
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t start = bound(net.attribute_int(id, "start", 0));
  const std::int64_t end = bound(net.attribute_int(id, "end", rank));
  set(net, id, 0, ir::Dtype::I64, Dims{std::max<std::int64_t>(0, end - start)});
  return true;
}

bool size(Net& net, NodeId id) {
  set(net, id, 0, ir::Dtype::I64, Dims());
  return true;
}

bool constant_of_shape(Net& net, NodeId id) {
  const auto wanted = net.ints(net.input(id, 0));
  const auto dims = wanted ? Dims::of(*wanted) : std::nullopt;
  if (!dims) return false;
  // Its value is a tensor of one element, as text: "tensor:i64c[1]=[0]".
  ir::Dtype dtype = ir::Dtype::F32;
  const std::string_view value = net.attribute_text(id, "value", "");
  if (constexpr std::string_view kPrefix = "tensor:"; value.starts_with(kPrefix)) {
    const std::size_t end = value.find_first_of("c[", kPrefix.size());
    const auto known = ir::parse_dtype(value.substr(kPrefix.size(), end - kPrefix.size()));
    if (!known) return false;
    dtype = *known;
  }
  set(net, id, 0, dtype, *dims);
  return true;
}

bool range(Net& net, NodeId id) {
  const auto start = net.number(net.input(id, 0)), limit = net.number(net.input(id, 1)),
             delta = net.number(net.input(id, 2));
  if (!start || !limit || !delta || *delta == 0) return false;
  const double count = std::max(0.0, std::ceil((*limit - *start) / *delta));
  if (!(count <= static_cast<double>(kMaxDim))) return false;
  set(net, id, 0, operand(net, id, 0).dtype, Dims{static_cast<std::int64_t>(count)});
  return true;
}

bool top_k(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto axis = axis_in(net.attribute_int(id, "axis", -1), x.dims.size());
  const auto k = has(net, id, 1) ? net.number(net.input(id, 1)) : std::nullopt;
  if (!axis || !k || !(*k >= 0 && *k <= static_cast<double>(kMaxDim))) return false;
  Dims dims = x.dims;
  dims[*axis] = static_cast<std::int64_t>(*k);
  set(net, id, 0, x.dtype, dims);
  set(net, id, 1, ir::Dtype::I64, dims);
  return true;
}

constexpr std::string_view kReductions[] = {
    "ReduceMean", "ReduceSum", "ReduceMax",    "ReduceMin",       "ReduceProd",
    "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};

}  // namespace

void add_reductions(Rules& to) {
  for (const std::string_view op : kReductions) to.onnx.emplace(op, reduce);
  to.onnx.insert({{"ArgMax", arg_reduce},
                  {"ArgMin", arg_reduce},
                  {"Shape", shape},
                  {"Size", size},
                  {"ConstantOfShape", constant_of_shape},
                  {"Range", range},
                  {"TopK", top_k}});
  to.contrib.emplace("QLinearReduceMean", qlinear_reduce);
}

}  // namespace oplat::plan::ort::shapes
