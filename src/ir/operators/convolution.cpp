// SPDX-License-Identifier: Apache-2.0
/// Convolutions. A multiply-add counts as two operations. What a kernel does to a finished sum
/// (bias, a fused Sum, an activation, requantisation) is not counted: it is one operation per
/// result next to hundreds, and other counters leave it out too. The operands it reads are counted
/// in bytes.
#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"
#include "ir/operators/list.hpp"
#include "ir/operators/scratch.hpp"
#include "ir/operators/window.hpp"

namespace oplat::ir::ops {
namespace {

void canonicalise_conv(Key& key) { canonicalise_window(key, {.weights = 1}); }
void canonicalise_qlinear(Key& key) {
  canonicalise_window(key, {.weights = 3, .channels_last = channels_last(key)});
}
void canonicalise_nhwc(Key& key) {
  canonicalise_window(key, {.weights = 1, .channels_last = true});
}

void canonicalise_transposed(Key& key) {
  canonicalise_window(key, {.weights = 1, .transposed = true});
  if (const auto kernel = integers(key, "kernel_shape"); kernel && kernel->size() <= 16) {
    fill_attribute(key, "output_padding",
                   Value::ints(std::vector<std::int64_t>(kernel->size(), 0)));
  }
}

template <std::size_t kWeights, bool kChannelsLast = false>
std::optional<Description> describe(const Key& key) {
  return describe_convolution(key, kWeights, kChannelsLast);
}

std::optional<Description> describe_qlinear(const Key& key) {
  return describe_convolution(key, 3, channels_last(key));
}

/// By the numbers of a convolution, of whose filters each channel of the operand has one.
std::optional<Description> describe_transposed(const Key& key) {
  auto description = describe_convolution(key, 1, false);
  if (description) description->contraction = contraction_of_spread(key);
  return description;
}

}  // namespace

// Operand 3 is the fused Sum, over which ONNX Runtime's CPU kernels may write (MayInplace(3, 0) in
// contrib_ops/cpu/nchwc_ops.cc and contrib_ops/cpu/fused_conv.cc).
std::vector<OperatorInfo> convolution() {
  // Weights, bias and the zero points of the activations. That of the weights (operand 5) is
  // printed: 0 has kernels of its own.
  const std::vector<std::size_t> unprinted = {2, 3, 7, 8};
  return {
      {.domain = "",
       .op = "Conv",
       .canonicalise = canonicalise_conv,
       .flops = flops_per_filter<1>,
       .describe = describe<1>},
      {.domain = "",
       .op = "ConvInteger",
       .unprinted_operands = {1, 2},
       .canonicalise = canonicalise_conv,
       .flops = flops_per_filter<1>,
       .scratch = scratch_of_integers,
       .describe = describe<1>},
      {.domain = "",
       .op = "QLinearConv",
       .unprinted_operands = unprinted,
       .canonicalise = canonicalise_qlinear,
       .flops = flops_per_filter<3>,
       .scratch = scratch_of_qlinear,
       .describe = describe_qlinear},
      {.domain = "",
       .op = "ConvTranspose",
       .canonicalise = canonicalise_transposed,
       .flops = flops_per_spread<1>,
       .scratch = scratch_of_spread,
       .describe = describe_transposed,
       .contraction = contraction_of_spread},
      // Its sampling of the image between pixels is not counted.
      {.domain = "", .op = "DeformConv", .flops = flops_per_filter<1>},
      {.domain = kContrib,
       .op = "ConvTransposeWithDynamicPads",
       .flops = flops_per_spread<1>,
       .scratch = scratch_of_spread,
       .contraction = contraction_of_spread},
      {.domain = kContrib, .op = "NhwcConv", .flops = flops_per_filter<1>},
      {.domain = kNchwc,
       .op = "Conv",
       .overwritable = {3},
       .canonicalise = canonicalise_conv,
       .flops = flops_per_filter<1>,
       .describe = describe<1>},
      {.domain = kContrib,
       .op = "FusedConv",
       .overwritable = {3},
       .canonicalise = canonicalise_conv,
       .flops = flops_per_filter<1>,
       .describe = describe<1>},
      {.domain = kContrib,
       .op = "NhwcFusedConv",
       .overwritable = {3},
       .canonicalise = canonicalise_nhwc,
       .flops = flops_per_filter<1>,
       .describe = describe<1, true>},
      {.domain = kContrib,
       .op = "QLinearConv",
       .unprinted_operands = unprinted,
       .canonicalise = canonicalise_qlinear,
       .flops = flops_per_filter<3>,
       .scratch = scratch_of_qlinear,
       .describe = describe_qlinear},
  };
}

}  // namespace oplat::ir::ops
