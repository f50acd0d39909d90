// SPDX-License-Identifier: Apache-2.0
/// Greedy choices by variance.
#include "estimate/learned/informative.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "base/parallel.hpp"

namespace oplat::estimate {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr double kInformativeJitter = 1e-6;
/// So many are chosen, of so many looked at, before all others learn of it.
constexpr std::size_t kChosenTogether = 32;
constexpr std::size_t kLookedAtTogether = 256;

/// Parts of a fixed size, whatever the number of threads: a product's last bits depend on its
/// sizes, and the same must be chosen everywhere.
void in_parts(Index count, int threads, const std::function<void(Index begin, Index size)>& part) {
  constexpr Index kPart = 512;
  const auto parts = static_cast<std::size_t>((count + kPart - 1) / kPart);
  const auto one = [&](std::size_t number) -> Status {
    const Index begin = static_cast<Index>(number) * kPart;
    part(begin, std::min(kPart, count - begin));
    return {};
  };
  static_cast<void>(base::for_each(parts, threads, one));
}

/// What is unknown of candidates, as more and more become known.
class Unknown {
 public:
  Unknown(const SmoothKernel& kernel, const Points& known, const Points& candidates,
          std::size_t more, int threads)
      : kernel_(kernel),
        known_(known),
        candidates_(candidates),
        threads_(threads),
        noise_(static_cast<float>(kernel.noise + kInformativeJitter)),
        factor_(candidates.size(), known.size() + static_cast<Index>(more)),
        at_(known.size()),
        left_(VectorXf::Constant(candidates.size(), static_cast<float>(kernel.variance()))) {
    if (known.size() == 0) return;
    decompose();
    in_parts(candidates.size(), threads_, [&](Index begin, Index size) {
      factor_.block(begin, 0, size, at_) = whitened(candidates.part(begin, size)).transpose();
      left_.segment(begin, size) -= factor_.block(begin, 0, size, at_).rowwise().squaredNorm();
    });
  }

  [[nodiscard]] float noise() const { return noise_; }
  /// Of a candidate's variance.
  [[nodiscard]] float left(std::size_t candidate) const {
    return left_(static_cast<Index>(candidate));
  }
  /// Likewise, with the noise of measuring it.
  [[nodiscard]] float variance(std::size_t candidate) const {
    return std::max(left(candidate), 0.0F) + noise_;
  }
  /// Covariances of other points with the candidates, given the rows known from the beginning.
  [[nodiscard]] MatrixXf shared_with(const Points& asked) const {
    MatrixXf out(asked.size(), candidates_.size());
    MatrixXf to(known_.size(), asked.size());
    in_parts(asked.size(), threads_, [&](Index begin, Index size) {
      to.middleCols(begin, size) = whitened(asked.part(begin, size));
    });
    in_parts(candidates_.size(), threads_, [&](Index begin, Index size) {
      auto part = out.middleCols(begin, size);
      part = kernel_.between(asked, candidates_.part(begin, size)).cast<float>();
      if (known_.size() > 0)
        part.noalias() -= to.transpose() * factor_.block(begin, 0, size, known_.size()).transpose();
    });
    return out;
  }
  /// Covariances of some candidates with each other, given what is known.
  [[nodiscard]] MatrixXf among(const std::vector<std::size_t>& some) const {
    const Points points = candidates_.chosen(some);
    const MatrixXf factor = factor_(some, Eigen::seqN(0, at_));
    MatrixXf out = kernel_.between(points, points).cast<float>();
    out.noalias() -= factor * factor.transpose();
    return out;
  }
  /// Candidates become known. Gives the covariances of all candidates with each of them, a column
  /// each, given what was known before it, over its deviation.
  MatrixXf know(const std::vector<std::size_t>& some) {
    const auto count = static_cast<Index>(some.size());
    const Points points = candidates_.chosen(some);
    const MatrixXf factor = factor_(some, Eigen::seqN(0, at_));
    auto columns = factor_.middleCols(at_, count);
    in_parts(candidates_.size(), threads_, [&](Index begin, Index size) {
      columns.middleRows(begin, size) =
          kernel_.between(candidates_.part(begin, size), points).cast<float>();
      columns.middleRows(begin, size).noalias() -=
          factor_.block(begin, 0, size, at_) * factor.transpose();
    });
    for (Index i = 0; i < count; ++i) {
      columns.col(i) /= std::sqrt(variance(some[static_cast<std::size_t>(i)]));
      left_ -= columns.col(i).cwiseAbs2();
      const VectorXf of_others = columns(some, i).tail(count - i - 1);
      columns.rightCols(count - i - 1).noalias() -= columns.col(i) * of_others.transpose();
    }
    at_ += count;
    return columns;
  }

 private:
  void decompose() {
    MatrixXd among = kernel_.between(known_, known_);
    among.diagonal().array() += kernel_.noise + kInformativeJitter;
    const Eigen::LLT<Eigen::Ref<MatrixXd>> decomposed(among);  // in its place
    if (decomposed.info() == Eigen::Success) lower_ = among.cast<float>();
  }
  /// Without a decomposition what is known counts for nothing, and the choice is one of distances
  /// among candidates.
  [[nodiscard]] MatrixXf whitened(const Points& points) const {
    if (lower_.size() == 0) return MatrixXf::Zero(known_.size(), points.size());
    MatrixXf to = kernel_.between(known_, points).cast<float>();
    lower_.triangularView<Eigen::Lower>().solveInPlace(to);
    return to;
  }

  const SmoothKernel& kernel_;
  const Points& known_;
  const Points& candidates_;
  int threads_;
  float noise_;
  MatrixXf lower_;   ///< L of the covariances of what is known, L L^T; empty: there is none
  MatrixXf factor_;  ///< a row of each candidate, a column of each row known or chosen: the
                     ///< decomposition so far
  Index at_;
  VectorXf left_;
};

/// The places of the `count` largest, the largest first; of equal ones those in front.
std::vector<std::size_t> largest(const std::vector<float>& values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return values[a] != values[b] ? values[a] > values[b] : a < b;
                    });
  order.resize(count);
  return order;
}

/// Some of the candidates, among which several are chosen before the others learn of it.
class Few {
 public:
  Few(const Unknown& unknown, const MatrixXf& shared, std::vector<std::size_t> candidates)
      : candidates_(std::move(candidates)),
        noise_(unknown.noise()),
        among_(unknown.among(candidates_)),
        with_asked_(shared(Eigen::all, candidates_)),
        is_taken_(candidates_.size(), false),
        shared_(shared.rows(), 0) {}

  /// The place of the one of the largest gain, if that is more than `least`.
  template <class Cost>
  [[nodiscard]] std::optional<Index> best(Cost cost, float least) const {
    std::optional<Index> best;
    for (Index i = 0; i < among_.cols(); ++i) {
      if (is_taken_[static_cast<std::size_t>(i)]) continue;
      const float gain = with_asked_.col(i).squaredNorm() / (variance(i) * cost(candidate(i)));
      if (gain <= least) continue;
      best = i;
      least = gain;
    }
    return best;
  }
  void take(Index place) {
    const float deviation = std::sqrt(variance(place));
    const VectorXf column = among_.col(place) / deviation;
    shared_.conservativeResize(Eigen::NoChange, shared_.cols() + 1);
    shared_.rightCols(1) = with_asked_.col(place) / deviation;
    with_asked_.noalias() -= shared_.rightCols(1) * column.transpose();
    among_.noalias() -= column * column.transpose();
    is_taken_[static_cast<std::size_t>(place)] = true;
    taken_.push_back(candidate(place));
  }
  [[nodiscard]] std::size_t candidate(Index place) const {
    return candidates_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] const std::vector<std::size_t>& taken() const { return taken_; }
  /// Of those taken, a column each: covariances with what is asked, given those before, over the
  /// deviation.
  [[nodiscard]] const MatrixXf& shared() const { return shared_; }

 private:
  [[nodiscard]] float variance(Index place) const {
    return std::max(among_(place, place), 0.0F) + noise_;
  }

  std::vector<std::size_t> candidates_;
  float noise_;
  MatrixXf among_;       ///< covariances, given all that is known
  MatrixXf with_asked_;  ///< likewise, a column each
  std::vector<bool> is_taken_;
  std::vector<std::size_t> taken_;
  MatrixXf shared_;
};

std::size_t size_of(const Points& points) { return static_cast<std::size_t>(points.size()); }

}  // namespace

std::vector<std::size_t> choose_least_certain(const SmoothKernel& kernel, const Points& known,
                                              const Points& candidates, std::size_t count,
                                              int threads) {
  count = std::min(count, size_of(candidates));
  Unknown unknown(kernel, known, candidates, count, threads);
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(size_of(candidates), false);
  while (chosen.size() < count) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (!taken[i] && (!best || unknown.left(i) > unknown.left(*best))) best = i;
    chosen.push_back(*best);
    taken[*best] = true;
    unknown.know({*best});
  }
  return chosen;
}

/// The candidate of the largest gain first is what is wanted, and every choice changes all gains. A
/// gain only falls, but for a few that hardly matter: so choices are made among those of the
/// largest gains as long as none of the others had as much, and the others learn of them together.
std::vector<std::size_t> choose_most_informative(const SmoothKernel& kernel, const Points& known,
                                                 const Points& candidates, const Points& asked,
                                                 std::span<const float> weights, std::size_t count,
                                                 std::span<const float> costs, int threads,
                                                 const std::function<bool()>& go_on) {
  count = std::min(count, size_of(candidates));
  Unknown unknown(kernel, known, candidates, count, threads);
  MatrixXf shared = unknown.shared_with(asked);
  for (Index i = 0; i < asked.size(); ++i)
    shared.row(i) *= std::sqrt(weights[static_cast<std::size_t>(i)]);
  const auto cost = [&](std::size_t i) { return costs.empty() ? 1.0F : costs[i]; };
  std::vector<std::size_t> chosen;
  std::vector<bool> taken(size_of(candidates), false);
  while (chosen.size() < count && (!go_on || go_on())) {
    std::vector<float> gain(size_of(candidates), -1);
    in_parts(candidates.size(), threads, [&](Index begin, Index size) {
      for (Index i = begin; i < begin + size; ++i) {
        const auto one = static_cast<std::size_t>(i);
        if (taken[one]) continue;
        const float own = shared.col(i).squaredNorm() / (unknown.variance(one) * cost(one));
        gain[one] = std::isfinite(own) ? own : 0;
      }
    });
    const std::size_t left = gain.size() - chosen.size();
    std::vector<std::size_t> some = largest(gain, std::min(kLookedAtTogether + 1, left));
    float of_others = -1;
    if (some.size() < left) {
      of_others = gain[some.back()];
      some.pop_back();
    }
    Few few(unknown, shared, std::move(some));
    while (few.taken().size() < kChosenTogether && chosen.size() < count) {
      const auto best = few.best(cost, few.taken().empty() ? -1 : of_others);
      if (!best) break;
      few.take(*best);
      chosen.push_back(few.candidate(*best));
      taken[chosen.back()] = true;
    }
    const MatrixXf columns = unknown.know(few.taken());
    in_parts(candidates.size(), threads, [&](Index begin, Index size) {
      shared.middleCols(begin, size).noalias() -=
          few.shared() * columns.middleRows(begin, size).transpose();
    });
  }
  return chosen;
}

}  // namespace oplat::estimate
