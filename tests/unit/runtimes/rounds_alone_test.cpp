// SPDX-License-Identifier: Apache-2.0
/// Which rounds of a block count next to another tenant's work on the same core.
#include "runtimes/rounds_alone.hpp"

#include <gmock/gmock.h>

namespace oplat::runtimes {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

constexpr double kDuration = 1000;

measure::BlockRequest request(std::int64_t least) {
  measure::BlockRequest request;
  request.handles = {1, 2};
  request.duration = std::chrono::nanoseconds(1000);
  request.min_rounds = least;
  return request;
}

measure::BlockSamples samples_of(std::size_t rounds) {
  measure::BlockSamples samples;
  samples.ns.resize(2);
  for (std::size_t i = 0; i < rounds; ++i) {
    samples.ns[0].push_back(static_cast<double>(i));
    samples.ns[1].push_back(static_cast<double>(10 * i));
  }
  return samples;
}

TEST(RoundsAloneTest, OfAQuietCoreEveryRoundCounts) {
  const auto asked = request(3);
  RoundsAlone rounds(asked);
  for (int i = 0; i < 2; ++i) rounds.add(0);
  EXPECT_FALSE(rounds.enough(2 * kDuration)) << "two rounds of three";
  rounds.add(0);
  EXPECT_FALSE(rounds.enough(0.9 * kDuration));
  EXPECT_TRUE(rounds.enough(kDuration));
  auto samples = samples_of(3);
  EXPECT_EQ(rounds.keep(samples), 0);
  EXPECT_THAT(samples.ns[0], ElementsAre(0, 1, 2));
}

TEST(RoundsAloneTest, RoundsBesideAStrangerAreWaitedOutAndLeftOut) {
  const auto asked = request(2);
  RoundsAlone rounds(asked);
  for (int i = 0; i < 10; ++i) rounds.add(i == 4 ? 0 : 0.5);
  EXPECT_FALSE(rounds.enough(kDuration)) << "one round of ten";
  for (int i = 0; i < 10; ++i) rounds.add(i < 2 ? 0 : 0.5);
  EXPECT_TRUE(rounds.enough(2 * kDuration)) << "three rounds, where ten fit into the duration";
  auto samples = samples_of(20);
  EXPECT_EQ(rounds.keep(samples), 0);
  EXPECT_THAT(samples.ns[0], ElementsAre(4, 10, 11));
  EXPECT_THAT(samples.ns[1], ElementsAre(40, 100, 110));
}

TEST(RoundsAloneTest, WhereHardlyAnyAreAloneTheLeastDisturbedCountAndTheirShareIsTold) {
  const auto asked = request(3);
  RoundsAlone rounds(asked);
  for (int i = 0; i < 40; ++i) rounds.add(i < 2 ? 0 : i < 12 ? 0.3 : 1);
  EXPECT_FALSE(rounds.enough(3.9 * kDuration));
  EXPECT_TRUE(rounds.enough(4 * kDuration)) << "patience has an end";
  auto samples = samples_of(40);
  EXPECT_THAT(rounds.keep(samples), DoubleEq(10 * 0.3 / 12))
      << "two rounds alone and ten a little disturbed";
  EXPECT_EQ(samples.ns[0].size(), 12U);
  EXPECT_EQ(samples.ns[1].back(), 110);
}

TEST(RoundsAloneTest, OneRoundThatWasAskedForIsKept) {
  const auto asked = request(1);
  RoundsAlone rounds(asked);
  rounds.add(1);
  auto samples = samples_of(1);
  EXPECT_EQ(rounds.keep(samples), 1);
  EXPECT_EQ(samples.ns[0].size(), 1U);
}

}  // namespace
}  // namespace oplat::runtimes
