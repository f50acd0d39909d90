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

measure::MemoryOutcome look_at_memory(const Worker& worker,
                                      const measure::MemoryQuestion& question) {
  if (worker.virtual_time())
    return table::Unsupported{"its times are recorded, and say nothing about this machine"};
  // The largest pool so far is this process's, and may be used again.
  static std::int64_t held_bytes = 0;
  const auto available = available_memory();
  measure::MemoryAnswer answer;
  answer.max_pool_bytes =
      available ? (*available + held_bytes) / kPoolsInMemory : kAssumedMemoryBytes / kPoolsInMemory;
  if (question.pool_bytes == 0) {
    oplat_probe_release();
    held_bytes = 0;
    return answer;
  }
  if (question.pool_bytes > answer.max_pool_bytes) return answer;
  oplat_probe_look look{};
  double waited_ns = 0;
  const int error =
      question.wait_ns ? oplat_probe_memory_wait(question.pool_bytes, *question.wait_ns, &waited_ns)
                       : oplat_probe_memory_look(question.pool_bytes, &look);
  if (error != 0)
    return table::Failed{
        fmt::format("a look at a pool of {} bytes: {}", question.pool_bytes, std::strerror(error))};
  held_bytes = std::max(held_bytes, question.pool_bytes);
  if (question.wait_ns)
    answer.waited_chase_ns = waited_ns;
  else
    answer.look = measure::MemoryLook{question.pool_bytes, look.stream_ns, look.chase_ns};
  return answer;
}

}  // namespace oplat::runtimes
