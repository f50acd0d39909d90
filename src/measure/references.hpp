// SPDX-License-Identifier: Apache-2.0
/// Readings of the reference kernels over a campaign.
#pragma once

#include <optional>
#include <vector>

#include "measure/stopping.hpp"
#include "table/records.hpp"

namespace oplat::measure {

class References {
 public:
  void add(const std::optional<double>& compute_ns, const std::optional<double>& memory_ns);
  void add(const table::Block& block) {
    add(block.reference_compute_ns, block.reference_memory_ns);
  }
  /// Medians of all readings, refreshed whenever their number has grown by a tenth.
  const measure::ReferenceMedians& medians();
  /// The 25th percentile: what the references take on this device when little else runs. Nothing
  /// from a few readings.
  [[nodiscard]] measure::ReferenceMedians baseline() const;

 private:
  std::vector<double> compute_;
  std::vector<double> memory_;
  std::size_t refreshed_at_ = 0;
  measure::ReferenceMedians medians_;
};

}  // namespace oplat::measure
