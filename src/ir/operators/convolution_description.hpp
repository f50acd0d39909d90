// SPDX-License-Identifier: Apache-2.0
/// Numbers of convolutions of images and signals (see ir/description.hpp).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/description.hpp"
#include "ir/operators/arguments.hpp"

namespace oplat::ir::ops {

/// Whether an operator that may have its channels first or last says that they are last.
bool channels_last(const Key& key);

/// 2 x operand elements x all sizes of the weights but the first; std::nullopt if a size is
/// unknown.
std::optional<double> flops_of_spread(const TensorEntry* image, const TensorEntry* weights);

/// Every result is a sum over one filter, of which the weights, operand kWeights, hold as many as
/// their first size says: [M, C/group, spatial...] or [M, spatial..., C/group].
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

/// A transposed convolution spreads every operand element through its channel's filters, [M/group,
/// spatial...] of weights [C, M/group, spatial...]. The first size is not looked at: texts of other
/// systems may put the result's channels there.
template <std::size_t kWeights>
std::optional<double> flops_per_spread(const Key& key) {
  return flops_of_spread(key.operand(0), key.operand(kWeights));
}

/// `weights`: the operand that holds [M, C/group, height, width], or [M, height, width, C/group] if
/// `filters_last`; a signal has no height. std::nullopt if the convolution has more dimensions or a
/// size is unknown.
std::optional<Description> describe_convolution(const Key& key, std::size_t weights,
                                                bool channels_last, bool filters_last = false);

/// A transposed convolution as the product of its places with its filters; weights are operand 1,
/// [C, M/group, spatial...]. std::nullopt if a size is unknown or none.
std::optional<Contraction> contraction_of_spread(const Key& key);

/// Whether a convolution multiplies the image as it lies: its windows are single places, and none
/// is passed over or outside.
bool is_plain(const Key& key, const Contraction& product);
/// Whether MlasConv does: also where one channel meets a window as wide as its image, or as high
/// and of one column, none of them moved by more than a place.
bool is_direct(const Key& key, const Contraction& product);

/// Of a convolution or product of ONNX Runtime; nothing of other systems' operators.
Windows windows_of(const Key& key, const Contraction& product, Factors factors);

/// Counts of a convolution's work what its `threads` threads cannot share evenly as if they did, so
/// that it takes as long: `flops` and `windows.unfolded` of `description`, whose contraction is
/// set.
void share_among_threads(const Key& key, std::int64_t threads, Description& description);

}  // namespace oplat::ir::ops
