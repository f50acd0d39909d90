// SPDX-License-Identifier: Apache-2.0
/// Two-loop recursion, halving line search.
#include "estimate/learned/descent.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace oplat::estimate {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kMemory = 12;
constexpr int kHalvings = 25;
/// Part of the decrease that the slope promises with which a step is content.
constexpr double kContent = 1e-4;
/// A step that gains less, relative to the value, is the last.
constexpr double kMinDescentGain = 1e-6;
/// The first step knows no curvature: it moves no coordinate by more.
constexpr double kFirstStep = 0.5;

struct Pair {
  VectorXd step;
  VectorXd change;  ///< of the gradient
};

VectorXd direction_of(const VectorXd& gradient, const std::deque<Pair>& memory) {
  VectorXd direction = -gradient;
  if (memory.empty()) {
    const double most = gradient.cwiseAbs().maxCoeff();
    return most > 0 ? VectorXd(direction * (kFirstStep / most)) : direction;
  }
  std::vector<double> factors(memory.size());
  for (std::size_t i = memory.size(); i-- > 0;) {
    factors[i] = memory[i].step.dot(direction) / memory[i].step.dot(memory[i].change);
    direction -= factors[i] * memory[i].change;
  }
  const Pair& last = memory.back();
  direction *= last.step.dot(last.change) / last.change.squaredNorm();
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const double back = memory[i].change.dot(direction) / memory[i].step.dot(memory[i].change);
    direction += (factors[i] - back) * memory[i].step;
  }
  return direction;
}

/// The gradient without the coordinates that stand at a bound and would leave it.
VectorXd inner_gradient(const VectorXd& at, const VectorXd& gradient, const DescentBounds& bounds) {
  VectorXd inner = gradient;
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    if ((at(i) <= bounds.low(i) && gradient(i) > 0) || (at(i) >= bounds.high(i) && gradient(i) < 0))
      inner(i) = 0;
  }
  return inner;
}

}  // namespace

VectorXd descend(const Slope& function, const VectorXd& start, const DescentBounds& bounds,
                 int steps, const std::function<bool()>& go_on) {
  const auto inside = [&](const VectorXd& at) {
    return VectorXd(at.cwiseMax(bounds.low).cwiseMin(bounds.high));
  };
  VectorXd at = inside(start);
  VectorXd gradient(at.size());
  double value = function(at, gradient);
  std::deque<Pair> memory;
  VectorXd next_gradient(at.size());
  for (int step = 0; step < steps; ++step) {
    if (go_on && !go_on()) break;
    const VectorXd inner = inner_gradient(at, gradient, bounds);
    VectorXd direction = direction_of(inner, memory);
    for (Eigen::Index i = 0; i < at.size(); ++i) {
      if (inner(i) == 0) direction(i) = 0;
    }
    if (!(inner.dot(direction) < 0)) break;
    VectorXd next;
    double next_value = value;
    bool found = false;
    double length = 1;
    for (int halving = 0; halving < kHalvings && !found; ++halving, length /= 2) {
      next = inside(at + length * direction);
      next_value = function(next, next_gradient);
      found = std::isfinite(next_value) && next_value <= value + kContent * gradient.dot(next - at);
    }
    if (!found) {
      if (memory.empty()) break;
      memory.clear();  // The curvature misled: once more along the gradient.
      continue;
    }
    Pair pair{next - at, next_gradient - gradient};
    const double gain = value - next_value;
    at = next;
    gradient = next_gradient;
    value = next_value;
    if (pair.step.dot(pair.change) > 1e-10 * pair.change.squaredNorm()) {
      memory.push_back(std::move(pair));
      if (memory.size() > kMemory) memory.pop_front();
    }
    if (gain < kMinDescentGain * (1 + std::abs(value))) break;
  }
  return at;
}

}  // namespace oplat::estimate
