// SPDX-License-Identifier: Apache-2.0
/// Weights and quantisation of kernels: random, from a seed, and such that activations stay spread
/// over their range.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/qnnpack/spec.hpp"

namespace oplat::runtimes::qnnpack {

/// Every quantised tensor has these but the result of a softmax, whose scale and zero point are
/// fixed.
inline constexpr double kScale = 1.0 / 32;
inline constexpr std::int64_t kZeroPoint = 128;
inline constexpr double kSoftmaxScale = 1.0 / 256;
inline constexpr std::int64_t kSoftmaxZeroPoint = 0;

struct Constants {
  std::vector<std::int8_t> filter;  ///< in the order of the key, zero point 0
  std::vector<std::int32_t> bias;   ///< in units of kScale * filter_scale
  double filter_scale = 1;
};
Constants make_constants(const Spec& spec, std::uint64_t seed);

std::vector<std::uint8_t> random_bytes(std::int64_t count, std::uint64_t seed);
/// Uniform in [-3, 3], neither zero nor denormal.
std::vector<float> random_floats(std::int64_t count, std::uint64_t seed);

}  // namespace oplat::runtimes::qnnpack
