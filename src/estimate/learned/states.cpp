// SPDX-License-Identifier: Apache-2.0
/// States from footprints.
#include "estimate/learned/states.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace oplat::estimate {

void put_states(std::span<Sample> samples, std::optional<double> cold_from) {
  std::unordered_map<std::string_view, double> least;
  least.reserve(samples.size());
  for (const Sample& sample : samples) {
    const auto [at, added] = least.emplace(sample.key, sample.reuse_bytes.value_or(0));
    if (!added) at->second = std::min(at->second, sample.reuse_bytes.value_or(0));
  }
  const double cold = cold_from.value_or(std::numeric_limits<double>::infinity());
  for (Sample& sample : samples) {
    const double bytes = sample.reuse_bytes.value_or(0);
    sample.state = bytes <= least.at(sample.key) ? 0 : bytes > cold ? 2 : 1;
  }
}

std::optional<ir::Description> description_of(const Sample& sample,
                                              const ir::Catalogue& catalogue) {
  const auto key = ir::parse(sample.key);
  auto description = key ? ir::describe(*key, catalogue) : std::nullopt;
  if (description) append_state(*description, sample.state);
  return description;
}

void append_state(ir::Description& description, std::size_t state) {
  description.state = state;
  description.numbers.push_back(static_cast<double>(state + 1));
}

}  // namespace oplat::estimate
