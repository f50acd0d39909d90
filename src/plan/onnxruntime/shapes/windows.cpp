// SPDX-License-Identifier: Apache-2.0
/// Convolutions and pools.
#include <algorithm>
#include <array>

#include "plan/onnxruntime/shapes/rules.hpp"

namespace oplat::plan::ort::shapes {
namespace {

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

const ir::List* list_of(const Net& net, NodeId id, std::string_view name) {
  const ir::Value* value = net.attribute(id, name);
  return value == nullptr ? nullptr : value->list();
}

/// Numbers of an attribute, as many for each of `rank` axes as there are members; false: it has
/// others.
bool read_axes(const ir::List* list, Window& window, std::size_t rank,
               std::initializer_list<std::int64_t Window::Axis::*> members) {
  if (list == nullptr) return true;
  if (list->size() != rank * members.size()) return false;
  auto one = list->begin();
  for (const auto member : members) {
    for (std::size_t i = 0; i < rank; ++i, ++one) {
      const std::int64_t* number = one->integer();
      if (number == nullptr || *number < -kMaxWindow || *number > kMaxWindow) return false;
      window.axes[i].*member = *number;
    }
  }
  return true;
}

/// `weights`: the kernel's size is that of its last dimensions.
std::optional<Window> window_of(const Net& net, NodeId id, const Dims& spatial,
                                const Dims* weights) {
  using Axis = Window::Axis;
  const auto rank = static_cast<std::size_t>(spatial.size());
  Window w;
  if (weights == nullptr) {
    const ir::List* kernel = list_of(net, id, "kernel_shape");
    if (kernel == nullptr || !read_axes(kernel, w, rank, {&Axis::kernel})) return std::nullopt;
  } else {
    for (std::size_t i = 0; i < rank; ++i) {
      w.axes[i].kernel = weights->at[i + 2];
      if (w.axes[i].kernel > kMaxWindow) return std::nullopt;
    }
  }
  if (!read_axes(list_of(net, id, "strides"), w, rank, {&Axis::stride}) ||
      !read_axes(list_of(net, id, "dilations"), w, rank, {&Axis::dilation}) ||
      !read_axes(list_of(net, id, "pads"), w, rank, {&Axis::before, &Axis::after}))
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

/// How many groups the channels are in; std::nullopt: a number that the runtime refuses, too.
std::optional<std::int64_t> groups_of(const Net& net, NodeId id, std::int64_t channels) {
  const std::int64_t group = net.attribute_int(id, "group", 1);
  if (group < 1 || group > kMaxWindow || channels % group != 0) return std::nullopt;
  return group;
}

bool convolve(Net& net, NodeId id, std::size_t weights, ir::Dtype dtype) {
  const Dims& x = operand(net, id, 0).dims;
  const Dims& w = operand(net, id, weights).dims;
  if (x.size() < 3 || w.size() != x.size()) return false;
  const bool last = net.attribute_int(id, "channels_last", 0) == 1;
  const auto group = groups_of(net, id, w[0]);
  if (!group || x[last ? x.size() - 1 : 1] != w[1] * *group) return false;
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
  const auto group = groups_of(net, id, x[1]);
  if (!group || x[1] != w[0] || !std::all_of(more.begin(), more.end(), is_size)) return false;
  const auto asked = net.attribute_ints(id, "output_shape");
  if (more.size() != rank || (asked && asked->size() != rank)) return false;
  Dims dims{x[0], w[1] * *group};
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

constexpr std::string_view kPools[] = {"MaxPool", "AveragePool", "LpPool"};
constexpr std::string_view kGlobalPools[] = {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"};

}  // namespace

void add_windows(Rules& to) {
  for (const std::string_view op : kPools) to.onnx.emplace(op, pool);
  for (const std::string_view op : kGlobalPools) to.onnx.emplace(op, global_pool);
  to.onnx.insert({{"Conv", conv},
                  {"ConvInteger", conv_integer},
                  {"ConvTranspose", conv_transpose},
                  {"QLinearConv", qlinear_conv}});
  to.contrib.insert({{"FusedConv", conv},
                     {"NhwcFusedConv", conv},
                     {"QLinearConv", qlinear_conv},
                     {"QLinearAveragePool", pool},
                     {"NhwcMaxPool", pool},
                     {"QLinearGlobalAveragePool", global_pool}});
  to.blocked.insert({{"Conv", conv},
                     {"MaxPool", pool},
                     {"AveragePool", pool},
                     {"GlobalAveragePool", global_pool},
                     {"GlobalMaxPool", global_pool}});
}

}  // namespace oplat::plan::ort::shapes
