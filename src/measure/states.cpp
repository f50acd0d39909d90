// SPDX-License-Identifier: Apache-2.0
/// Which cache states a kernel gets, and what each means in bytes.
#include "oplat/measure/states.hpp"

#include <algorithm>

namespace oplat::measure {
namespace {

constexpr double kLeastColdWeightBytes = 64 * 1024;
constexpr double kMemoryBytesPerNs = 10;  // 10 GB/s, one core of a modest machine
constexpr double kLeastColdShare = 0.02;
constexpr std::int64_t kScrubsOfCache = 3;
constexpr std::int64_t kAssumedCacheBytes = std::int64_t{64} << 20;
// Server parts report caches of 1 GiB that one core cannot fill anyway; the scrub would take longer than the block.
constexpr std::int64_t kMostScrubBytes = std::int64_t{1} << 30;

}  // namespace

const char* name(CacheState state) { return state == CacheState::Hot ? "hot" : "cold"; }

State hot_state(const ir::Work& work) { return {CacheState::Hot, work.bytes(), 0}; }

State cold_state(const table::Device& device) {
  const std::int64_t cache = device.llc_bytes > 0 ? device.llc_bytes : kAssumedCacheBytes;
  const std::int64_t scrub = std::min(cache, kMostScrubBytes) * kScrubsOfCache;
  const std::int64_t bounded = std::min(scrub, kMostScrubBytes);
  return {CacheState::Cold, static_cast<double>(bounded), bounded};
}

bool always_hot(const ir::Work& work) { return work.bytes_weights < kLeastColdWeightBytes; }

bool needs_cold(const ir::Work& work, double hot_ns) {
  return !always_hot(work) && work.bytes_weights / kMemoryBytesPerNs >= kLeastColdShare * hot_ns;
}

}  // namespace oplat::measure
