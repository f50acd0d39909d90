// SPDX-License-Identifier: Apache-2.0
/// Cycles of the loops, in closed form. loop_features.hpp describes them.
#include "estimate/learned/loop_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace oplat::estimate {
namespace {

constexpr double kVectorsACycle = 2;
constexpr double kLatency = 4;  ///< cycles until a register can be added to again

/// Of a processor's loops.
struct Loops {
  double vector;      ///< numbers in a register
  double rows;        ///< of a product, at once
  double fewer_rows;  ///< of what is left, before the rest
  double outputs;     ///< of a blocked convolution, at once
  /// Of a convolution in 8 bits: outputs and channels at once, of how many outputs what is left is
  /// rounded up to a multiple, and instructions for a register of sums.
  double byte_outputs;
  double byte_channels;
  double byte_outputs_of_rest;
  double byte_instructions;
};
constexpr Loops kAvx512 = {.vector = 16,
                           .rows = 12,
                           .fewer_rows = 6,
                           .outputs = 6,
                           .byte_outputs = 6,
                           .byte_channels = 64,
                           .byte_outputs_of_rest = 6,
                           .byte_instructions = 1};
constexpr Loops kAvx2 = {.vector = 8,
                         .rows = 6,
                         .fewer_rows = 6,
                         .outputs = 3,
                         .byte_outputs = 4,
                         .byte_channels = 16,
                         .byte_outputs_of_rest = 2,
                         .byte_instructions = 3};

/// Of one step of a loop over the sum, with so many registers to add to.
double cycles(double registers) {
  return registers > 0 ? std::max(registers / kVectorsACycle, kLatency) : 0;
}

/// Rows are taken so many at once, then fewer, then the rest.
double product_cycles(const Loops& loops, double rows, double columns) {
  // Two registers a row, and one for a rest that fits into it.
  const double rest = std::fmod(columns, 2 * loops.vector);
  const double pairs = std::floor(columns / (2 * loops.vector)) + (rest > loops.vector ? 1 : 0);
  const double singles = rest > 0 && rest <= loops.vector ? 1 : 0;
  const auto of_rows = [&](double count) {
    return count > 0 ? pairs * cycles(2 * count) + singles * cycles(count) : 0;
  };
  const double last = std::fmod(rows, loops.rows);
  const double fewer = last >= loops.fewer_rows ? loops.fewer_rows : 0;
  return std::floor(rows / loops.rows) * of_rows(loops.rows) + of_rows(fewer) +
         of_rows(last - fewer);
}

/// Of one row of outputs, `alone` of them one by one, for all blocks of channels, so many of them
/// together.
double blocked_cycles(const Loops& loops, double outputs, double alone, double channels,
                      double together) {
  const double between = outputs - alone;
  const auto of_blocks = [&](double blocks) {
    return std::floor(between / loops.outputs) * cycles(loops.outputs * blocks) +
           cycles(std::fmod(between, loops.outputs) * blocks) + alone * cycles(blocks);
  };
  const double blocks = std::ceil(channels / loops.vector);
  return std::floor(blocks / together) * of_blocks(together) +
         of_blocks(std::fmod(blocks, together));
}

double quantised_cycles(const Loops& loops, double outputs, double channels) {
  const double rest = std::fmod(channels, loops.byte_channels);
  const auto of_outputs = [&](double count) {
    const auto of_channels = [&](double some) {
      return cycles(loops.byte_instructions * count * std::ceil(some / loops.vector));
    };
    return std::floor(channels / loops.byte_channels) * of_channels(loops.byte_channels) +
           of_channels(rest);
  };
  const double last = std::fmod(outputs, loops.byte_outputs);
  return std::floor(outputs / loops.byte_outputs) * of_outputs(loops.byte_outputs) +
         of_outputs(loops.byte_outputs_of_rest * std::ceil(last / loops.byte_outputs_of_rest));
}

/// What the compiled loops are counted next to.
constexpr double kCompiled = 16;

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
  if (std::fmod(channels, kCompiled) == 0) return kAssembler * channels / kCompiled;
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
  const Loops& loops = description.lanes < kAvx512.vector ? kAvx2 : kAvx512;
  const bool is_depthwise = p.is_depthwise();
  const double channels = is_depthwise ? p.groups : p.out_c;
  const double together = is_depthwise ? 1 : 4;
  const double rows = p.batch * p.out_h * p.out_w;
  // Outputs whose windows reach into the padding.
  const double at_edges = std::round(p.share_at_edges * p.out_w);
  const auto loss = [&](double needed, double results) {
    return static_cast<float>(std::log(needed / (results / loops.vector / kVectorsACycle)));
  };
  const double places = p.out_h * p.out_w;
  out[0] = p.places_are_columns ? loss(product_cycles(loops, p.out_c, places), places * p.out_c)
                                : loss(product_cycles(loops, rows, p.out_c), rows * p.out_c);
  out[1] = loss(blocked_cycles(loops, p.out_w, at_edges, channels, together), p.out_w * channels);
  out[2] = loss(blocked_cycles(loops, places, 0, channels, together), places * channels);
  out[3] =
      loss(quantised_cycles(loops, places, channels), loops.byte_instructions * places * channels);
  const double length = p.in_c * p.kernel_h * p.kernel_w;
  constexpr double kAtOnce = 4;
  const double fours = std::ceil(length / kAtOnce);
  out[4] = static_cast<float>(std::log(fours * kAtOnce / length));
  out[6] = is_depthwise
               ? static_cast<float>(std::log(depthwise_steps(channels) / (channels / kCompiled)))
               : 0;
  out[5] = static_cast<float>(std::log(compiled_steps(fours) / (fours / kAtOnce)));
}

}  // namespace oplat::estimate
