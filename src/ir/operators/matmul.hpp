// SPDX-License-Identifier: Apache-2.0
/// The contraction of a matrix product.
#pragma once

#include <optional>

#include "ir/description.hpp"
#include "ir/key.hpp"

namespace oplat::ir::ops {

/// Rows of all batches against one matrix, or one product a batch where B has batches of its own.
/// Transposed and packed forms say nothing: their sizes are among the key's numbers all the same.
std::optional<Contraction> contraction_of_product(const Key& key);

}  // namespace oplat::ir::ops
