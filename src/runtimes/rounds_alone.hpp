// SPDX-License-Identifier: Apache-2.0
/// Which rounds of a block count, where another process uses the core at times (oplat_probe_alone,
/// ADR 0016).
#pragma once

#include <cstdint>
#include <vector>

#include "measure/kernel_runner.hpp"

namespace oplat::runtimes {

class RoundsAlone {
 public:
  explicit RoundsAlone(const measure::BlockRequest& request) : request_(request) {}

  /// A further round: which share of the looks at the core found it shared, 0 to 1.
  void add(double shared);
  /// Whether the block may end: its time is over, and of the rounds of that time it has enough, or
  /// waited long enough.
  [[nodiscard]] bool enough(double elapsed_ns) const;
  /// Leaves the rounds alone in `samples`; where there are hardly any, those that were disturbed
  /// least. Gives the mean share of what is left; 0 where it was alone.
  double keep(measure::BlockSamples& samples) const;

 private:
  const measure::BlockRequest& request_;
  std::vector<double> shared_;
  std::int64_t alone_ = 0;
};

}  // namespace oplat::runtimes
