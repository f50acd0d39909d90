// SPDX-License-Identifier: Apache-2.0
/// Matrix products, and layers that are made of them.
#include <algorithm>
#include <array>

#include "formats/paddle/shapes/call.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

tl::unexpected<Error> mismatch(const Call& call, const Numbers& x, const Numbers& y) {
  return fail(Code::Input, "{}: {} cannot be multiplied by {}", call.op(), text(x), text(y));
}

/// As numpy: vectors get a dimension that goes again, what is before the last two is broadcast.
Status multiply(Call& call, bool turn_x, bool turn_y) {
  OPLAT_TRY(left, call.operand("X"));
  OPLAT_TRY(right, call.operand("Y"));
  Numbers x = left->dims;
  Numbers y = right->dims;
  if (x.empty() || y.empty()) return mismatch(call, x, y);
  const bool vector_x = x.size() == 1;
  const bool vector_y = y.size() == 1;
  if (vector_x) x.insert(x.begin(), 1);
  if (vector_y) y.push_back(1);
  if (turn_x && !vector_x) std::swap(x[x.size() - 1], x[x.size() - 2]);
  if (turn_y && !vector_y) std::swap(y[y.size() - 1], y[y.size() - 2]);
  if (x.back() != y[y.size() - 2]) return mismatch(call, left->dims, right->dims);
  OPLAT_TRY(dims,
            broadcast(call, Numbers(x.begin(), x.end() - 2), Numbers(y.begin(), y.end() - 2), -1));
  if (!vector_x) dims.push_back(x[x.size() - 2]);
  if (!vector_y) dims.push_back(y.back());
  call.give("Out", dims);
  return {};
}

Status matmul_v2(Call& call) {
  return multiply(call, call.flag("trans_x", false), call.flag("trans_y", false));
}
Status matmul(Call& call) {
  return multiply(call, call.flag("transpose_X", false), call.flag("transpose_Y", false));
}
Status plain(Call& call) { return multiply(call, false, false); }

/// Both operands as matrices, split behind so many dimensions.
Status mul(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(y, call.operand("Y"));
  OPLAT_TRY(split_x,
            call.integer("x_num_col_dims", 1, 1, static_cast<std::int64_t>(x->dims.size())));
  OPLAT_TRY(split_y,
            call.integer("y_num_col_dims", 1, 1, static_cast<std::int64_t>(y->dims.size())));
  const std::span<const std::int64_t> left(x->dims);
  const std::span<const std::int64_t> right(y->dims);
  const auto at_x = static_cast<std::size_t>(split_x);
  const auto at_y = static_cast<std::size_t>(split_y);
  if (at_x > left.size() || at_y > right.size() ||
      product(left.subspan(at_x)) != product(right.first(at_y))) {
    return mismatch(call, x->dims, y->dims);
  }
  Numbers dims(left.begin(), left.begin() + split_x);
  dims.insert(dims.end(), right.begin() + split_y, right.end());
  call.give("Out", dims);
  return {};
}

Status fully_connected(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  OPLAT_TRY(w, call.operand("W"));
  OPLAT_TRY(split,
            call.integer("in_num_col_dims", 1, 1, static_cast<std::int64_t>(x->dims.size())));
  const std::span<const std::int64_t> left(x->dims);
  const auto at = static_cast<std::size_t>(split);
  if (w->dims.size() != 2 || at > left.size() || product(left.subspan(at)) != w->dims[0]) {
    return mismatch(call, x->dims, w->dims);
  }
  Numbers dims(left.begin(), left.begin() + split);
  dims.push_back(w->dims[1]);
  call.give("Out", dims);
  return {};
}

Status addmm(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(y, call.operand("Y"));
  if (x->dims.size() != 2 || y->dims.size() != 2 || x->dims[1] != y->dims[0])
    return mismatch(call, x->dims, y->dims);
  call.give("Out", {x->dims[0], y->dims[1]});
  return {};
}

/// Input is [steps, batch, features].
Status recurrent(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  if (x->dims.size() != 3)
    return fail(Code::Input, "{}: operand Input has the shape {}; expected 3 dimensions", call.op(),
                text(x->dims));
  OPLAT_TRY(hidden, call.integer("hidden_size", 1, 1));
  OPLAT_TRY(layers, call.integer("num_layers", 1, 1, 1 << 16));
  const std::int64_t ways = call.flag("is_bidirec", false) ? 2 : 1;
  call.give("Out", {x->dims[0], x->dims[1], ways * hidden});
  for (std::size_t i = 0; i < call.results("State"); ++i)
    call.give("State", {ways * layers, x->dims[1], hidden});
  return {};
}

constexpr std::array kProductsOperators = {
    Operator{"matmul_v2", matmul_v2}, Operator{"matmul", matmul},
    Operator{"bmm", plain},           Operator{"mv", plain},
    Operator{"dot", plain},           Operator{"mul", mul},
    Operator{"fc", fully_connected},  Operator{"addmm", addmm},
    Operator{"rnn", recurrent},
};

}  // namespace

std::span<const Operator> product_operators() { return kProductsOperators; }

}  // namespace oplat::formats::paddle::shapes
