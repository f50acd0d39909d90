// SPDX-License-Identifier: Apache-2.0
/// What the cache states of a kernel are about (docs/adr/0023): where its weights lie when it starts, or, of a kernel with
/// next to none, its operands and results.
#pragma once

#include "oplat/ir/work.hpp"

namespace oplat::ir {

enum class Evicted {
  Nothing,   ///< neither is large enough to matter: every state equals hot
  Weights,   ///< the constant operands; the others lie where the kernel before left them
  Operands,  ///< what it reads and does not overwrite, and its results
};

/// Weights of 64 KiB or more, else operands and results of as much, without those that lie over one another: what a kernel
/// overwrites, the one before has just written.
Evicted evicted_of(const Work& work);
/// The bytes of that; 0 for Nothing.
double evicted_bytes(const Work& work);

}  // namespace oplat::ir
