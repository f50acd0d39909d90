// SPDX-License-Identifier: Apache-2.0
/// Bands of time and their median deviations.
#include "estimate/learned/row_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace oplat::estimate {
namespace {

constexpr std::size_t kMaxBands = 20;
/// So many rows tell a median deviation.
constexpr std::size_t kRowsPerBand = 200;
/// Deviations below this are luck: no row is trusted more than that.
constexpr float kMinDeviation = 0.003F;

}  // namespace

std::vector<float> row_weights(std::span<const float> log_ns, std::span<const float> deviations) {
  const std::size_t count = log_ns.size();
  const std::size_t bands = std::min(kMaxBands, count / kRowsPerBand);
  if (bands < 2) return {};
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return log_ns[a] < log_ns[b]; });
  std::vector<float> weights(count);
  std::vector<float> sizes;
  double sum = 0;
  for (std::size_t band = 0; band < bands; ++band) {
    const std::size_t begin = band * count / bands;
    const std::size_t end = (band + 1) * count / bands;
    sizes.clear();
    for (std::size_t i = begin; i < end; ++i) sizes.push_back(std::abs(deviations[order[i]]));
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    const float deviation = std::max(*middle, kMinDeviation);
    const float weight = 1 / (deviation * deviation);
    for (std::size_t i = begin; i < end; ++i) weights[order[i]] = weight;
    sum += static_cast<double>(weight) * static_cast<double>(end - begin);
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(count));
  for (float& weight : weights) weight /= mean;
  return weights;
}

}  // namespace oplat::estimate
