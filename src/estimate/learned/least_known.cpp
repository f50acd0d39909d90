// SPDX-License-Identifier: Apache-2.0
/// Greedy choice by variance.
#include "estimate/learned/least_known.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr double kJitter = 1e-6;

}  // namespace

std::vector<std::size_t> least_known(const SmoothKernel& kernel, const Points& known, const Points& candidates,
                                     std::size_t count) {
  const Index rows = candidates.size();
  count = std::min(count, static_cast<std::size_t>(rows));
  const auto noise = static_cast<float>(kernel.noise + kJitter);
  // A row of `factor` for each candidate, a column for each row known or chosen: the decomposition so far.
  MatrixXf factor(rows, known.size() + static_cast<Index>(count));
  VectorXf left = VectorXf::Constant(rows, static_cast<float>(kernel.variance()));
  if (known.size() > 0) {
    MatrixXd among = kernel.between(known, known);
    among.diagonal().array() += kernel.noise + kJitter;
    const Eigen::LLT<MatrixXd> decomposed(among);
    // Without a decomposition what is known counts for nothing, and the choice is one of distances among candidates.
    MatrixXd to = decomposed.info() == Eigen::Success ? kernel.between(known, candidates)
                                                      : MatrixXd::Zero(known.size(), rows);
    if (decomposed.info() == Eigen::Success) decomposed.matrixL().solveInPlace(to);
    factor.leftCols(known.size()) = to.transpose().cast<float>();
    left -= factor.leftCols(known.size()).rowwise().squaredNorm();
  }
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(static_cast<std::size_t>(rows), false);
  for (Index at = known.size(); chosen.size() < count; ++at) {
    Index best = -1;
    for (Index i = 0; i < rows; ++i) {
      if (!taken[static_cast<std::size_t>(i)] && (best < 0 || left(i) > left(best))) best = i;
    }
    const auto pivot = static_cast<std::size_t>(best);
    chosen.push_back(pivot);
    taken[pivot] = true;
    const std::size_t one[] = {pivot};
    VectorXf column = kernel.between(candidates, candidates.chosen(one)).cast<float>();
    column.noalias() -= factor.leftCols(at) * factor.row(best).head(at).transpose();
    column /= std::sqrt(std::max(left(best), 0.0F) + noise);
    factor.col(at) = column;
    left -= column.cwiseAbs2();
  }
  return chosen;
}

}  // namespace oplat::estimate
