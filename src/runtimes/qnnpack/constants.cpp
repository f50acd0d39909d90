// SPDX-License-Identifier: Apache-2.0
#include "runtimes/qnnpack/constants.hpp"

#include <cmath>

#include "base/random.hpp"

namespace oplat::runtimes::qnnpack {
namespace {

constexpr std::uint64_t kMaxWeight = 127;
/// Standard deviation of a product of a weight and an activation, both uniform over their range.
constexpr double kProductSpread = 5400;
/// Standard deviation of a result, in quanta: wide, and seldom clamped.
constexpr double kResultSpread = 50;

}  // namespace

Constants make_constants(const Spec& spec, std::uint64_t seed) {
  Constants constants;
  if (spec.filter.empty()) return constants;
  base::Random random(seed);
  const auto outputs = static_cast<std::size_t>(spec.filter[0]);
  constants.filter.resize(outputs * static_cast<std::size_t>(spec.fan_in()));
  for (std::int8_t& weight : constants.filter) {
    const std::uint64_t drawn = random.below(2 * kMaxWeight);
    const auto size = static_cast<int>(drawn / 2) + 1;
    weight = static_cast<std::int8_t>(drawn % 2 == 0 ? size : -size);
  }
  const double spread = kProductSpread * std::sqrt(static_cast<double>(spec.fan_in()));
  constants.filter_scale = kResultSpread / spread;
  for (std::size_t i = 0; i < outputs; ++i) {
    constants.bias.push_back(
        static_cast<std::int32_t>(std::lround((random.uniform() - 0.5) * spread)));
  }
  return constants;
}

std::vector<std::uint8_t> random_bytes(std::int64_t count, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next() >> 56);
  return bytes;
}

std::vector<float> random_floats(std::int64_t count, std::uint64_t seed) {
  base::Random random(seed);
  std::vector<float> floats(static_cast<std::size_t>(count));
  for (float& number : floats) {
    number = static_cast<float>(6 * random.uniform() - 3);
    if (std::abs(number) < 1e-6F) number = 1;
  }
  return floats;
}

}  // namespace oplat::runtimes::qnnpack
