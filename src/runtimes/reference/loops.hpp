// SPDX-License-Identifier: Apache-2.0
/// Operators as plain loops over float32 in the layout of their definitions: what every other
/// runtime is checked against. Nothing here checks bounds; kernel.cpp does so before it calls.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace oplat::runtimes::reference {

using Floats = std::span<const float>;
using FloatsOut = std::span<float>;
using Dims = std::vector<std::int64_t>;

/// A window that moves over two spatial dimensions (one-dimensional operators have height 1).
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> strides{1, 1};
  std::array<std::int64_t, 2> dilations{1, 1};
  std::array<std::int64_t, 2> pads_begin{0, 0};
  std::array<std::int64_t, 2> pads_end{0, 0};
  bool ceil_mode = false;
};
/// Results of a window along one dimension `axis` of `size`; 0 where it does not fit.
std::int64_t window_steps(const Window& window, std::size_t axis, std::int64_t size);

struct ConvShape {
  std::int64_t batch = 1;
  std::int64_t channels = 1;  ///< of the input
  std::int64_t filters = 1;   ///< channels of the result
  std::int64_t group = 1;
  std::array<std::int64_t, 2> size{1, 1};  ///< of the input
  Window window;
};
/// x[n,c,h,w], w[m,c/group,kh,kw], bias[m] or empty -> y[n,m,oh,ow].
void conv(const ConvShape& shape, Floats x, Floats w, Floats bias, FloatsOut y);

struct PoolShape {
  std::int64_t planes = 1;  ///< batch times channels
  std::array<std::int64_t, 2> size{1, 1};
  Window window;
};
void max_pool(const PoolShape& shape, Floats x, FloatsOut y);
void average_pool(const PoolShape& shape, bool count_include_pad, Floats x, FloatsOut y);

struct GemmShape {
  std::int64_t m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1, beta = 1;
  std::int64_t c_row_stride = 0, c_column_stride = 0;  ///< 0 along what is broadcast
};
/// alpha a b + beta c; c may be empty.
void gemm(const GemmShape& shape, Floats a, Floats b, Floats c, FloatsOut y);
/// Products of the last two dimensions, the others broadcast; a and b have at least two dimensions.
void matmul(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y);

void relu(Floats x, FloatsOut y);
void clip(float low, float high, Floats x, FloatsOut y);
void sigmoid(Floats x, FloatsOut y);

/// Dimensions of two operands broadcast against each other; false where they do not fit.
bool broadcast(const Dims& a, const Dims& b, Dims& result);
void add(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y);
void mul(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y);

/// Over `size` elements `inner` apart, for each of outer x inner lanes.
void softmax(std::int64_t outer, std::int64_t size, std::int64_t inner, Floats x, FloatsOut y);

}  // namespace oplat::runtimes::reference
