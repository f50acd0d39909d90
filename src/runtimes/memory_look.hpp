// SPDX-License-Identifier: Apache-2.0
/// The worker's side of the request `memory`: one look at what memory costs.
#pragma once

#include <cstdint>

#include "measure/memory_look.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

/// Bytes of the pool; 0: none is read, and the memory of earlier ones is given back.
struct MemoryRequest {
  std::int64_t pool_bytes = 0;
};

/// A pool takes a quarter of the memory that this process may still take (memory.hpp) at most, of
/// 256 MiB where the system does not say. One thread at a time.
measure::MemoryOutcome look_at_memory(const Worker& worker, const MemoryRequest& request);

}  // namespace oplat::runtimes
