// SPDX-License-Identifier: Apache-2.0
/// How many copies of a kernel the slope is taken over.
#pragma once

#include <cstdint>
#include <optional>

#include "measure/states.hpp"

namespace oplat::measure {

struct CopyRule {
  double min_difference_ns = 200e3;  ///< of Tk - T1, so that the timer's error is below 0.02 %
  double max_call_ns = 50e6;         ///< of Tk
  std::int64_t min_copies = 2;
  std::int64_t max_copies = 256;  ///< 1: a single call
  std::int64_t cold_min = 4;  ///< copies with weights of their own cost memory and time to build
  std::int64_t cold_max = 8;
  std::int64_t chain_copies =
      16;  ///< of a hot chain: each lies elsewhere in memory, and a kernel's time depends on that
  double chain_call_ns = 10e6;  ///< of Tk, beyond which fewer have to do
};

/// Copies, where the state leaves the choice, for a kernel of about `kernel_ns`; 1 where two of
/// them take longer than a call may or the rule wants it: such a kernel is timed as one call less
/// the empty call.
std::int64_t choose_copies(double kernel_ns, CacheState state, const CopyRule& rule = {});

/// Copies of a hot chain of a kernel of about `kernel_ns`, where that is more than choose_copies
/// gives. Not for copies side by side: large results all lie in one place (docs/adr/0072), and of
/// small ones the fewer lie around, the more is hot.
std::int64_t choose_chain_copies(double kernel_ns, const CopyRule& rule = {});

/// More copies than `copies` for a slope that drowned in noise; std::nullopt if the rule allows no
/// more.
std::optional<std::int64_t> more_copies(std::int64_t copies, CacheState state,
                                        const CopyRule& rule = {});

}  // namespace oplat::measure
