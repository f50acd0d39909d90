// SPDX-License-Identifier: Apache-2.0
/// States from footprints.
#include "estimate/learned/states.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace oplat::estimate {

std::vector<std::size_t> states_of(std::span<const Sample> samples, std::optional<double> llc_bytes) {
  std::unordered_map<std::string_view, double> least;
  for (const Sample& sample : samples) {
    const auto [at, added] = least.emplace(sample.key, sample.reuse_bytes.value_or(0));
    if (!added) at->second = std::min(at->second, sample.reuse_bytes.value_or(0));
  }
  const double cold = llc_bytes.value_or(std::numeric_limits<double>::infinity());
  std::vector<std::size_t> states;
  for (const Sample& sample : samples) {
    const double bytes = sample.reuse_bytes.value_or(0);
    states.push_back(bytes <= least.at(sample.key) ? 0 : bytes > cold ? 2 : 1);
  }
  return states;
}

void append_state(ir::Description& description, std::size_t state) {
  description.numbers.push_back(static_cast<double>(state + 1));
}

}  // namespace oplat::estimate
