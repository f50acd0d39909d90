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
/// that it was; in one of five cases of a smaller one, where no layout has blocks. Operators
/// without weights get a wider spread in half of the cases. Sizes that were equal stay equal, as a
/// rule, and the results are those that the operator gives for them. Sizes up to 4 (images, batches
/// of few) stay. In some cases it gets another form, too: window, step, dilation, groups or
/// activation of a convolution; axes of a reduction; order of a transpose; number of joined
/// tensors; rows of a product; what is broadcast.
///
/// std::nullopt if the operator is one whose results it cannot work out, or the kernel would be the
/// same or absurdly large (2^31 operations or 2^28 bytes).
std::optional<Key> vary(const Key& key, double spread, const Catalogue& catalogue,
                        base::Random& random);

}  // namespace oplat::ir
