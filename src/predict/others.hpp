// SPDX-License-Identifier: Apache-2.0
/// What others bring into the last level while a model runs (docs/adr/0091).
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "estimate/reuse.hpp"
#include "table/memory_hierarchy.hpp"

namespace oplat::predict {

/// What others bring in, and which share of it models feel (0 to 1), with the standard deviation of
/// what is known of that share.
struct TrafficOfOthers {
  double bytes_per_ns = 0;
  double share = 0, share_sd = 0;
  /// Into a model that takes so long.
  [[nodiscard]] estimate::ForeignBytes during(double ns) const {
    return {share * bytes_per_ns * ns, share_sd * bytes_per_ns * ns};
  }
};

/// Shares that models may feel, and how likely each is before models were timed, the start first.
/// Few small networks hardly tell two of them apart.
inline constexpr std::array<std::pair<double, double>, 4> kForeignShares = {
    {{0.5, 0.5}, {0, 0.1}, {0.25, 0.2}, {1, 0.2}}};

/// Before models were timed: the mean of those shares of what looks at memory say, which rows lost
/// and models feel alike (docs/adr/0095). 0 if nobody looked.
TrafficOfOthers traffic_before_fit(const std::optional<table::MemoryHierarchy>& memory);

}  // namespace oplat::predict
