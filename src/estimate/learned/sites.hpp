// SPDX-License-Identifier: Apache-2.0
/// Sites: rows as a model learns from them, one for each point.
#pragma once

#include <span>
#include <vector>

#include "estimate/learned/space.hpp"

namespace oplat::estimate {

/// Element i of each is of site i.
struct Sites {
  std::vector<Point> points;
  std::vector<ir::Description> descriptions;
  std::vector<double> log_ns;
};

/// Rows of one point become one site, their times averaged; rows without a place in the space are
/// left out.
Sites sites_of(std::span<const ir::Description> rows, std::span<const double> log_ns,
               const Space& space);

}  // namespace oplat::estimate
