// SPDX-License-Identifier: Apache-2.0
/// Drawing sizes, for all kinds of variations (see ir/variation.hpp).
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "ir/key.hpp"
#include "ir/operators/arguments.hpp"

namespace oplat::ir::variations {

using Numbers = std::vector<std::int64_t>;
using ops::dims_of;
using ops::numbers_of;

/// Sizes up to this one are numbers of few things (images of a batch, colours) and stay.
inline constexpr std::int64_t kMaxKept = 4;
inline constexpr std::int64_t kMaxSize = 1 << 20;

/// The largest power of two up to 16 that divides it, if the size is larger than that.
std::int64_t unit_of(std::int64_t size);

/// Sizes as another designer would have chosen them.
class Draw {
 public:
  /// `spread`: standard deviation of ln(size). `other_units`: how often a size becomes a multiple
  /// of a smaller power of two than it was.
  Draw(double spread, double other_units, base::Random& random)
      : spread_(spread), other_units_(other_units), random_(random) {}

  /// A multiple of `unit`: times exp(spread * normal), or kept in one of three cases and up to
  /// kMaxKept.
  std::int64_t size(std::int64_t size, std::int64_t unit);
  /// Likewise, of the unit that it has, or of a smaller one.
  std::int64_t size(std::int64_t size_now) { return size(size_now, unit_for(size_now)); }
  /// Likewise, what was equal before is equal again.
  std::int64_t tied(std::int64_t size);
  /// Any size from 2 to `most`, each doubling as likely as another.
  std::int64_t any(std::int64_t most);
  bool happens(double probability) { return random_.uniform() < probability; }
  template <class Choices>
  auto one_of(const Choices& choices) {
    return choices[random_.below(std::size(choices))];
  }
  [[nodiscard]] base::Random& random() { return random_; }

 private:
  std::int64_t unit_for(std::int64_t size);

  double spread_;
  double other_units_;
  base::Random& random_;
  std::map<std::int64_t, std::int64_t> tied_;
};

/// Keys come from files of anybody's: what is multiplied is no larger than kMaxSize.
bool usual(const Numbers& numbers);
TensorEntry* tensor_of(Entry& entry);

}  // namespace oplat::ir::variations
