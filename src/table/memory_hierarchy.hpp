// SPDX-License-Identifier: Apache-2.0
/// What was measured of a machine's caches (docs/adr/0051): measuring writes it, documents and
/// predicting read it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace oplat::table {

/// Bytes per ns (10 GB/s) that one core of a modest machine reads from memory: where a decision
/// needs a rate before one was measured.
inline constexpr double kModestMemoryBytesPerNs = 10;
/// Weights of fewer bytes are measured hot alone: whether they come from further away costs little.
inline constexpr double kMinEvictedWeightBytes = 64 * 1024;
/// A kernel whose own bytes are so many times the core's own cache has lost its weights when it
/// comes again: its hot row is of that state.
inline constexpr double kOwnCachesThatLoseWeights = 2;

/// What one cache line of 64 bytes costs if `pool_bytes` were read since its last use, over several
/// looks at different times: the lower quartiles and, as `high`, the upper ones.
struct MemoryPoint {
  std::int64_t pool_bytes = 0;
  double stream_ns = 0;  ///< read in order, as weights are
  double chase_ns = 0;   ///< at random, each load waiting for the one before
  double stream_high_ns = 0;
  double chase_high_ns = 0;
  friend bool operator==(const MemoryPoint&, const MemoryPoint&) = default;
};

/// What a load at random cost after a time in which its process touched no memory, as the geometric
/// mean of several at different times: what it costs more than one from the last level, others took
/// (docs/adr/0095).
struct MemoryWait {
  std::int64_t pool_bytes = 0;  ///< that had been read since the last use
  double wait_ns = 0;           ///< since the last use; 0: as soon as the pool was read
  double chase_ns = 0;
  friend bool operator==(const MemoryWait&, const MemoryWait&) = default;
};

/// A level of the hierarchy: a range of pools of one cost.
struct MemoryLevel {
  std::optional<double> capacity_bytes;  ///< that one core can use; nothing: memory
  double stream_ns = 0;                  ///< of a line
  double chase_ns = 0;
  friend bool operator==(const MemoryLevel&, const MemoryLevel&) = default;
};

/// How a cache loses a byte by how much was read since its last use: at `lo_bytes` it is still
/// there, at `hi_bytes` it is gone, linear in the logarithm between. 0 < lo_bytes < hi_bytes.
struct MemoryRamp {
  double lo_bytes = 0;
  double hi_bytes = 0;
  /// 0 up to lo_bytes, 1 from hi_bytes.
  [[nodiscard]] double gone(double bytes) const;
  friend bool operator==(const MemoryRamp&, const MemoryRamp&) = default;
};

/// How the last level loses data. Reads in order are fetched ahead, so that they notice it later
/// than loads that wait: the curve of a kernel lies between the two.
struct Eviction {
  MemoryRamp chase;
  std::optional<MemoryRamp> stream;  ///< nothing: reads in order cost the same from memory
  MemoryRamp middle;                 ///< half the way between the two
  /// The same of the upper quartiles; nothing: no ramp was seen in them.
  std::optional<MemoryRamp> disturbed;
  friend bool operator==(const Eviction&, const Eviction&) = default;
};

struct MemoryHierarchy {
  std::vector<MemoryPoint> points;  ///< by rising pools
  /// Nearest first, memory last; one alone: the curve is flat, and nothing can be told from it.
  std::vector<MemoryLevel> levels;
  std::optional<MemoryRamp> own;  ///< out of the core's own cache, where there is a level behind it
  std::optional<Eviction> last;   ///< out of the cache before memory
  /// Reading so much leaves nothing in any cache; nothing: the curve does not end flat.
  std::optional<std::int64_t> scrub_bytes;
  /// Of pools in the last level; empty: nobody looked.
  std::vector<MemoryWait> waits = {};
  /// Whether there is a cache behind the core's own in which weights can be.
  [[nodiscard]] bool has_last_level() const { return levels.size() > 2; }
  friend bool operator==(const MemoryHierarchy&, const MemoryHierarchy&) = default;
};

}  // namespace oplat::table
