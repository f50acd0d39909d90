// SPDX-License-Identifier: Apache-2.0
/// What a node on sequences, maps or optional values costs, which cannot be measured by itself.
#pragma once

#include <optional>
#include <string_view>

#include "estimate/estimate.hpp"

namespace oplat::predict {

/// Spread of such an estimate: a factor of about 6 either way at a level of 90 %.
inline constexpr double kNodeOverheadSd = 1.1;

/// An estimate for a key of an ONNX operator with an operand or result that is not a tensor, so
/// that nothing says how to build its kernel: what `dispatch` (of the smallest kernel) takes, and
/// what the tensors that the key does state take to be copied, element by element into maps.
/// std::nullopt for every other key.
std::optional<estimate::Estimate> node_overhead(std::string_view key,
                                                const estimate::Estimate& dispatch);

}  // namespace oplat::predict
