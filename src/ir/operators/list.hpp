// SPDX-License-Identifier: Apache-2.0
/// The families of oplat's own operators: one function per file, in the order of the list.
#pragma once

#include <vector>

#include "ir/catalogue.hpp"

namespace oplat::ir::ops {

std::vector<OperatorInfo> convolution();
std::vector<OperatorInfo> matmul();
std::vector<OperatorInfo> einsum();
std::vector<OperatorInfo> pooling();
std::vector<OperatorInfo> elementwise();
std::vector<OperatorInfo> normalisation();
std::vector<OperatorInfo> reduction();
std::vector<OperatorInfo> recurrent();
std::vector<OperatorInfo> attention();
std::vector<OperatorInfo> experts();
std::vector<OperatorInfo> movement();
std::vector<OperatorInfo> view();
std::vector<OperatorInfo> control();

inline constexpr std::vector<OperatorInfo> (*kFamilies[])() = {
    convolution, matmul,    einsum,  pooling,  elementwise, normalisation, reduction,
    recurrent,   attention, experts, movement, view,        control,
};

}  // namespace oplat::ir::ops
