// SPDX-License-Identifier: Apache-2.0
#include "runtimes/reference/loops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oplat::runtimes::reference {
namespace {

/// Calls visit(ky, kx, iy, ix) for every tap of the window at (oy, ox) that lies inside the input.
template <class Visit>
void each_tap(const Window& window, const std::array<std::int64_t, 2>& size, std::int64_t oy,
              std::int64_t ox, const Visit& visit) {
  for (std::int64_t ky = 0; ky < window.kernel[0]; ++ky) {
    const std::int64_t iy =
        oy * window.strides[0] - window.pads_begin[0] + ky * window.dilations[0];
    if (iy < 0 || iy >= size[0]) continue;
    for (std::int64_t kx = 0; kx < window.kernel[1]; ++kx) {
      const std::int64_t ix =
          ox * window.strides[1] - window.pads_begin[1] + kx * window.dilations[1];
      if (ix >= 0 && ix < size[1]) visit(ky, kx, iy, ix);
    }
  }
}

/// Taps of the window at one place of one axis that lie inside the input and its padding: those
/// beyond the padding, where a rounded-up result reaches, count nowhere.
std::int64_t taps_with_padding(const Window& window, std::size_t axis, std::int64_t size,
                               std::int64_t place) {
  std::int64_t taps = 0;
  for (std::int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    const std::int64_t at =
        place * window.strides[axis] - window.pads_begin[axis] + tap * window.dilations[axis];
    if (at < size + window.pads_end[axis]) ++taps;
  }
  return taps;
}

template <class Operation>
void pointwise(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y,
               const Operation& operation) {
  Dims dims;
  if (!broadcast(a_dims, b_dims, dims)) return;
  const std::size_t rank = dims.size();
  Dims a_strides(rank, 0);
  Dims b_strides(rank, 0);
  const auto set_strides = [rank](const Dims& from, Dims& strides) {
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t behind = from.size() - 1 - i;
      if (from[behind] != 1) strides[rank - 1 - i] = stride;
      stride *= from[behind];
    }
  };
  set_strides(a_dims, a_strides);
  set_strides(b_dims, b_strides);
  Dims index(rank, 0);
  std::int64_t at_a = 0;
  std::int64_t at_b = 0;
  for (float& result : y) {
    result = operation(a[static_cast<std::size_t>(at_a)], b[static_cast<std::size_t>(at_b)]);
    for (std::size_t axis = rank; axis-- > 0;) {
      at_a += a_strides[axis];
      at_b += b_strides[axis];
      if (++index[axis] < dims[axis]) break;
      at_a -= a_strides[axis] * dims[axis];
      at_b -= b_strides[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

std::int64_t product(const Dims& dims, std::size_t count) {
  std::int64_t total = 1;
  for (std::size_t i = 0; i < count; ++i) total *= dims[i];
  return total;
}

}  // namespace

std::int64_t window_steps(const Window& window, std::size_t axis, std::int64_t size) {
  const std::int64_t span = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
  const std::int64_t room = size + window.pads_begin[axis] + window.pads_end[axis] - span;
  if (room < 0) return 0;
  const std::int64_t stride = window.strides[axis];
  if (!window.ceil_mode) return room / stride + 1;
  const std::int64_t steps = (room + stride - 1) / stride + 1;
  // The last window must begin inside the input or the padding before it.
  return (steps - 1) * stride >= size + window.pads_begin[axis] ? steps - 1 : steps;
}

void conv(const ConvShape& shape, Floats x, Floats w, Floats bias, FloatsOut y) {
  const Window& window = shape.window;
  const std::int64_t rows = window_steps(window, 0, shape.size[0]);
  const std::int64_t columns = window_steps(window, 1, shape.size[1]);
  const std::int64_t depth = shape.channels / shape.group;
  const std::int64_t filters = shape.filters / shape.group;
  const std::int64_t plane = shape.size[0] * shape.size[1];
  std::size_t at = 0;
  for (std::int64_t n = 0; n < shape.batch; ++n) {
    for (std::int64_t m = 0; m < shape.filters; ++m) {
      const std::int64_t first = n * shape.channels + m / filters * depth;
      const float start = bias.empty() ? 0.0F : bias[static_cast<std::size_t>(m)];
      for (std::int64_t oy = 0; oy < rows; ++oy) {
        for (std::int64_t ox = 0; ox < columns; ++ox) {
          float sum = start;
          for (std::int64_t c = 0; c < depth; ++c) {
            const float* in = x.data() + (first + c) * plane;
            const float* weights = w.data() + (m * depth + c) * window.kernel[0] * window.kernel[1];
            each_tap(window, shape.size, oy, ox,
                     [&](std::int64_t ky, std::int64_t kx, std::int64_t iy, std::int64_t ix) {
                       sum += in[iy * shape.size[1] + ix] * weights[ky * window.kernel[1] + kx];
                     });
          }
          y[at++] = sum;
        }
      }
    }
  }
}

void max_pool(const PoolShape& shape, Floats x, FloatsOut y) {
  const std::int64_t rows = window_steps(shape.window, 0, shape.size[0]);
  const std::int64_t columns = window_steps(shape.window, 1, shape.size[1]);
  std::size_t at = 0;
  for (std::int64_t p = 0; p < shape.planes; ++p) {
    const float* in = x.data() + p * shape.size[0] * shape.size[1];
    for (std::int64_t oy = 0; oy < rows; ++oy) {
      for (std::int64_t ox = 0; ox < columns; ++ox) {
        float largest = std::numeric_limits<float>::lowest();
        each_tap(shape.window, shape.size, oy, ox,
                 [&](std::int64_t, std::int64_t, std::int64_t iy, std::int64_t ix) {
                   largest = std::max(largest, in[iy * shape.size[1] + ix]);
                 });
        y[at++] = largest;
      }
    }
  }
}

void average_pool(const PoolShape& shape, bool count_include_pad, Floats x, FloatsOut y) {
  const std::int64_t rows = window_steps(shape.window, 0, shape.size[0]);
  const std::int64_t columns = window_steps(shape.window, 1, shape.size[1]);
  std::size_t at = 0;
  for (std::int64_t p = 0; p < shape.planes; ++p) {
    const float* in = x.data() + p * shape.size[0] * shape.size[1];
    for (std::int64_t oy = 0; oy < rows; ++oy) {
      for (std::int64_t ox = 0; ox < columns; ++ox) {
        float sum = 0;
        std::int64_t taps = 0;
        each_tap(shape.window, shape.size, oy, ox,
                 [&](std::int64_t, std::int64_t, std::int64_t iy, std::int64_t ix) {
                   sum += in[iy * shape.size[1] + ix];
                   ++taps;
                 });
        if (count_include_pad) {
          taps = taps_with_padding(shape.window, 0, shape.size[0], oy) *
                 taps_with_padding(shape.window, 1, shape.size[1], ox);
        }
        y[at++] = taps == 0 ? 0.0F : sum / static_cast<float>(taps);
      }
    }
  }
}

void gemm(const GemmShape& shape, Floats a, Floats b, Floats c, FloatsOut y) {
  const std::int64_t a_row = shape.transpose_a ? 1 : shape.k;
  const std::int64_t a_column = shape.transpose_a ? shape.m : 1;
  const std::int64_t b_row = shape.transpose_b ? 1 : shape.n;
  const std::int64_t b_column = shape.transpose_b ? shape.k : 1;
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < shape.k; ++k) {
        sum += a[static_cast<std::size_t>(i * a_row + k * a_column)] *
               b[static_cast<std::size_t>(k * b_row + j * b_column)];
      }
      float result = shape.alpha * sum;
      if (!c.empty()) {
        result += shape.beta *
                  c[static_cast<std::size_t>(i * shape.c_row_stride + j * shape.c_column_stride)];
      }
      y[static_cast<std::size_t>(i * shape.n + j)] = result;
    }
  }
}

void matmul(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y) {
  const Dims a_outer(a_dims.begin(), a_dims.end() - 2);
  const Dims b_outer(b_dims.begin(), b_dims.end() - 2);
  Dims outer;
  if (!broadcast(a_outer, b_outer, outer)) return;
  GemmShape shape;
  shape.m = a_dims[a_dims.size() - 2];
  shape.k = a_dims[a_dims.size() - 1];
  shape.n = b_dims[b_dims.size() - 1];
  const auto a_size = static_cast<std::size_t>(shape.m * shape.k);
  const auto b_size = static_cast<std::size_t>(shape.k * shape.n);
  const auto y_size = static_cast<std::size_t>(shape.m * shape.n);
  const auto matrices = static_cast<std::size_t>(product(outer, outer.size()));
  const auto place = [&](const Dims& dims, std::size_t matrix) {
    // The matrix of an operand at this place of the broadcast outer dimensions.
    std::size_t at = 0;
    std::size_t stride = 1;
    for (std::size_t i = 0; i < outer.size(); ++i) {
      const auto size = static_cast<std::size_t>(outer[outer.size() - 1 - i]);
      const std::size_t index = matrix % size;
      matrix /= size;
      if (i >= dims.size()) continue;
      const auto own = static_cast<std::size_t>(dims[dims.size() - 1 - i]);
      if (own != 1) at += index * stride;
      stride *= own;
    }
    return at;
  };
  for (std::size_t matrix = 0; matrix < matrices; ++matrix) {
    gemm(shape, a.subspan(place(a_outer, matrix) * a_size, a_size),
         b.subspan(place(b_outer, matrix) * b_size, b_size), {},
         y.subspan(matrix * y_size, y_size));
  }
}

void relu(Floats x, FloatsOut y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::max(x[i], 0.0F);
}

void clip(float low, float high, Floats x, FloatsOut y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::min(std::max(x[i], low), high);
}

void sigmoid(Floats x, FloatsOut y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = 1.0F / (1.0F + std::exp(-x[i]));
}

bool broadcast(const Dims& a, const Dims& b, Dims& result) {
  const std::size_t rank = std::max(a.size(), b.size());
  result.assign(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) return false;
    result[rank - 1 - i] = from_a == 1 ? from_b : from_a;
  }
  return true;
}

void add(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y) {
  pointwise(a_dims, b_dims, a, b, y, [](float p, float q) { return p + q; });
}

void mul(const Dims& a_dims, const Dims& b_dims, Floats a, Floats b, FloatsOut y) {
  pointwise(a_dims, b_dims, a, b, y, [](float p, float q) { return p * q; });
}

void softmax(std::int64_t outer, std::int64_t size, std::int64_t inner, Floats x, FloatsOut y) {
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto at = [&](std::int64_t s) {
        return static_cast<std::size_t>((o * size + s) * inner + i);
      };
      float largest = std::numeric_limits<float>::lowest();
      for (std::int64_t s = 0; s < size; ++s) largest = std::max(largest, x[at(s)]);
      float sum = 0;
      for (std::int64_t s = 0; s < size; ++s) {
        y[at(s)] = std::exp(x[at(s)] - largest);
        sum += y[at(s)];
      }
      for (std::int64_t s = 0; s < size; ++s) y[at(s)] /= sum;
    }
  }
}

}  // namespace oplat::runtimes::reference
