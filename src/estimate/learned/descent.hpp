// SPDX-License-Identifier: Apache-2.0
/// Descent: the least of a smooth function within bounds, by its gradient.
#pragma once

#include <Eigen/Dense>
#include <functional>

namespace oplat::estimate {

/// Value at a point; writes the gradient there. Infinite where the function has no value.
using Slope = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;

struct DescentBounds {
  Eigen::VectorXd low;
  Eigen::VectorXd high;
};

/// L-BFGS (Nocedal 1980) whose steps are cut off at the bounds: at most `steps` of them from
/// `start`, which must have a value. The function need not be convex: what comes back is a point no
/// worse than the start. `go_on`, if not empty, is asked before each step; false ends the descent.
Eigen::VectorXd descend(const Slope& function, const Eigen::VectorXd& start,
                        const DescentBounds& bounds, int steps,
                        const std::function<bool()>& go_on = {});

}  // namespace oplat::estimate
