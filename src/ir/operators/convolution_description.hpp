// SPDX-License-Identifier: Apache-2.0
/// Numbers of two-dimensional convolutions (see ir/description.hpp).
#pragma once

#include <optional>

#include "oplat/ir/description.hpp"

namespace oplat::ir::ops {

/// `weights`: the operand that holds [M, C/group, height, width], or [M, height, width, C/group] if `filters_last`.
/// Nothing where the convolution is not two-dimensional or a size is unknown.
std::optional<Description> describe_convolution(const Key& key, std::size_t weights, bool channels_last,
                                                bool filters_last = false);

}  // namespace oplat::ir::ops
