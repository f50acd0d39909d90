// SPDX-License-Identifier: Apache-2.0
/// Values of keys: construction and equality.
#include "ir/value.hpp"

#include <bit>
#include <cmath>

namespace oplat::ir {

Value Value::ints(const std::vector<std::int64_t>& numbers) {
  return List(numbers.begin(), numbers.end());
}

bool operator==(const Value& a, const Value& b) {
  const double* const x = a.real();
  const double* const y = b.real();
  if (x == nullptr || y == nullptr) return a.data == b.data;
  // The printed text tells -0.0 from 0.0, but not one NaN from another.
  return (std::isnan(*x) && std::isnan(*y)) ||
         std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
}

}  // namespace oplat::ir
