// SPDX-License-Identifier: Apache-2.0
/// Patience, and what is left.
#include "runtimes/rounds_alone.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::runtimes {
namespace {

/// A block lasts so many times its duration at most.
constexpr double kPatience = 4;
/// Of the rounds that fit into its duration, this share is enough.
constexpr double kEnough = 0.3;
/// A round counts as alone with so many looks that say otherwise.
constexpr double kAlone = 0.1;

}  // namespace

void RoundsAlone::add(double shared) {
  shared_.push_back(shared);
  alone_ += shared <= kAlone ? 1 : 0;
}

bool RoundsAlone::enough(double elapsed_ns) const {
  const auto rounds = static_cast<std::int64_t>(shared_.size());
  const auto duration_ns = static_cast<double>(request_.duration.count());
  if (rounds < request_.min_rounds || elapsed_ns < duration_ns) return false;
  if (elapsed_ns >= kPatience * duration_ns) return true;
  const double of_duration = static_cast<double>(rounds) * duration_ns / elapsed_ns;
  return static_cast<double>(alone_) >=
         std::max(static_cast<double>(request_.min_rounds), kEnough * of_duration);
}

double RoundsAlone::keep(measure::BlockSamples& samples) const {
  const auto rounds = static_cast<std::int64_t>(shared_.size());
  if (alone_ == rounds) return 0;
  double most = kAlone;
  const bool few = alone_ < std::min(request_.min_rounds, rounds);
  if (few) {
    std::vector<double> sorted = shared_;
    const auto least = static_cast<std::int64_t>(std::ceil(kEnough * static_cast<double>(rounds)));
    const std::int64_t wanted = std::min(rounds, std::max(request_.min_rounds, least));
    std::nth_element(sorted.begin(), sorted.begin() + (wanted - 1), sorted.end());
    most = sorted[static_cast<std::size_t>(wanted - 1)];
  }
  double sum = 0;
  std::size_t kept = 0;
  for (std::size_t round = 0; round < shared_.size(); ++round) {
    if (shared_[round] > most) continue;
    sum += shared_[round];
    for (std::vector<double>& list : samples.ns) list[kept] = list[round];
    ++kept;
  }
  for (std::vector<double>& list : samples.ns) list.resize(kept);
  return few ? sum / static_cast<double>(kept) : 0;
}

}  // namespace oplat::runtimes
