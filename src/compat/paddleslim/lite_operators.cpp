// SPDX-License-Identifier: Apache-2.0
/// Operators of Paddle-Lite as PaddleSlim's latency tables name them. Formulas of more than a line
/// are in operator_work.hpp.
#include <array>
#include <initializer_list>

#include "compat/paddleslim/operator_work.hpp"
#include "compat/paddleslim/operators.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"
#include "ir/operators/matmul.hpp"

namespace oplat::compat::paddleslim {
namespace {

using namespace ir;       // NOLINT: the file is about keys
using namespace ir::ops;  // NOLINT

constexpr std::string_view kLiteOperatorDomain = "paddle_lite";

constexpr std::string_view kLiteFunctions[] = {"hard_swish",
                                               "relu",
                                               "relu6",
                                               "leaky_relu",
                                               "prelu",
                                               "elu",
                                               "selu",
                                               "celu",
                                               "tanh",
                                               "swish",
                                               "silu",
                                               "mish",
                                               "softplus",
                                               "softsign",
                                               "hard_sigmoid",
                                               "sigmoid",
                                               "gelu",
                                               "clip",
                                               "sqrt",
                                               "rsqrt",
                                               "exp",
                                               "log",
                                               "log1p",
                                               "abs",
                                               "square",
                                               "pow",
                                               "sin",
                                               "cos",
                                               "erf",
                                               "floor",
                                               "ceil",
                                               "round",
                                               "reciprocal",
                                               "sign",
                                               "scale",
                                               "cast",
                                               "calib",
                                               "calib_once",
                                               "sum",
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
                                               "fusion_elementwise_div_activation",
                                               "fusion_elementwise_max_activation",
                                               "fusion_elementwise_min_activation",
                                               "equal",
                                               "not_equal",
                                               "less_than",
                                               "less_equal",
                                               "greater_than",
                                               "greater_equal",
                                               "logical_and",
                                               "logical_or",
                                               "logical_not",
                                               "logical_xor",
                                               "where"};

/// One operation for each element read, as of ONNX's reductions.
constexpr std::string_view kReductions[] = {"reduce_mean", "reduce_sum", "reduce_max", "reduce_min",
                                            "reduce_prod", "reduce_all", "reduce_any", "mean",
                                            "max",         "arg_max",    "arg_min",    "cumsum"};

constexpr std::string_view kMoving[] = {"transpose",
                                        "transpose2",
                                        "concat",
                                        "split",
                                        "slice",
                                        "strided_slice",
                                        "stack",
                                        "unstack",
                                        "unbind",
                                        "shuffle_channel",
                                        "channel_shuffle",
                                        "pixel_shuffle",
                                        "pixel_unshuffle",
                                        "space_to_depth",
                                        "depth_to_space",
                                        "pad",
                                        "pad2d",
                                        "pad3d",
                                        "expand",
                                        "expand_v2",
                                        "expand_as",
                                        "expand_as_v2",
                                        "tile",
                                        "gather",
                                        "gather_nd",
                                        "index_select",
                                        "lookup_table",
                                        "lookup_table_v2",
                                        "shape",
                                        "size",
                                        "assign",
                                        "assign_value",
                                        "fill_constant",
                                        "fill_constant_batch_size_like",
                                        "fill_any_like",
                                        "fill_zeros_like",
                                        "range",
                                        "flip",
                                        "roll",
                                        "one_hot",
                                        "one_hot_v2",
                                        "crop",
                                        "crop_tensor",
                                        "im2sequence",
                                        "nearest_interp",
                                        "nearest_interp_v2",
                                        "temporal_shift",
                                        "io_copy",
                                        "io_copy_once",
                                        "layout",
                                        "layout_once",
                                        "reverse"};

/// The result is the operand's bytes: dropout, too, when nothing is trained.
constexpr std::array<std::string_view, 10> kViews = {
    "reshape", "reshape2", "flatten",   "flatten2",   "flatten_contiguous_range",
    "squeeze", "squeeze2", "unsqueeze", "unsqueeze2", "dropout"};

/// The number that a list attribute of the form [?,n] or [?,?,n,n] gives.
std::optional<std::int64_t> last_of(const Key& key, std::string_view name) {
  const Value* value = key.attribute(name);
  const List* list = value == nullptr ? nullptr : value->list();
  if (list == nullptr || list->empty() || list->back().integer() == nullptr) return std::nullopt;
  return *list->back().integer();
}

/// The texts give one number of each list. Where kernels are square, and they are in all tables
/// known, the others are the same; the sizes of operand and result, which are given in full, tell
/// where they are not.
std::optional<Description> describe_conv(const Key& key) {
  Key filled = key;
  for (const std::string_view name : {"pads", "strides", "dilations"}) {
    const auto number = last_of(key, name);
    if (number)
      set_attribute(filled, name,
                    Value::ints(std::vector<std::int64_t>(name == "pads" ? 4 : 2, *number)));
  }
  return describe_convolution(filled, 1, false);
}

// Operations for each result; of normalisations and softmax as ONNX's (normalisation.cpp).
constexpr int kLiteSoftmax = 5;
constexpr int kNormalisation = 7;
/// Square, sum, scaling by the root.
constexpr int kLiteLpNorm = 3;
/// A multiply-add for each of two, four, eight or sixteen neighbours.
constexpr int kLinear = 4, kBilinear = 8, kTrilinear = 16, kBicubic = 32;

std::optional<double> flops_pool(const Key& key) {
  if (ops::integer(key, "global_pooling") == 1) return ops::elements(key.operand(0));
  const auto results = ops::elements(key.result(0));
  const auto kernel = last_of(key, "kernel_shape");
  if (!results || !kernel) return std::nullopt;
  return *results * static_cast<double>(*kernel) * static_cast<double>(*kernel);
}

/// Weights are [inner, columns].
std::optional<double> flops_fc(const Key& key) {
  const auto results = ops::elements(key.result(0));
  const auto inner = ops::dim(key.operand(1), 0);
  if (!results || !inner) return std::nullopt;
  return 2 * *results * static_cast<double>(*inner);
}

}  // namespace

std::vector<OperatorInfo> lite_operators() {
  std::vector<OperatorInfo> list = {
      {.domain = kLiteOperatorDomain,
       .op = "conv2d",
       .flops = flops_per_filter<1>,
       .describe = describe_conv},
      {.domain = kLiteOperatorDomain,
       .op = "depthwise_conv2d",
       .flops = flops_per_filter<1>,
       .describe = describe_conv},
      {.domain = kLiteOperatorDomain, .op = "sparse_conv2d", .flops = flops_paddle_sparse_conv},
      {.domain = kLiteOperatorDomain, .op = "conv2d_transpose", .flops = flops_per_spread<1>},
      {.domain = kLiteOperatorDomain,
       .op = "depthwise_conv2d_transpose",
       .flops = flops_per_spread<1>},
      {.domain = kLiteOperatorDomain, .op = "pool2d", .flops = flops_pool},
      {.domain = kLiteOperatorDomain, .op = "fc", .flops = flops_fc},
      {.domain = kLiteOperatorDomain, .op = "batch_norm", .flops = flops_per_result<2>},
      {.domain = kLiteOperatorDomain, .op = "rnn", .flops = flops_paddle_rnn},
      {.domain = kLiteOperatorDomain, .op = "mul", .flops = flops_paddle_mul},
      {.domain = kLiteOperatorDomain, .op = "p_norm", .flops = flops_per_operand<2>},
  };
  const auto add = [&](const auto& names, std::optional<double> (*flops)(const Key&)) {
    for (const std::string_view name : names)
      list.push_back({.domain = kLiteOperatorDomain, .op = name, .flops = flops});
  };
  using Names = std::initializer_list<std::string_view>;
  // Sampling between pixels, which deformable_conv does, is not counted.
  add(Names{"conv3d", "depthwise_conv3d", "deformable_conv", "deformable_conv_v1"},
      flops_paddle_conv);
  add(Names{"conv3d_transpose"}, flops_paddle_conv_transpose);
  add(Names{"bmm"}, flops_paddle_matmul);
  add(Names{"lstm", "gru", "gru_unit"}, flops_paddle_recurrence);
  add(Names{"layer_norm", "instance_norm", "group_norm"}, flops_per_result<kNormalisation>);
  add(Names{"softmax", "log_softmax"}, flops_per_result<kLiteSoftmax>);
  add(Names{"norm", "l2_normalize"}, flops_per_result<kLiteLpNorm>);
  add(Names{"sync_batch_norm", "affine_channel"}, flops_per_result<2>);
  add(Names{"linear_interp", "linear_interp_v2"}, flops_per_result<kLinear>);
  add(Names{"bilinear_interp", "bilinear_interp_v2", "grid_sampler"}, flops_per_result<kBilinear>);
  add(Names{"trilinear_interp", "trilinear_interp_v2"}, flops_per_result<kTrilinear>);
  add(Names{"bicubic_interp", "bicubic_interp_v2"}, flops_per_result<kBicubic>);
  add(kLiteFunctions, flops_per_result<1>);
  add(kReductions, flops_per_operand<1>);
  add(kMoving, no_flops);
  for (OperatorInfo& info : list) info.moves_little = info.op == "shape" || info.op == "slice";
  for (const std::string_view op : {"matmul", "matmul_v2"}) {
    list.push_back({.domain = kLiteOperatorDomain,
                    .op = op,
                    .flops = flops_paddle_matmul,
                    .contraction = contraction_of_product});
  }
  for (const std::string_view op : kViews) {
    list.push_back({.domain = kLiteOperatorDomain, .op = op, .view = true, .flops = no_flops});
  }
  return list;
}

}  // namespace oplat::compat::paddleslim
