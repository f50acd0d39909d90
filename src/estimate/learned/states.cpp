// SPDX-License-Identifier: Apache-2.0
/// States from footprints.
#include "estimate/learned/states.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/hash.hpp"

namespace oplat::estimate {
namespace {

std::uint64_t kernel_of(const ir::Description& description) {
  const auto* first = reinterpret_cast<const char*>(description.numbers.data());
  return base::hash64(std::string_view(first, description.own_numbers() * sizeof(double)),
                      base::hash64(description.slice, 0));
}

}  // namespace

void put_states(std::span<Sample> samples, const StateLimits& limits) {
  std::unordered_map<std::string_view, double> least;
  least.reserve(samples.size());
  for (const Sample& sample : samples) {
    const auto [at, added] = least.emplace(sample.key, sample.reuse_bytes.value_or(0));
    if (!added) at->second = std::min(at->second, sample.reuse_bytes.value_or(0));
  }
  for (Sample& sample : samples) {
    const double bytes = sample.reuse_bytes.value_or(0);
    const bool hot = bytes <= least.at(sample.key);
    sample.state = hot ? 0 : bytes > limits.all_bytes ? 2 : 1;
    sample.state_of_its_own = hot ? limits.state_at(bytes) : 0;
  }
}

std::size_t state_of_its_own(const ir::Description& kernel, const StateLimits& limits) {
  return kernel.stored_weight_bytes < kWeightsThatMatter ? 0 : limits.state_at(kernel.stored_bytes);
}

std::optional<ir::Description> description_of(const Sample& sample, const ir::Catalogue& catalogue,
                                              const ir::Host& host) {
  const auto key = ir::parse(sample.key);
  auto description = key ? ir::describe(*key, catalogue, host) : std::nullopt;
  if (!description) return std::nullopt;
  const bool matters = description->stored_weight_bytes >= kWeightsThatMatter;
  append_state(*description,
               matters ? std::max(sample.state, sample.state_of_its_own) : sample.state);
  return description;
}

void append_state(ir::Description& description, std::size_t state) {
  description.state = state;
  description.has_state = true;
  description.numbers.push_back(static_cast<double>(state + 1));
}

std::vector<std::size_t> kernels_of(std::span<const ir::Description> rows) {
  std::unordered_map<std::uint64_t, std::size_t> known;
  std::vector<std::size_t> kernels;
  kernels.reserve(rows.size());
  for (const ir::Description& row : rows)
    kernels.push_back(known.emplace(kernel_of(row), kernels.size()).first->second);
  return kernels;
}

}  // namespace oplat::estimate
