// SPDX-License-Identifier: Apache-2.0
#include "runtimes/memory_look.hpp"

#include <algorithm>
#include <cstring>

#include "runtimes/memory.hpp"
#include "runtimes/probe.h"

namespace oplat::runtimes {
namespace {

constexpr std::int64_t kPoolsInMemory = 4;
constexpr std::int64_t kAssumedMemoryBytes = std::int64_t{256} << 20;

}  // namespace

measure::MemoryOutcome look_at_memory(const Worker& worker, const MemoryRequest& request) {
  if (worker.virtual_time())
    return table::Unsupported{"its times are recorded, and say nothing about this machine"};
  // The largest pool so far is this process's, and may be used again.
  static std::int64_t held_bytes = 0;
  const auto available = available_memory();
  measure::MemoryAnswer answer;
  answer.max_pool_bytes =
      available ? (*available + held_bytes) / kPoolsInMemory : kAssumedMemoryBytes / kPoolsInMemory;
  if (request.pool_bytes == 0) {
    oplat_probe_release();
    held_bytes = 0;
    return answer;
  }
  if (request.pool_bytes > answer.max_pool_bytes) return answer;
  oplat_probe_look look{};
  const int error = oplat_probe_memory_look(request.pool_bytes, &look);
  if (error != 0)
    return table::Failed{
        fmt::format("a look at a pool of {} bytes: {}", request.pool_bytes, std::strerror(error))};
  held_bytes = std::max(held_bytes, request.pool_bytes);
  answer.look = measure::MemoryLook{request.pool_bytes, look.stream_ns, look.chase_ns};
  return answer;
}

}  // namespace oplat::runtimes
