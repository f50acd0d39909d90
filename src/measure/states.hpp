// SPDX-License-Identifier: Apache-2.0
/// The cache states in which a kernel is measured (docs/guide/measuring.md): hot always, the others
/// where the weights are large enough to make a difference.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/work.hpp"
#include "table/memory_hierarchy.hpp"
#include "table/records.hpp"

namespace oplat::measure {

/// Where the weights are when the kernel starts: as near as its own size allows, pushed out of the
/// core's own cache into the last level, or in memory.
enum class CacheState { Hot, LastLevel, Cold };

struct State {
  CacheState kind = CacheState::Hot;
  double reuse_bytes =
      0;  ///< bytes touched between two uses of one weight byte: what the row stores
  std::int64_t scrub_bytes = 0;  ///< read before every timed call; 0: nothing
  std::int64_t copies =
      0;  ///< with weights of their own, of which the state consists; 0: the slope decides
  friend bool operator==(const State&, const State&) = default;
};

/// "hot", "last-level", "cold".
const char* name(CacheState state);

/// Copies that share their weights touch the kernel's own bytes between two uses of one weight
/// byte.
State hot_state(const ir::Work& work);
/// What was measured of the memory of a device (docs/adr/0051); nothing: its reported sizes count.
using Memory = std::optional<table::MemoryHierarchy>;

/// Copies with weights of their own, in all four times the core's second-level cache, run in turn:
/// between two uses of a weight byte all others are touched, as in a network. Where memory was
/// measured, the pool lies between the core's own cache and where the last level begins to lose
/// data. std::nullopt if there is no such level: none was found or, where nothing was measured, the
/// device does not say its sizes or the last level is less than twice the pool; or where the kernel
/// alone passes twice the second level and so is there when hot.
std::optional<State> last_level_state(const ir::Work& work, const table::Device& device,
                                      const Memory& memory = {});
/// What is read in between is three times the reported last-level cache, 64 MiB of it where the
/// device does not say its size. Above 128 MiB it is what was measured to empty every cache.
State cold_state(const table::Device& device, const Memory& memory = {});
/// The states besides hot in which this kernel may have to be measured on this device, by rising
/// reuse_bytes; which ones have to be, `needs` says once the hot time is known.
std::vector<State> further_states(const ir::Work& work, const table::Device& device,
                                  const Memory& memory = {});

/// Whether the weights are so small (below 64 KiB) that every state equals hot whatever the hot
/// time.
bool always_hot(const ir::Work& work);
/// Whether reading the weights takes 2 % of the hot time or more: from memory at 10 GB/s when cold,
/// from the last level at 40 GB/s.
bool needs(CacheState state, const ir::Work& work, double hot_ns);

}  // namespace oplat::measure
