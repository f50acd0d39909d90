// SPDX-License-Identifier: Apache-2.0
/// Covariances, their derivatives, and the search for the likeliest kernel.
#include "estimate/learned/smooth_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "estimate/learned/descent.hpp"

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const double kRoot3 = std::sqrt(3.0);
/// Keeps rows that are all but equal from making the matrix singular.
constexpr double kSmoothJitter = 1e-6;
/// Before any row is seen: ln(weight) + ln(columns) of the smooth part and of the other, and how
/// firmly.
constexpr double kBelief[SmoothKernel::kParts] = {-1, 1};
constexpr double kFirmness = 0.3;

/// Distances times sqrt(3).
MatrixXd distances(const VectorXd& weights, const MatrixXd& a, const MatrixXd& b) {
  const VectorXd roots = weights.cwiseSqrt();
  const MatrixXd scaled_a = a * roots.asDiagonal();
  const MatrixXd scaled_b = b * roots.asDiagonal();
  MatrixXd out = -2 * scaled_a * scaled_b.transpose();
  out.colwise() += scaled_a.rowwise().squaredNorm();
  out.rowwise() += scaled_b.rowwise().squaredNorm().transpose();
  out = kRoot3 * out.cwiseMax(0).cwiseSqrt();
  return out;
}

bool differ(const std::vector<std::uint32_t>& a, std::size_t i, const std::vector<std::uint32_t>& b,
            std::size_t j) {
  return !a.empty() && !b.empty() && a[i] != b[j];
}

/// What two rows differ in that no distance tells.
struct Differ {
  bool slice = false;
  bool family = false;
  bool setting = false;
  Differ(const Points& a, std::size_t i, const Points& b, std::size_t j)
      : slice(a.slices[i] != b.slices[j]),
        family(slice && differ(a.families, i, b.families, j)),
        setting(differ(a.settings, i, b.settings, j)) {}
};

void damp(MatrixXd& k, const Points& a, const Points& b, const SmoothKernel& kernel) {
  for (Index j = 0; j < k.cols(); ++j) {
    for (Index i = 0; i < k.rows(); ++i) {
      const Differ in(a, static_cast<std::size_t>(i), b, static_cast<std::size_t>(j));
      if (in.slice) k(i, j) *= kernel.across;
      if (in.family) k(i, j) *= kernel.apart;
      if (in.setting) k(i, j) *= kernel.between_settings;
    }
  }
}

double of_odds(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }
double log_odds_of(double share) { return std::log(share / (1 - share)); }

}  // namespace

void Points::append(const Points& rows) {
  const Index before = at.rows();
  at.conservativeResize(before + rows.at.rows(), Eigen::NoChange);
  at.bottomRows(rows.at.rows()) = rows.at;
  slices.insert(slices.end(), rows.slices.begin(), rows.slices.end());
  families.insert(families.end(), rows.families.begin(), rows.families.end());
  settings.insert(settings.end(), rows.settings.begin(), rows.settings.end());
  kernels.insert(kernels.end(), rows.kernels.begin(), rows.kernels.end());
}

Points Points::chosen(std::span<const std::size_t> rows) const {
  Points out;
  out.at.resize(static_cast<Index>(rows.size()), at.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.at.row(static_cast<Index>(i)) = at.row(static_cast<Index>(rows[i]));
    out.slices.push_back(slices[rows[i]]);
    if (!families.empty()) out.families.push_back(families[rows[i]]);
    if (!settings.empty()) out.settings.push_back(settings[rows[i]]);
    if (!kernels.empty()) out.kernels.push_back(kernels[rows[i]]);
  }
  return out;
}

Points Points::part(Index begin, Index size) const {
  std::vector<std::size_t> rows(static_cast<std::size_t>(size));
  std::iota(rows.begin(), rows.end(), static_cast<std::size_t>(begin));
  return chosen(rows);
}

MatrixXd SmoothKernel::between(const Points& a, const Points& b) const {
  MatrixXd out = MatrixXd::Zero(a.size(), b.size());
  for (const Part& part : parts) {
    const MatrixXd r = distances(part.weights, a.at, b.at);
    out.array() += part.variance * (1 + r.array()) * (-r.array()).exp();
  }
  damp(out, a, b, *this);
  return out;
}

MatrixXd inverse_of_lower(const MatrixXd& lower) {
  constexpr Index kBlock = 64;
  const Index n = lower.rows();
  MatrixXd inverse = MatrixXd::Zero(n, n);
  for (Index begin = 0; begin < n; begin += kBlock) {
    const Index width = std::min(kBlock, n - begin);
    auto block = inverse.block(begin, begin, n - begin, width);
    block.topRows(width).setIdentity();
    lower.bottomRightCorner(n - begin, n - begin)
        .triangularView<Eigen::Lower>()
        .solveInPlace(block);
  }
  return inverse;
}

VectorXd parameters_of(const SmoothKernel& kernel) {
  const Index columns = kernel.parts[0].weights.size();
  VectorXd out(static_cast<Index>(SmoothKernel::kParts) * (1 + columns) + 4);
  Index at = 0;
  for (const SmoothKernel::Part& part : kernel.parts) {
    out(at) = std::log(part.variance);
    out.segment(at + 1, columns) = part.weights.array().log();
    at += 1 + columns;
  }
  out(at) = std::log(kernel.noise);
  out(at + 1) = log_odds_of(kernel.across);
  out(at + 2) = log_odds_of(kernel.apart);
  out(at + 3) = log_odds_of(kernel.between_settings);
  return out;
}

SmoothKernel kernel_of(const VectorXd& parameters, Index columns) {
  SmoothKernel kernel;
  Index at = 0;
  for (SmoothKernel::Part& part : kernel.parts) {
    part.variance = std::exp(parameters(at));
    part.weights = parameters.segment(at + 1, columns).array().exp();
    at += 1 + columns;
  }
  kernel.noise = std::exp(parameters(at));
  kernel.across = of_odds(parameters(at + 1));
  kernel.apart = of_odds(parameters(at + 2));
  kernel.between_settings = of_odds(parameters(at + 3));
  return kernel;
}

double misfit(const VectorXd& parameters, const Points& points, const VectorXd& y,
              VectorXd& gradient) {
  const Index columns = points.at.cols();
  const SmoothKernel kernel = kernel_of(parameters, columns);
  std::array<MatrixXd, SmoothKernel::kParts> covariances;
  std::array<MatrixXd, SmoothKernel::kParts>
      falls;  ///< derivative of a covariance by r^2 is -3/2 of these
  MatrixXd sum = MatrixXd::Zero(points.size(), points.size());
  for (std::size_t c = 0; c < SmoothKernel::kParts; ++c) {
    const MatrixXd r = distances(kernel.parts[c].weights, points.at, points.at);
    falls[c] = kernel.parts[c].variance * (-r.array()).exp();
    damp(falls[c], points, points, kernel);
    covariances[c] = falls[c].array() * (1 + r.array());
    sum += covariances[c];
  }
  sum.diagonal().array() += kernel.noise + kSmoothJitter;
  const Eigen::LLT<MatrixXd> factor(sum);
  gradient.setZero(parameters.size());
  if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
  const MatrixXd lower = factor.matrixL();
  const MatrixXd inverse_lower = inverse_of_lower(lower);
  MatrixXd slope = MatrixXd::Zero(points.size(), points.size());
  slope.selfadjointView<Eigen::Lower>().rankUpdate(inverse_lower.transpose());
  slope.triangularView<Eigen::StrictlyUpper>() = slope.transpose();
  const VectorXd solved = factor.solve(y);
  slope -= solved * solved.transpose();

  double value = 0.5 * y.dot(solved) + lower.diagonal().array().log().sum();
  Index at = 0;
  double other_slices = 0;
  double other_families = 0;
  double other_settings = 0;
  for (std::size_t c = 0; c < SmoothKernel::kParts; ++c) {
    gradient(at) = 0.5 * slope.cwiseProduct(covariances[c]).sum();
    const MatrixXd weighted = slope.cwiseProduct(falls[c]);
    const VectorXd sums = weighted.rowwise().sum();
    const MatrixXd spread = weighted * points.at;
    for (Index d = 0; d < columns; ++d) {
      const double squares =
          2 * (sums.dot(points.at.col(d).cwiseAbs2()) - points.at.col(d).dot(spread.col(d)));
      const double doubt =
          parameters(at + 1 + d) - (kBelief[c] - std::log(static_cast<double>(columns)));
      gradient(at + 1 + d) = -0.75 * kernel.parts[c].weights(d) * squares + kFirmness * doubt;
      value += 0.5 * kFirmness * doubt * doubt;
    }
    for (Index j = 0; j < points.size(); ++j) {
      for (Index i = 0; i < points.size(); ++i) {
        const Differ in(points, static_cast<std::size_t>(i), points, static_cast<std::size_t>(j));
        if (!in.slice && !in.setting) continue;
        const double part = slope(i, j) * covariances[c](i, j);
        if (in.slice) other_slices += part;
        if (in.family) other_families += part;
        if (in.setting) other_settings += part;
      }
    }
    at += 1 + columns;
  }
  gradient(at) = 0.5 * kernel.noise * slope.trace();
  gradient(at + 1) = 0.5 * other_slices * (1 - kernel.across);
  gradient(at + 2) = 0.5 * other_families * (1 - kernel.apart);
  gradient(at + 3) = 0.5 * other_settings * (1 - kernel.between_settings);
  return value;
}

SmoothKernel learn_kernel(const Points& points, const VectorXd& y, int steps,
                          const std::function<bool()>& go_on) {
  const Index columns = points.at.cols();
  const double variance =
      std::max(1e-6, y.squaredNorm() / static_cast<double>(std::max<Index>(1, y.size())));
  SmoothKernel start;
  for (std::size_t c = 0; c < SmoothKernel::kParts; ++c) {
    start.parts[c].variance = variance / static_cast<double>(SmoothKernel::kParts);
    start.parts[c].weights =
        VectorXd::Constant(columns, std::exp(kBelief[c]) / static_cast<double>(columns));
  }
  start.noise = 0.02 * variance;
  start.across = 0.88;
  start.apart = 0.8;
  start.between_settings = 0.9;
  DescentBounds bounds;
  VectorXd parameters = parameters_of(start);
  bounds.low = VectorXd::Constant(parameters.size(), -14);
  bounds.high = VectorXd::Constant(parameters.size(), 4);
  // Of noise, then of the odds of what no distance tells.
  constexpr Index kOdds = 3;
  bounds.low(parameters.size() - kOdds - 1) = -12;
  bounds.high(parameters.size() - kOdds - 1) = 1;
  bounds.low.tail(kOdds).setConstant(-4);
  bounds.high.tail(kOdds).setConstant(8);
  const Slope slope = [&](const VectorXd& at, VectorXd& gradient) {
    return misfit(at, points, y, gradient);
  };
  parameters = descend(slope, parameters, bounds, steps, go_on);
  return kernel_of(parameters, columns);
}

}  // namespace oplat::estimate
