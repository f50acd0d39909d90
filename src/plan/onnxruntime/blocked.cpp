// SPDX-License-Identifier: Apache-2.0
/// The blocked layout NCHWc (nchwc_transformer.cc): which convolutions and pools compute in it,
/// which element-wise operators pass it on, and where tensors are put in order and back.
///
/// Nodes are looked at once, in the runtime's order. One that computes in blocks writes a tensor of
/// its own, whose channels are filled up to whole blocks. Readers that can do with that read it;
/// for those that are left a reorder is put in at the end. So it matters how many readers a result
/// has, and whether they come later.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

/// The kernels that put tensors in order take channels in fours.
constexpr std::int64_t kChannelAlignment = 4;

class Blocker {
 public:
  Blocker(Net& net, std::int64_t block) : net_(net), block_(block), blocked_(net.tensor_count()) {}

  bool run() {
    for (const NodeId id : net_.order())
      if (net_.alive(id)) transform(id);
    finish();
    return changed_;
  }

 private:
  /// A result in blocks, by the tensor that it was before.
  struct Blocked {
    NodeId node = kNoNode;
    TensorId tensor = kNone;
    std::size_t readers = 0;  ///< of the tensor before, the model's results included
    std::size_t left = 0;     ///< those that still want it as it was
    std::int64_t channels = 0;
  };

  [[nodiscard]] std::int64_t filled(std::int64_t channels) const {
    return (channels + block_ - 1) / block_ * block_;
  }
  Blocked* blocked(TensorId id) {
    const auto at = static_cast<std::size_t>(id);
    const bool known = id != kNone && at < blocked_.size() && blocked_[at].node != kNoNode;
    return known ? &blocked_[at] : nullptr;
  }
  [[nodiscard]] std::size_t readers_of(TensorId id) const {
    return net_.tensor(id).readers.size() + (net_.tensor(id).output ? 1 : 0);
  }
  TensorId filled_tensor(TensorId like, std::int64_t channels) {
    Dims dims = net_.tensor(like).dims;
    dims[1] = filled(channels);
    return net_.add_tensor(net_.tensor(like).dtype, dims);
  }

  /// `made` takes the place of `old`, whose result is from now on there in blocks.
  void replace(NodeId old, NodeId made, std::int64_t channels) {
    const TensorId before = net_.result(old);
    const std::size_t readers = readers_of(before);
    const TensorId tensor = filled_tensor(before, channels);
    if (old == made) {
      net_.set_output(made, 0, tensor);
    } else {
      net_.remove(old);
      net_.adopt(made, tensor);
    }
    note(before, {made, tensor, readers, readers, channels});
    changed_ = true;
  }

  /// The node before does the work of `old`, too.
  void fuse(NodeId old, const Blocked& into) {
    const TensorId before = net_.result(old);
    const std::size_t readers = readers_of(before);
    const Blocked fused{into.node, into.tensor, readers, readers, into.channels};
    net_.remove(old);
    note(before, fused);
    changed_ = true;
  }

  void note(TensorId before, const Blocked& entry) {
    blocked_[static_cast<std::size_t>(before)] = entry;
    order_.push_back(before);
  }

  /// Node `id` reads the blocked form of its operand i: that of the node before, or a reordered
  /// one.
  void read_blocked(NodeId id, std::size_t i) {
    const TensorId from = net_.input(id, i);
    if (Blocked* before = blocked(from)) {
      net_.set_input(id, i, before->tensor);
      --before->left;
      return;
    }
    const auto [at, added] = reordered_.try_emplace(from, kNone);
    if (added) {
      TensorId source = from;
      std::int64_t last = 0;
      const NodeId transpose = net_.producer(from);
      if (net_.is(transpose, "Transpose") && readers_of(from) == 1 &&
          net_.attribute_ints(transpose, "perm") == Ints{0, 3, 1, 2}) {
        source = net_.input(transpose, 0);
        last = 1;
      }
      at->second = filled_tensor(from, net_.tensor(from).dims[1]);
      net_.add(kNchwc, "ReorderInput", {source}, {at->second}, nullptr, {{"channels_last", last}});
    }
    net_.set_input(id, i, at->second);
    const NodeId transpose = net_.producer(from);
    if (net_.is(transpose, "Transpose") && readers_of(from) == 0) net_.remove(transpose);
  }

  void transform_conv(NodeId id) {
    const TensorId w = net_.input(id, 1);
    if (!net_.is_constant(w) || net_.tensor(w).dtype != ir::Dtype::F32 ||
        net_.tensor(w).dims.size() != 4)
      return;
    const Dims weight = net_.tensor(w).dims;
    const std::int64_t out = weight[0], in = weight[1];
    const std::int64_t group = net_.attribute_int(id, "group", 1);
    std::int64_t filter_in = in;
    std::int64_t filled_group = group;
    bool reorders = true;
    if (group > 1) {
      if (out % kChannelAlignment != 0) return;
      if (in == 1 && out == group) {
        filled_group = filled(out);
      } else if (in % block_ != 0 || out % group != 0 || out / group % block_ != 0) {
        return;
      }
    } else if (in < block_) {
      reorders = false;  // of few channels, as of an image, the plain layout is read
    } else {
      if (in % kChannelAlignment != 0) return;
      filter_in = filled(in);
    }
    const TensorId bias = net_.input(id, 2);
    if (net_.node(id).inputs.size() > 3) return;
    if (bias != kNone && (!net_.is_constant(bias) || net_.tensor(bias).dims.size() != 1)) return;
    Ids inputs = net_.node(id).inputs;
    inputs[1] =
        net_.add_constant(ir::Dtype::F32, Dims{filled(out), filter_in, weight[2], weight[3]});
    if (bias != kNone && filled(out) != out)
      inputs[2] = net_.add_constant(ir::Dtype::F32, Dims{filled(out)});
    const NodeId made = net_.add_like(id, kNchwc, "Conv", std::move(inputs), {});
    if (filled_group != group) net_.set_attribute(made, "group", ir::Value(filled_group));
    // The node that is replaced reads the operand no more: its reader is the new one.
    net_.set_input(id, 0, kNone);
    if (reorders) read_blocked(made, 0);
    replace(id, made, out);
  }

  void transform_pool(NodeId id) {
    const TensorId x = net_.input(id, 0);
    if (net_.node(id).outputs.size() > 1 || net_.tensor(x).dtype != ir::Dtype::F32 ||
        net_.tensor(x).dims.size() != 4)
      return;
    const std::int64_t channels = net_.tensor(x).dims[1];
    if (channels % block_ != 0) return;
    const NodeId made = net_.add_like(id, kNchwc, net_.node(id).op, {x}, {});
    net_.set_input(id, 0, kNone);
    read_blocked(made, 0);
    replace(id, made, channels);
  }

  void transform_binary(NodeId id, bool adds) {
    const Ids operands = net_.node(id).inputs;
    if (operands.empty()) return;
    std::vector<Blocked*> inputs;
    bool same_size = true;
    for (const TensorId one : operands) {
      Blocked* found = blocked(one);
      if (found == nullptr || found->channels != blocked(operands[0])->channels) return;
      same_size = same_size && net_.tensor(one).dims == net_.tensor(operands[0]).dims;
      inputs.push_back(found);
    }
    if (!same_size) {
      if (adds) broadcast(id, inputs);
      return;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      net_.set_input(id, i, inputs[i]->tensor);
      --inputs[i]->left;
    }
    if (adds && inputs.size() == 2) {
      for (std::size_t i = 0; i < 2; ++i) {
        const NodeId conv = inputs[i]->node;
        if (!net_.is(conv, "Conv", kNchwc) || net_.node(conv).inputs.size() > 3 ||
            inputs[i]->readers != 1 || net_.attribute(conv, "activation") != nullptr)
          continue;
        Ids all = net_.node(conv).inputs;
        all.resize(3, kNone);
        all.push_back(inputs[1 - i]->tensor);
        net_.set_inputs(conv, std::move(all));
        fuse(id, *inputs[i]);
        return;
      }
    }
    const std::int64_t channels = inputs[0]->channels;
    replace(id, id, channels);
  }

  /// Blocks get an axis of their own, along which sums of different sizes can be told apart.
  void broadcast(NodeId id, const std::vector<Blocked*>& inputs) {
    const auto with_blocks = [&](TensorId one) {
      const Tensor tensor = net_.tensor(one);
      const Dims& d = tensor.dims;
      return net_.add_tensor(tensor.dtype, Dims{d[0], d[1] / block_, d[2], d[3], block_});
    };
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const TensorId apart = with_blocks(inputs[i]->tensor);
      net_.add("", "Reshape", {inputs[i]->tensor, net_.add_ints({0, -1, 0, 0, block_})}, {apart},
               nullptr);
      net_.set_input(id, i, apart);
      --inputs[i]->left;
    }
    const std::int64_t channels = inputs[0]->channels;
    const TensorId before = net_.result(id);
    const std::size_t readers = readers_of(before);
    const TensorId tensor = filled_tensor(before, channels);
    const TensorId apart = with_blocks(tensor);
    net_.set_output(id, 0, apart);
    const NodeId made =
        net_.add("", "Reshape", {apart, net_.add_ints({0, -1, 0, 0})}, {tensor}, nullptr);
    note(before, {made, tensor, readers, readers, channels});
    changed_ = true;
  }

  void transform_concat(NodeId id) {
    const Ids operands = net_.node(id).inputs;
    if (net_.attribute_int(id, "axis", 0) != 1) return;
    std::int64_t channels = 0;
    for (const TensorId one : operands) {
      const Blocked* found = blocked(one);
      if (found == nullptr || found->channels % block_ != 0) return;
      channels += found->channels;
    }
    for (std::size_t i = 0; i < operands.size(); ++i) read_blocked(id, i);
    replace(id, id, channels);
  }

  void transform_activation(NodeId id) {
    Blocked* before = blocked(net_.input(id, 0));
    if (before == nullptr) return;
    const Blocked input = *before;
    read_blocked(id, 0);
    if (net_.node(id).domain.empty() && net_.is(input.node, "Conv", kNchwc) && input.readers == 1 &&
        net_.attribute(input.node, "activation") == nullptr) {
      net_.set_attribute(input.node, "activation", ir::Value(std::string(net_.node(id).op)));
      fuse(id, input);
    } else {
      replace(id, id, input.channels);
    }
  }

  /// A normalisation becomes a convolution of each channel with one number.
  void transform_normalisation(NodeId id) {
    const Blocked* before = blocked(net_.input(id, 0));
    if (before == nullptr || net_.node(id).outputs.size() > 1) return;
    if (net_.attribute_int(id, "spatial", 1) != 1) return;
    for (std::size_t i = 1; i < 5; ++i) {
      const TensorId one = net_.input(id, i);
      if (!net_.is_constant(one) || net_.tensor(one).dtype != ir::Dtype::F32 ||
          net_.tensor(one).dims.size() != 1)
        return;
    }
    const std::int64_t channels = before->channels;
    const std::int64_t all = filled(channels);
    const NodeId made =
        net_.add(kNchwc, "Conv",
                 {net_.input(id, 0), net_.add_constant(ir::Dtype::F32, Dims{all, 1, 1, 1}),
                  net_.add_constant(ir::Dtype::F32, Dims{all})},
                 {}, net_.node(id).source, {{"group", all}});
    net_.set_input(id, 0, kNone);
    read_blocked(made, 0);
    replace(id, made, channels);
  }

  void transform_transpose(NodeId id) {
    Blocked* before = blocked(net_.input(id, 0));
    if (before == nullptr || net_.attribute_ints(id, "perm") != Ints{0, 2, 3, 1}) return;
    const TensorId result = net_.result(id);
    net_.remove(id);
    net_.add(kNchwc, "ReorderOutput", {before->tensor}, {result}, nullptr,
             {{"channels", before->channels}, {"channels_last", 1}});
    --before->left;
    changed_ = true;
  }

  /// Where Resize takes its values from; before version 11 it had no choice.
  [[nodiscard]] std::string_view position_of(NodeId id) const {
    if (!has_positions(id)) return "asymmetric";
    return net_.attribute_text(id, "coordinate_transformation_mode", "half_pixel");
  }
  [[nodiscard]] bool has_positions(NodeId id) const {
    constexpr std::int64_t kPositions = 11;
    return net_.node(id).op == "Resize" && net_.opset() >= kPositions;
  }

  /// Whether there is a blocked kernel for the mode.
  [[nodiscard]] bool resizes_in_blocks(NodeId id) const {
    const std::string_view mode = net_.attribute_text(id, "mode", "nearest");
    const std::string_view position = position_of(id);
    if (mode == "linear")
      return position == "asymmetric" || position == "align_corners" || position == "half_pixel";
    if (mode != "nearest" || !has_positions(id)) return mode == "nearest";
    return position == "asymmetric" &&
           net_.attribute_text(id, "nearest_mode", "round_prefer_floor") == "floor";
  }

  /// How often each place of the operand comes, if that is a whole number: 1.05 of 10 places leaves
  /// them 10, and is none.
  [[nodiscard]] std::optional<Ints> whole_scales(NodeId id) const {
    const Dims from = net_.tensor(net_.input(id, 0)).dims, to = net_.tensor(net_.result(id)).dims;
    if (from.size() != 4 || from[0] != to[0] || from[1] != to[1]) return std::nullopt;
    for (const int axis : {2, 3})
      if (from[axis] < 1 || to[axis] < 1 || to[axis] % from[axis] != 0) return std::nullopt;
    const bool sizes = net_.input(id, 3) != kNone;
    const ir::List* given = net_.tensor(net_.input(id, has_positions(id) ? 2 : 1)).value;
    if (!sizes && (given == nullptr || !std::all_of(given->begin(), given->end(), is_whole)))
      return std::nullopt;
    return Ints{1, 1, to[2] / from[2], to[3] / from[3]};
  }
  static bool is_whole(const ir::Value& scale) {
    return scale.real() != nullptr && std::floor(*scale.real()) == *scale.real();
  }

  void transform_resize(NodeId id) {
    const Blocked* before = blocked(net_.input(id, 0));
    if (before == nullptr) return;
    const auto scales = whole_scales(id);
    if (!scales || !resizes_in_blocks(id)) return;
    std::vector<ir::NamedValue> attributes = {{"scales", ir::Value::ints(*scales)}};
    if (net_.attribute_text(id, "mode", "nearest") == "linear") {
      attributes.emplace_back("mode", std::string("linear"));
      attributes.emplace_back("coordinate_transformation_mode", std::string(position_of(id)));
    }
    const std::int64_t channels = before->channels;
    const NodeId made = net_.add(kNchwc, "Upsample", {net_.input(id, 0)}, {}, net_.node(id).source,
                                 std::move(attributes));
    net_.set_input(id, 0, kNone);
    read_blocked(made, 0);
    replace(id, made, channels);
  }

  void transform(NodeId id) {
    const Node& node = net_.node(id);
    const std::string_view op = node.op;
    if (net_.is(id, "Conv") || net_.is(id, "FusedConv", kMs)) return transform_conv(id);
    if (net_.is(id, "QuickGelu", kMs) || net_.is(id, "Gelu", kMs)) return transform_activation(id);
    if (!node.domain.empty()) return;
    if (op == "MaxPool" || op == "AveragePool") return transform_pool(id);
    // The others do only where nobody is left who writes an operand as it was.
    const bool ready = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](TensorId one) { return net_.producer(one) == kNoNode; });
    if (!ready || node.inputs.empty()) return;
    if (op == "Add" || op == "Sum") return transform_binary(id, true);
    if (op == "Mul") return transform_binary(id, false);
    if (op == "Concat") return transform_concat(id);
    if (op == "Relu" || op == "Sigmoid" || op == "Tanh") return transform_activation(id);
    if (op == "BatchNormalization") return transform_normalisation(id);
    if (op == "Transpose") return transform_transpose(id);
    if (op == "Resize" || op == "Upsample") return transform_resize(id);
    if (op == "GlobalAveragePool" || op == "GlobalMaxPool") return transform_pool(id);
  }

  void finish() {
    for (const TensorId before : order_) {
      const Blocked& entry = blocked_[static_cast<std::size_t>(before)];
      if (entry.left == 0) continue;
      net_.add(kNchwc, "ReorderOutput", {entry.tensor}, {before}, nullptr,
               {{"channels", entry.channels}});
    }
  }

  Net& net_;
  std::int64_t block_;
  bool changed_ = false;
  std::vector<Blocked> blocked_;  ///< by tensor; those made here are never looked for
  std::vector<TensorId> order_;
  std::unordered_map<TensorId, TensorId> reordered_;
};

}  // namespace

bool block_channels(Net& net, const Machine& machine) {
  return machine.block > 1 && Blocker(net, machine.block).run();
}

}  // namespace oplat::plan::ort
