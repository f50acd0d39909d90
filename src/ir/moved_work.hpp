// SPDX-License-Identifier: Apache-2.0
/// Work as far as it moves bytes.
#pragma once

#include <string_view>

#include "ir/work.hpp"

namespace oplat::ir {

/// Whether the operator of this name, in whatever domain, reads no more of its operands than it
/// writes (Gather, Slice, ...): an embedding reads a few lines of its table.
bool picks(std::string_view op);
/// Whether it reads no more of each constant than it writes: what picks, and rotary embeddings,
/// which read the rows of their positions in tables of cosines and sines.
bool picks_constants(std::string_view op);

/// work(), but an operator that picks reads no more of each operand than it writes, indices aside,
/// and a Resize that shrinks only the elements that its results depend on. Of Trilu only what it
/// writes, and of an If no result: its branch wrote it. A lower bound: a processor moves whole
/// lines of its caches.
Work moved_work(const Key& key, const Catalogue& catalogue);
/// The same of work() and the catalogue's entry for the operator; nullptr: it has none.
Work moved_work(Work stored, const Key& key, const OperatorInfo* info);

}  // namespace oplat::ir
