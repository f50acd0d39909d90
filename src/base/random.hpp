// SPDX-License-Identifier: Apache-2.0
/// Random numbers that are the same for one seed on every platform (those of <random>'s
/// distributions are not).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace oplat::base {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 bits of state, every seed is good.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// Uniform in [0, n), without bias; `n` > 0.
  std::uint64_t below(std::uint64_t n);
  /// Uniform in [0, 1).
  double uniform();
  /// Mean 0, standard deviation 1.
  double normal();
  /// A seed that goes on from here.
  [[nodiscard]] std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

/// A seed that depends on both numbers.
std::uint64_t mix_seed(std::uint64_t a, std::uint64_t b);

/// Every order of `items` equally likely.
template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[static_cast<std::size_t>(random.below(left))]);
  }
}

}  // namespace oplat::base
