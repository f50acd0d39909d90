// SPDX-License-Identifier: Apache-2.0
/// Medians and baseline of the reference kernels.
#include "measure/references.hpp"

#include "base/stats.hpp"
#include "measure/statistics.hpp"

namespace oplat::measure {

namespace {

/// Later campaigns and `oplat verify` compare with the first baseline for good: a single reading
/// may have met a busy machine.
constexpr std::size_t kMinReadings = 5;

}  // namespace

void References::add(const std::optional<double>& compute_ns,
                     const std::optional<double>& memory_ns) {
  if (compute_ns) compute_.push_back(*compute_ns);
  if (memory_ns) memory_.push_back(*memory_ns);
}

const measure::ReferenceMedians& References::medians() {
  const std::size_t readings = compute_.size() + memory_.size();
  if (readings > refreshed_at_ + refreshed_at_ / 10) {
    medians_ = {base::median(compute_), base::median(memory_)};
    refreshed_at_ = readings;
  }
  return medians_;
}

measure::ReferenceMedians References::baseline() const {
  if (compute_.size() < kMinReadings) return {};
  return {base::quantile(compute_, 0.25), base::quantile(memory_, 0.25)};
}

}  // namespace oplat::measure
