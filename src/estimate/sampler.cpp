// SPDX-License-Identifier: Apache-2.0
/// Rounds of choosing.
#include "estimate/sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

#include "estimate/learned/booster.hpp"
#include "estimate/learned/gaussian.hpp"
#include "estimate/learned/informative.hpp"
#include "estimate/learned/scaler.hpp"
#include "estimate/learned/shape_features.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kMaxExactOfRound = 4500;
constexpr std::size_t kMaxAtRandom = 500;
/// Chosen by variance: all up to two thirds of the budget, but not so many that choosing takes
/// longer than measuring.
constexpr std::size_t kMaxLeastKnown = 3000;
/// Candidates that a round looks at.
constexpr std::size_t kLookedAt = 6000;
constexpr std::size_t kDisputed = 20'000;
constexpr int kKernelSteps = 30;
constexpr std::size_t kRowsOfKernel = 700;
constexpr int kTreesOfError = 250;
/// Up to this budget all are chosen by what they tell about others. With more rows that gains
/// nothing, and takes long.
constexpr std::size_t kFew = 1500;
/// Candidates that stand for all that will be asked: several times as many as a round chooses.
constexpr std::size_t kAsked = 1500;
constexpr std::size_t kAskedByDemand = 2500;
constexpr int kTreesOfSizes = 60;
constexpr std::size_t kLeavesOfSizes = 4;
constexpr std::uint32_t kRowsPerLeafOfSizes = 20;
constexpr double kColumnShareOfSizes = 0.5;
/// Errors below this are luck, where rows are few.
constexpr float kMinError = 0.02F;

using Goals = std::array<std::size_t, 5>;

/// Numbers of candidates asked after which models are learned anew.
Goals goals_of(std::size_t budget) {
  if (budget <= kFew) {
    const std::size_t start = std::min(budget, std::max(kMinRowsLearned, budget / 6));
    Goals goals;
    for (std::size_t i = 0; i < goals.size(); ++i)
      goals[i] = start + i * (budget - start) / (goals.size() - 1);
    return goals;
  }
  const std::size_t start = std::min(kMaxAtRandom, budget / 3);
  const std::size_t known = std::min(2 * budget / 3, start + kMaxLeastKnown);
  return {start, (start + known) / 2, known, (known + budget) / 2, budget};
}

}  // namespace

/// All candidates as the answers so far show them.
struct Sampler::View {
  std::vector<std::size_t> told;
  Matrix shapes;                        ///< of all candidates
  std::vector<std::uint32_t> families;  ///< of all candidates
  Scaler scaler;
  std::vector<double> u;          ///< ln(time / bound) of those told
  std::vector<double> log_bound;  ///< ln of the bound in ns, of all candidates
  [[nodiscard]] Matrix part(std::span<const std::size_t> rows) const {
    Matrix out(rows.size(), shapes.columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(shapes.row(rows[i]).begin(), shapes.columns, out.row(i).begin());
    }
    return out;
  }
  [[nodiscard]] Points points(std::span<const std::size_t> rows) const {
    Points points = scaler.points(part(rows));
    for (const std::size_t row : rows) points.families.push_back(families[row]);
    return points;
  }
};

Sampler::Sampler(std::span<const ir::Description> candidates, std::size_t budget,
                 const LearnRequest& request)
    : candidates_(candidates),
      request_(request),
      random_(request.seed),
      budget_(std::min(budget, candidates.size())),
      states_(candidates.size(), State::Free),
      log_ns_(candidates.size(), 0) {}

Sampler::Sampler(std::span<const ir::Description> candidates, Demand demand,
                 const LearnRequest& request)
    : Sampler(candidates, candidates.size(), request) {
  demand_ = std::move(demand);
  demand_.weights.resize(candidates.size(), 0);
}

std::vector<std::size_t> Sampler::in_state(State state) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i] == state) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> Sampler::some_free(std::size_t most) {
  std::vector<std::size_t> free = in_state(State::Free);
  base::shuffle(free, random_);
  if (free.size() > most) free.resize(most);
  return free;
}

void Sampler::queue(std::size_t candidate) {
  states_[candidate] = State::Planned;
  queue_.push_back(candidate);
}

void Sampler::tell(std::size_t candidate, double log_ns) {
  if (!std::isfinite(log_ns)) return drop(candidate);
  states_[candidate] = State::Told;
  log_ns_[candidate] = log_ns;
}

void Sampler::drop(std::size_t candidate) { states_[candidate] = State::Dropped; }

void Sampler::put_back(std::size_t candidate) {
  if (states_[candidate] != State::Planned) return;
  states_[candidate] = State::Free;
  --asked_;
}

Result<std::vector<std::size_t>> Sampler::next(std::size_t batch) {
  std::vector<std::size_t> out;
  if (asked_ < budget_ && queue_.empty())
    OPLAT_CHECK(demand_.weights.empty() ? plan() : plan_by_demand(batch));
  while (out.size() < batch && asked_ < budget_ && !queue_.empty()) {
    const std::size_t candidate = queue_.front();
    queue_.pop_front();
    // What became known since it was planned need not be asked.
    if (states_[candidate] != State::Planned) continue;
    out.push_back(candidate);
    ++asked_;
  }
  return out;
}

Status Sampler::plan() {
  const auto goals = goals_of(budget_);
  const std::size_t round = static_cast<std::size_t>(
      std::upper_bound(goals.begin(), goals.end() - 1, asked_) - goals.begin());
  const std::size_t count = goals[round] - asked_;
  if (round == 0 || in_state(State::Told).size() < kMinRowsLearned) {
    plan_at_random(count);
    return {};
  }
  if (budget_ <= kFew) return plan_most_informative(count);
  return round <= 2 ? plan_least_certain(count) : plan_disputed(count);
}

void Sampler::plan_at_random(std::size_t count) {
  const std::vector<std::size_t> free = some_free(candidates_.size());
  // What no row stands for cannot be answered at all: one of each slice comes first, as far as half
  // of them go.
  std::map<std::string_view, bool> seen;
  std::size_t planned = 0;
  for (const std::size_t candidate : free) {
    if (2 * planned >= count) break;
    bool& known = seen[candidates_[candidate].slice];
    if (known) continue;
    known = true;
    queue(candidate);
    ++planned;
  }
  for (const std::size_t candidate : free) {
    if (planned >= count) break;
    if (states_[candidate] != State::Free) continue;
    queue(candidate);
    ++planned;
  }
}

/// Drawn without putting back, each in proportion to its weight (Efraimidis and Spirakis 2006).
std::vector<std::size_t> Sampler::some_asked(std::span<const std::size_t> among, std::size_t most) {
  std::vector<std::pair<double, std::size_t>> order;
  for (const std::size_t i : among) {
    const double weight = demand_.weights[i];
    if (weight > 0) order.emplace_back(-std::log(1 - random_.uniform()) / weight, i);
  }
  std::sort(order.begin(), order.end());
  if (order.size() > most) order.resize(most);
  std::vector<std::size_t> out;
  for (const auto& [place, i] : order) out.push_back(i);
  return out;
}

Status Sampler::plan_by_demand(std::size_t count) {
  if (in_state(State::Told).size() >= kMinRowsLearned) return plan_most_informative(count);
  // Of each slice the candidate that is asked for most, then others as they are asked for.
  const std::vector<std::size_t> free = in_state(State::Free);
  std::map<std::string_view, std::size_t> of_slice;
  for (const std::size_t i : free) {
    const auto [at, added] = of_slice.emplace(candidates_[i].slice, i);
    if (!added && demand_.weights[i] > demand_.weights[at->second]) at->second = i;
  }
  std::vector<std::size_t> first;
  for (const auto& [slice, i] : of_slice) first.push_back(i);
  std::stable_sort(first.begin(), first.end(), [&](std::size_t a, std::size_t b) {
    return demand_.weights[a] > demand_.weights[b];
  });
  if (first.size() > count / 2) first.resize(std::max<std::size_t>(count / 2, 1));
  std::size_t planned = first.size();
  for (const std::size_t i : first) queue(i);
  for (const std::size_t i : some_asked(in_state(State::Free), count - std::min(planned, count))) {
    queue(i);
    ++planned;
  }
  for (const std::size_t i : some_free(count - std::min(planned, count))) queue(i);
  return {};
}

Sampler::View Sampler::view() const {
  View view;
  view.told = in_state(State::Told);
  std::vector<ir::Description> rows;
  std::vector<double> log_ns;
  for (const std::size_t i : view.told) {
    rows.push_back(candidates_[i]);
    log_ns.push_back(log_ns_[i]);
  }
  const Space space = Space::learn(candidates_);
  const Machine machine = learn_machine(rows, log_ns, space);
  view.shapes = Matrix(candidates_.size(), kShapeFeatures);
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    // A candidate whose numbers are not those of its slice is at the slice's origin.
    const Point point = space.place(candidates_[i]).value_or(Point{});
    view.families.push_back(point.family);
    view.log_bound.push_back(std::log(machine.bound_ns(candidates_[i].work)));
    shape_features(candidates_[i], point, space.axes(), machine, view.log_bound.back(),
                   view.shapes.row(i));
  }
  view.scaler = Scaler::learn(view.shapes);
  for (std::size_t i = 0; i < rows.size(); ++i)
    view.u.push_back(log_ns[i] - std::log(machine.bound_ns(rows[i].work)));
  return view;
}

namespace {

tl::unexpected<Error> interrupted() {
  return fail(Code::Interrupted, "interrupted while choosing what to measure");
}

Gaussian::Options smooth_options(const LearnRequest& request) {
  Gaussian::Options options;
  options.seed = request.seed;
  options.steps = std::max(2, static_cast<int>(request.effort * kKernelSteps));
  options.rows_of_kernel = kRowsOfKernel;
  options.leave_out = false;
  options.threads = request.threads;
  // A round is chosen while the device waits.
  options.max_exact = kMaxExactOfRound;
  return options;
}

}  // namespace

Status Sampler::plan_least_certain(std::size_t count) {
  const View all = view();
  const Points known = all.points(all.told);
  const SmoothKernel kernel = Gaussian::learn(known, all.u, smooth_options(request_)).kernel();
  const std::vector<std::size_t> free = some_free(std::max(kLookedAt, 2 * count));
  for (const std::size_t i :
       choose_least_certain(kernel, known, all.points(free), count, request_.threads))
    queue(free[i]);
  return {};
}

void Sampler::weigh_again(const View& view, const Gaussian& smooth) {
  if (!demand_.weights_by_times) return;
  std::vector<std::size_t> first(demand_.weighed_by);
  std::iota(first.begin(), first.end(), std::size_t{0});
  std::vector<double> log_ns = smooth.means(view.points(first), request_.threads);
  for (const std::size_t i : first)
    log_ns[i] = states_[i] == State::Told ? log_ns_[i] : log_ns[i] + view.log_bound[i];
  demand_.weights = demand_.weights_by_times(log_ns);
}

/// About what errs more, more is to be told.
Status Sampler::plan_most_informative(std::size_t count) {
  const View all = view();
  const Points known = all.points(all.told);
  bool stopped = false;
  const auto go_on = [&] {
    stopped = stopped || (demand_.go_on && !demand_.go_on());
    return !stopped;
  };
  Gaussian::Options options = smooth_options(request_);
  options.leave_out = true;
  options.go_on = go_on;
  const Gaussian smooth = Gaussian::learn(known, all.u, options);
  if (!go_on()) return interrupted();
  weigh_again(all, smooth);
  std::vector<float> sizes;
  for (std::size_t i = 0; i < all.told.size(); ++i) {
    sizes.push_back(
        std::log(static_cast<float>(std::abs(smooth.left_out()[i].mean - all.u[i])) + kMinError));
  }
  BoostOptions boosting;
  boosting.trees = std::max(1, static_cast<int>(request_.effort * kTreesOfSizes));
  boosting.leaves = kLeavesOfSizes;
  boosting.min_rows = kRowsPerLeafOfSizes;
  boosting.feature_fraction = kColumnShareOfSizes;
  boosting.seed = request_.seed;
  boosting.progress = [&](int) { return go_on(); };
  OPLAT_TRY(size, boost(all.part(all.told), sizes, boosting));
  const std::vector<std::size_t> free = some_free(std::max(kLookedAt, 2 * count));
  const bool by_demand = !demand_.weights.empty();
  const std::vector<std::size_t> asked =
      by_demand ? some_asked(in_state(State::Free), kAskedByDemand) : some_free(kAsked);
  // Those that were drawn by their weights have them no second time.
  const bool weighted = by_demand && asked.size() < kAskedByDemand;
  if (asked.empty()) {
    for (std::size_t i = 0; i < std::min(count, free.size()); ++i) queue(free[i]);
    return {};
  }
  std::vector<float> weights;
  for (const std::size_t i : asked) {
    const float error = std::exp(size.value(all.shapes.row(i)));
    weights.push_back(weighted ? error * static_cast<float>(demand_.weights[i]) : error);
  }
  std::vector<float> seconds;
  if (by_demand && demand_.seconds) {
    const std::vector<double> u = smooth.means(all.points(free), request_.threads);
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double ns = std::exp(u[i] + all.log_bound[free[i]]);
      seconds.push_back(static_cast<float>(demand_.seconds(ns)));
    }
  }
  const std::vector<std::size_t> chosen =
      choose_most_informative(smooth.kernel(), known, all.points(free), all.points(asked), weights,
                              count, seconds, request_.threads, go_on);
  if (stopped) return interrupted();
  for (const std::size_t i : chosen) queue(free[i]);
  return {};
}

/// Drawn without putting back, each in proportion to the square of the difference (Efraimidis and
/// Spirakis 2006).
Status Sampler::plan_disputed(std::size_t count) {
  const View all = view();
  const Gaussian smooth = Gaussian::learn(all.points(all.told), all.u, smooth_options(request_));
  BoostOptions boosting;
  boosting.trees = std::max(1, static_cast<int>(request_.effort * kTreesOfError));
  boosting.leaves = std::clamp<std::size_t>(all.told.size() / 20, 4, 127);
  boosting.seed = request_.seed;
  OPLAT_TRY(trees,
            boost(all.part(all.told), std::vector<float>(all.u.begin(), all.u.end()), boosting));
  const std::vector<std::size_t> free = some_free(std::max(kDisputed, 2 * count));
  const std::vector<double> means = smooth.means(all.points(free), request_.threads);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const double difference = means[i] - static_cast<double>(trees.value(all.shapes.row(free[i])));
    const double weight = difference * difference + 1e-9;
    order.emplace_back(-std::log(1 - random_.uniform()) / weight, free[i]);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) queue(order[i].second);
  return {};
}

Result<std::vector<std::size_t>> choose(std::span<const ir::Description> candidates,
                                        std::size_t count, const Oracle& oracle,
                                        const LearnRequest& request) {
  Sampler sampler(candidates, count, request);
  std::vector<std::size_t> chosen;
  while (true) {
    OPLAT_TRY(batch, sampler.next(count));
    if (batch.empty()) return chosen;
    for (const std::size_t candidate : batch) {
      const std::optional<double> log_ns = oracle(candidate);
      if (log_ns && std::isfinite(*log_ns)) {
        sampler.tell(candidate, *log_ns);
        chosen.push_back(candidate);
      } else {
        sampler.drop(candidate);
      }
    }
    if (request.progress &&
        !request.progress(static_cast<int>(sampler.asked()), static_cast<int>(count))) {
      return interrupted();
    }
  }
}

}  // namespace oplat::estimate
