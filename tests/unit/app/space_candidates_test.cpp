// SPDX-License-Identifier: Apache-2.0
/// A candidate counts as much as it is of the time of the networks that have it.
#include "app/space_candidates.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace oplat::app {
namespace {

search::KernelSpace space_of_two_networks() {
  search::KernelSpace space;
  for (const char* key :
       {"Relu/14{}(f32[1,64])->(f32[1,64])", "Relu/14{}(f32[1,4096])->(f32[1,4096])",
        "Relu/14{}(f32[8,4096])->(f32[8,4096])", "Relu/14{}(f32[16,100])->(f32[16,100])"})
    space.kernels.push_back({key, 0, 3});
  space.networks.push_back({"first", "one family", "fp32", {{0, 2}, {1, 1}}});
  space.networks.push_back({"second", "another family", "fp32", {{1, 1}, {2, 1}}});
  return space;
}

table::Device some_device() {
  table::Device device;
  device.architecture = "x86_64";
  return device;
}

TEST(SpaceCandidates, OwnComeFirstAndOthersKnowWhatTheyAreDrawnFrom) {
  const Candidates made = make_candidates(space_of_two_networks(), some_device(), 1, 1);
  ASSERT_EQ(made.own, 4U);
  ASSERT_GT(made.keys.size(), made.own);
  EXPECT_EQ(made.drawn_from.size(), made.keys.size() - made.own);
  EXPECT_EQ(made.descriptions.size(), made.keys.size());
  EXPECT_EQ(made.weights.size(), made.keys.size());
  EXPECT_EQ(made.families, 2U);
  for (std::size_t i = 0; i < made.drawn_from.size(); ++i)
    EXPECT_EQ(made.groups[made.own + i], made.groups[made.drawn_from[i]]);
  EXPECT_EQ(made.counts_outside, (std::vector<double>{0, 0, 0, 3}));
  EXPECT_EQ(made.groups[3], std::vector<std::size_t>());
  EXPECT_EQ(made.groups[1], (std::vector<std::size_t>{0, 1}));
}

/// Of a kernel and of what was drawn from it.
double weight_with_drawn(const Candidates& candidates, const std::vector<double>& weights,
                         std::size_t own) {
  double sum = weights[own];
  for (std::size_t i = 0; i < candidates.drawn_from.size(); ++i)
    sum += candidates.drawn_from[i] == own ? weights[candidates.own + i] : 0;
  return sum;
}

TEST(SpaceCandidates, WeightsAreSharesOfTheTime) {
  const Candidates made = make_candidates(space_of_two_networks(), some_device(), 1, 1);
  // The first network: 2 * 1 + 3, the second 3 + 9. All are of one slice, which keeps proportions.
  const std::vector<double> weights = weights_of(made, std::vector<double>{1, 3, 9, 5});
  const double first = 0.5 * 2 / 5;
  const double second = 0.5 * 3 / 5 + 0.5 * 3 / 12;
  const double third = 0.5 * 9 / 12;
  EXPECT_NEAR(weights[1] / weights[0], second / first, 1e-9);
  EXPECT_NEAR(weights[2] / weights[0], third / first, 1e-9);
  // Those of no network count by the file, whatever they take.
  EXPECT_NEAR(weights[3] / weights[0], 3e-4 / first, 1e-9);
  // Which of them is long by the times decides, not by what was guessed.
  const std::vector<double> others = weights_of(made, std::vector<double>{100, 3, 9, 5});
  EXPECT_GT(weight_with_drawn(made, others, 0), weight_with_drawn(made, weights, 0));
  EXPECT_LT(weight_with_drawn(made, others, 1), weight_with_drawn(made, weights, 1));
}

TEST(SpaceCandidates, AGuessIsTheLongestOfItsParts) {
  ir::Work work;
  EXPECT_EQ(guessed_ns(work), 1000);
  work.bytes_in = 100'000;
  EXPECT_EQ(guessed_ns(work), 11'000);
  work.flops = 1e6;
  EXPECT_EQ(guessed_ns(work), 21'000);
  work.steps = 30'000;
  EXPECT_EQ(guessed_ns(work), 31'000);
}

}  // namespace
}  // namespace oplat::app
