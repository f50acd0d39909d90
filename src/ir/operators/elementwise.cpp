// SPDX-License-Identifier: Apache-2.0
/// Element-wise operators: one operation for each element of the result, whatever the function. Exp
/// and Add differ by far in time, which is for measurement to say; the count says how much there is
/// to do.
#include <array>

#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

/// ONNX Runtime's CPU kernels of these may write over operand 0: MayInplace(0, 0) in
/// core/providers/cpu/activation/activations.cc, and each found so by the peak memory of a chain of
/// them in 1.31.1. Their parameters (alpha, beta, gamma) scale numbers and change no work.
constexpr std::array<std::string_view, 12> kActivations = {"Relu",
                                                           "Sigmoid",
                                                           "Tanh",
                                                           "Elu",
                                                           "Selu",
                                                           "LeakyRelu",
                                                           "Celu",
                                                           "Softplus",
                                                           "Softsign",
                                                           "HardSigmoid",
                                                           "ThresholdedRelu",
                                                           "Shrink"};

/// Functions without MayInplace: each result gets memory of its own, in the binary arithmetic too
/// (the macros of core/providers/cpu/math/element_wise_ops.cc; again confirmed by the peak memory
/// of chains in 1.31.1).
constexpr std::array<std::string_view, 54> kFunctions = {"Abs",
                                                         "Acos",
                                                         "Acosh",
                                                         "Add",
                                                         "And",
                                                         "Asin",
                                                         "Asinh",
                                                         "Atan",
                                                         "Atanh",
                                                         "BitShift",
                                                         "BitwiseAnd",
                                                         "BitwiseNot",
                                                         "BitwiseOr",
                                                         "BitwiseXor",
                                                         "Ceil",
                                                         "Cos",
                                                         "Cosh",
                                                         "Div",
                                                         "Equal",
                                                         "Erf",
                                                         "Exp",
                                                         "Floor",
                                                         "Gelu",
                                                         "Greater",
                                                         "GreaterOrEqual",
                                                         "HardSwish",
                                                         "IsInf",
                                                         "IsNaN",
                                                         "Less",
                                                         "LessOrEqual",
                                                         "Log",
                                                         "Max",
                                                         "Mean",
                                                         "Min",
                                                         "Mish",
                                                         "Mod",
                                                         "Mul",
                                                         "Neg",
                                                         "Not",
                                                         "Or",
                                                         "PRelu",
                                                         "Reciprocal",
                                                         "Round",
                                                         "Sign",
                                                         "Sin",
                                                         "Sinh",
                                                         "Sqrt",
                                                         "Sub",
                                                         "Sum",
                                                         "Tan",
                                                         "Where",
                                                         "Xor",
                                                         "Swish",
                                                         "DynamicQuantizeLinear"};

constexpr std::array<std::string_view, 2> kQuantisation = {"QuantizeLinear", "DequantizeLinear"};

constexpr std::array<std::string_view, 10> kContribFunctions = {
    "Gelu",          "QuickGelu",  "FastGelu",   "BiasGelu",       "BiasAdd",
    "BiasSplitGelu", "MulInteger", "ComplexMul", "ComplexMulConj", "ScaledSiLU"};

std::optional<double> (*const kOnePerResult)(const Key&) = flops_per_result<1>;

}  // namespace

std::vector<OperatorInfo> elementwise() {
  std::vector<OperatorInfo> list;
  for (const std::string_view op : kActivations) {
    list.push_back({.domain = "",
                    .op = op,
                    .overwritable = {0},
                    .inert = {"alpha", "beta", "gamma", "lambd", "bias"},
                    .flops = kOnePerResult,
                    .describe = describe_elementwise});
  }
  // MayInplace(0, 0) in core/providers/cpu/math/clip.cc; the bounds are operands or, before version
  // 11, attributes.
  list.push_back({.domain = "",
                  .op = "Clip",
                  .overwritable = {0},
                  .inert = {"max", "min"},
                  .flops = kOnePerResult,
                  .describe = describe_elementwise});
  // MayInplace(0, 0) in core/providers/cpu/tensor/cast_op.cc, taken where both types have one size.
  list.push_back({.domain = "",
                  .op = "Cast",
                  .overwritable = {0},
                  .flops = kOnePerResult,
                  .describe = describe_elementwise});
  list.push_back(
      {.domain = "", .op = "CastLike", .flops = kOnePerResult, .describe = describe_elementwise});
  for (const std::string_view op : kFunctions)
    list.push_back(
        {.domain = "", .op = op, .flops = kOnePerResult, .describe = describe_elementwise});
  for (const std::string_view domain : {std::string_view(), kContrib}) {
    for (const std::string_view op : kQuantisation) {
      list.push_back({.domain = domain,
                      .op = op,
                      .unprinted_operands = {0, 2},
                      .flops = kOnePerResult,
                      .describe = describe_elementwise});
    }
  }
  for (const std::string_view op : {"QLinearAdd", "QLinearMul"}) {
    list.push_back({.domain = kContrib,
                    .op = op,
                    .unprinted_operands = {0, 2, 3, 5, 7},
                    .flops = kOnePerResult,
                    .describe = describe_elementwise});
  }
  for (const std::string_view op : {"QLinearSigmoid", "QLinearLeakyRelu"}) {
    list.push_back({.domain = kContrib,
                    .op = op,
                    .inert = {"alpha"},
                    .unprinted_operands = {2, 4},
                    .flops = kOnePerResult,
                    .describe = describe_elementwise});
  }
  list.push_back({.domain = kContrib,
                  .op = "QLinearWhere",
                  .unprinted_operands = {1, 3, 4, 6, 8},
                  .flops = kOnePerResult,
                  .describe = describe_elementwise});
  // Exponents 2 and 3 have loops of their own (core/providers/cpu/math/element_wise_ops.cc), so the
  // exponent is printed.
  list.push_back({.domain = "",
                  .op = "Pow",
                  .printed_float_operands = {1},
                  .flops = kOnePerResult,
                  .describe = describe_elementwise});
  // QuickGelu's alpha is printed: where it is 1 the runtime leaves out a pass
  // (contrib_ops/cpu/activations.h), and the kernel takes 0.6 times as long.
  for (const std::string_view op : kContribFunctions)
    list.push_back(
        {.domain = kContrib, .op = op, .flops = kOnePerResult, .describe = describe_elementwise});
  return list;
}

}  // namespace oplat::ir::ops
