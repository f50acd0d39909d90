// SPDX-License-Identifier: Apache-2.0
/// SplitMix64 and what is drawn from it.
#include "base/random.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace oplat::base {

std::uint64_t Random::below(std::uint64_t n) {
  // Draws from the incomplete last copy of [0, n) at the top of the range would favour small
  // numbers.
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / n * n;
  std::uint64_t drawn = next();
  while (drawn >= limit) drawn = next();
  return drawn % n;
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b) {
  return Random(Random(a).next() ^ b).next();
}

}  // namespace oplat::base
