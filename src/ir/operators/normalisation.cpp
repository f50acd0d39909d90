// SPDX-License-Identifier: Apache-2.0
/// Normalisations and softmax: operations for each element, as the textbook pass over the data does
/// them. Epsilon and momentum are numbers added to or mixed in and change no work.
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

/// Maximum, subtraction, exponential, sum, division (or, of the logarithm, subtraction).
constexpr int kSoftmax = 5;
/// Scale and offset: mean and variance of an inference are folded into two numbers for each
/// channel.
constexpr int kBatchNorm = 2;
/// Sum for the mean; subtraction, square and sum for the variance; scaling by it; gamma; beta.
constexpr int kLayerNorm = 7;
/// Square and sum; scaling by the root; gamma.
constexpr int kRmsNorm = 4;
/// The same after adding the skip connection.
constexpr int kSkipLayerNorm = kLayerNorm + 1;
constexpr int kSkipRmsNorm = kRmsNorm + 1;
/// Absolute value or square, sum, division.
constexpr int kLpNorm = 3;

/// Square, a sum over `size` channels, alpha and bias, power, division.
std::optional<double> flops_lrn(const Key& key) {
  const auto count = elements(key.result(0));
  const auto size = integer(key, "size");
  if (!count || !size) return std::nullopt;
  return *count * (static_cast<double>(*size) + 5);
}

}  // namespace

std::vector<OperatorInfo> normalisation() {
  return {
      // MayInplace(0, 0) in core/providers/cpu/math/softmax.cc, for 32-bit floats.
      {.domain = "",
       .op = "Softmax",
       .overwritable = {0},
       .flops = flops_per_result<kSoftmax>,
       .describe = describe_softmax},
      {.domain = "",
       .op = "LogSoftmax",
       .overwritable = {0},
       .flops = flops_per_result<kSoftmax>,
       .describe = describe_softmax},
      {.domain = kContrib, .op = "BiasSoftmax", .flops = flops_per_result<kSoftmax + 1>},
      {.domain = kContrib,
       .op = "QLinearSoftmax",
       .unprinted_operands = {2, 4},
       .flops = flops_per_result<kSoftmax>},
      {.domain = "",
       .op = "BatchNormalization",
       .inert = {"epsilon", "momentum"},
       .flops = flops_per_result<kBatchNorm>},
      {.domain = "",
       .op = "LayerNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kLayerNorm>,
       .describe = describe_layer_norm},
      {.domain = "",
       .op = "InstanceNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kLayerNorm>},
      {.domain = "",
       .op = "GroupNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kLayerNorm>},
      {.domain = "", .op = "MeanVarianceNormalization", .flops = flops_per_result<kLayerNorm - 2>},
      {.domain = "",
       .op = "RMSNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kRmsNorm>,
       .describe = describe_layer_norm},
      {.domain = "",
       .op = "SimplifiedLayerNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kRmsNorm>,
       .describe = describe_layer_norm},
      {.domain = "", .op = "LpNormalization", .flops = flops_per_result<kLpNorm>},
      {.domain = "", .op = "LRN", .inert = {"alpha", "beta", "bias"}, .flops = flops_lrn},
      {.domain = kContrib,
       .op = "SkipLayerNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kSkipLayerNorm>,
       .describe = describe_layer_norm},
      {.domain = kContrib,
       .op = "SkipSimplifiedLayerNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kSkipRmsNorm>,
       .describe = describe_layer_norm},
      {.domain = kContrib,
       .op = "EmbedLayerNormalization",
       .inert = {"epsilon"},
       .flops = flops_per_result<kLayerNorm + 2>},
      {.domain = kContrib,
       .op = "GroupNorm",
       .inert = {"epsilon"},
       .flops = flops_per_result<kLayerNorm>},
      {.domain = kContrib,
       .op = "SkipGroupNorm",
       .inert = {"epsilon"},
       .flops = flops_per_result<kSkipLayerNorm>},
  };
}

}  // namespace oplat::ir::ops
