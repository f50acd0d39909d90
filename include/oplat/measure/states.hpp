// SPDX-License-Identifier: Apache-2.0
/// The cache states in which a kernel is measured (docs/measuring.md): hot always, cold where the weights are large
/// enough to make a difference.
#pragma once

#include <cstdint>

#include "oplat/ir/work.hpp"
#include "oplat/table/records.hpp"

namespace oplat::measure {

enum class CacheState { Hot, Cold };

struct State {
  CacheState kind = CacheState::Hot;
  double reuse_bytes = 0;        ///< bytes touched between two uses of one weight byte: what the row stores
  std::int64_t scrub_bytes = 0;  ///< read before every timed call; 0 when hot
  friend bool operator==(const State&, const State&) = default;
};

/// "hot", "cold".
const char* name(CacheState state);

/// Copies that share their weights touch the kernel's own bytes between two uses of one weight byte.
State hot_state(const ir::Work& work);
/// Three times the last-level cache is read in between; 64 MiB are assumed where the device does not say its size.
State cold_state(const table::Device& device);

/// Whether the weights are so small (below 64 KiB) that cold equals hot whatever the hot time.
bool always_hot(const ir::Work& work);
/// Whether reading the weights at 10 GB/s takes 2 % of the hot time or more.
bool needs_cold(const ir::Work& work, double hot_ns);

}  // namespace oplat::measure
