// SPDX-License-Identifier: Apache-2.0
/// The worker's side of the request `memory`: one look at what memory costs.
#pragma once

#include "measure/memory_look.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// With no bytes the memory of earlier pools is given back. A pool takes a quarter of the memory
/// that this process may still take (memory.hpp) at most, of 256 MiB where the system does not say.
/// One thread at a time.
measure::MemoryOutcome look_at_memory(const Worker& worker,
                                      const measure::MemoryQuestion& question);

}  // namespace oplat::runtimes
