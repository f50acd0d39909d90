// SPDX-License-Identifier: Apache-2.0
/// Transposes are pushed towards each other
/// (transpose_optimization/onnx_transpose_optimization.cc, ort_transpose_optimization.cc).
///
/// Nodes are looked at once, in the runtime's order. A transpose before one goes behind it if that
/// costs less: an operand whose transpose cancels counts its number of dimensions above 1 as won,
/// another one as lost, and so does a result, unless it leads to a further transpose: as the only
/// operand of what does, or if that transpose cancels. Constants are turned for nothing.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "plan/onnxruntime/passes.hpp"
#include "plan/onnxruntime/quantised.hpp"

namespace oplat::plan::ort {
namespace {

using Perm = Ints;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

Perm inverse(const Perm& perm) {
  Perm inverted(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverted[index(perm[i])] = static_cast<std::int64_t>(i);
  return inverted;
}
Perm composed(const Perm& first, const Perm& second) {
  Perm perm;
  for (const std::int64_t one : second) perm.push_back(first[index(one)]);
  return perm;
}
bool is_identity(const Perm& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}
Dims permuted(const Dims& dims, const Perm& perm) {
  Dims out;
  for (const std::int64_t one : perm) out.push(dims[static_cast<int>(one)]);
  return out;
}
/// Of what is left of a permutation where axes of its operand go.
Perm squeezed(const Ints& axes, const Perm& perm) {
  Perm map(perm.size(), -1);
  std::int64_t next = 0;
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
      map[i] = next++;
  Perm left;
  for (const std::int64_t one : perm)
    if (map[index(one)] >= 0) left.push_back(map[index(one)]);
  return left;
}
Perm unsqueezed(const Ints& axes, const Perm& perm) {
  const std::size_t rank = perm.size() + axes.size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t one : axes) added[index(one)] = true;
  Ints map;
  for (std::size_t i = 0; i < rank; ++i)
    if (!added[i]) map.push_back(static_cast<std::int64_t>(i));
  Perm out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < rank; ++i)
    out.push_back(added[i] ? static_cast<std::int64_t>(i) : map[index(perm[next++])]);
  return out;
}
Ints axes_before(const Ints& axes, const Perm& perm) {
  Ints out;
  for (const std::int64_t one : axes) out.push_back(perm[index(one)]);
  return out;
}
Ints sorted(Ints list) {
  std::sort(list.begin(), list.end());
  return list;
}
bool normalise(Ints& axes, std::size_t rank) {
  for (std::int64_t& one : axes) {
    if (one < 0) one += static_cast<std::int64_t>(rank);
    if (one < 0 || one >= static_cast<std::int64_t>(rank)) return false;
  }
  const std::unordered_set<std::int64_t> distinct(axes.begin(), axes.end());
  return distinct.size() == axes.size();
}

class Pusher;
/// How a transpose goes through an operator.
struct Handler {
  enum class Operands : std::uint8_t { First, All, NonScalar, Quantised };
  Operands operands = Operands::First;
  bool (Pusher::*push)(NodeId node, NodeId transpose, const Perm& perm) = nullptr;
  bool transposes_results = true;
};

class Pusher {
 public:
  Pusher(Net& net, bool assigned) : net_(net), assigned_(assigned) {}

  bool run() {
    if (!net_.had("Transpose")) return mend_units();
    const std::vector<NodeId> nodes = net_.order();
    find_leading(nodes);
    bool changed = false;
    for (const NodeId id : nodes) {
      for (std::size_t i = 0; net_.alive(id) && i < net_.node(id).inputs.size(); ++i) {
        const NodeId transpose = net_.before(id, i);
        const auto perm = perm_of(transpose);
        if (perm && process(id, transpose, *perm, i)) {
          changed = true;
          break;
        }
      }
    }
    return mend_units() || changed;
  }

  // ---- handlers ----
  bool push_simple(NodeId id, NodeId, const Perm& perm) {
    transpose_inputs(id, inverse(perm), operands_of(id, *handler_of(id)));
    transpose_outputs(id, perm);
    return true;
  }
  bool push_broadcast(NodeId id, NodeId transpose, const Perm& perm) {
    if (!raise_ranks(id, static_cast<int>(perm.size()))) return false;
    return push_simple(id, transpose, perm);
  }
  bool push_axis(NodeId id, NodeId transpose, const Perm& perm) {
    std::string_view op = net_.node(id).op;
    if (op == "QLinearSoftmax") op = "Softmax";
    if (op == "Softmax" || op == "LogSoftmax" || op == "Hardmax") {
      constexpr std::int64_t kAnyAxis = 13;
      if (net_.opset() < kAnyAxis) return push_coerced(id, transpose, perm);
    }
    const bool last = op == "Softmax" || op == "LogSoftmax" || op == "Hardmax";
    std::int64_t axis = net_.attribute_int(id, "axis", last ? -1 : 0);
    if (axis < 0) axis += static_cast<std::int64_t>(perm.size());
    if (axis < 0 || axis >= static_cast<std::int64_t>(perm.size())) return false;
    if (!push_simple(id, transpose, perm)) return false;
    net_.set_attribute(id, "axis", ir::Value(perm[index(axis)]));
    return true;
  }
  bool push_pad(NodeId id, NodeId, const Perm& perm) {
    const Perm back = inverse(perm);
    const auto pads = net_.ints(net_.input(id, 1));
    if (!pads || pads->size() != 2 * perm.size()) return false;
    Ints moved;
    for (const std::size_t half : {std::size_t{0}, perm.size()})
      for (const std::int64_t one : back) moved.push_back((*pads)[half + index(one)]);
    net_.set_input(id, 1, net_.add_ints(moved));
    transpose_input(id, 0, back);
    transpose_outputs(id, perm);
    return true;
  }
  bool push_reduce(NodeId id, NodeId, const Perm& perm) {
    const bool keeps = net_.attribute_int(id, "keepdims", 1) != 0;
    std::optional<Ints> axes = net_.attribute_ints(id, "axes");
    const bool operand = !axes && net_.input(id, 1) != kNone;
    if (operand) {
      axes = net_.ints(net_.input(id, 1));
      if (!axes) return false;
    }
    if (!axes || axes->empty()) {
      const bool nothing = net_.attribute_int(id, "noop_with_empty_axes", 0) != 0;
      transpose_input(id, 0, inverse(perm));
      if (keeps || nothing) transpose_outputs(id, perm);
      return true;
    }
    if (!normalise(*axes, perm.size())) return false;
    const Ints moved = sorted(axes_before(*axes, perm));
    if (operand) {
      net_.set_input(id, 1, net_.add_ints(moved));
    } else {
      net_.set_attribute(id, "axes", ir::Value::ints(moved));
    }
    transpose_input(id, 0, inverse(perm));
    transpose_outputs(id, keeps ? perm : squeezed(moved, perm));
    return true;
  }
  bool push_squeeze(NodeId id, NodeId, const Perm& perm) {
    auto axes = net_.ints_given(id, "axes", 1);
    if (!axes || !normalise(*axes, perm.size())) return false;
    const Ints moved = sorted(axes_before(*axes, perm));
    set_axes(id, moved);
    transpose_input(id, 0, inverse(perm));
    transpose_outputs(id, squeezed(moved, perm));
    return true;
  }
  bool push_unsqueeze(NodeId id, NodeId, const Perm& perm) {
    auto axes = net_.ints_given(id, "axes", 1);
    if (!axes || !normalise(*axes, perm.size() + axes->size())) return false;
    transpose_input(id, 0, inverse(perm));
    transpose_output(id, 0, unsqueezed(*axes, perm));
    return true;
  }
  bool push_arg(NodeId id, NodeId, const Perm& perm) {
    Ints axes = {net_.attribute_int(id, "axis", 0)};
    if (!normalise(axes, perm.size())) return false;
    axes = axes_before(axes, perm);
    net_.set_attribute(id, "axis", ir::Value(axes[0]));
    transpose_input(id, 0, inverse(perm));
    const bool keeps = net_.attribute_int(id, "keepdims", 1) != 0;
    transpose_outputs(id, keeps ? perm : squeezed(axes, perm));
    return true;
  }
  bool push_slice(NodeId id, NodeId, const Perm& perm) {
    constexpr std::int64_t kOperands = 10;
    if (net_.opset() < kOperands) return false;
    Ints axes;
    if (net_.input(id, 3) == kNone) {
      const std::int64_t count = net_.tensor(net_.input(id, 1)).dims.elements();
      for (std::int64_t i = 0; i < count; ++i) axes.push_back(i);
    } else {
      const auto given = net_.ints(net_.input(id, 3));
      if (!given) return false;
      axes = *given;
    }
    if (!normalise(axes, perm.size())) return false;
    net_.set_input(id, 3, net_.add_ints(axes_before(axes, perm)));
    transpose_input(id, 0, inverse(perm));
    transpose_outputs(id, perm);
    return true;
  }
  /// Of one index, which takes the axis away.
  bool push_gather(NodeId id, NodeId, const Perm& perm) {
    Ints axis = {net_.attribute_int(id, "axis", 0)};
    if (!normalise(axis, perm.size())) return false;
    axis = axes_before(axis, perm);
    net_.set_attribute(id, "axis", ir::Value(axis[0]));
    transpose_input(id, 0, inverse(perm));
    transpose_outputs(id, squeezed(axis, perm));
    return true;
  }
  bool push_tile(NodeId id, NodeId, const Perm& perm) {
    const auto times = net_.ints(net_.input(id, 1));
    if (!times || times->size() != perm.size()) return false;
    const Perm back = inverse(perm);
    net_.set_input(id, 1, net_.add_ints(axes_before(back, *times)));
    transpose_input(id, 0, back);
    transpose_outputs(id, perm);
    return true;
  }
  bool push_transpose(NodeId id, NodeId transpose, const Perm& perm) {
    const auto own = perm_of(id);
    return own && own->size() == perm.size() && merge(id, transpose, perm, *own);
  }
  /// A Reshape that only moves dimensions of 1 is a transpose, too.
  bool push_reshape(NodeId id, NodeId transpose, const Perm& perm) {
    const Dims from = net_.tensor(net_.input(id, 0)).dims;
    const Dims to = net_.tensor(net_.result(id)).dims;
    if (!net_.is_constant(net_.input(id, 1))) return false;
    if (to.size() > from.size()) return push_splitting_reshape(id, perm, from, to);
    if (from.size() != to.size()) return false;
    Ints left = from.list();
    Perm own;
    for (int i = 0; i < to.size(); ++i) {
      std::size_t at = 0;
      while (left[at] != to[i]) {
        if (left[at] != -1 && left[at] != 1 && to[i] != 1) return false;
        if (++at == left.size()) return false;
      }
      own.push_back(static_cast<std::int64_t>(at));
      left[at] = -1;
    }
    return merge(id, transpose, perm, own);
  }
  /// A Reshape that makes several dimensions of each of its operand's does the same to those that
  /// are not transposed.
  bool push_splitting_reshape(NodeId id, const Perm& perm, const Dims& from, const Dims& to) {
    std::vector<Ints> parts(static_cast<std::size_t>(from.size()));
    int next = 0;
    for (int axis = 0; axis < from.size(); ++axis) {
      Ints& own = parts[index(axis)];
      std::int64_t product = 1;
      while (next < to.size() && (own.empty() || product != from[axis])) {
        if (to[next] <= 0) return false;
        product *= to[next];
        own.push_back(next++);
      }
      if (product != from[axis]) return false;
    }
    while (next < to.size()) {
      if (to[next] != 1) return false;
      parts.back().push_back(next++);
    }
    // Where each of the results' dimensions is before the transpose.
    const Perm back = inverse(perm);
    Ints size;
    Perm made(index(to.size()));
    for (const std::int64_t axis : back) {
      for (const std::int64_t part : parts[index(axis)]) {
        made[index(part)] = static_cast<std::int64_t>(size.size());
        size.push_back(to[static_cast<int>(part)]);
      }
    }
    net_.set_input(id, 1, net_.add_ints(size));
    transpose_input(id, 0, back);
    transpose_outputs(id, made);
    return true;
  }
  /// The runtime's Resize has kernels for channels that come last.
  bool push_resize(NodeId id, NodeId, const Perm& perm) {
    if (!assigned_ || (perm != Perm{0, 2, 3, 1} && perm != Perm{0, 3, 1, 2})) return false;
    const Perm back = inverse(perm);
    const std::size_t operands = net_.node(id).inputs.size();
    // Corners, scales and sizes are a number for each dimension; corners are two.
    for (std::size_t i = 1; i < operands; ++i) {
      const TensorId list = net_.input(id, i);
      if (list == kNone || net_.tensor(list).dims.elements() == 0) continue;
      const Tensor was = net_.tensor(list);
      if (!was.constant || was.value == nullptr) return false;
      const std::size_t length = was.value->size();
      if (length == 1) continue;
      if (length != perm.size() && length != 2 * perm.size()) return false;
    }
    for (std::size_t i = 1; i < operands; ++i) {
      const TensorId list = net_.input(id, i);
      if (list == kNone || net_.tensor(list).dims.elements() == 0) continue;
      const Tensor was = net_.tensor(list);
      if (was.value->size() == 1) continue;
      ir::List moved;
      for (std::size_t half = 0; half < was.value->size(); half += perm.size())
        for (const std::int64_t one : back) moved.push_back((*was.value)[half + index(one)]);
      net_.set_input(id, i, net_.add_constant(was.dtype, was.dims));
      net_.set_value(net_.input(id, i), std::move(moved));
    }
    transpose_input(id, 0, back);
    transpose_outputs(id, perm);
    return true;
  }
  bool push_quantise(NodeId id, NodeId, const Perm& perm) {
    constexpr std::int64_t kAxes = 13;
    if (net_.opset() >= kAxes && net_.tensor(net_.input(id, 1)).dims.size() != 0) {
      Ints axis = {net_.attribute_int(id, "axis", 1)};
      if (!normalise(axis, perm.size())) return false;
      net_.set_attribute(id, "axis", ir::Value(perm[index(axis[0])]));
    }
    transpose_input(id, 0, inverse(perm));
    transpose_outputs(id, perm);
    return true;
  }
  /// Pools of eight bits have kernels for channels that come last.
  bool push_max_pool(NodeId id, NodeId, const Perm& perm) {
    const Tensor x = net_.tensor(net_.input(id, 0));
    if (!assigned_ || (x.dtype != ir::Dtype::U8 && x.dtype != ir::Dtype::I8)) return false;
    if (net_.node(id).outputs.size() > 1 || perm != first_of_last(perm.size())) return false;
    const Ids outputs = net_.node(id).outputs;
    const NodeId made = net_.add_like(id, kMs, "NhwcMaxPool", net_.node(id).inputs, {});
    net_.drop_attribute(made, "storage_order");
    net_.remove(id);
    net_.adopt(made, outputs[0]);
    transpose_input(made, 0, inverse(perm));
    transpose_outputs(made, perm);
    return true;
  }
  bool push_channels_last(NodeId id, NodeId, const Perm& perm) {
    const std::int64_t last = net_.attribute_int(id, "channels_last", 0);
    const Perm first = first_of_last(perm.size());
    if (perm != (last == 0 ? first : inverse(first))) return false;
    net_.set_attribute(id, "channels_last", ir::Value(1 - last));
    transpose_input(id, 0, inverse(perm));
    transpose_outputs(id, perm);
    return true;
  }
  bool push_qlinear_binary(NodeId id, NodeId, const Perm& perm) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{3}})
      if (!raise_rank(id, at, static_cast<int>(perm.size()))) return false;
    transpose_inputs(id, inverse(perm), {0, 3});
    transpose_outputs(id, perm);
    return true;
  }
  bool push_qlinear_concat(NodeId id, NodeId, const Perm& perm) {
    Ints axis = {net_.attribute_int(id, "axis", 1)};
    if (!normalise(axis, perm.size())) return false;
    transpose_inputs(id, inverse(perm), operands_of(id, *handler_of(id)));
    transpose_outputs(id, perm);
    net_.set_attribute(id, "axis", ir::Value(perm[index(axis[0])]));
    return true;
  }

  // ---- what passes use directly ----
  void transpose_inputs(NodeId id, const Perm& perm, const std::vector<std::size_t>& at) {
    for (const std::size_t i : at) transpose_input(id, i, perm);
  }
  void transpose_outputs(NodeId id, const Perm& perm) {
    if (is_identity(perm)) return;
    for (std::size_t i = 0; i < net_.node(id).outputs.size(); ++i)
      if (net_.node(id).outputs[i] != kNone) transpose_output(id, i, perm);
  }

  void transpose_input(NodeId id, std::size_t i, const Perm& perm) {
    const TensorId from = net_.input(id, i);
    const Tensor was = net_.tensor(from);
    if (was.constant) {
      if (was.dims.elements() == 1) return;
      const bool list =
          was.dims.size() == 1 && was.dims[0] == static_cast<std::int64_t>(perm.size());
      if (!list && was.dims.size() != static_cast<int>(perm.size())) return;
      net_.set_input(id, i,
                     net_.add_constant(was.dtype, list ? was.dims : permuted(was.dims, perm)));
      return;
    }
    const NodeId before = was.producer;
    // Of a constant that is dequantised for this node alone, the constant is turned.
    if (before != kNoNode && net_.node(before).op == "DequantizeLinear" && net_.uses(before) == 1 &&
        net_.is_constant(net_.input(before, 0)) &&
        was.dims.size() == static_cast<int>(perm.size())) {
      const Tensor stored = net_.tensor(net_.input(before, 0));
      net_.set_input(before, 0, net_.add_constant(stored.dtype, permuted(stored.dims, perm)));
      net_.edit(from).dims = permuted(was.dims, perm);
      return;
    }
    net_.set_input(id, i, kNone);
    if (const auto other = perm_of(before); other && other->size() == perm.size()) {
      const TensorId source = net_.input(before, 0);
      if (*other == inverse(perm)) {
        net_.set_input(id, i, source);
      } else {
        net_.set_input(id, i, made_transpose(source, composed(*other, perm)));
      }
      drop_unread(before);
      return;
    }
    for (const NodeId one : net_.tensor(from).readers) {
      if (net_.is(one, "Transpose") && perm_of(one) == perm) {
        net_.set_input(id, i, net_.result(one));
        return;
      }
    }
    net_.set_input(id, i, made_transpose(from, perm));
  }

  TensorId transpose_output(NodeId id, std::size_t i, const Perm& perm) {
    const TensorId result = net_.node(id).outputs[i];
    const Tensor was = net_.tensor(result);
    const TensorId inner = net_.add_tensor(was.dtype, permuted(was.dims, inverse(perm)));
    net_.edit(inner).unsized = was.unsized;
    net_.set_output(id, i, inner);
    net_.add("", "Transpose", {inner}, {result}, nullptr, {{"perm", ir::Value::ints(perm)}});
    return result;
  }

 private:
  /// What stands between a dequantisation and a quantisation becomes one operator of eight bits. A
  /// transpose that lost one of the two gets a pair.
  bool mend_units() {
    if (!net_.had("DequantizeLinear")) return false;
    const std::vector<NodeId> nodes = net_.order();
    if (std::none_of(nodes.begin(), nodes.end(),
                     [&](NodeId id) { return is_dequantise(net_, id); }))
      return false;
    bool changed = false;
    for (const NodeId id : nodes) {
      if (!net_.alive(id)) continue;
      if (is_quantise(net_, id)) changed = drop_pair_before(id) || changed;
      if (net_.is(id, "Transpose")) changed = mend_unit(id) || changed;
    }
    return changed;
  }
  bool drop_pair_before(NodeId id) {
    const NodeId before = net_.before(id, 0);
    if (!is_dequantise(net_, before) || net_.only_reader(before) != id ||
        net_.only_reader(id) == kNoNode || !is_pair(net_, before, id))
      return false;
    const TensorId from = net_.input(before, 0);
    const TensorId result = net_.result(id);
    net_.remove(id);
    net_.remove(before);
    net_.redirect(result, from);
    return true;
  }
  bool mend_unit(NodeId id) {
    const TensorId from = net_.input(id, 0), to = net_.result(id);
    const NodeId before = net_.producer(from);
    const std::vector<Reading> readings = readings_of(net_, to);
    if (readings.size() > 1 || net_.tensor(to).output) return false;
    const bool quantised = !readings.empty() && is_quantise(net_, readings[0].reader);
    if (is_dequantise(net_, before)) {
      if (quantised || readings.empty() || !has_scalars(net_, before)) return false;
      insert_pairs(net_, to, readings, before);
      return true;
    }
    if (!quantised || before == kNoNode || net_.tensor(from).readers.size() != 1 ||
        net_.tensor(from).output || !has_scalars(net_, readings[0].reader))
      return false;
    insert_pairs(net_, from, {{id, 0}}, readings[0].reader);
    return true;
  }

  static Perm first_of_last(std::size_t rank) {
    Perm perm = {0, static_cast<std::int64_t>(rank) - 1};
    for (std::size_t i = 2; i < rank; ++i) perm.push_back(static_cast<std::int64_t>(i) - 1);
    return perm;
  }

  [[nodiscard]] std::optional<Perm> perm_of(NodeId id) const {
    if (!net_.is(id, "Transpose")) return std::nullopt;
    return net_.attribute_ints(id, "perm");
  }

  TensorId made_transpose(TensorId from, const Perm& perm) {
    const Tensor was = net_.tensor(from);
    const TensorId to = net_.add_tensor(was.dtype, permuted(was.dims, perm));
    net_.add("", "Transpose", {from}, {to}, nullptr, {{"perm", ir::Value::ints(perm)}});
    return to;
  }

  void drop_unread(NodeId id) {
    if (net_.alive(id) && net_.uses(id) == 0 && !net_.makes_output(id)) net_.remove(id);
  }

  void set_axes(NodeId id, const Ints& axes) {
    if (net_.attribute(id, "axes") != nullptr) {
      net_.set_attribute(id, "axes", ir::Value::ints(axes));
    } else {
      net_.set_input(id, 1, net_.add_ints(axes));
    }
  }

  /// Softmax before version 13: no axis may cross the place where its operand is cut in two.
  bool push_coerced(NodeId id, NodeId transpose, const Perm& perm) {
    std::int64_t axis = net_.attribute_int(id, "axis", 1);
    if (axis < 0) axis += static_cast<std::int64_t>(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i)
      if ((static_cast<std::int64_t>(i) < axis) != (perm[i] < axis)) return false;
    return push_simple(id, transpose, perm);
  }

  bool raise_ranks(NodeId id, int rank) {
    for (const std::size_t at : operands_of(id, *handler_of(id)))
      if (net_.tensor(net_.input(id, at)).dims.size() > rank) return false;
    for (const std::size_t at : operands_of(id, *handler_of(id)))
      if (!raise_rank(id, at, rank)) return false;
    return true;
  }
  bool raise_rank(NodeId id, std::size_t at, int rank) {
    const TensorId from = net_.input(id, at);
    const Tensor was = net_.tensor(from);
    const int missing = rank - was.dims.size();
    if (missing < 0) return false;
    if (missing == 0) return true;
    Dims dims;
    Ints axes;
    for (int i = 0; i < missing; ++i) {
      dims.push(1);
      axes.push_back(i);
    }
    for (int i = 0; i < was.dims.size(); ++i) dims.push(was.dims[i]);
    if (was.constant) {
      net_.set_input(id, at, net_.add_constant(was.dtype, dims));
      if (was.value != nullptr) net_.edit(net_.input(id, at)).value = was.value;
      return true;
    }
    const TensorId to = net_.add_tensor(was.dtype, dims);
    constexpr std::int64_t kAxesAsOperand = 13;
    const NodeId made =
        net_.opset() >= kAxesAsOperand
            ? net_.add("", "Unsqueeze", {from, net_.add_ints(axes)}, {to}, nullptr)
            : net_.add("", "Unsqueeze", {from}, {to}, nullptr, {{"axes", ir::Value::ints(axes)}});
    net_.set_input(id, at, to);
    // A transpose before it goes behind it at once.
    if (const auto perm = perm_of(was.producer)) {
      transpose_input(made, 0, inverse(*perm));
      transpose_output(made, 0, unsqueezed(axes, *perm));
    }
    return true;
  }

  /// Two transposes become one or none. `own` is what `id` does.
  bool merge(NodeId id, NodeId transpose, const Perm& perm, const Perm& own) {
    const TensorId source = net_.input(transpose, 0);
    const TensorId result = net_.result(id);
    if (own == inverse(perm)) {
      if (!net_.tensor(result).output) {
        net_.remove(id);
        net_.redirect(result, source);
      } else {
        const NodeId first = net_.producer(source);
        if (first != kNoNode && !net_.tensor(source).output) {
          net_.remove(id);
          net_.redirect(source, result);
          const Ids& outputs = net_.node(first).outputs;
          const auto at = std::find(outputs.begin(), outputs.end(), source);
          net_.set_output(first, static_cast<std::size_t>(at - outputs.begin()), result);
        } else {
          net_.remove(id);
          net_.add("", "Identity", {source}, {result}, nullptr);
        }
      }
    } else {
      const Perm both = composed(perm, own);
      if (net_.is(id, "Reshape")) {
        net_.remove(id);
        net_.add("", "Transpose", {source}, {result}, nullptr, {{"perm", ir::Value::ints(both)}});
      } else {
        net_.set_input(id, 0, source);
        net_.set_attribute(id, "perm", ir::Value::ints(both));
      }
    }
    drop_unread(transpose);
    return true;
  }

  // ---- choice ----
  [[nodiscard]] const Handler* handler_of(NodeId id) const {
    const auto& all = net_.node(id).domain == kMs ? contrib() : own();
    if (!net_.node(id).domain.empty() && net_.node(id).domain != kMs) return nullptr;
    const auto found = all.find(net_.node(id).op);
    return found == all.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::vector<std::size_t> operands_of(NodeId id, const Handler& handler) const {
    std::vector<std::size_t> at;
    if (net_.is(id, "Gather") && net_.tensor(net_.input(id, 1)).dims.size() != 0) return at;
    if (handler.operands == Handler::Operands::First) return {0};
    for (std::size_t i = 0; i < net_.node(id).inputs.size(); ++i) {
      if (net_.input(id, i) == kNone) continue;
      if (handler.operands == Handler::Operands::NonScalar &&
          net_.tensor(net_.input(id, i)).dims.size() == 0)
        continue;
      // (scale, zero point, tensor, scale, zero point, ...) or (tensor, scale, zero point, ...)
      if (handler.operands == Handler::Operands::Quantised) {
        const bool is_concat = net_.node(id).op == "QLinearConcat";
        if (is_concat ? (i < 2 || (i - 2) % 3 != 0) : (i != 0 && i != 3)) continue;
      }
      at.push_back(i);
    }
    return at;
  }

  [[nodiscard]] int rank_of(TensorId id) const {
    const Dims& dims = net_.tensor(id).dims;
    int rank = 0;
    for (int i = 0; i < dims.size(); ++i) rank += dims[i] != 1 ? 1 : 0;
    return rank;
  }

  /// Operands whose sizes the runtime does not know count as much as five dimensions.
  [[nodiscard]] int counted_rank_of(TensorId id) const {
    constexpr int kUnsized = 5;
    return net_.tensor(id).unsized ? kUnsized : rank_of(id);
  }

  [[nodiscard]] bool can_likely_go(NodeId transpose) const {
    const TensorId result = net_.result(transpose);
    if (net_.tensor(result).output) return false;
    const Ids& readers = net_.tensor(result).readers;
    return std::all_of(readers.begin(), readers.end(),
                       [&](NodeId one) { return handler_of(one) != nullptr; });
  }

  [[nodiscard]] int cost_of(TensorId id, const Perm& perm) const {
    if (net_.is_constant(id)) return 0;
    NodeId before = net_.producer(id);
    if (before != kNoNode && net_.node(before).op == "DequantizeLinear") {
      if (net_.is_constant(net_.input(before, 0))) return 0;
      if (net_.before(before, 0) != kNoNode) before = net_.before(before, 0);
    }
    if (const auto other = perm_of(before))
      return *other == perm && can_likely_go(before) ? -counted_rank_of(id) : 0;
    return rank_of(id);
  }

  [[nodiscard]] bool pays(NodeId id, const Handler& handler, const Perm& perm) const {
    if (net_.is(id, "Transpose")) return true;
    if (assigned_ && net_.is(id, "MaxPool")) return true;
    if (assigned_ && net_.is(id, "Resize") && net_.attribute_text(id, "mode", "") == "linear") {
      const Tensor& x = net_.tensor(net_.input(id, 0));
      if (x.dims.size() == 4 && (x.dtype == ir::Dtype::U8 || x.dtype == ir::Dtype::I8)) return true;
    }
    int cost = 0;
    for (const std::size_t at : operands_of(id, handler)) cost += cost_of(net_.input(id, at), perm);
    if (cost < 0 && handler.transposes_results) {
      int more = 0;
      bool lead = false;
      for (const TensorId one : net_.node(id).outputs) {
        if (one == kNone) continue;
        more = std::max(more, rank_of(one));
        lead = lead || leads(one, perm);
      }
      if (!lead) cost += more;
    }
    return cost < 0;
  }

  bool process(NodeId id, NodeId transpose, const Perm& perm, std::size_t at) {
    const Handler* handler = handler_of(id);
    if (handler == nullptr) return false;
    const std::vector<std::size_t> operands = operands_of(id, *handler);
    if (std::find(operands.begin(), operands.end(), at) == operands.end()) return false;
    return pays(id, *handler, perm) && (this->*handler->push)(id, transpose, perm);
  }

  /// Whether a transpose in front of the node that makes a result merges with one behind it.
  [[nodiscard]] bool leads(TensorId result, const Perm& perm) const {
    const auto found = leading_.find(result);
    const Tensor& tensor = net_.tensor(result);
    if (found == leading_.end() || tensor.output) return false;
    const bool one_reader = std::all_of(tensor.readers.begin(), tensor.readers.end(),
                                        [&](NodeId id) { return id == tensor.readers.front(); });
    return one_reader || found->second.contains(inverse(perm));
  }

  void find_leading(const std::vector<NodeId>& nodes) {
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
      if (net_.is(*at, "Transpose")) {
        std::set<Perm>& perms = leading_[net_.input(*at, 0)];
        if (const auto perm = perm_of(*at)) perms.insert(*perm);
        continue;
      }
      for (const TensorId one : net_.node(*at).outputs) {
        if (one == kNone || !leading_.contains(one)) continue;
        const Handler* handler = handler_of(*at);
        if (handler == nullptr || !handler->transposes_results) continue;
        for (const std::size_t i : operands_of(*at, *handler)) {
          const TensorId operand = net_.input(*at, i);
          std::set<Perm>& perms = leading_[operand];
          // Where dimensions come or go, it is another permutation.
          if (net_.tensor(operand).dims.size() == net_.tensor(one).dims.size())
            perms.insert(leading_[one].begin(), leading_[one].end());
        }
      }
    }
  }

  using Handlers = std::unordered_map<std::string_view, Handler>;

  static const Handlers& own() {
    static const Handlers kHandlers = [] {
      using Of = Handler::Operands;
      Handlers all;
      for (const char* op : {"Cast",        "Exp",
                             "Identity",    "LeakyRelu",
                             "Log",         "Reciprocal",
                             "Relu",        "Sigmoid",
                             "Sqrt",        "Tanh",
                             "Abs",         "Not",
                             "Ceil",        "Floor",
                             "Neg",         "Erf",
                             "HardSigmoid", "Round",
                             "IsInf",       "IsNaN",
                             "Selu",        "Shrink",
                             "Sign",        "Softplus",
                             "Softsign",    "ThresholdedRelu",
                             "Celu",        "HardSwish",
                             "Sin",         "Cos",
                             "Tan",         "Sinh",
                             "Cosh",        "Asin",
                             "Acos",        "Atan",
                             "Asinh",       "Acosh",
                             "Atanh",       "Clip"})
        all.emplace(op, Handler{Of::First, &Pusher::push_simple});
      for (const char* op : {"Add",         "Max",     "Min",   "Mul",
                             "Sub",         "Div",     "And",   "Or",
                             "Xor",         "Mod",     "PRelu", "BitShift",
                             "Equal",       "Greater", "Less",  "GreaterOrEqual",
                             "LessOrEqual", "Mean",    "Sum",   "Pow",
                             "Where"})
        all.emplace(op, Handler{Of::NonScalar, &Pusher::push_broadcast});
      for (const char* op :
           {"ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
            "ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2"})
        all.emplace(op, Handler{Of::First, &Pusher::push_reduce});
      for (const char* op : {"Softmax", "Hardmax", "LogSoftmax", "Split"})
        all.emplace(op, Handler{Of::First, &Pusher::push_axis});
      all.emplace("Concat", Handler{Of::All, &Pusher::push_axis});
      all.emplace("Transpose", Handler{Of::First, &Pusher::push_transpose, false});
      all.emplace("Reshape", Handler{Of::First, &Pusher::push_reshape, false});
      all.emplace("Pad", Handler{Of::First, &Pusher::push_pad});
      all.emplace("ArgMin", Handler{Of::First, &Pusher::push_arg});
      all.emplace("ArgMax", Handler{Of::First, &Pusher::push_arg});
      all.emplace("Squeeze", Handler{Of::First, &Pusher::push_squeeze});
      all.emplace("Unsqueeze", Handler{Of::First, &Pusher::push_unsqueeze});
      all.emplace("Slice", Handler{Of::First, &Pusher::push_slice});
      all.emplace("Gather", Handler{Of::First, &Pusher::push_gather});
      all.emplace("Tile", Handler{Of::First, &Pusher::push_tile});
      all.emplace("QuantizeLinear", Handler{Of::First, &Pusher::push_quantise});
      all.emplace("DequantizeLinear", Handler{Of::First, &Pusher::push_quantise});
      all.emplace("MaxPool", Handler{Of::First, &Pusher::push_max_pool});
      all.emplace("Resize", Handler{Of::First, &Pusher::push_resize});
      return all;
    }();
    return kHandlers;
  }

  static const Handlers& contrib() {
    using Of = Handler::Operands;
    static const Handlers kHandlers = {
        {"QLinearReduceMean", {Of::First, &Pusher::push_reduce}},
        {"QLinearSigmoid", {Of::First, &Pusher::push_simple}},
        {"QLinearSoftmax", {Of::First, &Pusher::push_axis}},
        {"QLinearLeakyRelu", {Of::First, &Pusher::push_simple}},
        {"QLinearConcat", {Of::Quantised, &Pusher::push_qlinear_concat}},
        {"QLinearAdd", {Of::Quantised, &Pusher::push_qlinear_binary}},
        {"QLinearMul", {Of::Quantised, &Pusher::push_qlinear_binary}},
        {"QLinearAveragePool", {Of::First, &Pusher::push_channels_last}},
        {"QLinearGlobalAveragePool", {Of::First, &Pusher::push_channels_last}},
        {"QuantizeLinear", {Of::First, &Pusher::push_quantise}},
        {"DequantizeLinear", {Of::First, &Pusher::push_quantise}},
    };
    return kHandlers;
  }

  Net& net_;
  bool assigned_;  ///< to the CPU provider: after the first level
  /// Tensors that lead to transposes, through operators that pass one on, and what those do.
  std::unordered_map<TensorId, std::set<Perm>> leading_;
};

}  // namespace

bool push_transposes(Net& net, const Machine&) { return Pusher(net, false).run(); }
bool push_transposes_of_cpu(Net& net, const Machine&) { return Pusher(net, true).run(); }

// nhwc_transformer.cc: convolutions of eight bits take their channels last
bool move_channels_last(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    const bool own = net.is(id, "QLinearConv");
    if (!own && !net.is(id, "QLinearConv", kMs)) continue;
    const int rank = net.tensor(net.input(id, 0)).dims.size();
    if (net.attribute_int(id, "channels_last", 0) == 1 || rank < 3) continue;
    Perm last = {0};
    for (int i = 2; i < rank; ++i) last.push_back(i);
    last.push_back(1);
    net.set_op(id, kMs, "QLinearConv");
    net.set_attribute(id, "channels_last", ir::Value(1));
    Pusher pusher(net, true);
    pusher.transpose_input(id, 0, last);
    pusher.transpose_outputs(id, inverse(last));
    changed = true;
  }
  // What the convolutions got is pushed further at once.
  if (changed) push_transposes_of_cpu(net, {});
  return changed;
}

}  // namespace oplat::plan::ort
