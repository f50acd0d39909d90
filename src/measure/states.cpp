// SPDX-License-Identifier: Apache-2.0
/// Which cache states a kernel gets, and what each means in bytes.
#include "measure/states.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::measure {
namespace {

constexpr double kMinEvictedWeightBytes = 64 * 1024;
constexpr double kMemoryBytesPerNs = 10;  // 10 GB/s, one core of a modest machine
constexpr double kLastLevelBytesPerNs =
    40;  // what the last level gives less than the core's own cache, as a rate
constexpr double kMinShare = 0.02;
constexpr std::int64_t kPoolsOfSecondLevel = 4;
constexpr std::int64_t kMaxPoolCopies = 256;  // as many nodes as any measurement has
constexpr std::int64_t kScrubsOfCache = 3;
constexpr std::int64_t kAssumedCacheBytes = std::int64_t{64} << 20;
// Server parts report caches of 1 GiB that one core cannot fill anyway; the scrub would take longer
// than the block.
constexpr std::int64_t kMaxScrubBytes = std::int64_t{1} << 30;

}  // namespace

const char* name(CacheState state) {
  switch (state) {
    case CacheState::Hot:
      return "hot";
    case CacheState::LastLevel:
      return "last-level";
    case CacheState::Cold:
      return "cold";
  }
  return "hot";
}

State hot_state(const ir::Work& work) { return {CacheState::Hot, work.bytes(), 0, 0}; }

std::optional<State> last_level_state(const ir::Work& work, const table::Device& device) {
  const std::int64_t pool = device.l2_bytes * kPoolsOfSecondLevel;
  // A last level that the pool half fills would lose weights to whatever else runs.
  if (device.l2_bytes <= 0 || device.llc_bytes < 2 * pool || always_hot(work)) return std::nullopt;
  if (hot_state(work).reuse_bytes >= 2 * static_cast<double>(device.l2_bytes)) return std::nullopt;
  const double wanted = std::ceil(static_cast<double>(pool) / work.bytes_weights);
  const auto copies =
      static_cast<std::int64_t>(std::min(wanted, static_cast<double>(kMaxPoolCopies)));
  return State{CacheState::LastLevel, static_cast<double>(pool), 0, copies};
}

State cold_state(const table::Device& device) {
  const std::int64_t cache = device.llc_bytes > 0 ? device.llc_bytes : kAssumedCacheBytes;
  const std::int64_t scrub = std::min(cache, kMaxScrubBytes) * kScrubsOfCache;
  const std::int64_t bounded = std::min(scrub, kMaxScrubBytes);
  return {CacheState::Cold, static_cast<double>(bounded), bounded, 0};
}

std::vector<State> further_states(const ir::Work& work, const table::Device& device) {
  std::vector<State> states;
  if (always_hot(work)) return states;
  if (const auto last = last_level_state(work, device)) states.push_back(*last);
  // A kernel that touches more than the scrub is as cold as it gets when hot.
  if (const State cold = cold_state(device); cold.reuse_bytes > hot_state(work).reuse_bytes)
    states.push_back(cold);
  return states;
}

bool always_hot(const ir::Work& work) { return work.bytes_weights < kMinEvictedWeightBytes; }

bool needs(CacheState state, const ir::Work& work, double hot_ns) {
  if (state == CacheState::Hot) return true;
  const double rate = state == CacheState::Cold ? kMemoryBytesPerNs : kLastLevelBytesPerNs;
  return !always_hot(work) && work.bytes_weights / rate >= kMinShare * hot_ns;
}

}  // namespace oplat::measure
