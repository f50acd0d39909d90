// SPDX-License-Identifier: Apache-2.0
/// Numbers of two-dimensional convolutions (see ir/description.hpp).
#pragma once

#include <optional>

#include "ir/operators/arguments.hpp"
#include "oplat/ir/description.hpp"

namespace oplat::ir::ops {

/// Every result is a sum over one filter, of which the weights, operand kWeights, hold as many as their first size says:
/// [M, C/group, spatial...] or [M, spatial..., C/group].
template <std::size_t kWeights>
std::optional<double> flops_per_filter(const Key& key) {
  const TensorEntry* weights = key.operand(kWeights);
  const auto results = elements(key.result(0));
  const auto weight_count = elements(weights);
  const auto filters = dim(weights, 0);
  if (!results || !weight_count || !filters) return std::nullopt;
  if (*filters == 0) return 0.0;
  return 2 * *results * (*weight_count / static_cast<double>(*filters));
}

/// `weights`: the operand that holds [M, C/group, height, width], or [M, height, width, C/group] if `filters_last`.
/// Nothing where the convolution is not two-dimensional or a size is unknown.
std::optional<Description> describe_convolution(const Key& key, std::size_t weights, bool channels_last,
                                                bool filters_last = false);

}  // namespace oplat::ir::ops
