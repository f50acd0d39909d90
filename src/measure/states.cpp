// SPDX-License-Identifier: Apache-2.0
/// Which cache states a kernel gets, and what each means in bytes.
#include "measure/states.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::measure {
namespace {

constexpr double kLastLevelBytesPerNs =
    40;  // what the last level gives less than the core's own cache, as a rate
// Of the hot time, that reading the weights must take for the state to be measured.
constexpr double kMinShareOfHot = 0.02;
constexpr std::int64_t kPoolsOfSecondLevel = 4;
constexpr std::int64_t kMaxPoolCopies = 256;  // as many nodes as any measurement has
constexpr std::int64_t kScrubsOfCache = 3;
constexpr std::int64_t kAssumedCacheBytes = std::int64_t{64} << 20;
// Server parts report caches of 1 GiB that one core cannot fill anyway; the scrub would take longer
// than the block.
constexpr std::int64_t kMaxScrubBytes = std::int64_t{1} << 30;
// Other tenants may leave more of the cache when a block runs than they left to the look. So
// measured memory lowers a scrub that takes long, and none below this.
constexpr std::int64_t kShortScrubBytes = std::int64_t{128} << 20;

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

namespace {

/// Bytes of the pool of the last level's state; nothing: there is no such state.
std::optional<std::int64_t> last_level_pool(const table::Device& device, const Memory& memory) {
  const std::int64_t pool = device.l2_bytes * kPoolsOfSecondLevel;
  if (!memory || memory->levels.size() < 2) {
    // A last level that the pool half fills would lose weights to whatever else runs.
    if (device.l2_bytes <= 0 || device.llc_bytes < 2 * pool) return std::nullopt;
    return pool;
  }
  if (!memory->has_last_level() || !memory->own || !memory->last) return std::nullopt;
  const double low = memory->own->hi_bytes;
  const double high = memory->last->middle.lo_bytes;
  if (!(low < high)) return std::nullopt;
  const bool fits = static_cast<double>(pool) >= low && static_cast<double>(pool) <= high;
  return fits ? pool : static_cast<std::int64_t>(std::sqrt(low * high));
}

}  // namespace

std::optional<State> last_level_state(const ir::Work& work, const table::Device& device,
                                      const Memory& memory) {
  const auto pool = last_level_pool(device, memory);
  if (!pool || always_hot(work)) return std::nullopt;
  // With the own cache's size unknown, half of the pool is behind it.
  const double passed =
      device.l2_bytes > 0 ? table::kOwnCachesThatLoseWeights * static_cast<double>(device.l2_bytes)
                          : static_cast<double>(*pool) / 2;
  if (hot_state(work).reuse_bytes >= passed) return std::nullopt;
  const double wanted = std::ceil(static_cast<double>(*pool) / work.bytes_weights);
  const auto copies =
      static_cast<std::int64_t>(std::min(wanted, static_cast<double>(kMaxPoolCopies)));
  return State{CacheState::LastLevel, static_cast<double>(*pool), 0, copies};
}

State cold_state(const table::Device& device, const Memory& memory) {
  const std::int64_t cache = device.llc_bytes > 0 ? device.llc_bytes : kAssumedCacheBytes;
  const std::int64_t reported = std::min(cache, kMaxScrubBytes) * kScrubsOfCache;
  const std::int64_t scrub =
      memory && memory->scrub_bytes
          ? std::max(*memory->scrub_bytes, std::min(reported, kShortScrubBytes))
          : reported;
  const std::int64_t bounded = std::min(scrub, kMaxScrubBytes);
  return {CacheState::Cold, static_cast<double>(bounded), bounded, 0};
}

std::vector<State> further_states(const ir::Work& work, const table::Device& device,
                                  const Memory& memory) {
  std::vector<State> states;
  if (always_hot(work)) return states;
  if (const auto last = last_level_state(work, device, memory)) states.push_back(*last);
  // A kernel that touches more than the scrub is as cold as it gets when hot.
  if (const State cold = cold_state(device, memory); cold.reuse_bytes > hot_state(work).reuse_bytes)
    states.push_back(cold);
  return states;
}

bool always_hot(const ir::Work& work) { return work.bytes_weights < table::kMinEvictedWeightBytes; }

bool needs(CacheState state, const ir::Work& work, double hot_ns) {
  if (state == CacheState::Hot) return true;
  const double rate =
      state == CacheState::Cold ? table::kModestMemoryBytesPerNs : kLastLevelBytesPerNs;
  return !always_hot(work) && work.bytes_weights / rate >= kMinShareOfHot * hot_ns;
}

}  // namespace oplat::measure
