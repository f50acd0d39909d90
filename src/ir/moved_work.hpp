// SPDX-License-Identifier: Apache-2.0
/// Work as far as it moves bytes.
#pragma once

#include <string_view>

#include "ir/work.hpp"

namespace oplat::ir {

/// Whether the operator of this name reads no more of its operands than it writes (Gather, Slice,
/// ...): an embedding reads a few lines of its table.
bool picks(std::string_view op);

/// work(), but an operator that picks reads no more of its constants, and of its other operands,
/// than it writes. Of Trilu only what it writes, and of an If no result: its branch wrote it.
Work moved_work(const Key& key, const Catalogue& catalogue);

}  // namespace oplat::ir
