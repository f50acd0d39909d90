// SPDX-License-Identifier: Apache-2.0
/// Chains of views, and parts of one tensor.
#include <algorithm>
#include <map>

#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {

// reshape_fusion.cc, contiguous reshapes: a Reshape and what follows it become one, to the last
// size. A size of 0 would be taken for that of the operand.
bool fuse_reshapes(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "Reshape")) continue;
    std::vector<NodeId> chain = {id};
    while (true) {
      const NodeId next = net.only_reader(chain.back());
      if (!net.is_any(next, {"Reshape", "Squeeze", "Unsqueeze"}) ||
          net.input(next, 0) != net.result(chain.back()))
        break;
      chain.push_back(next);
    }
    if (chain.size() < 2) continue;
    const TensorId from = net.input(id, 0);
    const TensorId to = net.result(chain.back());
    const Ints size = net.tensor(to).dims.list();
    if (std::find(size.begin(), size.end(), 0) != size.end()) continue;
    const ir::Node* source = net.node(chain.back()).source;
    for (const NodeId one : chain)
      if (source == nullptr) source = net.node(one).source;
    for (const NodeId one : chain) net.remove(one);
    net.add("", "Reshape", {from, net.add_ints(size)}, {to}, source);
    changed = true;
  }
  return changed;
}

namespace {

struct Part {
  NodeId node = kNoNode;
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool squeezed = false;
};

std::optional<std::int64_t> only_int(const Net& net, TensorId id) {
  if (id == kNone || net.tensor(id).dims.size() > 1) return std::nullopt;
  const auto numbers = net.ints(id);
  if (!numbers || numbers->size() != 1) return std::nullopt;
  return (*numbers)[0];
}

std::optional<std::int64_t> axis_of(const Net& net, NodeId id, int rank) {
  std::optional<std::int64_t> axis;
  if (net.is(id, "Gather")) axis = net.attribute_int(id, "axis", 0);
  if (net.is(id, "Slice")) axis = only_int(net, net.input(id, 3));
  if (axis && *axis < 0) *axis += rank;
  return axis;
}

std::optional<Part> part_of(const Net& net, NodeId id, std::int64_t size) {
  Part part{id, 0, 0, false};
  if (net.is(id, "Gather")) {
    const auto index = only_int(net, net.input(id, 1));
    if (!index) return std::nullopt;
    part.start = *index < 0 ? *index + size : *index;
    part.end = part.start + 1;
    part.squeezed = net.tensor(net.input(id, 1)).dims.size() == 0;
    if (part.start < 0 || part.start >= size) return std::nullopt;
    return part;
  }
  const auto start = only_int(net, net.input(id, 1)), end = only_int(net, net.input(id, 2));
  if (!start || !end) return std::nullopt;
  if (net.input(id, 4) != kNone && only_int(net, net.input(id, 4)) != 1) return std::nullopt;
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  part.start = bound(*start);
  part.end = bound(*end);
  if (part.start >= part.end) return std::nullopt;
  return part;
}

bool split_parts(Net& net, TensorId id) {
  std::vector<NodeId> readers;
  for (const NodeId one : net.tensor(id).readers)
    if ((net.is(one, "Gather") || net.is(one, "Slice")) && net.input(one, 0) == id)
      readers.push_back(one);
  if (readers.size() < 2) return false;
  const Tensor whole = net.tensor(id);
  const auto axis = axis_of(net, readers.front(), whole.dims.size());
  if (!axis || *axis < 0 || *axis >= whole.dims.size()) return false;
  const std::int64_t size = whole.dims[static_cast<int>(*axis)];
  std::map<std::int64_t, Part> parts;
  for (const NodeId one : readers) {
    if (axis_of(net, one, whole.dims.size()) != axis) return false;
    const auto part = part_of(net, one, size);
    if (!part || !parts.emplace(part->start, *part).second) return false;
  }
  std::int64_t covered = 0;
  for (const auto& [start, part] : parts) {
    if (start != covered) return false;
    covered = part.end;
  }
  if (covered != size) return false;
  Ids outputs;
  Ints sizes;
  const ir::Node* source = net.node(readers.back()).source;
  for (const auto& [start, part] : parts) {
    TensorId result = net.result(part.node);
    net.remove(part.node);
    sizes.push_back(part.end - start);
    if (part.squeezed) {
      Dims dims = whole.dims;
      dims[static_cast<int>(*axis)] = 1;
      const TensorId one = net.add_tensor(whole.dtype, dims);
      net.edit(one).unsized = true;
      net.add("", "Squeeze", {one, net.add_ints({*axis})}, {result}, nullptr);
      result = one;
    }
    outputs.push_back(result);
  }
  net.add("", "Split", {id, net.add_ints(sizes)}, std::move(outputs), source, {{"axis", *axis}});
  return true;
}

}  // namespace

// gather_fusion.cc, GatherSliceToSplitFusion
bool fuse_slices_to_split(Net& net, const Machine&) {
  constexpr std::int64_t kFirstOpset = 13;
  if (net.opset() < kFirstOpset) return false;
  std::vector<TensorId> candidates;
  for (const TensorId id : net.inputs())
    if (id != kNone && net.tensor(id).readers.size() > 1) candidates.push_back(id);
  for (const NodeId id : net.order())
    if (net.node(id).outputs.size() == 1 && net.uses(id) > 1) candidates.push_back(net.result(id));
  bool changed = false;
  for (const TensorId id : candidates) changed = split_parts(net, id) || changed;
  return changed;
}

}  // namespace oplat::plan::ort
