// SPDX-License-Identifier: Apache-2.0
#include "plan/onnxruntime/shapes/rules.hpp"

#include <algorithm>

namespace oplat::plan::ort::shapes {

bool is_size(std::int64_t dim) { return dim >= 0 && dim <= kMaxDim; }

void set(Net& net, NodeId id, std::size_t i, ir::Dtype dtype, const Dims& dims) {
  const Ids& outputs = net.node(id).outputs;
  if (i >= outputs.size() || outputs[i] == kNone) return;
  Tensor& tensor = net.edit(outputs[i]);
  tensor.dtype = dtype;
  tensor.dims = dims;
  tensor.known =
      dims.elements() >= 0 && std::all_of(dims.at.begin(), dims.at.begin() + dims.rank, is_size);
}

const Tensor& operand(const Net& net, NodeId id, std::size_t i) {
  static const Tensor kMissing;
  const TensorId tensor = net.input(id, i);
  return tensor == kNone ? kMissing : net.tensor(tensor);
}

bool has(const Net& net, NodeId id, std::size_t i) { return net.input(id, i) != kNone; }

std::optional<int> axis_in(std::int64_t axis, int rank) {
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  return static_cast<int>(axis);
}

std::optional<std::vector<bool>> axes_of(const Net& net, NodeId id, std::size_t at, int rank,
                                         bool all) {
  std::vector<bool> chosen(static_cast<std::size_t>(rank), false);
  std::optional<Ints> axes = net.attribute_ints(id, "axes");
  if (!axes && has(net, id, at)) {
    axes = net.ints(net.input(id, at));
    if (!axes) return std::nullopt;
  }
  if (!axes || axes->empty()) {
    if (all) chosen.assign(chosen.size(), true);
    return chosen;
  }
  for (const std::int64_t one : *axes) {
    const auto axis = axis_in(one, rank);
    if (!axis) return std::nullopt;
    chosen[static_cast<std::size_t>(*axis)] = true;
  }
  return chosen;
}

std::optional<Dims> broadcast(const Dims& a, const Dims& b) {
  const int rank = std::max(a.size(), b.size());
  Dims out;
  for (int i = 0; i < rank; ++i) {
    const int of_a = i - (rank - a.size());
    const int of_b = i - (rank - b.size());
    const std::int64_t x = of_a < 0 ? 1 : a[of_a];
    const std::int64_t y = of_b < 0 ? 1 : b[of_b];
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out.push(x == 1 ? y : x);
  }
  return out;
}

}  // namespace oplat::plan::ort::shapes
