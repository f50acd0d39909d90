// SPDX-License-Identifier: Apache-2.0
/// The one interval of numbers. Its unit is its user's: nanoseconds, unless a comment says
/// otherwise.
#pragma once

namespace oplat::base {

/// Both ends belong to it; low <= high.
struct Interval {
  double low = 0;
  double high = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

}  // namespace oplat::base
