// SPDX-License-Identifier: Apache-2.0
/// Products and what is around them.
#include <algorithm>
#include <utility>

#include "ir/catalogue.hpp"
#include "plan/onnxruntime/passes.hpp"

namespace oplat::plan::ort {
namespace {

bool is_of_floats(const Net& net, TensorId id) {
  return net.tensor(id).dtype == ir::Dtype::F32 || net.tensor(id).dtype == ir::Dtype::F16;
}

/// The nodes of an attention that starts at a normalisation are left to the fusion of attentions,
/// although that may not take them either: three products and one sum read the normalised tensor.
class Attentions {
 public:
  bool holds(const Net& net, NodeId matmul, NodeId add) {
    const NodeId parent = net.before(matmul, 0);
    if (contains(norms_, parent) || contains(adds_, add)) return true;
    if (!net.is(parent, "LayerNormalization")) return false;
    std::size_t sums = 0, products = 0;
    NodeId sum = kNoNode;
    for (const NodeId reader : net.tensor(net.result(parent)).readers) {
      if (net.is(reader, "Add")) {
        sum = reader;
        ++sums;
      } else if (net.is(reader, "MatMul")) {
        ++products;
      } else {
        return false;
      }
    }
    if (sums != 1 || products != 3) return false;
    const NodeId other = net.before(sum, net.input(sum, 0) == net.result(parent) ? 1 : 0);
    if (!net.is(other, "Add")) return false;
    norms_.push_back(parent);
    adds_.push_back(other);
    return true;
  }

 private:
  static bool contains(const std::vector<NodeId>& list, NodeId id) {
    return id != kNoNode && std::find(list.begin(), list.end(), id) != list.end();
  }
  std::vector<NodeId> norms_;
  std::vector<NodeId> adds_;
};

}  // namespace

namespace {

bool fuse_matmuls(Net& net, bool leaves_attentions) {
  bool changed = false;
  Attentions attentions;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "MatMul")) continue;
    const NodeId next = net.only_reader(id);
    if (!net.is(next, "Add")) continue;
    const TensorId a = net.input(id, 0), b = net.input(id, 1);
    if (!is_of_floats(net, a) || net.tensor(b).dims.size() != 2) continue;
    const Dims da = net.tensor(a).dims, db = net.tensor(b).dims;
    const bool reshaped = da.size() != 2;
    if (reshaped && leaves_attentions && attentions.holds(net, id, next)) continue;
    const TensorId bias = net.input(next, net.input(next, 0) == net.result(id) ? 1 : 0);
    if (bias == net.result(id)) continue;
    const Dims dc = net.tensor(bias).dims;
    const std::int64_t n = db[1];
    const bool fits = (dc.size() == 1 && dc[0] == n) ||
                      (!reshaped && dc.size() == 2 && dc[0] == 1 && dc[1] == n) ||
                      (!reshaped && dc.size() == 2 && dc[0] == da[0] && (dc[1] == 1 || dc[1] == n));
    if (!fits) continue;
    const ir::Node* source = net.node(id).source;
    const ir::Dtype dtype = net.tensor(a).dtype;
    const TensorId result = net.result(next);
    net.remove(id);
    net.remove(next);
    if (!reshaped) {
      net.add("", "Gemm", {a, b, bias}, {result}, source);
    } else {
      const std::int64_t m =
          db[0] == 0 ? 0 : da.elements() / std::max<std::int64_t>(1, da[da.size() - 1]);
      Ints to = da.list();
      to.back() = n;
      const TensorId flat = net.add_tensor(dtype, Dims{m, db[0]});
      const TensorId product = net.add_tensor(dtype, Dims{m, n});
      net.add("", "Reshape", {a, net.add_ints({m, db[0]})}, {flat}, nullptr);
      net.add("", "Reshape", {product, net.add_ints(to)}, {result}, nullptr);
      net.add("", "Gemm", {flat, b, bias}, {product}, source);
    }
    changed = true;
  }
  return changed;
}

}  // namespace

// matmul_add_fusion.cc: first without what may become an attention, then, after that fusion, all
bool fuse_matmul_add(Net& net, const Machine&) { return fuse_matmuls(net, true); }
bool fuse_every_matmul_add(Net& net, const Machine&) { return fuse_matmuls(net, false); }

namespace {

struct Turn {
  NodeId node = kNoNode;
  bool last = false;   ///< the last two axes are swapped
  bool batch = false;  ///< the first axis goes behind those of the batch
};

/// A transpose that a product can do while it reads.
Turn turn_before(const Net& net, TensorId id) {
  const NodeId before = net.producer(id);
  if (!net.is(before, "Transpose") || net.makes_output(before)) return {};
  const auto perm = net.attribute_ints(before, "perm");
  if (!perm || perm->size() < 2) return {};
  const auto rank = static_cast<std::int64_t>(perm->size());
  const auto identity_to = [&](std::int64_t end) {
    for (std::int64_t i = 0; i < end; ++i)
      if ((*perm)[static_cast<std::size_t>(i)] != i) return false;
    return true;
  };
  if (identity_to(rank - 2) && (*perm)[static_cast<std::size_t>(rank - 2)] == rank - 1 &&
      (*perm)[static_cast<std::size_t>(rank - 1)] == rank - 2)
    return {before, true, false};
  if (rank < 3) return {};
  // The tensor as stored is (M, batch..., K): read as (batch..., M, K) or (batch..., K, M).
  for (std::int64_t i = 0; i < rank - 2; ++i)
    if ((*perm)[static_cast<std::size_t>(i)] != i + 1) return {};
  const std::int64_t p = (*perm)[static_cast<std::size_t>(rank - 2)];
  const std::int64_t q = (*perm)[static_cast<std::size_t>(rank - 1)];
  if (p == 0 && q == rank - 1) return {before, false, true};
  if (p == rank - 1 && q == 0) return {before, true, true};
  return {};
}

}  // namespace

// matmul_transpose_fusion.cc
bool fuse_matmul_transpose(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    const bool fused = net.is(id, "FusedMatMul", kMs);
    if (!fused && !net.is(id, "MatMul")) continue;
    const TensorId a = net.input(id, 0), b = net.input(id, 1);
    if (net.tensor(a).dtype != ir::Dtype::F32) continue;
    Turn left = turn_before(net, a), right = turn_before(net, b);
    if (left.node == kNoNode && right.node == kNoNode) continue;
    // Batches are moved only for operands of one rank.
    if (net.tensor(a).dims.size() != net.tensor(b).dims.size()) {
      if (left.batch) left = {};
      if (right.batch) right = {};
      if (left.node == kNoNode && right.node == kNoNode) continue;
    }
    const auto flag = [&](std::string_view name) {
      return fused && net.attribute_int(id, name, 0) != 0;
    };
    const double alpha = fused ? net.attribute_real(id, "alpha", 1.0) : 1.0;
    const bool trans_a = left.last != flag("transA"), trans_b = right.last != flag("transB");
    const bool batch_a = left.batch != flag("transBatchA"),
               batch_b = right.batch != flag("transBatchB");
    const TensorId from_a = left.node == kNoNode ? a : net.input(left.node, 0);
    const TensorId from_b = right.node == kNoNode ? b : net.input(right.node, 0);
    const TensorId result = net.result(id);
    const ir::Node* source = net.node(id).source;
    net.remove(id);
    for (const NodeId one : {left.node, right.node})
      if (one != kNoNode && net.alive(one) && net.uses(one) == 0) net.remove(one);
    net.add(kMs, "FusedMatMul", {from_a, from_b}, {result}, source,
            {{"alpha", alpha},
             {"transA", trans_a ? 1 : 0},
             {"transB", trans_b ? 1 : 0},
             {"transBatchA", batch_a ? 1 : 0},
             {"transBatchB", batch_b ? 1 : 0}});
    changed = true;
  }
  return changed;
}

namespace {

/// The factor that a Mul or Div by a constant of one element applies, and its other operand.
std::optional<std::pair<double, TensorId>> scale_of(const Net& net, NodeId id) {
  const bool divides = net.is(id, "Div");
  if (!divides && !net.is(id, "Mul")) return std::nullopt;
  for (const std::size_t at : {std::size_t{1}, std::size_t{0}}) {
    if (divides && at == 0) continue;
    const TensorId constant = net.input(id, at);
    if (constant == kNone) continue;
    const auto number = net.number(constant);
    if (!number || net.tensor(net.input(id, 1 - at)).dtype != ir::Dtype::F32) continue;
    if (net.tensor(constant).dims.size() > net.tensor(net.input(id, 1 - at)).dims.size()) continue;
    if (divides && *number == 0) continue;
    return std::pair(divides ? static_cast<double>(1.0F / static_cast<float>(*number)) : *number,
                     net.input(id, 1 - at));
  }
  return std::nullopt;
}

}  // namespace

// matmul_scale_fusion.cc
bool fuse_matmul_scale(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    const bool fused = net.is(id, "FusedMatMul", kMs);
    if (!fused && !net.is(id, "MatMul")) continue;
    if (net.tensor(net.input(id, 0)).dtype != ir::Dtype::F32) continue;
    double alpha = fused ? net.attribute_real(id, "alpha", 1.0) : 1.0;
    bool found = false;
    Ids inputs = {net.input(id, 0), net.input(id, 1)};
    std::vector<NodeId> scales;
    for (TensorId& one : inputs) {
      const NodeId before = net.producer(one);
      if (before == kNoNode) continue;
      const auto scale = scale_of(net, before);
      if (!scale || net.makes_output(before)) continue;
      alpha *= scale->first;
      one = scale->second;
      scales.push_back(before);
      found = true;
    }
    TensorId result = net.result(id);
    const NodeId next = net.only_reader(id);
    NodeId after = kNoNode;
    if (next != kNoNode) {
      const auto scale = scale_of(net, next);
      if (scale && scale->second == result) {
        alpha *= scale->first;
        after = next;
        result = net.result(next);
        found = true;
      }
    }
    if (!found) continue;
    const auto flag = [&](std::string_view name) {
      return ir::Value(fused ? net.attribute_int(id, name, 0) : std::int64_t{0});
    };
    std::vector<ir::NamedValue> attributes = {
        {"alpha", static_cast<double>(static_cast<float>(alpha))},
        {"transA", flag("transA")},
        {"transB", flag("transB")},
        {"transBatchA", flag("transBatchA")},
        {"transBatchB", flag("transBatchB")}};
    const ir::Node* source = net.node(id).source;
    net.remove(id);
    if (after != kNoNode) net.remove(after);
    for (const NodeId one : scales)
      if (net.alive(one) && net.uses(one) == 0) net.remove(one);
    net.add(kMs, "FusedMatMul", std::move(inputs), {result}, source, std::move(attributes));
    changed = true;
  }
  return changed;
}

// gemm_activation_fusion.cc
bool fuse_gemm_activation(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "Gemm") || net.tensor(net.input(id, 0)).dtype != ir::Dtype::F32) continue;
    const NodeId next = net.only_reader(id);
    if (!net.is_any(next, {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus",
                           "Softsign", "Tanh", "ThresholdedRelu"}))
      continue;
    const NodeId fused = net.add_like(id, kMs, "FusedGemm", net.node(id).inputs, {});
    net.set_attribute(fused, "activation", ir::Value(std::string(net.node(next).op)));
    const std::string_view op = net.node(next).op;
    const auto since = ir::since_version("", op, net.opset());
    const auto defaults =
        since ? ir::default_attributes("", op, *since) : std::vector<ir::NamedValue>();
    const auto [of_model, made] = net.node(next).attribute_lists();
    for (const auto attributes : {std::span(defaults), of_model, made})
      for (const auto& [name, value] : attributes)
        if (value.real() != nullptr) net.set_attribute(fused, "activation_" + name, value);
    const TensorId result = net.result(next);
    net.remove(id);
    net.remove(next);
    net.adopt(fused, result);
    changed = true;
  }
  return changed;
}

namespace {

/// The node of that operator which writes an operand, for this reader alone.
NodeId own_operand(const Net& net, NodeId id, std::string_view op) {
  for (const TensorId one : net.node(id).inputs) {
    const NodeId before = net.producer(one);
    if (net.is(before, op) && net.only_reader(before) == id) return before;
  }
  return kNoNode;
}

/// The constant of one dimension that an Add puts on the result of `id`; kNone: there is none.
TensorId bias_behind(const Net& net, NodeId id) {
  const NodeId add = net.only_reader(id);
  if (!net.is(add, "Add")) return kNone;
  const TensorId bias = net.input(add, net.input(add, 0) == net.result(id) ? 1 : 0);
  return net.is_constant(bias) && net.tensor(bias).dims.size() == 1 ? bias : kNone;
}

}  // namespace

// matmul_integer_to_float.cc: a product of whole numbers, the product of both scales, and a bias
bool fuse_matmul_integer_scale(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "Mul")) continue;
    const NodeId cast = own_operand(net, id, "Cast"), scales = own_operand(net, id, "Mul");
    if (cast == kNoNode || scales == kNoNode) continue;
    const NodeId product = own_operand(net, cast, "MatMulInteger");
    if (product == kNoNode || net.tensor(net.result(cast)).dtype != ir::Dtype::F32) continue;
    Ids inputs = {net.input(product, 0), net.input(product, 1), net.input(scales, 0),
                  net.input(scales, 1),  net.input(product, 2), net.input(product, 3)};
    const TensorId bias = bias_behind(net, id);
    const NodeId last = bias == kNone ? id : net.only_reader(id);
    inputs.push_back(bias);
    const TensorId result = net.result(last);
    const ir::Node* source = net.node(product).source;
    for (const NodeId one : {product, cast, scales, id}) net.remove(one);
    net.remove(last);
    net.add(kMs, "MatMulIntegerToFloat", std::move(inputs), {result}, source);
    changed = true;
  }
  return changed;
}

// matmul_nbits_fusion.cc: a bias
bool fuse_matmul_bits_bias(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    constexpr std::size_t kBias = 5;
    if (!net.is(id, "MatMulNBits", kMs) || net.input(id, kBias) != kNone) continue;
    const TensorId bias = bias_behind(net, id);
    if (bias == kNone) continue;
    const NodeId add = net.only_reader(id);
    const TensorId result = net.result(add);
    net.remove(add);
    net.set_input(id, kBias, bias);
    net.set_output(id, 0, result);
    changed = true;
  }
  return changed;
}

// dynamic_quantize_matmul_fusion.cc: the quantisation of an operand for this product alone
bool fuse_matmul_integer_quantisation(Net& net, const Machine&) {
  bool changed = false;
  for (const NodeId id : net.order()) {
    if (!net.is(id, "MatMulIntegerToFloat", kMs)) continue;
    const NodeId before = net.before(id, 0);
    constexpr std::size_t kResults = 3;
    if (!net.is(before, "DynamicQuantizeLinear") || net.uses(before) != kResults ||
        net.makes_output(before) || net.before(id, 2) != before || net.before(id, 4) != before)
      continue;
    Ids inputs = {net.input(before, 0)};
    for (const std::size_t i : {1U, 3U, 5U, 6U}) inputs.push_back(net.input(id, i));
    const TensorId result = net.result(id);
    const ir::Node* source = net.node(id).source;
    net.remove(id);
    net.remove(before);
    net.add(kMs, "DynamicQuantizeMatMul", std::move(inputs), {result}, source);
    changed = true;
  }
  return changed;
}

}  // namespace oplat::plan::ort
