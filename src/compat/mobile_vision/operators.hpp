// SPDX-License-Identifier: Apache-2.0
/// Catalogue entries of Caffe2's operators.
#pragma once

#include <vector>

#include "ir/operator_info.hpp"

namespace oplat::compat::mobile_vision {

/// In the domain "caffe2".
std::vector<ir::OperatorInfo> caffe2_operators();

}  // namespace oplat::compat::mobile_vision
