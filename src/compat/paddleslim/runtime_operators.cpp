// SPDX-License-Identifier: Apache-2.0
/// Paddle's own operators as the runtime `paddle` executes them (python/oplat/workers/paddle):
/// "paddle" those of its own kernels, "paddle.onednn" those of oneDNN.
#include <string_view>

#include "compat/paddleslim/operator_work.hpp"
#include "compat/paddleslim/operators.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"

namespace oplat::compat::paddleslim {
namespace {

using namespace ir;       // NOLINT: the file is about keys
using namespace ir::ops;  // NOLINT

/// Under the names that the description knows. Paddings are one number an axis, or two.
std::optional<Description> describe_paddle_conv(const Key& key) {
  Key named = key;
  set_attribute(named, "group", ops::integer(key, "groups").value_or(1));
  if (const auto paddings = ops::integers(key, "paddings")) {
    const auto& p = *paddings;
    if (p.size() == 2) set_attribute(named, "pads", Value::ints({p[0], p[1], p[0], p[1]}));
    if (p.size() == 4) set_attribute(named, "pads", Value::ints({p[0], p[2], p[1], p[3]}));
  }
  return describe_convolution(named, 1, false);
}

/// Weights are [inner, columns].
std::optional<double> flops_product(const Key& key) {
  const auto results = ops::elements(key.result(0));
  const auto inner = ops::dim(key.operand(0), -1);
  if (!results || !inner) return std::nullopt;
  return 2 * *results * static_cast<double>(*inner);
}

// As Paddle-Lite's (lite_operators.cpp).
constexpr int kPaddleSoftmax = 5, kPaddleLayerNorm = 7, kPaddleBilinear = 8;

/// The kernel is a constant operand; none where it covers the whole image.
std::optional<double> flops_paddle_pool(const Key& key) {
  const auto operands = ops::elements(key.operand(0));
  const auto results = ops::elements(key.result(0));
  if (!operands || !results) return std::nullopt;
  const TensorEntry* kernel = key.operand(1);
  if (ops::is_word(key, "adaptive", "true") || ops::is_word(key, "global_pooling", "true") ||
      kernel == nullptr || !kernel->value) {
    return operands;
  }
  if (const auto* side = kernel->value->integer())
    return *results * static_cast<double>(*side) * static_cast<double>(*side);
  double places = 1;
  const List* sides = kernel->value->list();
  if (sides == nullptr) return operands;
  for (const Value& side : *sides) {
    if (side.integer() != nullptr) places *= static_cast<double>(*side.integer());
  }
  return *results * places;
}

}  // namespace

std::vector<OperatorInfo> runtime_operators(std::string_view domain) {
  std::vector<OperatorInfo> list;
  const auto add = [&](std::initializer_list<std::string_view> names,
                       std::optional<double> (*flops)(const Key&),
                       std::optional<Description> (*describe)(const Key&) = nullptr) {
    for (const std::string_view name : names) {
      list.push_back({.domain = domain, .op = name, .flops = flops, .describe = describe});
    }
  };
  add({"conv2d", "depthwise_conv2d", "fused_conv2d"}, flops_per_filter<1>, describe_paddle_conv);
  add({"conv3d"}, flops_per_filter<1>);
  add({"conv2d_transpose", "conv2d_transpose_bias", "depthwise_conv2d_transpose",
       "conv3d_transpose"},
      flops_per_spread<1>);
  add({"fc"}, flops_product);
  add({"matmul", "fused_matmul"}, flops_paddle_matmul);
  add({"pool2d"}, flops_paddle_pool);
  add({"batch_norm"}, flops_per_result<2>);
  add({"add",   "subtract",   "multiply",    "divide",  "maximum",        "minimum", "relu",
       "relu6", "hardswish",  "hardsigmoid", "swish",   "silu",           "sigmoid", "tanh",
       "sqrt",  "leaky_relu", "scale",       "dropout", "gelu",           "mish",    "rsqrt",
       "exp",   "abs",        "floor",       "clip",    "elementwise_pow"},
      flops_per_result<1>);
  add({"softmax"}, flops_per_result<kPaddleSoftmax>);
  add({"layer_norm"}, flops_per_result<kPaddleLayerNorm>);
  add({"mean"}, flops_per_operand<1>);
  add({"bilinear_interp"}, flops_per_result<kPaddleBilinear>);
  add({"nearest_interp", "slice", "fused_transpose", "concat", "split", "shuffle_channel",
       "transpose", "reshape", "flatten", "squeeze", "unsqueeze"},
      no_flops);
  return list;
}

}  // namespace oplat::compat::paddleslim
