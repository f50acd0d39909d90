// SPDX-License-Identifier: Apache-2.0
/// What becomes of numbers in a chain of copies of one kernel.
#pragma once

#include "ir/key.hpp"

namespace oplat::ir {

/// Whether copies of a kernel of ONNX Runtime, each reading what the one before gave, would compute
/// with other numbers than those that were made up, so that they take another time: powers and
/// squares, functions that are quicker for some values, and what halves small numbers.
bool drifts_in_chain(const Key& key);

/// Whether a row of this key whose copies were a chain is of another kernel than the key's, as rows
/// of before docs/adr/0099 are: of operators that drift, and of those that were taken to copy an
/// operand over which they write in a chain.
bool is_another_in_chain(const Key& key);

}  // namespace oplat::ir
