// SPDX-License-Identifier: Apache-2.0
/// Sizes of operands against those of results. Keys of models are made from shapes that a runtime
/// has executed; those of foreign tables from what somebody wrote.
#include "compat/paddleslim/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace oplat::compat::paddleslim {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::array<std::string_view, 16> kMaps = {
    "hard_swish", "relu", "leaky_relu", "tanh", "swish", "softmax", "hard_sigmoid", "sigmoid",
    "gelu",       "clip", "sqrt",       "exp",  "floor", "scale",   "batch_norm",   "dropout"};

/// Keeps every product of two below 2^62; an untrusted key may hold anything.
bool is_extent(std::int64_t number) { return number >= 0 && number <= std::int64_t{1} << 30; }

/// std::nullopt if a dimension is unknown or absurd.
std::optional<Dims> dims_of(const ir::TensorEntry* entry) {
  if (entry == nullptr || !entry->shape.ranked) return std::nullopt;
  Dims dims;
  for (const ir::Dim& dim : entry->shape.dims) {
    if (!dim || !is_extent(*dim)) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

std::string text(const Dims& dims) { return fmt::format("({})", fmt::join(dims, ", ")); }

std::optional<std::int64_t> last(const ir::Key& key, std::string_view name) {
  const ir::Value* value = key.attribute(name);
  const ir::List* list = value == nullptr ? nullptr : value->list();
  if (list == nullptr || list->empty() || list->back().integer() == nullptr) return std::nullopt;
  return *list->back().integer();
}

/// Texts give one padding of four: the others may be anything up to the window.
bool may_leave(std::int64_t input, std::int64_t output, std::int64_t window, std::int64_t pad,
               std::int64_t stride) {
  const auto left = [&](std::int64_t padding) {
    const std::int64_t room = input + padding - window;
    return room < 0 ? 0 : room / stride + 1;
  };
  return output >= left(0) && output <= left(2 * std::max(pad, window)) + 1;
}

std::optional<std::string> wrong_convolution(const ir::Key& key, const Dims& in, const Dims& out) {
  const auto weights = dims_of(key.operand(1));
  const ir::Value* group = key.attribute("group");
  if (!weights || weights->size() != 4 || in.size() != 4 || out.size() != 4 || group == nullptr ||
      group->integer() == nullptr)
    return std::nullopt;
  if (!is_extent(*group->integer())) return std::nullopt;
  if ((*weights)[1] * *group->integer() != in[1]) {
    return fmt::format("filters of {} channels in {} groups do not fit {} input channels",
                       (*weights)[1], *group->integer(), in[1]);
  }
  if ((*weights)[0] != out[1])
    return fmt::format("{} filters give {} channels", (*weights)[0], out[1]);
  const auto stride = last(key, "strides");
  const auto pad = last(key, "pads");
  const auto dilation = last(key, "dilations");
  if (!stride || !pad || !dilation || *stride < 1) return std::nullopt;
  if (!is_extent(*stride) || !is_extent(*pad) || !is_extent(*dilation)) return std::nullopt;
  for (std::size_t axis = 2; axis < 4; ++axis) {
    const std::int64_t window = *dilation * ((*weights)[axis] - 1) + 1;
    if (may_leave(in[axis], out[axis], window, *pad, *stride)) continue;
    return fmt::format("a window of {0} with stride {1} cannot turn {3} into {2}", window, *stride,
                       out[axis], in[axis]);
  }
  return std::nullopt;
}

std::optional<std::string> wrong_concat(const ir::Key& key, const Dims& out) {
  const ir::Value* given = key.attribute("axis");
  if (given == nullptr || given->integer() == nullptr) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(out.size());
  const std::int64_t axis = *given->integer() < 0 ? *given->integer() + rank : *given->integer();
  if (axis < 0 || axis >= rank) return fmt::format("axis {} of {} dimensions", axis, rank);
  Dims sum = out;
  sum[static_cast<std::size_t>(axis)] = 0;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const auto in = dims_of(key.operand(i));
    if (!in || in->size() != out.size()) return std::nullopt;
    sum[static_cast<std::size_t>(axis)] += (*in)[static_cast<std::size_t>(axis)];
  }
  if (sum == out) return std::nullopt;
  return fmt::format("the operands join to {}, but the result is {}", text(sum), text(out));
}

}  // namespace

std::optional<std::string> wrong_sizes(const ir::Key& key) {
  for (const auto* entries : {&key.operands, &key.results}) {
    for (const ir::Entry& entry : *entries) {
      const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
      if (tensor == nullptr) continue;
      const bool empty = std::any_of(tensor->shape.dims.begin(), tensor->shape.dims.end(),
                                     [](const ir::Dim& dim) { return dim && *dim == 0; });
      if (empty) return std::string("a tensor has no elements");
    }
  }
  const auto in = dims_of(key.operand(0));
  const auto out = dims_of(key.result(0));
  if (!in || !out) return std::nullopt;
  if (key.op == "conv2d" || key.op == "depthwise_conv2d") return wrong_convolution(key, *in, *out);
  if (key.op == "concat") return wrong_concat(key, *out);
  if (key.op == "pool2d" && in->size() == 4 && out->size() == 4 && (*in)[1] != (*out)[1]) {
    return fmt::format("{} channels become {}", (*in)[1], (*out)[1]);
  }
  const bool map = std::find(kMaps.begin(), kMaps.end(), key.op) != kMaps.end();
  if (map && *in != *out) return fmt::format("{} becomes {}", text(*in), text(*out));
  return std::nullopt;
}

}  // namespace oplat::compat::paddleslim
