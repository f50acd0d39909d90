// SPDX-License-Identifier: Apache-2.0
/// Can the statistics be trusted? Simulated rows with a known true time go through the real stop
/// rule, look by look, the real summary and the real comparison. The claims hold for the whole of
/// it: a test of one formula would not see what stopping at a narrow interval does to that
/// interval.
#include <gtest/gtest.h>

#include <iostream>
#include <ostream>
#include <string>

#include "measure/verdict.hpp"
#include "unit/measure/simulated_row.hpp"

namespace oplat::measure {
namespace {

constexpr int kTrials = 400;

/// Each trial has a machine of its own, drawn evenly from a range.
struct Machine {
  std::string name;
  double min_process_sd;
  double max_process_sd;
  double min_round_sd;  ///< 0.036 is 2 % between the blocks of one process, 0.09 is 5 %
  double max_round_sd;
  double drift_sd;
  double true_ns;
  int max_blocks_of_a_row;  ///< on average, so that honesty is not bought with hours
};

void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.name; }

struct Found {
  int same = 0;
  int slower = 0;
  int covered = 0;
  int rows = 0;
  std::int64_t blocks = 0;

  void add(const table::Timing& timing, double true_ns) {
    ++rows;
    blocks += timing.blocks;
    if (timing.ci_low_ns <= true_ns && true_ns <= timing.ci_high_ns) ++covered;
  }
};

Found measure_all(const Machine& machine) {
  Found found;
  base::Random random(20250301);
  const auto between = [&](double least, double most) {
    return least + (most - least) * random.uniform();
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    Noise noise;
    noise.process_sd = between(machine.min_process_sd, machine.max_process_sd);
    noise.round_sd = between(machine.min_round_sd, machine.max_round_sd);
    noise.drift_sd = machine.drift_sd;
    const table::Timing before =
        *SimulatedRow(machine.true_ns, noise, random.next()).measure().timing;
    const table::Timing again =
        *SimulatedRow(machine.true_ns, noise, random.next()).measure().timing;
    found.add(before, machine.true_ns);
    found.add(again, machine.true_ns);
    if (compare(before, again)->verdict == Verdict::Same) ++found.same;

    const double half_width =
        *relative_half_width({before.ci_low_ns, before.ci_high_ns}, before.median_ns);
    const double slower_ns = machine.true_ns * (1 + 3 * half_width);
    const table::Timing after = *SimulatedRow(slower_ns, noise, random.next()).measure().timing;
    if (compare(before, after)->verdict == Verdict::Slower) ++found.slower;
  }
  return found;
}

class Harness : public testing::TestWithParam<Machine> {};

TEST_P(Harness, TellsTheSameFromTheSlowerAndCoversTheTruth) {
  const Found found = measure_all(GetParam());
  const double covered = static_cast<double>(found.covered) / found.rows;
  const double blocks = static_cast<double>(found.blocks) / found.rows;
  RecordProperty("same_of_400", found.same);
  RecordProperty("slower_of_400", found.slower);
  RecordProperty("covered", std::to_string(covered));
  RecordProperty("blocks", std::to_string(blocks));
  // For a person who runs it alone: figures, not only pass or fail.
  std::cout << GetParam().name << ": same " << found.same << " of " << kTrials << ", slower found "
            << found.slower << ", truth inside the interval " << covered << ", blocks " << blocks
            << "\n";
  EXPECT_GE(found.same, 0.97 * kTrials);
  EXPECT_GE(found.slower, 0.90 * kTrials);
  EXPECT_GE(covered, 0.93);
  EXPECT_LE(blocks, GetParam().max_blocks_of_a_row);
}

INSTANTIATE_TEST_SUITE_P(Machines, Harness,
                         testing::Values(Machine{"quiet", 0.003, 0.02, 0.01, 0.036, 0.004, 100e3,
                                                 6},
                                         Machine{"usual", 0.02, 0.06, 0.036, 0.09, 0.01, 100e3, 24},
                                         Machine{"loud", 0.04, 0.08, 0.036, 0.09, 0.01, 100e3, 32},
                                         Machine{"short", 0.04, 0.08, 0.036, 0.09, 0.01, 10e3, 14}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace oplat::measure
