// SPDX-License-Identifier: Apache-2.0
/// Kernels that a profile by a space may measure, and how much each matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "estimate/unseen.hpp"
#include "ir/description.hpp"
#include "ir/work.hpp"
#include "search/kernel_space.hpp"
#include "table/records.hpp"

namespace oplat::app {

/// The kernels of a space, and others of sizes and forms between them that are drawn from those.
struct Candidates {
  std::vector<std::string> keys;
  std::vector<ir::Description> descriptions;
  /// How much of what will be asked each stands for.
  std::vector<double> weights;
  std::size_t own = 0;  ///< the first so many are the space's, the others are drawn
  /// Of each of the others, which one it was drawn from.
  std::vector<std::size_t> drawn_from;
  /// Of the space's own: executions of those that no network has, as the space says; 0 for others.
  std::vector<double> counts_outside;
  /// Families that have it, or that it is drawn from.
  std::vector<std::vector<std::size_t>> groups;
  std::vector<estimate::NetworkOfRows> networks;  ///< by positions of candidates
  std::size_t families = 0;
};

/// Described for `threads` of the runtime. Their weights are those by guessed_ns(). Kernels of
/// blocked layouts are those of the device.
Candidates make_candidates(const search::KernelSpace& space, const table::Device& device,
                           std::int64_t threads, std::uint64_t seed);

/// What a kernel takes before anything was measured, to weigh kernels by: 50 operations and 10
/// bytes a ns, its steps, and a microsecond.
double guessed_ns(const ir::Work& work);

/// The share that each candidate has in the networks of the space, whose own kernels take `ns`: a
/// depthwise convolution of few operations may be half of its network's time. Networks count alike,
/// long ones no more than short ones. A candidate that was drawn shares the weight of what it was
/// drawn from.
std::vector<double> weights_of(const Candidates& candidates, std::span<const double> ns);

}  // namespace oplat::app
