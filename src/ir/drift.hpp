// SPDX-License-Identifier: Apache-2.0
/// What becomes of numbers in a chain of copies of one kernel.
#pragma once

#include "ir/key.hpp"

namespace oplat::ir {

/// Whether copies of a kernel of ONNX Runtime, each reading what the one before gave, would be of
/// another kernel than the key's, unless it is in place, where there must be a chain. Numbers
/// drift, so that copies take another time: of powers and squares, of functions that are quicker
/// for some values, and of what halves small numbers. Others write over the operand that the key
/// has them copy. Rows of before docs/adr/0099 may be of such a chain.
bool is_another_in_chain(const Key& key);

}  // namespace oplat::ir
