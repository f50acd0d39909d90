// SPDX-License-Identifier: Apache-2.0
/// Pooling: one operation for each place of the window of every result, places in the padding
/// included, so that the count depends on few numbers; global pooling: one for each element read.
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"
#include "ir/operators/window.hpp"

namespace oplat::ir::ops {
namespace {

/// Dilations came to MaxPool, AveragePool and LpPool with these versions.
template <int kDilatedSince>
void canonicalise_pool(Key& key) {
  canonicalise_window(key, {.dilations = key.since.value_or(0) >= kDilatedSince});
}

/// ONNX Runtime's quantised pooling has no dilations attribute.
void canonicalise_qlinear_pool(Key& key) {
  canonicalise_window(key,
                      {.channels_last = integer(key, "channels_last") == 1, .dilations = false});
}

void canonicalise_nhwc_pool(Key& key) { canonicalise_window(key, {.channels_last = true}); }

std::optional<double> flops_pooling(const Key& key) {
  const auto results = elements(key.result(0));
  const auto kernel = integers(key, "kernel_shape");
  if (!results || !kernel) return std::nullopt;
  double places = 1;
  for (const std::int64_t size : *kernel) places *= static_cast<double>(size);
  return *results * places;
}

std::optional<Description> describe_image_pool(const Key& key) { return describe_pool(key, false); }

std::optional<Description> describe_nhwc_pool(const Key& key) { return describe_pool(key, true); }

std::optional<Description> describe_qlinear_pool(const Key& key) {
  return describe_pool(key, integer(key, "channels_last").value_or(0) != 0);
}

}  // namespace

std::vector<OperatorInfo> pooling() {
  return {
      {.domain = "",
       .op = "MaxPool",
       .canonicalise = canonicalise_pool<10>,
       .flops = flops_pooling,
       .describe = describe_image_pool},
      {.domain = "",
       .op = "AveragePool",
       .canonicalise = canonicalise_pool<19>,
       .flops = flops_pooling,
       .describe = describe_image_pool},
      {.domain = "",
       .op = "LpPool",
       .canonicalise = canonicalise_pool<18>,
       .flops = flops_pooling,
       .describe = describe_image_pool},
      {.domain = "",
       .op = "GlobalMaxPool",
       .flops = flops_per_operand<1>,
       .describe = describe_global_pool},
      {.domain = "",
       .op = "GlobalAveragePool",
       .flops = flops_per_operand<1>,
       .describe = describe_global_pool},
      {.domain = "",
       .op = "GlobalLpPool",
       .flops = flops_per_operand<1>,
       .describe = describe_global_pool},
      {.domain = kNchwc,
       .op = "MaxPool",
       .canonicalise = canonicalise_pool<1>,
       .flops = flops_pooling,
       .describe = describe_image_pool},
      {.domain = kNchwc,
       .op = "AveragePool",
       .canonicalise = canonicalise_pool<1>,
       .flops = flops_pooling,
       .describe = describe_image_pool},
      {.domain = kNchwc,
       .op = "GlobalMaxPool",
       .flops = flops_per_operand<1>,
       .describe = describe_global_pool},
      {.domain = kNchwc,
       .op = "GlobalAveragePool",
       .flops = flops_per_operand<1>,
       .describe = describe_global_pool},
      {.domain = kContrib,
       .op = "NhwcMaxPool",
       .canonicalise = canonicalise_nhwc_pool,
       .flops = flops_pooling,
       .describe = describe_nhwc_pool},
      {.domain = kContrib,
       .op = "QLinearAveragePool",
       .unprinted_operands = {2, 4},
       .canonicalise = canonicalise_qlinear_pool,
       .flops = flops_pooling,
       .describe = describe_qlinear_pool},
      {.domain = kContrib,
       .op = "QLinearGlobalAveragePool",
       .unprinted_operands = {2, 4},
       .flops = flops_per_operand<1>},
  };
}

}  // namespace oplat::ir::ops
