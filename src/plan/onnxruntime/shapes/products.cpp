// SPDX-License-Identifier: Apache-2.0
/// Products, and recurrent layers, which consist of them.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "plan/onnxruntime/shapes/rules.hpp"

namespace oplat::plan::ort::shapes {
namespace {

std::optional<Dims> product(const Dims& a, const Dims& b) {
  if (a.size() == 0 || b.size() == 0) return std::nullopt;
  Dims x = a, y = b;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) x = Dims{1, a[0]};
  if (column) y = Dims{b[0], 1};
  if (x[x.size() - 1] != y[y.size() - 2]) return std::nullopt;
  Dims front_x, front_y;
  for (int i = 0; i + 2 < x.size(); ++i) front_x.push(x[i]);
  for (int i = 0; i + 2 < y.size(); ++i) front_y.push(y[i]);
  auto out = broadcast(front_x, front_y);
  if (!out) return std::nullopt;
  if (!row) out->push(x[x.size() - 2]);
  if (!column) out->push(y[y.size() - 1]);
  return out;
}

bool multiply(Net& net, NodeId id, std::size_t second, ir::Dtype dtype) {
  const auto dims = product(operand(net, id, 0).dims, operand(net, id, second).dims);
  if (dims) set(net, id, 0, dtype, *dims);
  return dims.has_value();
}

bool matmul(Net& net, NodeId id) { return multiply(net, id, 1, operand(net, id, 0).dtype); }

bool matmul_integer(Net& net, NodeId id) { return multiply(net, id, 1, ir::Dtype::I32); }

bool qlinear_matmul(Net& net, NodeId id) {
  return has(net, id, 7) && multiply(net, id, 3, operand(net, id, 7).dtype);
}

bool to_float_matmul(Net& net, NodeId id) { return multiply(net, id, 1, ir::Dtype::F32); }

bool gemm_of(Net& net, NodeId id, std::size_t second, ir::Dtype dtype) {
  const Dims& a = operand(net, id, 0).dims;
  const Dims& b = operand(net, id, second).dims;
  if (a.size() != 2 || b.size() != 2) return false;
  const bool ta = net.attribute_int(id, "transA", 0) != 0;
  const bool tb = net.attribute_int(id, "transB", 0) != 0;
  if (a[ta ? 0 : 1] != b[tb ? 1 : 0]) return false;
  set(net, id, 0, dtype, Dims{a[ta ? 1 : 0], b[tb ? 0 : 1]});
  return true;
}

bool gemm(Net& net, NodeId id) { return gemm_of(net, id, 1, operand(net, id, 0).dtype); }

bool qgemm(Net& net, NodeId id) {
  return gemm_of(net, id, 3, has(net, id, 8) ? operand(net, id, 8).dtype : ir::Dtype::F32);
}

/// A product with operands as `trans*` say: axes swapped, or the first moved behind the batch's.
bool fused_matmul(Net& net, NodeId id) {
  const auto turned = [&](std::size_t i, std::string_view last, std::string_view batch) {
    Dims dims = operand(net, id, i).dims;
    const int rank = dims.size();
    if (net.attribute_int(id, batch, 0) != 0 && rank > 2) {
      // (M, B1, ..., K) stands for (B1, ..., M, K).
      Dims moved;
      for (int d = 1; d + 1 < rank; ++d) moved.push(dims[d]);
      moved.push(dims[0]);
      moved.push(dims[rank - 1]);
      dims = moved;
    }
    if (net.attribute_int(id, last, 0) != 0 && rank > 1) std::swap(dims[rank - 1], dims[rank - 2]);
    return dims;
  };
  const auto dims = product(turned(0, "transA", "transBatchA"), turned(1, "transB", "transBatchB"));
  if (dims) set(net, id, 0, operand(net, id, 0).dtype, *dims);
  return dims.has_value();
}

/// A product with a weight of few bits: N columns.
bool matmul_of_bits(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const std::int64_t columns = net.attribute_int(id, "N", 0);
  if (x.dims.size() == 0 || columns <= 0 ||
      x.dims[x.dims.size() - 1] != net.attribute_int(id, "K", 0))
    return false;
  Dims dims = x.dims;
  dims[dims.size() - 1] = columns;
  set(net, id, 0, x.dtype, dims);
  return true;
}

/// Letters of an equation name axes; those that the result names are its sizes.
bool einsum(Net& net, NodeId id) {
  std::string equation(net.attribute_text(id, "equation", ""));
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) return false;
  std::array<std::int64_t, 256> sizes = {};
  std::size_t at = 0;
  for (std::size_t i = 0; i < net.node(id).inputs.size(); ++i) {
    if (!has(net, id, i)) return false;
    const Dims& dims = operand(net, id, i).dims;
    for (int axis = 0; axis < dims.size(); ++axis, ++at) {
      if (at >= arrow || equation[at] == ',') return false;
      std::int64_t& size = sizes[static_cast<unsigned char>(equation[at])];
      if (size > 1 && dims[axis] > 1 && size != dims[axis]) return false;
      size = std::max(size, dims[axis]);
    }
    if (at < arrow && equation[at] != ',') return false;
    ++at;
  }
  Dims out;
  for (std::size_t i = arrow + 2; i < equation.size(); ++i) {
    if (out.size() == static_cast<int>(Dims::kMaxRank)) return false;
    out.push(sizes[static_cast<unsigned char>(equation[i])]);
  }
  set(net, id, 0, operand(net, id, 0).dtype, out);
  return true;
}

/// Rows and states of a recurrent layer.
bool states(Net& net, NodeId id, std::int64_t directions, std::int64_t hidden) {
  const Tensor x = operand(net, id, 0);
  if (x.dims.size() != 3) return false;
  const bool batch_first = net.attribute_int(id, "layout", 0) == 1;
  const std::int64_t steps = x.dims[batch_first ? 1 : 0], batch = x.dims[batch_first ? 0 : 1];
  set(net, id, 0, x.dtype,
      batch_first ? Dims{batch, steps, directions, hidden}
                  : Dims{steps, directions, batch, hidden});
  const Dims state =
      batch_first ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  set(net, id, 1, x.dtype, state);
  set(net, id, 2, x.dtype, state);
  return true;
}

bool recurrent(Net& net, NodeId id) {
  const Dims& x = operand(net, id, 0).dims;
  const Dims& w = operand(net, id, 1).dims;  // directions, gates of each state, values of a step
  const Dims& r = operand(net, id, 2).dims;  // directions, gates of each state, states
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return false;
  if (x[2] != w[2] || w[0] != r[0] || w[1] != r[1]) return false;
  return states(net, id, r[0], r[2]);
}

/// A model's own LSTM whose weights are of eight bits.
bool quantised_lstm(Net& net, NodeId id) {
  const std::int64_t hidden = net.attribute_int(id, "hidden_size", 0);
  if (hidden <= 0) return false;
  const Dims& r = operand(net, id, 2).dims;
  return r.size() == 3 && states(net, id, r[0], hidden);
}

}  // namespace

void add_products(Rules& to) {
  to.onnx.insert({{"MatMul", matmul},
                  {"MatMulInteger", matmul_integer},
                  {"QLinearMatMul", qlinear_matmul},
                  {"Gemm", gemm},
                  {"Einsum", einsum},
                  {"LSTM", recurrent},
                  {"GRU", recurrent},
                  {"RNN", recurrent}});
  to.contrib.insert({{"FusedGemm", gemm},
                     {"FusedMatMul", fused_matmul},
                     {"QGemm", qgemm},
                     {"MatMulIntegerToFloat", to_float_matmul},
                     {"DynamicQuantizeMatMul", to_float_matmul},
                     {"DynamicQuantizeLSTM", quantised_lstm},
                     {"MatMulNBits", matmul_of_bits}});
}

}  // namespace oplat::plan::ort::shapes
