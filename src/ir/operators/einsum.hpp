// SPDX-License-Identifier: Apache-2.0
/// What an Einsum multiplies.
#pragma once

#include <optional>

#include "ir/key.hpp"

namespace oplat::ir::ops {

struct EinsumProducts {
  double flops = 0;
  /// Matrix products, one for each combination of the labels that both factors and the result have.
  double calls = 0;
};
/// std::nullopt: the equation does not fit the operands, or a size is unknown.
std::optional<EinsumProducts> products_of_einsum(const Key& key);

}  // namespace oplat::ir::ops
