// SPDX-License-Identifier: Apache-2.0
/// Sampler: which of many kernels to measure when there is time for few of them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "estimate/learned.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

class Gaussian;

/// What will be asked of the rows, and what measuring them takes.
struct Demand {
  /// Of each candidate: how much an error of its time matters; 0 for one that only tells about
  /// others.
  std::vector<double> weights;
  /// Seconds that measuring a candidate of so many ns takes, more than 0.
  std::function<double(double ns)> seconds;
  /// Where the weights depend on times: how many candidates, the first ones, they depend on, and
  /// the weights of all by ln(ns) of those. Asked in every round but the first, of what was
  /// learned by then.
  std::size_t weighed_by = 0;
  std::function<std::vector<double>(std::span<const double> log_ns)> weights_by_times = nullptr;
  /// Asked now and then while a round is chosen; false ends that with Code::Interrupted, and the
  /// round may be asked for again.
  std::function<bool()> go_on = nullptr;
};

/// Chooses in rounds: at random, every slice first; then, of a small budget, what tells most about
/// all others; of a larger one what is least known given what was chosen, the last third where two
/// models that learned from the answers disagree. Where there is a demand, every round but the
/// first chooses what takes most from the expected error of what will be asked, for each second of
/// measuring. It knows no time that it was not told.
class Sampler {
 public:
  /// `candidates` outlive the sampler; `budget`: how many it may ask for.
  Sampler(std::span<const ir::Description> candidates, std::size_t budget,
          const LearnRequest& request);
  /// By demand, without a limit to how many.
  Sampler(std::span<const ir::Description> candidates, Demand demand, const LearnRequest& request);

  /// Up to `batch` candidates to measure next, each once; none when the budget or the candidates
  /// are spent. A new round learns from what was told so far, so that telling everything before
  /// asking again makes the best choice. Code::Interrupted: see Demand::go_on.
  Result<std::vector<std::size_t>> next(std::size_t batch);
  /// The time of a candidate: one that was asked for, or one known from before.
  void tell(std::size_t candidate, double log_ns);
  /// A candidate that cannot be measured: never asked for again.
  void drop(std::size_t candidate);
  /// One that was asked for and not measured after all: it may be asked for again.
  void put_back(std::size_t candidate);

  [[nodiscard]] std::size_t asked() const { return asked_; }

 private:
  enum class State : std::uint8_t { Free, Planned, Told, Dropped };
  struct View;
  Status plan();
  Status plan_by_demand(std::size_t count);
  /// By the times that were told, and those that a model says of others.
  void weigh_again(const View& view, const Gaussian& smooth);
  void plan_at_random(std::size_t count);
  Status plan_most_informative(std::size_t count);
  Status plan_least_certain(std::size_t count);
  Status plan_disputed(std::size_t count);
  [[nodiscard]] View view() const;
  [[nodiscard]] std::vector<std::size_t> in_state(State state) const;
  /// `most` of the free ones, at random.
  [[nodiscard]] std::vector<std::size_t> some_free(std::size_t most);
  /// Likewise, the sooner the more they are asked for.
  [[nodiscard]] std::vector<std::size_t> some_asked(std::span<const std::size_t> among,
                                                    std::size_t most);
  void queue(std::size_t candidate);

  std::span<const ir::Description> candidates_;
  Demand demand_;  ///< without weights: none
  LearnRequest request_;
  base::Random random_;
  std::size_t budget_;
  std::size_t asked_ = 0;
  std::vector<State> states_;
  std::vector<double> log_ns_;  ///< of those told
  std::deque<std::size_t> queue_;
};

/// The time of one candidate, as ln(ns); std::nullopt if it cannot be measured.
using Oracle = std::function<std::optional<double>(std::size_t candidate)>;

/// Asks for the times of `count` candidates, one by one, and gives those that have one. Progress:
/// answers so far.
Result<std::vector<std::size_t>> choose(std::span<const ir::Description> candidates,
                                        std::size_t count, const Oracle& oracle,
                                        const LearnRequest& request);

}  // namespace oplat::estimate
