// SPDX-License-Identifier: Apache-2.0
/// What the measure layer asks of a machine's memory, one pool at a time (docs/adr/0051). Workers
/// answer it where their kernels run (docs/reference/worker-protocol.md, `memory`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "base/result.hpp"
#include "table/records.hpp"

namespace oplat::measure {

/// Bytes of the cache line that costs are of, whatever the machine's.
inline constexpr double kLineBytes = 64;

/// What a cache line costs if `pool_bytes` were read since its last use.
struct MemoryLook {
  std::int64_t pool_bytes = 0;
  double stream_ns = 0;  ///< read in order
  double chase_ns = 0;   ///< at random, each load waiting for the one before
};

/// What is asked of a worker.
struct MemoryQuestion {
  std::int64_t pool_bytes = 0;  ///< 0: only how large a pool may be
  /// std::nullopt: an ordinary look. Else only loads at random are timed, once, so long after the
  /// last use, in which this process touches no memory: what they cost more, others took.
  std::optional<std::int64_t> wait_ns = std::nullopt;
};

struct MemoryAnswer {
  std::int64_t max_pool_bytes = 0;  ///< a larger pool would take memory that others need
  std::optional<MemoryLook> look;   ///< nothing: none was asked for, or the pool was larger
  /// ns of a load after the wait; std::nullopt if no wait was asked for, the pool was larger, or
  /// the worker is of an earlier oplat
  std::optional<double> waited_chase_ns = std::nullopt;
};
/// Unsupported: this worker has no times of this machine, or does not know the question.
using MemoryOutcome = std::variant<MemoryAnswer, table::Unsupported, table::Failed>;

/// Error only where the worker is lost for good or the user asked to stop.
using MemoryLooker = std::function<Result<MemoryOutcome>(const MemoryQuestion&)>;

}  // namespace oplat::measure
