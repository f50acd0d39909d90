// SPDX-License-Identifier: Apache-2.0
/// From looks at the memory of machines that nobody has seen to networks on them: what is reported
/// and what a core can use differ, and so do reads in order and loads that wait.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "estimate/foreign.hpp"
#include "estimate/reuse.hpp"
#include "measure/memory_probe.hpp"
#include "measure/states.hpp"
#include "predict/others.hpp"
#include "predict/spread.hpp"
#include "unit/measure/simulated_memory.hpp"

namespace oplat::app {
namespace {

constexpr double kSimulatedMib = 1024.0 * 1024.0;
constexpr double kSimulatedLine = 64;
constexpr double kSimulatedRowSd = 0.01;
constexpr double kSdsOf90 = 1.6448536269514722;  // two-sided 90 %

struct SimulatedKernel {
  double compute_ns = 0;
  double weight_bytes = 0;
};

struct SimulatedNetwork {
  std::vector<SimulatedKernel> kernels;
  double footprint_bytes = 0;
};

/// The kernel reads its weights in order, of which so many bytes lie between two uses.
double time_of(const SimulatedKernel& kernel, const measure::SimulatedMemory& machine,
               double reuse_bytes) {
  const double line_ns = machine.stream_share *
                         machine.cost(reuse_bytes, machine.own_ns, machine.last_ns,
                                      machine.memory_ns, *machine.last_bytes * machine.prefetched);
  return kernel.compute_ns + kernel.weight_bytes / kSimulatedLine * line_ns;
}

class UnseenMachines : public ::testing::Test {
 protected:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  measure::SimulatedMemory machine() {
    measure::SimulatedMemory machine;
    machine.random.seed(random_());
    machine.own_bytes = std::exp2(uniform(-1, 1)) * kSimulatedMib;
    machine.last_bytes = machine.own_bytes * std::exp2(uniform(3, 7));
    machine.replacement =
        uniform(0, 1) < 0.5 ? measure::Replacement::Random : measure::Replacement::Oldest;
    machine.last_ns = uniform(12, 45);
    machine.memory_ns = machine.last_ns * uniform(2, 5);
    machine.prefetched = std::exp2(uniform(0, 1.5));
    return machine;
  }
  /// Weights from memory take a tenth to a half of each kernel's time.
  SimulatedNetwork network(const measure::SimulatedMemory& machine) {
    SimulatedNetwork network;
    network.footprint_bytes = *machine.last_bytes * std::exp2(uniform(-2, 4));
    for (int i = 0; i < 20; ++i) {
      SimulatedKernel kernel{0, std::exp2(uniform(17, 22))};
      kernel.compute_ns = time_of(kernel, machine, 1e12) * uniform(1, 9);
      network.kernels.push_back(kernel);
    }
    return network;
  }

  struct Outcome {
    double log_error = 0;
    double spread = 0;
  };
  /// By rows in the states of a campaign; with what was measured, or without. Each row is off by
  /// `noise`, and so is their sum.
  Outcome predict(const measure::SimulatedMemory& machine, const SimulatedNetwork& network,
                  const table::Device& device, const measure::Memory& memory, double noise) {
    std::normal_distribution<double> error(0, noise);
    const auto curve = estimate::default_curve(device, memory);
    double predicted_ns = 0;
    double real_ns = 0;
    std::vector<predict::Term> terms;
    for (const SimulatedKernel& kernel : network.kernels) {
      ir::Work work;
      work.bytes_weights = kernel.weight_bytes;
      std::vector<estimate::StatePoint> points;
      const auto add = [&](const measure::State& state) {
        points.push_back({state.reuse_bytes,
                          time_of(kernel, machine, state.reuse_bytes) * std::exp(error(random_)),
                          kSimulatedRowSd});
      };
      add(measure::hot_state(work));
      for (const measure::State& state : measure::further_states(work, device, memory)) add(state);
      const auto answer = estimate::at_reuse(points, curve, network.footprint_bytes);
      predicted_ns += answer.median_ns;
      real_ns += time_of(kernel, machine, network.footprint_bytes);
      terms.push_back({answer.median_ns, answer.sd_log, "measured", answer.common_sd_log});
    }
    for (predict::Term& term : terms) term.share /= predicted_ns;
    // What sums of kernels miss by besides.
    return {std::log(real_ns / predicted_ns) + error(random_),
            predict::total_spread(terms, kSimulatedRowSd)};
  }

  std::mt19937_64 random_{5};
};

TEST_F(UnseenMachines, NetworksAreWithinThreePerCentByMeasuredMemoryAndInsideTheirIntervals) {
  constexpr int kMachines = 200;
  double measured_error = 0;
  double reported_error = 0;
  int measured_inside = 0;
  int reported_inside = 0;
  for (int i = 0; i < kMachines; ++i) {
    measure::SimulatedMemory unseen = machine();
    table::Device device;
    device.l2_bytes = static_cast<std::int64_t>(unseen.own_bytes);
    // Two thirds to eight times what one core can use.
    device.llc_bytes = static_cast<std::int64_t>(*unseen.last_bytes * std::exp2(uniform(-0.6, 3)));
    auto outcome = measure::measure_memory(
        unseen.request(unseen.own_bytes, static_cast<double>(device.llc_bytes)), unseen.looker());
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(std::holds_alternative<measure::MeasuredMemory>(*outcome));
    const measure::Memory memory = std::get<measure::MeasuredMemory>(*outcome).hierarchy;
    const SimulatedNetwork net = network(unseen);
    measured_error += std::abs(predict(unseen, net, device, memory, 0).log_error) / kMachines;
    reported_error += std::abs(predict(unseen, net, device, {}, 0).log_error) / kMachines;
    const Outcome measured = predict(unseen, net, device, memory, kSimulatedRowSd);
    const Outcome reported = predict(unseen, net, device, {}, kSimulatedRowSd);
    measured_inside += std::abs(measured.log_error) <= kSdsOf90 * measured.spread ? 1 : 0;
    reported_inside += std::abs(reported.log_error) <= kSdsOf90 * reported.spread ? 1 : 0;
  }
  EXPECT_LE(measured_error, 0.03);
  EXPECT_LT(measured_error, 0.7 * reported_error);
  EXPECT_GE(measured_inside, 170) << "of 200";
  EXPECT_GE(reported_inside, 160) << "of 200";
  RecordProperty("measured_error", std::to_string(measured_error));
  RecordProperty("reported_error", std::to_string(reported_error));
  RecordProperty("measured_inside", measured_inside);
  RecordProperty("reported_inside", reported_inside);
}

TEST_F(UnseenMachines, WhatOtherTenantsLeaveInAnotherMinuteIsInsideTheIntervals) {
  constexpr int kMachines = 200;
  constexpr double kAnotherMinute = 60;
  int inside = 0;
  int inside_of_one_curve = 0;
  for (int i = 0; i < kMachines; ++i) {
    measure::SimulatedMemory unseen = machine();
    unseen.mood_sd = uniform(0.1, 0.4);
    unseen.mood_seconds = uniform(1, 6);
    table::Device device;
    device.l2_bytes = static_cast<std::int64_t>(unseen.own_bytes);
    device.llc_bytes = static_cast<std::int64_t>(*unseen.last_bytes);
    auto outcome = measure::measure_memory(
        unseen.request(unseen.own_bytes, static_cast<double>(device.llc_bytes)), unseen.looker());
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(std::holds_alternative<measure::MeasuredMemory>(*outcome));
    measure::Memory memory = std::get<measure::MeasuredMemory>(*outcome).hierarchy;
    unseen.wait(kAnotherMinute);
    *unseen.last_bytes *= std::exp(unseen.mood);
    SimulatedNetwork net = network(unseen);
    // Where the curve decides.
    net.footprint_bytes = *unseen.last_bytes * std::exp2(uniform(-1, 2));
    const auto is_inside = [&](const Outcome& of) {
      return std::abs(of.log_error) <= kSdsOf90 * of.spread;
    };
    inside += is_inside(predict(unseen, net, device, memory, kSimulatedRowSd)) ? 1 : 0;
    // As if all moments had been alike, and loads and reads.
    if (memory->last) {
      memory->last->disturbed.reset();
      memory->last->stream = memory->last->chase = memory->last->middle;
    }
    inside_of_one_curve += is_inside(predict(unseen, net, device, memory, kSimulatedRowSd)) ? 1 : 0;
  }
  EXPECT_GE(inside, 170) << "of 200";
  EXPECT_LT(inside_of_one_curve, inside);
  RecordProperty("inside", inside);
  RecordProperty("inside_of_one_curve", inside_of_one_curve);
}

TEST_F(UnseenMachines, WhatOthersBringInIsFoundByLooks) {
  constexpr int kMachines = 100;
  int looked = 0;
  int near = 0;
  double log_error = 0;
  for (int i = 0; i < kMachines; ++i) {
    measure::SimulatedMemory unseen = machine();
    unseen.noise = uniform(0, 0.05);
    // A tenth of the last level to all of it in 4 ms; four times more or less in one moment.
    unseen.others_bytes_per_ns = *unseen.last_bytes * std::exp2(uniform(-3.3, 0)) / 4e6;
    unseen.others_sd = 0.7;
    table::Device device;
    device.l2_bytes = static_cast<std::int64_t>(unseen.own_bytes);
    device.llc_bytes = static_cast<std::int64_t>(*unseen.last_bytes);
    auto outcome = measure::measure_memory(unseen.request(unseen.own_bytes, *unseen.last_bytes),
                                           unseen.looker());
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(std::holds_alternative<measure::MeasuredMemory>(*outcome));
    const auto& found = std::get<measure::MeasuredMemory>(*outcome).hierarchy;
    if (found.waits.empty()) continue;  // no pool fits between the two caches
    ++looked;
    const auto last = estimate::measured_last_level(found);
    const double rate = estimate::foreign_rate_by_looks(found, last.value()).value_or(0);
    // A prediction without a fit counts half of it.
    EXPECT_NEAR(predict::traffic_before_fit(found).during(1).mean, 0.5 * rate, 1e-9 * rate);
    const double error = std::log(std::max(rate, 1e-3) / unseen.others_bytes_per_ns);
    log_error += error;
    near += std::abs(error) <= std::log(2) ? 1 : 0;
  }
  EXPECT_GE(looked, 80) << "of 100";
  EXPECT_GE(near, looked * 9 / 10) << "within a factor of two";
  EXPECT_NEAR(log_error / looked, 0, 0.4);
  RecordProperty("near", near);
}

}  // namespace
}  // namespace oplat::app
