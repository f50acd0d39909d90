// SPDX-License-Identifier: Apache-2.0
/// Measures what a machine's caches hold, look by look, in a worker (docs/adr/0051).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "measure/memory_look.hpp"
#include "table/memory_hierarchy.hpp"

namespace oplat::measure {

/// How far it is.
struct MemoryProgress {
  double share = 0;                             ///< of the work, 0 to 1
  std::int64_t pool_bytes = 0;                  ///< that is looked at
  std::optional<double> left_s = std::nullopt;  ///< until the end, once a pass is done
};

struct MemoryProbeRequest {
  table::Device device;  ///< whose reported sizes say where to begin and how far to go
  double max_seconds =
      20;  ///< no pass begins later; looks of large pools may last some seconds more
  std::function<double()> seconds = {};   ///< monotonic clock; empty: the system's
  std::function<bool()> stop_asked = {};  ///< asked between looks; empty: never
  std::function<void(const MemoryProgress&)> progress = {};
};

struct MeasuredMemory {
  table::MemoryHierarchy hierarchy;
  std::int64_t passes = 0;  ///< looks at each pool; at those added later fewer
  double seconds = 0;
  /// The largest pool that was wanted, and that memory allowed: where it is less than wanted, the
  /// last level may be larger than what was found.
  std::int64_t wanted_pool_bytes = 0, max_pool_bytes = 0;
};
/// Unsupported and Failed as in MemoryOutcome; Failed too where memory allows no pool to speak of.
using MeasuredMemoryOutcome = std::variant<MeasuredMemory, table::Unsupported, table::Failed>;

/// Passes over pools from half the core's own cache to four times the last level, alternately up
/// and down, until most of the time is over; then, where there is a last level, passes over waits
/// of up to 32 ms (table::MemoryWait). Code::Interrupted where `stop_asked` says so.
Result<MeasuredMemoryOutcome> measure_memory(const MemoryProbeRequest& request,
                                             const MemoryLooker& look);

}  // namespace oplat::measure
