// SPDX-License-Identifier: Apache-2.0
/// Kernels as other networks would have them: the same operator with other sizes.
#pragma once

#include <optional>

#include "base/random.hpp"
#include "ir/catalogue.hpp"
#include "ir/key.hpp"

namespace oplat::ir {

/// A kernel like this one whose sizes were drawn anew: each times exp(spread * normal), or kept in
/// one of three cases, so that a channel count stays a multiple of the power of two (at most 16)
/// that it was. Sizes that were equal stay equal, and the results are those that the operator gives
/// for them. Sizes up to 4 (images, batches of few) stay; a quarter of the convolutions is offered
/// another window, dilation or number of groups. std::nullopt if the operator
/// is one whose results it cannot work out, a constant's value or an attribute depends on a size,
/// or the kernel would be the same or absurdly large (2^31 operations or 2^28 bytes).
std::optional<Key> vary(const Key& key, double spread, const Catalogue& catalogue,
                        base::Random& random);

}  // namespace oplat::ir
