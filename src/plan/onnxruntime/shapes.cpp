// SPDX-License-Identifier: Apache-2.0
/// Sizes of results, by operator, as ONNX defines them. Every size of the operands is known, since
/// a model's inputs are fixed before it is planned. What data decide (NonZero, a Reshape to a size
/// that is computed from data) cannot be told: the error names the node.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "base/text.hpp"
#include "plan/onnxruntime/net.hpp"

namespace oplat::plan::ort {
namespace {

using Rule = bool (*)(Net&, NodeId);

/// Larger ones are of no model that runs, and products of those below stay within 63 bits.
constexpr std::int64_t kMaxDim = std::int64_t{1} << 31U;
constexpr std::int64_t kMaxWindow = std::int64_t{1} << 24U;

bool is_size(std::int64_t dim) { return dim >= 0 && dim <= kMaxDim; }

void set(Net& net, NodeId id, std::size_t i, ir::Dtype dtype, const Dims& dims) {
  const Ids& outputs = net.node(id).outputs;
  if (i >= outputs.size() || outputs[i] == kNone) return;
  Tensor& tensor = net.tensor(outputs[i]);
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

/// Axes of an attribute or, in later versions, of an operand; all of them without.
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

bool like_first(Net& net, NodeId id) {
  if (!has(net, id, 0)) return false;
  const Tensor first = operand(net, id, 0);
  for (std::size_t i = 0; i < net.node(id).outputs.size(); ++i)
    set(net, id, i, first.dtype, first.dims);
  return true;
}

bool broadcast_as(Net& net, NodeId id, std::size_t from, std::optional<ir::Dtype> dtype) {
  if (!has(net, id, from)) return false;
  Dims dims = operand(net, id, from).dims;
  const ir::Dtype own = operand(net, id, from).dtype;
  for (std::size_t i = 0; i < net.node(id).inputs.size(); ++i) {
    if (!has(net, id, i)) continue;
    const auto both = broadcast(dims, operand(net, id, i).dims);
    if (!both) return false;
    dims = *both;
  }
  set(net, id, 0, dtype.value_or(own), dims);
  return true;
}

bool has_all(const Net& net, NodeId id, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!has(net, id, i)) return false;
  return net.node(id).inputs.size() == count;
}

bool variadic(Net& net, NodeId id) { return broadcast_as(net, id, 0, std::nullopt); }
bool elementwise(Net& net, NodeId id) {
  return has_all(net, id, 2) && broadcast_as(net, id, 0, std::nullopt);
}
bool comparison(Net& net, NodeId id) {
  return has_all(net, id, 2) && broadcast_as(net, id, 0, ir::Dtype::Bool);
}
bool where(Net& net, NodeId id) {
  return has_all(net, id, 3) && broadcast_as(net, id, 1, std::nullopt);
}
bool to_bool(Net& net, NodeId id) {
  set(net, id, 0, ir::Dtype::Bool, operand(net, id, 0).dims);
  return true;
}

bool dropout(Net& net, NodeId id) {
  const Tensor first = operand(net, id, 0);
  set(net, id, 0, first.dtype, first.dims);
  set(net, id, 1, ir::Dtype::Bool, first.dims);
  return true;
}

/// ONNX numbers element types so (onnx.proto, TensorProto.DataType).
std::optional<ir::Dtype> dtype_numbered(std::int64_t number) {
  using ir::Dtype;
  switch (number) {
    case 1:
      return Dtype::F32;
    case 2:
      return Dtype::U8;
    case 3:
      return Dtype::I8;
    case 4:
      return Dtype::U16;
    case 5:
      return Dtype::I16;
    case 6:
      return Dtype::I32;
    case 7:
      return Dtype::I64;
    case 9:
      return Dtype::Bool;
    case 10:
      return Dtype::F16;
    case 11:
      return Dtype::F64;
    case 12:
      return Dtype::U32;
    case 13:
      return Dtype::U64;
    case 16:
      return Dtype::BF16;
    default:
      return std::nullopt;
  }
}

bool cast(Net& net, NodeId id) {
  const auto dtype = dtype_numbered(net.attribute_int(id, "to", 0));
  if (!dtype) return false;
  set(net, id, 0, *dtype, operand(net, id, 0).dims);
  return true;
}

// ---- windows ----

/// Of each spatial dimension.
struct Window {
  struct Axis {
    std::int64_t kernel = 1;
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0;  ///< padding
    std::int64_t after = 0;
    [[nodiscard]] std::int64_t span() const { return (kernel - 1) * dilation + 1; }
  };
  std::array<Axis, Dims::kMaxRank> axes = {};
};

/// Numbers of an attribute, one for each axis of a window; false: it has others.
bool read_axes(const Net& net, NodeId id, std::string_view name, Window& window, std::size_t first,
               std::size_t rank, std::int64_t Window::Axis::*member) {
  const ir::Value* value = net.attribute(id, name);
  if (value == nullptr || value->list() == nullptr) return true;
  const ir::List& list = *value->list();
  if (list.size() < first + rank) return false;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t* number = list[first + i].integer();
    if (number == nullptr || *number < -kMaxWindow || *number > kMaxWindow) return false;
    window.axes[i].*member = *number;
  }
  return true;
}

bool has_length(const Net& net, NodeId id, std::string_view name, std::size_t length) {
  const ir::Value* value = net.attribute(id, name);
  return value == nullptr || value->list() == nullptr || value->list()->size() == length;
}

/// `weights`: the kernel's size is that of its last dimensions.
std::optional<Window> window_of(const Net& net, NodeId id, const Dims& spatial,
                                const Dims* weights) {
  using Axis = Window::Axis;
  const auto rank = static_cast<std::size_t>(spatial.size());
  Window w;
  if (weights == nullptr) {
    const ir::Value* kernel = net.attribute(id, "kernel_shape");
    if (kernel == nullptr || kernel->list() == nullptr || kernel->list()->size() != rank ||
        !read_axes(net, id, "kernel_shape", w, 0, rank, &Axis::kernel))
      return std::nullopt;
  } else {
    for (std::size_t i = 0; i < rank; ++i) {
      w.axes[i].kernel = weights->at[i + 2];
      if (w.axes[i].kernel > kMaxWindow) return std::nullopt;
    }
  }
  for (const auto& [name, length] :
       {std::pair("strides", rank), std::pair("dilations", rank), std::pair("pads", 2 * rank)})
    if (!has_length(net, id, name, length)) return std::nullopt;
  if (!read_axes(net, id, "strides", w, 0, rank, &Axis::stride) ||
      !read_axes(net, id, "dilations", w, 0, rank, &Axis::dilation) ||
      !read_axes(net, id, "pads", w, 0, rank, &Axis::before) ||
      !read_axes(net, id, "pads", w, rank, rank, &Axis::after))
    return std::nullopt;
  for (std::size_t i = 0; i < rank; ++i)
    if (w.axes[i].stride <= 0) return std::nullopt;
  const std::string_view automatic = net.attribute_text(id, "auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return w;
  for (std::size_t i = 0; i < rank; ++i) {
    Axis& axis = w.axes[i];
    axis.before = axis.after = 0;
    if (automatic == "VALID") continue;
    const std::int64_t in = spatial.at[i];
    const std::int64_t out = (in + axis.stride - 1) / axis.stride;
    const std::int64_t total =
        std::max<std::int64_t>(0, (out - 1) * axis.stride + axis.span() - in);
    axis.before = automatic == "SAME_LOWER" ? (total + 1) / 2 : total / 2;
    axis.after = total - axis.before;
  }
  return w;
}

std::optional<Dims> windowed(const Dims& spatial, const Window& w, bool ceil) {
  Dims out;
  for (int d = 0; d < spatial.size(); ++d) {
    const Window::Axis& axis = w.axes[static_cast<std::size_t>(d)];
    const std::int64_t free = spatial[d] + axis.before + axis.after - axis.span();
    if (free < 0) return std::nullopt;
    std::int64_t size = free / axis.stride + 1;
    if (ceil) {
      size = (free + axis.stride - 1) / axis.stride + 1;
      // A window that would begin in the padding behind the end is left out.
      if ((size - 1) * axis.stride >= spatial[d] + axis.before) --size;
    }
    out.push(size);
  }
  return out;
}

Dims spatial_of(const Dims& dims, bool channels_last = false) {
  Dims out;
  const int first = channels_last ? 1 : 2;
  const int end = channels_last ? dims.size() - 1 : dims.size();
  for (int i = first; i < end; ++i) out.push(dims[i]);
  return out;
}

bool convolve(Net& net, NodeId id, std::size_t weights, ir::Dtype dtype) {
  const Dims& x = operand(net, id, 0).dims;
  const Dims& w = operand(net, id, weights).dims;
  if (x.size() < 3 || w.size() != x.size()) return false;
  const bool last = net.attribute_int(id, "channels_last", 0) == 1;
  const Dims spatial = spatial_of(x, last);
  const auto window = window_of(net, id, spatial, &w);
  if (!window) return false;
  const auto out = windowed(spatial, *window, false);
  if (!out) return false;
  Dims dims{x[0]};
  if (!last) dims.push(w[0]);
  for (int i = 0; i < out->size(); ++i) dims.push((*out)[i]);
  if (last) dims.push(w[0]);
  set(net, id, 0, dtype, dims);
  return true;
}

bool conv(Net& net, NodeId id) { return convolve(net, id, 1, operand(net, id, 0).dtype); }
bool conv_integer(Net& net, NodeId id) { return convolve(net, id, 1, ir::Dtype::I32); }
bool qlinear_conv(Net& net, NodeId id) {
  return has(net, id, 7) && convolve(net, id, 3, operand(net, id, 7).dtype);
}

bool conv_transpose(Net& net, NodeId id) {
  const Dims& x = operand(net, id, 0).dims;
  const Dims& w = operand(net, id, 1).dims;
  if (x.size() < 3 || w.size() != x.size()) return false;
  if (net.attribute_text(id, "auto_pad", "NOTSET") != "NOTSET") return false;
  const Dims spatial = spatial_of(x);
  const auto window = window_of(net, id, spatial, &w);
  if (!window) return false;
  const auto rank = static_cast<std::size_t>(spatial.size());
  const Ints more = net.attribute_ints(id, "output_padding").value_or(Ints(rank, 0));
  const std::int64_t group = net.attribute_int(id, "group", 1);
  if (group < 1 || group > kMaxWindow || !std::all_of(more.begin(), more.end(), is_size))
    return false;
  const auto asked = net.attribute_ints(id, "output_shape");
  if (more.size() != rank || (asked && asked->size() != rank)) return false;
  Dims dims{x[0], w[1] * group};
  for (std::size_t i = 0; i < rank; ++i) {
    const Window::Axis& axis = window->axes[i];
    const std::int64_t size =
        axis.stride * (spatial.at[i] - 1) + more[i] + axis.span() - axis.before - axis.after;
    dims.push(asked ? (*asked)[i] : size);
  }
  set(net, id, 0, operand(net, id, 0).dtype, dims);
  return true;
}

bool pool(Net& net, NodeId id) {
  const Dims& x = operand(net, id, 0).dims;
  if (x.size() < 3) return false;
  const bool last =
      net.attribute_int(id, "channels_last", 0) == 1 || net.node(id).op == "NhwcMaxPool";
  const Dims spatial = spatial_of(x, last);
  const auto window = window_of(net, id, spatial, nullptr);
  if (!window) return false;
  const auto out = windowed(spatial, *window, net.attribute_int(id, "ceil_mode", 0) == 1);
  if (!out) return false;
  Dims dims{x[0]};
  if (!last) dims.push(x[1]);
  for (int i = 0; i < out->size(); ++i) dims.push((*out)[i]);
  if (last) dims.push(x[x.size() - 1]);
  set(net, id, 0, operand(net, id, 0).dtype, dims);
  set(net, id, 1, ir::Dtype::I64, dims);
  return true;
}

bool global_pool(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const bool last = net.attribute_int(id, "channels_last", 0) == 1;
  Dims dims = x.dims;
  for (int i = last ? 1 : 2; i < (last ? dims.size() - 1 : dims.size()); ++i) dims[i] = 1;
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool normalised(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  set(net, id, 0, x.dtype, x.dims);
  // Results beyond the first are those of training, or statistics.
  return net.node(id).outputs.size() == 1;
}

// ---- products ----

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

// ---- movement ----

bool reshape(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  std::optional<Ints> wanted = net.attribute_ints(id, "shape");
  if (!wanted && has(net, id, 1)) wanted = net.ints(net.input(id, 1));
  if (!wanted || wanted->size() > Dims::kMaxRank) return false;
  const bool zero_is_zero = net.attribute_int(id, "allowzero", 0) == 1;
  Dims dims;
  std::int64_t known = 1;
  int open = -1;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    std::int64_t one = (*wanted)[i];
    if (one == 0 && !zero_is_zero) {
      if (static_cast<int>(i) >= x.dims.size()) return false;
      one = x.dims[static_cast<int>(i)];
    }
    if (one == -1) {
      if (open >= 0) return false;
      open = static_cast<int>(i);
      one = 1;
    }
    if (one < 0 || __builtin_mul_overflow(known, one, &known)) return false;
    dims.push(one);
  }
  const std::int64_t elements = x.dims.elements();
  if (open >= 0) {
    if (known == 0 || elements % known != 0) return false;
    dims[open] = elements / known;
  } else if (known != elements) {
    return false;
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool flatten(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  std::int64_t axis = net.attribute_int(id, "axis", 1);
  if (axis < 0) axis += x.dims.size();
  if (axis < 0 || axis > x.dims.size()) return false;
  Dims dims{1, 1};
  for (int i = 0; i < x.dims.size(); ++i) dims[i < axis ? 0 : 1] *= x.dims[i];
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool squeeze(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const bool given = net.attribute(id, "axes") != nullptr || has(net, id, 1);
  const auto axes = axes_of(net, id, 1, x.dims.size(), false);
  if (!axes) return false;
  Dims dims;
  for (int i = 0; i < x.dims.size(); ++i) {
    const bool goes = given ? (*axes)[static_cast<std::size_t>(i)] : x.dims[i] == 1;
    if (!goes) dims.push(x.dims[i]);
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool unsqueeze(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  std::optional<Ints> axes = net.attribute_ints(id, "axes");
  if (!axes && has(net, id, 1)) axes = net.ints(net.input(id, 1));
  if (!axes) return false;
  const int rank = x.dims.size() + static_cast<int>(axes->size());
  if (rank > static_cast<int>(Dims::kMaxRank)) return false;
  std::vector<bool> added(static_cast<std::size_t>(rank), false);
  for (const std::int64_t one : *axes) {
    const auto axis = axis_in(one, rank);
    if (!axis) return false;
    added[static_cast<std::size_t>(*axis)] = true;
  }
  Dims dims;
  int next = 0;
  for (int i = 0; i < rank; ++i)
    dims.push(added[static_cast<std::size_t>(i)] || next >= x.dims.size() ? 1 : x.dims[next++]);
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool transpose(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  Ints perm = net.attribute_ints(id, "perm").value_or(Ints());
  if (perm.empty())
    for (int i = x.dims.size(); i-- > 0;) perm.push_back(i);
  if (static_cast<int>(perm.size()) != x.dims.size()) return false;
  Dims dims;
  for (const std::int64_t one : perm) {
    if (one < 0 || one >= x.dims.size()) return false;
    dims.push(x.dims[static_cast<int>(one)]);
  }
  std::sort(perm.begin(), perm.end());
  if (std::unique(perm.begin(), perm.end()) != perm.end()) return false;
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool concat_from(Net& net, NodeId id, std::size_t first, std::size_t step, ir::Dtype dtype) {
  if (!has(net, id, first)) return false;
  Dims dims = operand(net, id, first).dims;
  const auto axis = axis_in(net.attribute_int(id, "axis", 1), dims.size());
  if (!axis) return false;
  for (std::size_t i = first + step; i < net.node(id).inputs.size(); i += step) {
    if (!has(net, id, i) || operand(net, id, i).dims.size() != dims.size()) return false;
    dims[*axis] += operand(net, id, i).dims[*axis];
  }
  set(net, id, 0, dtype, dims);
  return true;
}
bool concat(Net& net, NodeId id) { return concat_from(net, id, 0, 1, operand(net, id, 0).dtype); }
bool qlinear_concat(Net& net, NodeId id) {
  return has(net, id, 1) && concat_from(net, id, 2, 3, operand(net, id, 1).dtype);
}

bool split(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto axis = axis_in(net.attribute_int(id, "axis", 0), x.dims.size());
  if (!axis) return false;
  const std::size_t parts = net.node(id).outputs.size();
  std::optional<Ints> sizes = net.attribute_ints(id, "split");
  if (!sizes && has(net, id, 1)) {
    sizes = net.ints(net.input(id, 1));
    if (!sizes) return false;
  }
  if (!sizes) {
    const std::int64_t n = static_cast<std::int64_t>(parts);
    const std::int64_t each = (x.dims[*axis] + n - 1) / n;
    sizes.emplace(parts, each);
    sizes->back() = x.dims[*axis] - each * (n - 1);
  }
  if (sizes->size() != parts) return false;
  for (std::size_t i = 0; i < parts; ++i) {
    Dims dims = x.dims;
    dims[*axis] = (*sizes)[i];
    set(net, id, i, x.dtype, dims);
  }
  return true;
}

bool slice(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto given = [&](std::string_view name, std::size_t at) {
    std::optional<Ints> found = net.attribute_ints(id, name);
    if (!found && has(net, id, at)) found = net.ints(net.input(id, at));
    return found;
  };
  const auto starts = given("starts", 1), ends = given("ends", 2);
  auto axes = given("axes", 3), steps = given("steps", 4);
  if (!starts || !ends || starts->size() != ends->size()) return false;
  if ((has(net, id, 3) && !axes) || (has(net, id, 4) && !steps)) return false;
  if (!axes) {
    axes.emplace();
    for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
  }
  if (!steps) steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) return false;
  Dims dims = x.dims;
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = axis_in((*axes)[i], dims.size());
    const std::int64_t step = std::clamp((*steps)[i], -2 * kMaxDim, 2 * kMaxDim);
    if (!axis || step == 0) return false;
    const std::int64_t n = x.dims[*axis];
    const auto from_end = [&](std::int64_t at) { return at < 0 ? at + n : at; };
    std::int64_t start = from_end((*starts)[i]);
    std::int64_t end = from_end((*ends)[i]);
    if (step > 0) {
      start = std::clamp<std::int64_t>(start, 0, n);
      end = std::clamp<std::int64_t>(end, 0, n);
      dims[*axis] = end > start ? (end - start + step - 1) / step : 0;
    } else {
      start = std::clamp<std::int64_t>(start, 0, n - 1);
      end = std::clamp<std::int64_t>(end, -1, n - 1);
      dims[*axis] = start > end ? (start - end - step - 1) / -step : 0;
    }
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool gather(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const Dims& at = operand(net, id, 1).dims;
  const auto axis = axis_in(net.attribute_int(id, "axis", 0), x.dims.size());
  if (!axis || x.dims.size() - 1 + at.size() > static_cast<int>(Dims::kMaxRank)) return false;
  Dims dims;
  for (int i = 0; i < *axis; ++i) dims.push(x.dims[i]);
  for (int i = 0; i < at.size(); ++i) dims.push(at[i]);
  for (int i = *axis + 1; i < x.dims.size(); ++i) dims.push(x.dims[i]);
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool gather_elements(Net& net, NodeId id) {
  set(net, id, 0, operand(net, id, 0).dtype, operand(net, id, 1).dims);
  return true;
}

bool gather_nd(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const Dims& at = operand(net, id, 1).dims;
  const std::int64_t batch = net.attribute_int(id, "batch_dims", 0);
  if (at.size() == 0 || batch < 0 || batch >= at.size()) return false;
  const std::int64_t taken = batch + at[at.size() - 1];
  if (taken > x.dims.size()) return false;
  Dims dims;
  for (int i = 0; i + 1 < at.size(); ++i) dims.push(at[i]);
  for (int i = static_cast<int>(taken); i < x.dims.size(); ++i) dims.push(x.dims[i]);
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool expand(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto wanted = net.ints(net.input(id, 1));
  if (!wanted) return false;
  const auto to = Dims::of(*wanted);
  const auto dims = to ? broadcast(x.dims, *to) : std::nullopt;
  if (dims) set(net, id, 0, x.dtype, *dims);
  return dims.has_value();
}

bool tile(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const auto times = net.ints(net.input(id, 1));
  if (!times || static_cast<int>(times->size()) != x.dims.size()) return false;
  Dims dims = x.dims;
  if (!std::all_of(times->begin(), times->end(), is_size)) return false;
  for (int i = 0; i < dims.size(); ++i) dims[i] *= (*times)[static_cast<std::size_t>(i)];
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool pad(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  std::optional<Ints> pads = net.attribute_ints(id, "pads");
  if (!pads && has(net, id, 1)) pads = net.ints(net.input(id, 1));
  if (!pads || has(net, id, 3)) return false;
  const auto rank = static_cast<std::size_t>(x.dims.size());
  if (pads->size() != 2 * rank) return false;
  if (std::any_of(pads->begin(), pads->end(),
                  [](std::int64_t one) { return one < -kMaxDim || one > kMaxDim; }))
    return false;
  Dims dims = x.dims;
  for (std::size_t i = 0; i < rank; ++i) dims.at[i] += (*pads)[i] + (*pads)[rank + i];
  set(net, id, 0, x.dtype, dims);
  return true;
}

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

std::optional<std::vector<double>> reals(const Net& net, TensorId id) {
  if (id == kNone || !net.is_constant(id) || net.tensor(id).value == nullptr) return std::nullopt;
  std::vector<double> numbers;
  for (const ir::Value& one : *net.tensor(id).value) {
    if (one.real() == nullptr) return std::nullopt;
    numbers.push_back(*one.real());
  }
  const std::int64_t elements = net.tensor(id).dims.elements();
  if (numbers.size() == 1 && elements > 1 && elements <= 16)
    numbers.resize(static_cast<std::size_t>(elements), numbers[0]);
  return numbers;
}

bool resize(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const bool old = net.node(id).op == "Upsample" || net.node(id).inputs.size() == 2;
  if (net.attribute(id, "axes") != nullptr ||
      net.attribute_text(id, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return false;
  Dims dims = x.dims;
  if (has(net, id, 3)) {
    const auto sizes = net.ints(net.input(id, 3));
    if (!sizes || static_cast<int>(sizes->size()) != dims.size()) return false;
    for (int i = 0; i < dims.size(); ++i) dims[i] = (*sizes)[static_cast<std::size_t>(i)];
  } else {
    const auto scales = reals(net, net.input(id, old ? 1 : 2));
    if (!scales || static_cast<int>(scales->size()) != dims.size()) return false;
    for (int i = 0; i < dims.size(); ++i) {
      const double size =
          std::floor(static_cast<double>(dims[i]) * (*scales)[static_cast<std::size_t>(i)]);
      if (!(size >= 0 && size <= static_cast<double>(kMaxDim))) return false;
      dims[i] = static_cast<std::int64_t>(size);
    }
  }
  set(net, id, 0, x.dtype, dims);
  return true;
}

bool depth_to_space(Net& net, NodeId id) {
  const Tensor x = operand(net, id, 0);
  const std::int64_t block = net.attribute_int(id, "blocksize", 0);
  if (x.dims.size() != 4 || block <= 0 || block > kMaxWindow) return false;
  const bool deep = net.node(id).op == "DepthToSpace";
  const Dims& d = x.dims;
  set(net, id, 0, x.dtype,
      deep ? Dims{d[0], d[1] / block / block, d[2] * block, d[3] * block}
           : Dims{d[0], d[1] * block * block, d[2] / block, d[3] / block});
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
  const Dims& r = operand(net, id, 2).dims;
  return r.size() == 3 && states(net, id, r[0], r[2]);
}

/// A model's own LSTM whose weights are of eight bits.
bool quantised_lstm(Net& net, NodeId id) {
  const std::int64_t hidden = net.attribute_int(id, "hidden_size", 0);
  if (hidden <= 0) return false;
  const Dims& r = operand(net, id, 2).dims;
  return r.size() == 3 && states(net, id, r[0], hidden);
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

// ---- eight bits ----

bool quantise(Net& net, NodeId id) {
  if (!has(net, id, 1)) return false;
  set(net, id, 0, has(net, id, 2) ? operand(net, id, 2).dtype : ir::Dtype::U8,
      operand(net, id, 0).dims);
  return true;
}
bool dequantise(Net& net, NodeId id) {
  if (!has(net, id, 1)) return false;
  set(net, id, 0, operand(net, id, 1).dtype, operand(net, id, 0).dims);
  return true;
}
bool dynamic_quantise(Net& net, NodeId id) {
  set(net, id, 0, ir::Dtype::U8, operand(net, id, 0).dims);
  set(net, id, 1, ir::Dtype::F32, Dims());
  set(net, id, 2, ir::Dtype::U8, Dims());
  return true;
}
bool qlinear_binary(Net& net, NodeId id) {
  if (!has(net, id, 3)) return false;
  const auto dims = broadcast(operand(net, id, 0).dims, operand(net, id, 3).dims);
  if (dims) set(net, id, 0, operand(net, id, 0).dtype, *dims);
  return dims.has_value();
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

const std::unordered_map<std::string_view, Rule>& onnx_rules() {
  static const std::unordered_map<std::string_view, Rule> kRules = [] {
    std::unordered_map<std::string_view, Rule> rules;
    for (const char* op : {"Relu",
                           "Sigmoid",
                           "Tanh",
                           "Erf",
                           "Sqrt",
                           "Exp",
                           "Log",
                           "Neg",
                           "Abs",
                           "Clip",
                           "HardSigmoid",
                           "HardSwish",
                           "LeakyRelu",
                           "Elu",
                           "Selu",
                           "Celu",
                           "ThresholdedRelu",
                           "Gelu",
                           "Softplus",
                           "Softsign",
                           "Floor",
                           "Ceil",
                           "Round",
                           "Reciprocal",
                           "Sign",
                           "Sin",
                           "Cos",
                           "Tan",
                           "Asin",
                           "Acos",
                           "Atan",
                           "Sinh",
                           "Cosh",
                           "Asinh",
                           "Acosh",
                           "Atanh",
                           "Not",
                           "Identity",
                           "Softmax",
                           "LogSoftmax",
                           "Hardmax",
                           "Mish",
                           "LRN",
                           "InstanceNormalization",
                           "GroupNormalization",
                           "LpNormalization",
                           "MeanVarianceNormalization",
                           "CumSum",
                           "Trilu",
                           "ScatterND",
                           "ScatterElements",
                           "Shrink",
                           "BitwiseNot",
                           "Swish",
                           "RMSNormalization",
                           "SimplifiedLayerNormalization"})
      rules.emplace(op, like_first);
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "PRelu",
                           "BitShift", "BitwiseAnd", "BitwiseOr"})
      rules.emplace(op, elementwise);
    for (const char* op : {"Sum", "Max", "Min", "Mean"}) rules.emplace(op, variadic);
    for (const char* op : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"})
      rules.emplace(op, comparison);
    for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) rules.emplace(op, pool);
    for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
      rules.emplace(op, global_pool);
    for (const char* op :
         {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
          "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
      rules.emplace(op, reduce);
    for (const char* op : {"LSTM", "GRU", "RNN"}) rules.emplace(op, recurrent);
    rules.insert({{"Where", where},
                  {"IsNaN", to_bool},
                  {"IsInf", to_bool},
                  {"Dropout", dropout},
                  {"Cast", cast},
                  {"Conv", conv},
                  {"ConvInteger", conv_integer},
                  {"ConvTranspose", conv_transpose},
                  {"QLinearConv", qlinear_conv},
                  {"BatchNormalization", normalised},
                  {"LayerNormalization", normalised},
                  {"MatMul", matmul},
                  {"MatMulInteger", matmul_integer},
                  {"QLinearMatMul", qlinear_matmul},
                  {"Gemm", gemm},
                  {"Reshape", reshape},
                  {"Flatten", flatten},
                  {"Squeeze", squeeze},
                  {"Unsqueeze", unsqueeze},
                  {"Transpose", transpose},
                  {"Concat", concat},
                  {"Split", split},
                  {"Slice", slice},
                  {"Gather", gather},
                  {"GatherElements", gather_elements},
                  {"GatherND", gather_nd},
                  {"Expand", expand},
                  {"Tile", tile},
                  {"Pad", pad},
                  {"ArgMax", arg_reduce},
                  {"ArgMin", arg_reduce},
                  {"Shape", shape},
                  {"Size", size},
                  {"ConstantOfShape", constant_of_shape},
                  {"Range", range},
                  {"Resize", resize},
                  {"Upsample", resize},
                  {"DepthToSpace", depth_to_space},
                  {"SpaceToDepth", depth_to_space},
                  {"TopK", top_k},
                  {"Einsum", einsum},
                  {"QuantizeLinear", quantise},
                  {"DequantizeLinear", dequantise},
                  {"DynamicQuantizeLinear", dynamic_quantise}});
    return rules;
  }();
  return kRules;
}

const std::unordered_map<std::string_view, Rule>& contrib_rules() {
  static const std::unordered_map<std::string_view, Rule> kRules = {
      {"FusedConv", conv},
      {"NhwcFusedConv", conv},
      {"FusedGemm", gemm},
      {"FusedMatMul", fused_matmul},
      {"Gelu", like_first},
      {"QuickGelu", like_first},
      {"FastGelu", like_first},
      {"BiasGelu", like_first},
      {"SkipLayerNormalization", like_first},
      {"SkipSimplifiedLayerNormalization", like_first},
      {"QLinearConv", qlinear_conv},
      {"QGemm", qgemm},
      {"QLinearAdd", qlinear_binary},
      {"QLinearMul", qlinear_binary},
      {"QLinearSigmoid", like_first},
      {"QLinearLeakyRelu", like_first},
      {"QLinearSoftmax", like_first},
      {"QLinearAveragePool", pool},
      {"NhwcMaxPool", pool},
      {"QLinearGlobalAveragePool", global_pool},
      {"QLinearConcat", qlinear_concat},
      {"QLinearReduceMean", qlinear_reduce},
      {"QuantizeLinear", quantise},
      {"DequantizeLinear", dequantise},
      {"MatMulIntegerToFloat", to_float_matmul},
      {"DynamicQuantizeMatMul", to_float_matmul},
      {"DynamicQuantizeLSTM", quantised_lstm},
      {"MatMulNBits", matmul_of_bits},
  };
  return kRules;
}

const std::unordered_map<std::string_view, Rule>& blocked_rules() {
  static const std::unordered_map<std::string_view, Rule> kRules = {
      {"Conv", conv},
      {"MaxPool", pool},
      {"AveragePool", pool},
      {"GlobalAveragePool", global_pool},
      {"GlobalMaxPool", global_pool},
  };
  return kRules;
}

}  // namespace

Status Net::infer(NodeId id) {
  const Node& n = node(id);
  const auto& rules = n.domain.empty()     ? onnx_rules()
                      : n.domain == kNchwc ? blocked_rules()
                                           : contrib_rules();
  const bool ours = n.domain.empty() || n.domain == kMs || n.domain == kNchwc;
  const auto rule = rules.find(n.op);
  const std::string_view name = n.source == nullptr ? std::string_view() : n.source->name;
  if (!ours || rule == rules.end())
    return fail(Code::Refused,
                "the node '{}': the rules do not know the operator {}{}{}; use --plan runtime",
                base::printable(name), base::printable(n.domain), n.domain.empty() ? "" : ":",
                base::printable(n.op));
  const bool sized = std::all_of(n.inputs.begin(), n.inputs.end(),
                                 [&](TensorId one) { return one == kNone || tensor(one).known; });
  const bool concats = n.op == "QLinearConcat";  // its first operands are scales
  const bool fed = !n.inputs.empty() && (n.inputs[0] != kNone || concats);
  const bool told = sized && fed && rule->second(*this, id) &&
                    std::all_of(n.outputs.begin(), n.outputs.end(),
                                [&](TensorId one) { return one == kNone || tensor(one).known; });
  if (!told)
    return fail(
        Code::Refused,
        "the node '{}' ({}): the rules cannot tell the size of its result, which data or an "
        "operand that is not a constant may decide; use --plan runtime",
        base::printable(name), base::printable(n.op));
  return {};
}

}  // namespace oplat::plan::ort
