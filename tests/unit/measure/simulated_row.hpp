// SPDX-License-Identifier: Apache-2.0
/// A row measured on a machine that exists only as random numbers: its true time is known, its
/// noise has the structure that real rows show (docs/guide/measuring.md).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/stats.hpp"
#include "measure/statistics.hpp"
#include "measure/stopping.hpp"

namespace oplat::measure {

/// Logarithms of calls are the sum of four terms: the kernel's true time; a slow drift of the
/// machine from pass to pass (a stationary AR(1)); the luck of placement of one process, normal;
/// and within a block a state of the machine that moves from round to round (a stationary AR(1))
/// and slows T1 and Tk of a round alike, with white noise of each call on top. Every pass is a
/// process of its own, as in a campaign.
struct Noise {
  double process_sd = 0.06;
  double drift_sd = 0.01;
  double drift_memory = 0.5;  ///< correlation of the drift from one pass to the next
  double round_sd =
      0.06;  ///< 0.06 with a memory of 0.9 over 40 rounds: 3.5 % between the medians of blocks
  double round_memory = 0.9;  ///< correlation of the state from one round to the next
  double call_sd = 0.01;
};

class SimulatedRow {
 public:
  SimulatedRow(double true_ns, const Noise& noise, std::uint64_t seed)
      : true_ns_(true_ns),
        noise_(noise),
        random_(seed),
        drift_(noise.drift_sd * random_.normal()) {}

  /// The next pass: T1 and Tk for some rounds, and the slope of their medians as
  /// measure_kernel_block takes it.
  table::Block next() {
    constexpr std::int64_t kRounds = 40;
    constexpr std::int64_t kCopies = 8;
    constexpr double kCallNs = 1000;
    ++pass_;
    if (pass_ > 1) drift_ = step(drift_, noise_.drift_memory, noise_.drift_sd);
    const double kernel_ns = true_ns_ * std::exp(drift_ + noise_.process_sd * random_.normal());
    double state = noise_.round_sd * random_.normal();
    std::vector<double> one;
    std::vector<double> many;
    for (std::int64_t round = 0; round < kRounds; ++round) {
      one.push_back((kCallNs + kernel_ns) * std::exp(state + noise_.call_sd * random_.normal()));
      many.push_back((kCallNs + kCopies * kernel_ns) *
                     std::exp(state + noise_.call_sd * random_.normal()));
      state = step(state, noise_.round_memory, noise_.round_sd);
    }
    table::Block block;
    block.pass = pass_;
    block.process = pass_;
    block.rounds = kRounds;
    block.value_ns = slope(*base::median(one), *base::median(many), kCopies);
    return block;
  }

  /// Blocks until the stop rule has enough, looking after every one, as a campaign does. Looks at
  /// fewer blocks than any row must have change nothing, and are left out.
  Assessment measure(const StopRule& rule = {}) {
    std::vector<table::Block> blocks;
    Assessment assessment;
    do {
      blocks.push_back(next());
      if (static_cast<std::int64_t>(blocks.size()) < rule.min_blocks) continue;
      assessment = assess(blocks, rule, {}, 1);
    } while (!assessment.done);
    return assessment;
  }

 private:
  double step(double value, double memory, double sd) {
    return memory * value + std::sqrt(1 - memory * memory) * sd * random_.normal();
  }

  double true_ns_;
  Noise noise_;
  base::Random random_;
  double drift_;
  std::int64_t pass_ = 0;
};

}  // namespace oplat::measure
