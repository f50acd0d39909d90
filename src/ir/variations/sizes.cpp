// SPDX-License-Identifier: Apache-2.0
/// Sizes, their units, and constants that hold sizes.
#include "ir/variations/sizes.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::ir::variations {
namespace {

constexpr std::int64_t kMaxUnit = 16;
constexpr double kKept = 1.0 / 3;
constexpr std::int64_t kOtherUnits[] = {2, 4, 8};

}  // namespace

std::int64_t unit_of(std::int64_t size) {
  std::int64_t unit = 1;
  while (2 * unit <= kMaxUnit && 2 * unit <= size && size % (2 * unit) == 0) unit *= 2;
  return unit;
}

std::int64_t Draw::size(std::int64_t size, std::int64_t unit) {
  if (size <= kMaxKept || random_.uniform() < kKept) return size;
  const double wanted = static_cast<double>(size) * std::exp(spread_ * random_.normal());
  const double units = std::round(wanted / static_cast<double>(unit));
  return static_cast<std::int64_t>(std::clamp(units, 1.0, static_cast<double>(kMaxSize / unit))) *
         unit;
}

std::int64_t Draw::unit_for(std::int64_t size) {
  const std::int64_t unit = unit_of(size);
  // No draw where there is nothing to decide.
  if (size <= kMaxKept || unit <= kOtherUnits[0] || !(other_units_ > 0) || !happens(other_units_))
    return unit;
  return std::min(unit, one_of(kOtherUnits));
}

std::int64_t Draw::tied(std::int64_t size) {
  const auto [at, added] = tied_.emplace(size, size);
  if (added) at->second = this->size(size);
  return at->second;
}

std::int64_t Draw::any(std::int64_t most) {
  const double doublings = std::log2(static_cast<double>(most));
  return std::llround(std::exp2(1 + random_.uniform() * (doublings - 1)));
}

bool usual(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](std::int64_t number) { return number >= 0 && number <= kMaxSize; });
}

TensorEntry* tensor_of(Entry& entry) { return std::get_if<TensorEntry>(&entry); }

}  // namespace oplat::ir::variations
