// SPDX-License-Identifier: Apache-2.0
/// Greedy choices by variance.
#include "estimate/learned/informative.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr double kInformativeJitter = 1e-6;

/// What is unknown of candidates, as one after the other becomes known.
class Unknown {
 public:
  Unknown(const SmoothKernel& kernel, const Points& known, const Points& candidates,
          std::size_t more)
      : kernel_(kernel),
        known_(known),
        candidates_(candidates),
        noise_(static_cast<float>(kernel.noise + kInformativeJitter)),
        factor_(candidates.size(), known.size() + static_cast<Index>(more)),
        at_(known.size()),
        left_(VectorXf::Constant(candidates.size(), static_cast<float>(kernel.variance()))) {
    if (known.size() == 0) return;
    MatrixXd among = kernel.between(known, known);
    among.diagonal().array() += kernel.noise + kInformativeJitter;
    decomposed_.compute(among);
    factor_.leftCols(at_) = whitened(candidates).transpose();
    left_ -= factor_.leftCols(at_).rowwise().squaredNorm();
  }

  [[nodiscard]] const VectorXf& left() const { return left_; }
  /// Of a candidate's variance, with the noise of measuring it.
  [[nodiscard]] float variance(Index candidate) const {
    return std::max(left_(candidate), 0.0F) + noise_;
  }
  /// Covariances of other points with the candidates, given the rows known from the beginning.
  [[nodiscard]] MatrixXf shared_with(const Points& asked) const {
    MatrixXf out = kernel_.between(asked, candidates_).cast<float>();
    if (known_.size() > 0)
      out.noalias() -= whitened(asked).transpose() * factor_.leftCols(known_.size()).transpose();
    return out;
  }
  /// A candidate becomes known. Gives the covariances of all candidates with it, given what was
  /// known before, over its deviation.
  VectorXf know(Index candidate) {
    const std::size_t one[] = {static_cast<std::size_t>(candidate)};
    VectorXf column = kernel_.between(candidates_, candidates_.chosen(one)).cast<float>();
    column.noalias() -= factor_.leftCols(at_) * factor_.row(candidate).head(at_).transpose();
    column /= std::sqrt(variance(candidate));
    factor_.col(at_++) = column;
    left_ -= column.cwiseAbs2();
    return column;
  }

 private:
  /// Without a decomposition what is known counts for nothing, and the choice is one of distances
  /// among candidates.
  [[nodiscard]] MatrixXf whitened(const Points& points) const {
    if (decomposed_.info() != Eigen::Success) return MatrixXf::Zero(known_.size(), points.size());
    MatrixXd to = kernel_.between(known_, points);
    decomposed_.matrixL().solveInPlace(to);
    return to.cast<float>();
  }

  const SmoothKernel& kernel_;
  const Points& known_;
  const Points& candidates_;
  float noise_;
  Eigen::LLT<MatrixXd> decomposed_;
  MatrixXf factor_;  ///< a row of each candidate, a column of each row known or chosen: the
                     ///< decomposition so far
  Index at_;
  VectorXf left_;
};

/// `count` times the candidate of the largest gain that was not chosen yet; `take` is told of each.
template <class Gains, class Take>
std::vector<std::size_t> greedily(std::size_t candidates, std::size_t count, Gains gains,
                                  Take take) {
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(candidates, false);
  while (chosen.size() < std::min(count, candidates)) {
    const VectorXf gain = gains();
    Index best = -1;
    for (Index i = 0; i < gain.size(); ++i) {
      if (!taken[static_cast<std::size_t>(i)] && (best < 0 || gain(i) > gain(best))) best = i;
    }
    const auto number = static_cast<std::size_t>(best);
    chosen.push_back(number);
    taken[number] = true;
    take(best);
  }
  return chosen;
}

std::size_t size_of(const Points& points) { return static_cast<std::size_t>(points.size()); }

}  // namespace

std::vector<std::size_t> choose_least_certain(const SmoothKernel& kernel, const Points& known,
                                              const Points& candidates, std::size_t count) {
  Unknown unknown(kernel, known, candidates, std::min(count, size_of(candidates)));
  return greedily(
      size_of(candidates), count, [&]() -> const VectorXf& { return unknown.left(); },
      [&](Index best) { unknown.know(best); });
}

std::vector<std::size_t> choose_most_informative(const SmoothKernel& kernel, const Points& known,
                                                 const Points& candidates, const Points& asked,
                                                 std::span<const float> weights, std::size_t count,
                                                 std::span<const float> costs) {
  Unknown unknown(kernel, known, candidates, std::min(count, size_of(candidates)));
  MatrixXf shared = unknown.shared_with(asked);
  for (Index i = 0; i < asked.size(); ++i)
    shared.row(i) *= std::sqrt(weights[static_cast<std::size_t>(i)]);
  const auto gains = [&] {
    VectorXf gain = shared.colwise().squaredNorm();
    for (Index i = 0; i < gain.size(); ++i) {
      gain(i) /= unknown.variance(i);
      if (!costs.empty()) gain(i) /= costs[static_cast<std::size_t>(i)];
    }
    return gain;
  };
  return greedily(size_of(candidates), count, gains, [&](Index best) {
    const VectorXf own = shared.col(best) / std::sqrt(unknown.variance(best));
    shared.noalias() -= own * unknown.know(best).transpose();
  });
}

}  // namespace oplat::estimate
