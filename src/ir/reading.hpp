// SPDX-License-Identifier: Apache-2.0
/// How kernels take operands that lie far from their core.
#pragma once

#include "ir/key.hpp"

namespace oplat::ir {

class Catalogue;

/// Of an operand that another core wrote (docs/adr/0101).
enum class Reading {
  Waits,     ///< few operations a byte, or in no simple order: it waits for most of them
  Computes,  ///< products, which multiply meanwhile
  Ahead      ///< copies of whole runs, and functions that take long: they are there in time
};
/// By the operator's name where nothing else tells. Thread-safe.
Reading reading_of(const Key& key, const Catalogue& catalogue);

}  // namespace oplat::ir
