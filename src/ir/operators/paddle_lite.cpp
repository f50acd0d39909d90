// SPDX-License-Identifier: Apache-2.0
/// Operators of Paddle-Lite as PaddleSlim's latency tables name them (include/oplat/ir/paddle_key.hpp). Its matrix
/// products stand with the others.
#include <array>

#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

constexpr std::string_view kDomain = "paddle_lite";

constexpr std::array<std::string_view, 20> kFunctions = {
    "hard_swish",      "relu",            "leaky_relu",      "tanh",            "swish",
    "hard_sigmoid",    "sigmoid",         "gelu",            "clip",            "sqrt",
    "exp",             "floor",           "scale",           "elementwise_add", "elementwise_sub",
    "elementwise_mul", "elementwise_div", "elementwise_max", "elementwise_min", "fusion_elementwise_add_activation"};

/// The result is the operand's bytes: dropout, too, when nothing is trained.
constexpr std::array<std::string_view, 10> kViews = {"reshape",  "reshape2", "flatten",    "flatten2", "flatten_contiguous_range",
                                                     "squeeze",  "squeeze2", "unsqueeze",  "unsqueeze2", "dropout"};

/// The number that a list attribute of the form [?,n] or [?,?,n,n] gives.
std::optional<std::int64_t> last_of(const Key& key, std::string_view name) {
  const Value* value = key.attribute(name);
  const List* list = value == nullptr ? nullptr : value->list();
  if (list == nullptr || list->empty() || list->back().integer() == nullptr) return std::nullopt;
  return *list->back().integer();
}

/// The texts give one number of each list. Where kernels are square, and they are in all tables known, the others are
/// the same; the sizes of operand and result, which are given in full, tell where they are not.
std::optional<Description> describe_conv(const Key& key) {
  Key filled = key;
  for (const std::string_view name : {"pads", "strides", "dilations"}) {
    const auto number = last_of(key, name);
    if (number) set_attribute(filled, name, Value::ints(std::vector<std::int64_t>(name == "pads" ? 4 : 2, *number)));
  }
  return describe_convolution(filled, 1, false);
}

std::optional<double> flops_pool(const Key& key) {
  if (integer(key, "global_pooling") == 1) return elements(key.operand(0));
  const auto results = elements(key.result(0));
  const auto kernel = last_of(key, "kernel_shape");
  if (!results || !kernel) return std::nullopt;
  return *results * static_cast<double>(*kernel) * static_cast<double>(*kernel);
}

/// Weights are [inner, columns].
std::optional<double> flops_fc(const Key& key) {
  const auto results = elements(key.result(0));
  const auto inner = dim(key.operand(1), 0);
  if (!results || !inner) return std::nullopt;
  return 2 * *results * static_cast<double>(*inner);
}

}  // namespace

std::vector<OperatorInfo> paddle_lite() {
  std::vector<OperatorInfo> list = {
      {.domain = kDomain, .op = "conv2d", .flops = flops_per_filter<1>, .describe = describe_conv},
      {.domain = kDomain, .op = "depthwise_conv2d", .flops = flops_per_filter<1>, .describe = describe_conv},
      {.domain = kDomain, .op = "pool2d", .flops = flops_pool},
      {.domain = kDomain, .op = "fc", .flops = flops_fc},
      {.domain = kDomain, .op = "batch_norm", .flops = flops_per_result<2>},
  };
  for (const std::string_view op : kFunctions) {
    list.push_back({.domain = kDomain, .op = op, .flops = flops_per_result<1>});
  }
  for (const std::string_view op : kViews) {
    list.push_back({.domain = kDomain, .op = op, .view = true, .flops = no_flops});
  }
  return list;
}

}  // namespace oplat::ir::ops
