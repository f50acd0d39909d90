// SPDX-License-Identifier: Apache-2.0
/// Operators element by element; arithmetic on integers, of which shapes are made, is carried out.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "formats/paddle/shapes/call.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

std::optional<std::int64_t> calculate(std::string_view op, std::int64_t x, std::int64_t y) {
  std::int64_t result = 0;
  if (op == "elementwise_add")
    return __builtin_add_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (op == "elementwise_sub")
    return __builtin_sub_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (op == "elementwise_mul")
    return __builtin_mul_overflow(x, y, &result) ? std::nullopt : std::optional(result);
  if (op == "elementwise_max") return std::max(x, y);
  if (op == "elementwise_min") return std::min(x, y);
  if (op == "equal") return x == y ? 1 : 0;
  if (op == "not_equal") return x != y ? 1 : 0;
  if (op == "less_than") return x < y ? 1 : 0;
  if (op == "less_equal") return x <= y ? 1 : 0;
  if (op == "greater_than") return x > y ? 1 : 0;
  if (op == "greater_equal") return x >= y ? 1 : 0;
  if (y == 0 || (x == std::numeric_limits<std::int64_t>::min() && y == -1)) return std::nullopt;
  const std::int64_t rest = x % y;
  const bool below = rest != 0 && (rest < 0) != (y < 0);
  if (op == "elementwise_floordiv") return x / y - (below ? 1 : 0);
  if (op == "elementwise_mod") return rest + (below ? y : 0);
  // Of numbers that are integers by chance only.
  if (op == "elementwise_div" && rest == 0) return x / y;
  return std::nullopt;
}

namespace {

std::optional<Numbers> applied(std::string_view op, const PaddleTensor& x, const PaddleTensor& y) {
  if (!x.values || !y.values) return std::nullopt;
  const std::size_t count = std::max(x.values->size(), y.values->size());
  Numbers values;
  for (std::size_t i = 0; i < count; ++i) {
    if ((x.values->size() != count && x.values->size() != 1) ||
        (y.values->size() != count && y.values->size() != 1)) {
      return std::nullopt;
    }
    const auto value = calculate(op, (*x.values)[x.values->size() == 1 ? 0 : i],
                                 (*y.values)[y.values->size() == 1 ? 0 : i]);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

Status binary(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(y, call.operand("Y"));
  OPLAT_TRY(axis, call.integer("axis", -1));
  OPLAT_TRY(dims, broadcast(call, x->dims, y->dims, axis));
  call.give("Out", dims, applied(call.op(), *x, *y));
  return {};
}

Status choose(Call& call) {
  OPLAT_TRY(condition, call.operand("Condition"));
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(y, call.operand("Y"));
  OPLAT_TRY(both, broadcast(call, x->dims, y->dims, -1));
  OPLAT_TRY(dims, broadcast(call, both, condition->dims, -1));
  call.give("Out", dims);
  return {};
}

Status sum(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  for (const PaddleTensor& each : call.operands("X")) {
    if (each.dims != x->dims)
      return fail(Code::Input, "{}: operands {} and {} differ in shape", call.op(), text(x->dims),
                  text(each.dims));
  }
  call.give("Out", x->dims);
  return {};
}

/// Keeps the values: copies, casts, and what fuses or measures on the way.
Status copy(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  call.give("Out", x->dims, x->values);
  return {};
}

/// The same to a result of another name.
Status to_y(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  call.give("Y", x->dims);
  return {};
}

Status input_to_output(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  call.give("Output", x->dims);
  return {};
}

Status input_to_out(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  call.give("Out", x->dims);
  return {};
}

Status scale(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  const std::vector<double> factors = call.reals("scale");
  const std::vector<double> biases = call.reals("bias");
  const double factor = factors.empty() ? 1 : factors.front();
  const double bias = biases.empty() ? 0 : biases.front();
  const bool known = !call.has("ScaleTensor") && x->values;
  std::optional<Numbers> values;
  if (known) {
    values = Numbers{};
    for (const std::int64_t value : *x->values) {
      const auto number = static_cast<double>(value);
      const double result =
          call.flag("bias_after_scale", true) ? number * factor + bias : (number + bias) * factor;
      if (!(std::abs(result) < 0x1p53) || result != std::floor(result)) {
        values.reset();
        break;
      }
      values->push_back(static_cast<std::int64_t>(result));
    }
  }
  call.give("Out", x->dims, values);
  return {};
}

constexpr std::string_view kUnary[] = {
    "relu",
    "relu6",
    "leaky_relu",
    "prelu",
    "elu",
    "celu",
    "selu",
    "gelu",
    "swish",
    "silu",
    "mish",
    "hard_swish",
    "hard_sigmoid",
    "sigmoid",
    "logsigmoid",
    "tanh",
    "tanh_shrink",
    "softplus",
    "softsign",
    "softshrink",
    "hard_shrink",
    "brelu",
    "thresholded_relu",
    "softmax",
    "log_softmax",
    "sqrt",
    "rsqrt",
    "square",
    "exp",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "abs",
    "sign",
    "floor",
    "ceil",
    "round",
    "reciprocal",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "erf",
    "pow",
    "clip",
    "dropout",
    "cumsum",
    "logical_not",
    "bitwise_not",
    "isnan_v2",
    "isinf_v2",
    "isfinite_v2",
    "lrn",
    "norm",
    "tril_triu",
    "increment",
    "scatter",
    "scatter_nd_add",
    "fill_any_like",
    "fill_zeros_like",
    "label_smooth",
    "share_data",
    "memcpy",
    "memcpy_h2d",
    "memcpy_d2h",
    "masked_fill",
    "put_along_axis",
    "fake_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    "fake_channel_wise_quantize_dequantize_abs_max",
    "moving_average_abs_max_scale",
    "fake_dequantize_max_abs",
};

constexpr std::string_view kQuantisers[] = {
    "fake_quantize_abs_max",
    "fake_quantize_range_abs_max",
    "fake_quantize_moving_average_abs_max",
    "fake_channel_wise_quantize_abs_max",
    "fake_channel_wise_dequantize_max_abs",
};

constexpr std::string_view kBinary[] = {
    "elementwise_add",
    "elementwise_sub",
    "elementwise_mul",
    "elementwise_div",
    "elementwise_max",
    "elementwise_min",
    "elementwise_pow",
    "elementwise_mod",
    "elementwise_floordiv",
    "fusion_elementwise_add_activation",
    "fusion_elementwise_sub_activation",
    "fusion_elementwise_mul_activation",
    "grad_add",
    "equal",
    "not_equal",
    "less_than",
    "less_equal",
    "greater_than",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "atan2",
    "fmax",
};

constexpr std::array kElementwiseOthers = {
    Operator{"where", choose},
    Operator{"sum", sum},
    Operator{"cast", copy},
    Operator{"assign", copy},
    Operator{"print", copy},
    Operator{"select_input", copy},
    Operator{"quantize_linear", to_y},
    Operator{"dequantize_linear", to_y},
    Operator{"quantize", input_to_output},
    Operator{"dequantize", input_to_output},
    Operator{"requantize", input_to_output},
    Operator{"calib", input_to_out},
    Operator{"set_value", input_to_out},
    Operator{"scale", scale},
};

}  // namespace

std::span<const Operator> elementwise_operators() {
  static const std::vector<Operator> kAll = [] {
    std::vector<Operator> all(kElementwiseOthers.begin(), kElementwiseOthers.end());
    for (const std::string_view name : kUnary) all.push_back({name, unary});
    for (const std::string_view name : kQuantisers) all.push_back({name, unary});
    for (const std::string_view name : kBinary) all.push_back({name, binary});
    return all;
  }();
  return kAll;
}

}  // namespace oplat::formats::paddle::shapes
