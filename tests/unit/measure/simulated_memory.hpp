// SPDX-License-Identifier: Apache-2.0
/// A machine whose caches are made up: what it reports and what a core can use differ, looks are
/// noisy, and another tenant takes half of the last level for part of the time, or a share that
/// wanders.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "measure/memory_probe.hpp"

namespace oplat::measure {

/// How a cache chooses what it gives up.
enum class Replacement { Oldest, Random };

struct SimulatedMemory {
  double own_bytes = 0;
  std::optional<double> last_bytes;  ///< that a core can use; nothing: there is no such level
  Replacement replacement = Replacement::Random;
  double own_ns = 4, last_ns = 20, memory_ns = 90;  ///< of a load that waits
  double stream_share = 0.1;                        ///< of these, that a line read in order takes
  double prefetched = 1;    ///< reads in order notice the end of the last level so much later
  double noise = 0;         ///< standard deviation of the logarithm of a look
  double tenant_share = 0;  ///< of looks, during which half of the last level is another's
  double placement_sd = 0;  ///< of the logarithm of the core's own cache, anew with each mapping
  double mood_sd = 0;       ///< of the logarithm of the last level that others leave
  double mood_seconds = 3;  ///< after which little of it is as it was
  double look_seconds = 0.02;
  double others_bytes_per_ns = 0;  ///< that others bring into the last level
  double others_sd = 0;            ///< of its logarithm, anew with each look
  bool knows_waits = true;         ///< else as the worker of an earlier oplat
  std::int64_t max_pool_bytes = std::int64_t{4} << 30;
  std::mt19937_64 random{7};
  double clock_seconds = 0;
  double mood = 0;       ///< now: a logarithm
  double placement = 1;  ///< a factor

  /// Lets so much time pass.
  void wait(double seconds) {
    clock_seconds += seconds;
    const double kept = std::exp(-seconds / mood_seconds);
    std::normal_distribution<double> change(0, mood_sd * std::sqrt(1 - kept * kept));
    if (mood_sd > 0) mood = kept * mood + change(random);
  }

  /// Share of the lines that are no longer there after `bytes` were read in turn.
  [[nodiscard]] double gone(double bytes, double capacity) const {
    if (bytes <= capacity) return 0;
    if (replacement == Replacement::Oldest) return 1;
    // Each line that is fetched throws a random one out: a share x of the pool is fetched a turn.
    double x = 1;
    for (int i = 0; i < 200; ++i) x = 1 - std::exp(-x * bytes / capacity);
    return x;
  }

  double cost(double bytes, double own_cost, double last_cost, double memory_cost,
              double last_capacity) const {
    const double out_of_own = gone(bytes, own_bytes * placement);
    if (!last_bytes) return own_cost + out_of_own * (memory_cost - own_cost);
    const double out_of_last = std::min(out_of_own, gone(bytes, last_capacity));
    return own_cost + out_of_own * (last_cost - own_cost) + out_of_last * (memory_cost - last_cost);
  }

  /// Of a load at random after a wait.
  double waited_ns(double bytes, double wait_ns) {
    wait(wait_ns / 1e9);
    std::normal_distribution<double> error(0, noise), others(0, others_sd);
    const double touched = bytes + others_bytes_per_ns * std::exp(others(random)) * wait_ns;
    const double last = last_bytes.value_or(0) * std::exp(mood);
    const double out_of_own = gone(bytes, own_bytes * placement);
    const double out_of_last = std::min(out_of_own, gone(touched, last));
    return (own_ns + out_of_own * (last_ns - own_ns) + out_of_last * (memory_ns - last_ns)) *
           std::exp(error(random));
  }

  MemoryOutcome look(const MemoryQuestion& question) {
    const std::int64_t pool_bytes = question.pool_bytes;
    wait(look_seconds);
    MemoryAnswer answer{max_pool_bytes, std::nullopt};
    if (pool_bytes == 0)
      placement = std::exp(std::normal_distribution<double>(0, placement_sd)(random));
    if (pool_bytes == 0 || pool_bytes > max_pool_bytes) return answer;
    std::normal_distribution<double> error(0, noise);
    const bool shared = std::uniform_real_distribution<double>(0, 1)(random) < tenant_share;
    const double last = last_bytes.value_or(0) * std::exp(mood) * (shared ? 0.5 : 1);
    const auto bytes = static_cast<double>(pool_bytes);
    if (question.wait_ns && knows_waits) {
      answer.waited_chase_ns = waited_ns(bytes, static_cast<double>(*question.wait_ns));
      return answer;
    }
    MemoryLook look{pool_bytes, 0, 0};
    look.chase_ns = cost(bytes, own_ns, last_ns, memory_ns, last) * std::exp(error(random));
    look.stream_ns = stream_share * cost(bytes, own_ns, last_ns, memory_ns, last * prefetched) *
                     std::exp(error(random));
    answer.look = look;
    return answer;
  }

  [[nodiscard]] MemoryLooker looker() {
    return [this](const MemoryQuestion& asked) { return Result<MemoryOutcome>(look(asked)); };
  }

  /// A request of a device that reports these sizes.
  [[nodiscard]] MemoryProbeRequest request(double reported_l2, double reported_llc) const {
    MemoryProbeRequest request;
    request.device.l2_bytes = static_cast<std::int64_t>(reported_l2);
    request.device.llc_bytes = static_cast<std::int64_t>(reported_llc);
    request.seconds = [this] { return clock_seconds; };
    return request;
  }
};

}  // namespace oplat::measure
