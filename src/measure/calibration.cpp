// SPDX-License-Identifier: Apache-2.0
/// The choice of k.
#include "measure/calibration.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::measure {

std::int64_t choose_copies(double kernel_ns, CacheState state, const CopyRule& rule) {
  if (2 * kernel_ns > rule.max_call_ns || rule.max_copies < 2) return 1;
  const auto copies_within = [&](double ns, double most) {
    return kernel_ns * most <= ns ? most : std::floor(ns / kernel_ns);
  };
  const double allowed =
      std::max(2.0, copies_within(rule.max_call_ns, static_cast<double>(rule.max_copies)));
  if (state == CacheState::Cold) {
    const auto k = static_cast<std::int64_t>(allowed);
    return std::clamp(k, rule.cold_min, rule.cold_max);
  }
  // One more than the difference needs, since the slope is over k - 1 copies.
  const double needed = kernel_ns * (allowed - 1) <= rule.min_difference_ns
                            ? allowed
                            : std::ceil(rule.min_difference_ns / kernel_ns) + 1;
  const auto least = std::min(static_cast<double>(rule.min_copies), allowed);
  return static_cast<std::int64_t>(std::clamp(needed, least, allowed));
}

std::int64_t choose_chain_copies(double kernel_ns, const CopyRule& rule) {
  const auto most = static_cast<double>(rule.chain_copies);
  return kernel_ns * most <= rule.chain_call_ns
             ? rule.chain_copies
             : static_cast<std::int64_t>(rule.chain_call_ns / kernel_ns);
}

std::optional<std::int64_t> more_copies(std::int64_t copies, CacheState state,
                                        const CopyRule& rule) {
  // A cold slope that failed with eight copies may have twice as many: the bound of eight is about
  // cost, not validity.
  const std::int64_t most = state == CacheState::Cold ? 2 * rule.cold_max : rule.max_copies;
  const std::int64_t more = std::min(4 * copies, most);
  if (more <= copies) return std::nullopt;
  return more;
}

}  // namespace oplat::measure
