// SPDX-License-Identifier: Apache-2.0
/// Catalogue entries of Paddle's operators.
#pragma once

#include <string_view>
#include <vector>

#include "ir/operator_info.hpp"

namespace oplat::compat::paddleslim {

/// Of Paddle-Lite, in the domain "paddle_lite".
std::vector<ir::OperatorInfo> lite_operators();
/// Of Paddle itself, in the domain of its own kernels ("paddle") or of oneDNN's ("paddle.onednn").
/// `domain` must be a literal.
std::vector<ir::OperatorInfo> runtime_operators(std::string_view domain);

}  // namespace oplat::compat::paddleslim
