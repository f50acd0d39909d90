// SPDX-License-Identifier: Apache-2.0
#include "predict/others.hpp"

#include <cmath>

#include "estimate/foreign.hpp"

namespace oplat::predict {

TrafficOfOthers traffic_before_fit(const std::optional<table::MemoryHierarchy>& memory) {
  const auto last = estimate::measured_last_level(memory);
  if (!last) return {};
  double mean = 0;
  double squares = 0;
  for (const auto& [share, likely] : kForeignShares) {
    mean += likely * share;
    squares += likely * share * share;
  }
  const double rate = estimate::foreign_rate_by_looks(*memory, *last).value_or(0);
  return {mean * rate, 1, std::sqrt(squares - mean * mean) / mean};
}

}  // namespace oplat::predict
