// SPDX-License-Identifier: Apache-2.0
#include "predict/others.hpp"

#include <cmath>

#include "estimate/foreign.hpp"

namespace oplat::predict {

TrafficOfOthers traffic_before_fit(const std::optional<table::MemoryHierarchy>& memory) {
  const auto last = estimate::measured_last_level(memory);
  if (!last) return {};
  TrafficOfOthers others{estimate::foreign_rate_by_looks(*memory, *last)};
  double squares = 0;
  for (const auto& [share, likely] : kForeignShares) {
    others.share += likely * share;
    squares += likely * share * share;
  }
  others.share_sd = std::sqrt(squares - others.share * others.share);
  return others;
}

}  // namespace oplat::predict
