// SPDX-License-Identifier: Apache-2.0
/// Cycles of the loops, in closed form. loop_features.hpp describes them.
#include "estimate/learned/loop_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oplat::estimate {
namespace {

constexpr double kVector = 16;  ///< numbers in a register
constexpr double kVectorsACycle = 2;
constexpr double kLatency = 4;  ///< cycles until a register can be added to again

/// Of one step of a loop over the sum, with so many registers to add to.
double cycles(double registers) {
  return registers > 0 ? std::max(registers / kVectorsACycle, kLatency) : 0;
}

/// Rows are taken by 12, then 6, then the rest at once.
double product_cycles(double rows, double columns) {
  constexpr double kRows = 12;
  constexpr double kFewerRows = 6;
  // Two registers a row, and one for a rest of up to 16 columns.
  const double rest = std::fmod(columns, 2 * kVector);
  const double pairs = std::floor(columns / (2 * kVector)) + (rest > kVector ? 1 : 0);
  const double singles = rest > 0 && rest <= kVector ? 1 : 0;
  const auto of_rows = [&](double count) {
    return count > 0 ? pairs * cycles(2 * count) + singles * cycles(count) : 0;
  };
  const double last = std::fmod(rows, kRows);
  const double fewer = last >= kFewerRows ? kFewerRows : 0;
  return std::floor(rows / kRows) * of_rows(kRows) + of_rows(fewer) + of_rows(last - fewer);
}

/// Of one row of outputs, `alone` of them one by one, for all blocks of channels, so many of them
/// together.
double blocked_cycles(double outputs, double alone, double channels, double together) {
  constexpr double kOutputs = 6;
  const double between = outputs - alone;
  const auto of_blocks = [&](double blocks) {
    return std::floor(between / kOutputs) * cycles(kOutputs * blocks) +
           cycles(std::fmod(between, kOutputs) * blocks) + alone * cycles(blocks);
  };
  const double blocks = std::ceil(channels / kVector);
  return std::floor(blocks / together) * of_blocks(together) +
         of_blocks(std::fmod(blocks, together));
}

double quantised_cycles(double outputs, double channels) {
  constexpr double kOutputs = 6;
  constexpr double kChannels = 64;
  const double rest = std::fmod(channels, kChannels);
  const double a_group = std::floor(channels / kChannels) * cycles(kOutputs * kChannels / kVector) +
                         cycles(kOutputs * std::ceil(rest / kVector));
  return std::ceil(outputs / kOutputs) * a_group;
}

/// Of one output, next to a step of 16. Outputs of 16, 24, 32, 40, 48 and 56 products took 1.45,
/// 2.85, 2.0, 3.75, 2.4 and 4.25 ns on a Zen 5.
double compiled_steps(double fours) {
  constexpr double kFoursAtOnce = 4;
  constexpr double kStepsOfFour = 1.6;
  constexpr double kStepsOfOutput = 2;
  return kStepsOfOutput + std::floor(fours / kFoursAtOnce) +
         kStepsOfFour * std::fmod(fours, kFoursAtOnce);
}

/// Of one place of a window of a depthwise convolution in 8 bits, all channels, next to 16 channels
/// of the compiled loop. Places of 8, 20, 24, 36, 72, 180 and 264 channels took 1.3, 3.6, 2.1, 4.6,
/// 4.4, 11 and 14 ns on a Zen 5, such of multiples of 16 some 0.35 ns for each 16.
double depthwise_steps(double channels) {
  constexpr double kAssembler = 0.45;
  constexpr double kOfPlace = 1.15;
  constexpr double kChannelsAtOnce = 8;
  constexpr double kOfEight = 0.5;
  constexpr double kAlone = 0.54;
  if (std::fmod(channels, kVector) == 0) return kAssembler * channels / kVector;
  return kOfPlace + kOfEight * std::floor(channels / kChannelsAtOnce) +
         kAlone * std::fmod(channels, kChannelsAtOnce);
}

}  // namespace

void loop_features(const ir::Description& description, std::span<float> out) {
  if (!description.contraction) {
    std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const ir::Contraction& p = *description.contraction;
  const bool is_depthwise = p.is_depthwise();
  const double channels = is_depthwise ? p.groups : p.out_c;
  const double together = is_depthwise ? 1 : 4;
  const double rows = p.batch * p.out_h * p.out_w;
  // Outputs whose windows reach into the padding.
  const double at_edges = std::round(p.share_at_edges * p.out_w);
  const auto loss = [&](double needed, double results) {
    return static_cast<float>(std::log(needed / (results / kVector / kVectorsACycle)));
  };
  const double places = p.out_h * p.out_w;
  out[0] = p.places_are_columns ? loss(product_cycles(p.out_c, places), places * p.out_c)
                                : loss(product_cycles(rows, p.out_c), rows * p.out_c);
  out[1] = loss(blocked_cycles(p.out_w, at_edges, channels, together), p.out_w * channels);
  out[2] =
      loss(blocked_cycles(p.out_h * p.out_w, 0, channels, together), p.out_h * p.out_w * channels);
  out[3] = loss(quantised_cycles(p.out_h * p.out_w, channels), p.out_h * p.out_w * channels);
  const double length = p.in_c * p.kernel_h * p.kernel_w;
  constexpr double kAtOnce = 4;
  const double fours = std::ceil(length / kAtOnce);
  out[4] = static_cast<float>(std::log(fours * kAtOnce / length));
  out[6] = is_depthwise
               ? static_cast<float>(std::log(depthwise_steps(channels) / (channels / kVector)))
               : 0;
  out[5] = static_cast<float>(std::log(compiled_steps(fours) / (fours / kAtOnce)));
}

}  // namespace oplat::estimate
