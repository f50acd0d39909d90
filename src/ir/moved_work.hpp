// SPDX-License-Identifier: Apache-2.0
/// Work as far as it moves bytes.
#pragma once

#include "ir/work.hpp"

namespace oplat::ir {

/// work(), but an operator that picks from its operands (Gather, Slice, ...) reads no more of its
/// constants, and of its other operands, than it writes: an embedding reads a few lines of its
/// table. Of Trilu only what it writes.
Work moved_work(const Key& key, const Catalogue& catalogue);

}  // namespace oplat::ir
