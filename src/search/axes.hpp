// SPDX-License-Identifier: Apache-2.0
/// Rows and columns of a written space.
#pragma once

#include <cstddef>
#include <vector>

#include "search/latencies.hpp"

namespace oplat::search {

struct Axes {
  std::vector<std::size_t> layers;   ///< with a choice, in SearchSpace::layers
  std::vector<std::size_t> fixed;    ///< the others
  std::vector<std::size_t> choices;  ///< blocks that `layers` choose from, in SearchSpace::blocks
  std::size_t max_in = 1;            ///< choices of channels that come into one of `layers`
  std::size_t max_out = 1;
};
/// The same at every resolution: which blocks exist depends on strides and channels.
Axes axes_of(const SpaceLatencies& latencies);

inline double microseconds(double ns) { return ns / 1000; }

}  // namespace oplat::search
