// SPDX-License-Identifier: Apache-2.0
/// Keys that are typed: whether an operator of ONNX can have such operands at all.
#pragma once

#include "base/result.hpp"
#include "ir/key.hpp"

namespace oplat::app {

/// Code::Usage says why no operator computes the key: the sizes of a product or convolution
/// contradict each other, or a window moves by less than 1. What the key leaves open, and operators
/// of other domains, are not looked at.
Status check_possible(const ir::Key& key);

}  // namespace oplat::app
