// SPDX-License-Identifier: Apache-2.0
/// Fitting a SparseModel, and its answers. sparse_model.hpp describes the method.
#include "estimate/learned/sparse_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "base/stats.hpp"
#include "estimate/learned/calibration.hpp"
#include "estimate/learned/lines.hpp"
#include "estimate/learned/sites.hpp"
#include "estimate/learned/states.hpp"

namespace oplat::estimate {
namespace {

constexpr int kTreesOfForest = 400;
constexpr double kRate = 0.05;
/// Columns drawn for each tree.
constexpr double kColumnShare = 0.5;
/// Folds that the shares are learned from; of many rows fewer tell as much.
constexpr std::size_t kFolds = 5;
constexpr std::size_t kFoldsOfMany = 3;
constexpr std::size_t kMany = 3000;
constexpr int kTreesOfSpread = 40;
/// Errors below this are luck.
constexpr float kMinError = 0.003F;
constexpr int kShareSteps = 10;

BoostOptions boosting_of(std::size_t rows, const LearnRequest& options) {
  BoostOptions boosting;
  boosting.trees = std::max(1, static_cast<int>(options.effort * kTreesOfForest));
  boosting.learning_rate = kRate;
  boosting.leaves = std::clamp<std::size_t>(rows / 20, 4, 127);
  boosting.feature_fraction = kColumnShare;
  boosting.seed = options.seed;
  boosting.finished = options.finished;
  return boosting;
}

tl::unexpected<Error> stopped() { return fail(Code::Interrupted, "interrupted while fitting"); }

/// Rows `chosen` of a matrix.
Matrix part(const Matrix& x, std::span<const std::size_t> chosen) {
  Matrix out(chosen.size(), x.columns);
  for (std::size_t i = 0; i < chosen.size(); ++i)
    std::copy_n(x.row(chosen[i]).begin(), x.columns, out.row(i).begin());
  return out;
}

std::vector<float> part(std::span<const float> y, std::span<const std::size_t> chosen) {
  std::vector<float> out;
  for (const std::size_t i : chosen) out.push_back(y[i]);
  return out;
}

std::vector<std::size_t> others(std::span<const std::size_t> folds, std::size_t fold) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] != fold) out.push_back(i);
  }
  return out;
}

/// Of each row, at random; rows of one kernel are of one fold.
std::vector<std::size_t> folds_of(std::span<const std::size_t> kernels, std::size_t count,
                                  base::Random& random) {
  std::unordered_map<std::size_t, std::size_t> numbers;
  for (const std::size_t kernel : kernels) numbers.emplace(kernel, numbers.size());
  std::vector<std::size_t> of_kernels;
  for (std::size_t i = 0; i < numbers.size(); ++i) of_kernels.push_back(i % count);
  base::shuffle(of_kernels, random);
  std::vector<std::size_t> folds;
  for (const std::size_t kernel : kernels) folds.push_back(of_kernels[numbers.at(kernel)]);
  return folds;
}

/// Rows of another setting count where they are so many times as many: next to as many own rows
/// they teach nothing, and take the place of those in what the process is made of.
constexpr std::size_t kMinTimesAsMany = 2;

/// Of related rows those inside the range of the setting's own rows. Others would make kernels that
/// no own row is like look as if they were measured; and points leave out numbers that are the same
/// in all own rows.
Sites sites_inside(const RelatedRows& related, const Space& space) {
  std::vector<ir::Description> descriptions;
  std::vector<double> log_ns;
  for (std::size_t i = 0; i < related.descriptions.size(); ++i) {
    const auto point = space.place(related.descriptions[i]);
    if (!point || point->relative || point->strange || point->outside > 0) continue;
    descriptions.push_back(related.descriptions[i]);
    log_ns.push_back(related.log_ns[i]);
  }
  return sites_of(descriptions, log_ns, space);
}

/// Shares in tenths with the least mean |error|, half way to equal ones: rows chosen because they
/// are hard, and trees that learned from a part of the rows, judge members by what is not quite the
/// question.
std::array<float, SparseModel::kMembers> best_shares(
    std::span<const std::array<float, SparseModel::kMembers>> values,
    std::span<const float> truth) {
  std::array<float, SparseModel::kMembers> best{1, 0, 0};
  double least = -1;
  for (int first = 0; first <= kShareSteps; ++first) {
    for (int second = 0; first + second <= kShareSteps; ++second) {
      const std::array<float, SparseModel::kMembers> shares{
          static_cast<float>(first) / kShareSteps, static_cast<float>(second) / kShareSteps,
          static_cast<float>(kShareSteps - first - second) / kShareSteps};
      double sum = 0;
      for (std::size_t i = 0; i < truth.size(); ++i) {
        float value = 0;
        for (std::size_t m = 0; m < shares.size(); ++m) value += shares[m] * values[i][m];
        sum += static_cast<double>(std::abs(value - truth[i]));
      }
      if (least >= 0 && sum >= least) continue;
      least = sum;
      best = shares;
    }
  }
  for (float& share : best) share = (share + 1.0F / static_cast<float>(best.size())) / 2;
  return best;
}

/// How far the mean of a time lies above its median, as a logarithm: times err to both sides alike
/// as logarithms, and models are sums of times (docs/adr/0086). Of a log-normal time the skew is 1;
/// spreads are by the 90th percentile of errors, whose tails
/// are heavier than that.
double mean_over_median(double skew, double sd_log) {
  constexpr double kLargestSd = 0.5;
  constexpr double kMost = 0.15;
  const double sd = std::min(sd_log, kLargestSd);
  return std::min(skew * sd * sd / 2, kMost);
}

/// The skew with which left-out rows take in the mean as long as was said of them, errors counted
/// up to a factor of 1.65. `errors`: what was said less what they take, as logarithms.
float skew_of(std::span<const float> errors, std::span<const float> sds) {
  // The few rows that nothing foretold must not decide for all others
  // (docs/results/experiments-estimators.md).
  constexpr double kMaxError = 0.5;
  constexpr double kMaxSkew = 3;
  constexpr int kHalvings = 30;
  const auto mean_ratio = [&](double skew) {
    double sum = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const double above = mean_over_median(skew, static_cast<double>(sds[i]));
      sum += std::exp(std::clamp(-static_cast<double>(errors[i]) - above, -kMaxError, kMaxError));
    }
    return sum / static_cast<double>(errors.size());
  };
  double low = 0;
  double high = kMaxSkew;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (mean_ratio(middle) > 1 ? low : high) = middle;
  }
  return static_cast<float>(low);
}

}  // namespace

struct SparseModel::Rows {
  Matrix shapes;
  std::vector<double> u;  ///< ln(time / reference)
  std::vector<float> truth;
  std::vector<std::size_t> kernels;  ///< of each row, kernels_of()
  std::vector<std::size_t> folds;    ///< of each row
  std::size_t fold_count = 0;
  Points points;                  ///< of these rows, then of the related ones
  std::vector<double> of_points;  ///< ln(time / reference) of each point
};

/// What the members say of rows that they were not shown.
struct SparseModel::LeftOut {
  std::vector<Values> values;
};

SparseModel::Rows SparseModel::prepare(std::span<const ir::Description> rows,
                                       std::span<const double> log_ns, const RelatedRows& related,
                                       SparseModel& model) {
  model.space_ = Space::learn(rows);
  const Sites own = sites_of(rows, log_ns, model.space_);
  model.machine_ = learn_machine(own.descriptions, own.log_ns, model.space_);
  model.reference_ = learn_reference(own.descriptions, own.log_ns);
  model.sites_ = own.points.size();
  Rows out;
  out.shapes = Matrix(own.points.size(), kKernelFeatures);
  for (std::size_t i = 0; i < own.points.size(); ++i) {
    const double log_rule =
        model.put_features(own.descriptions[i], own.points[i], out.shapes.row(i));
    out.u.push_back(own.log_ns[i] - log_rule);
    out.truth.push_back(static_cast<float>(out.u.back()));
  }
  model.scaler_ = Scaler::learn(out.shapes);
  out.kernels = kernels_of(own.descriptions);
  out.points = model.scaler_.points(out.shapes);
  out.points.kernels = out.kernels;
  for (const Point& point : own.points) out.points.families.push_back(point.family);
  out.of_points = out.u;
  add_related(own, sites_inside(related, model.space_), model, out);
  model.related_ = out.points.families.size() - own.points.size();
  return out;
}

/// Kernels without an own row stand by what they lie off a reference of their setting, moved to
/// where the same kernels lie off this one's; the others say nothing that own rows do not.
void SparseModel::add_related(const Sites& own, const Sites& others, const SparseModel& model,
                              Rows& out) {
  if (others.points.size() < kMinTimesAsMany * own.points.size()) return;
  const Machine machine = learn_machine(others.descriptions, others.log_ns, model.space_);
  const Reference reference = learn_reference(others.descriptions, others.log_ns);
  std::unordered_map<std::uint64_t, std::size_t> places;
  for (std::size_t i = 0; i < own.points.size(); ++i)
    places.emplace(hash_of(own.points[i], model.space_.axes()), i);
  std::vector<double> moves;
  std::vector<std::size_t> added;
  std::vector<double> u;
  for (std::size_t i = 0; i < others.points.size(); ++i) {
    const double off = others.log_ns[i] - log_reference(reference, machine, others.descriptions[i]);
    const auto same = places.find(hash_of(others.points[i], model.space_.axes()));
    if (same != places.end()) {
      moves.push_back(out.u[same->second] - off);
    } else {
      added.push_back(i);
      u.push_back(off);
    }
  }
  if (added.empty()) return;
  const double move = moves.empty() ? 0 : base::upper_median(std::move(moves));
  Matrix shapes(added.size(), kKernelFeatures);
  for (std::size_t i = 0; i < added.size(); ++i) {
    model.put_features(others.descriptions[added[i]], others.points[added[i]], shapes.row(i));
    out.of_points.push_back(u[i] + move);
  }
  out.points.settings.assign(own.points.size(), 0);
  Points points = model.scaler_.points(shapes);
  for (const std::size_t i : added) points.families.push_back(others.points[i].family);
  points.settings.assign(added.size(), 1);
  // They are of kernels without an own row; none of them is left out.
  for (std::size_t i = 0; i < added.size(); ++i) points.kernels.push_back(own.points.size() + i);
  out.points.append(points);
}

Result<SparseModel> SparseModel::fit(std::span<const ir::Description> rows,
                                     std::span<const double> log_ns, const LearnRequest& options) {
  if (rows.size() < kMinRowsLearned) {
    return fail(Code::Refused, "{} rows are too few to learn from; at least {} are needed",
                rows.size(), kMinRowsLearned);
  }
  SparseModel model;
  Rows sites = prepare(rows, log_ns, options.related, model);
  if (sites.u.size() < kMinRowsLearned) {
    return fail(Code::Refused,
                "{} different rows are too few to learn from; at least {} are needed",
                sites.u.size(), kMinRowsLearned);
  }
  sites.fold_count = sites.u.size() > kMany ? kFoldsOfMany : kFolds;
  base::Random random(options.seed);
  sites.folds = folds_of(sites.kernels, sites.fold_count, random);

  SmoothModel::Options smooth;
  smooth.threads = options.threads;
  smooth.common.seed = options.seed;
  smooth.common.steps = std::max(2, static_cast<int>(options.effort * smooth.common.steps));
  // The search for the kernels is a good part of the work and says each of its steps.
  const int searches =
      smooth.common.steps * static_cast<int>(SmoothModel::processes(sites.points, smooth));
  const int forests = 2 * (static_cast<int>(sites.fold_count) + 1);
  Steps steps(searches + forests + 2, 1, options.progress);
  int searched = 0;
  bool stop = false;
  smooth.common.go_on = [&] {
    ++searched;
    stop = stop || !steps.step();
    return !stop;
  };
  model.smooth_ = SmoothModel::learn(sites.points, sites.of_points, smooth);
  // A search that found its minimum early leaves steps out.
  for (; !stop && searched < searches; ++searched) stop = !steps.step();
  if (stop) return stopped();
  if (!steps.step()) return stopped();
  LeftOut left_out;
  OPLAT_CHECK(model.fit_trees(sites, left_out, options, steps));
  model.shares_ = best_shares(left_out.values, sites.truth);
  OPLAT_CHECK(model.fit_spread(sites, left_out, options));
  if (!steps.step()) return stopped();
  return model;
}

Status SparseModel::fit_trees(const Rows& rows, LeftOut& left_out, const LearnRequest& options,
                              Steps& steps) {
  const std::size_t count = rows.truth.size();
  const auto smooth = smooth_.left_out();
  Matrix corrections(count, kCorrectionFeatures);
  std::vector<float> residuals;
  left_out.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    put_correction(rows.shapes.row(i), smooth[i], corrections.row(i));
    residuals.push_back(static_cast<float>(rows.u[i] - smooth[i].mean));
    left_out.values[i][kSmooth] = static_cast<float>(smooth[i].mean);
  }
  // Trees and corrections of each fold, then of all rows.
  const std::size_t tasks = 2 * (rows.fold_count + 1);
  OPLAT_CHECK(base::for_each(tasks, options.threads, [&](std::size_t task) -> Status {
    const std::size_t fold = task / 2;
    const bool corrects = task % 2 == 1;
    const Matrix& x = corrects ? corrections : rows.shapes;
    const std::vector<float>& y = corrects ? residuals : rows.truth;
    if (fold == rows.fold_count) {
      OPLAT_TRY(forest, boost(x, y, boosting_of(count, options)));
      (corrects ? correction_ : trees_) = std::move(forest);
      return steps.step() ? Status() : stopped();
    }
    const std::vector<std::size_t> rest = others(rows.folds, fold);
    OPLAT_TRY(forest, boost(part(x, rest), part(y, rest), boosting_of(rest.size(), options)));
    for (std::size_t i = 0; i < count; ++i) {
      if (rows.folds[i] != fold) continue;
      Values& values = left_out.values[i];
      const float value = forest.value(x.row(i));
      values[corrects ? kCorrected : kTrees] = corrects ? values[kSmooth] + value : value;
    }
    return steps.step() ? Status() : stopped();
  }));
  return {};
}

double SparseModel::put_features(const ir::Description& description, const Point& point,
                                 std::span<float> out) const {
  const double log_rule = log_reference(reference_, machine_, description);
  shape_features(description, point, space_.axes(), machine_, log_rule, out.first(kShapeFeatures));
  loop_features(description, out.subspan(kShapeFeatures, kLoopFeatures));
  return log_rule;
}

void SparseModel::put_correction(std::span<const float> shape, const Gaussian::Answer& smooth,
                                 std::span<float> out) {
  std::copy(shape.begin(), shape.end(), out.begin());
  out[kKernelFeatures] = static_cast<float>(smooth.mean);
  out[kKernelFeatures + 1] = static_cast<float>(smooth.sd);
}

std::array<float, SparseModel::kSpreadFeatures> SparseModel::spread_features(
    std::span<const float> shape, double sd, const Values& values) {
  const auto [smooth, trees, corrected] = values;
  return {static_cast<float>(std::log(sd)), std::abs(smooth - trees),
          std::abs(corrected - smooth),     smooth,
          shape[kLogReferenceFeature],      shape[kComputeOverMemoryFeature]};
}

float SparseModel::mixed(const Values& values) const {
  float sum = 0;
  for (std::size_t m = 0; m < kMembers; ++m) sum += shares_[m] * values[m];
  return sum;
}

Status SparseModel::fit_spread(const Rows& rows, const LeftOut& left_out,
                               const LearnRequest& options) {
  const std::size_t count = rows.truth.size();
  Matrix x(count, kSpreadFeatures);
  std::vector<float> y;
  std::vector<float> errors;
  std::vector<float> quick_errors;
  for (std::size_t i = 0; i < count; ++i) {
    const auto features =
        spread_features(rows.shapes.row(i), smooth_.left_out()[i].sd, left_out.values[i]);
    std::copy(features.begin(), features.end(), x.row(i).begin());
    errors.push_back(mixed(left_out.values[i]) - rows.truth[i]);
    quick_errors.push_back(left_out.values[i][kTrees] - rows.truth[i]);
    y.push_back(std::log(std::abs(errors.back()) + kMinError));
    left_out_.push_back({rows.truth[i] + rows.shapes.row(i)[kLogReferenceFeature], errors.back()});
  }
  BoostOptions boosting;
  boosting.trees = kTreesOfSpread;
  boosting.leaves = std::clamp<std::size_t>(count / 100, 4, 16);
  boosting.min_rows = 20;
  boosting.seed = options.seed;
  // How well the spread does is judged on rows that it did not learn from.
  std::vector<float> scales(count);
  for (std::size_t fold = 0; fold < rows.fold_count; ++fold) {
    const std::vector<std::size_t> rest = others(rows.folds, fold);
    OPLAT_TRY(spread, boost(part(x, rest), part(y, rest), boosting));
    for (std::size_t i = 0; i < count; ++i) {
      if (rows.folds[i] == fold) scales[i] = std::exp(spread.value(x.row(i)));
    }
  }
  OPLAT_TRY(spread, boost(x, y, boosting));
  spread_ = std::move(spread);
  spread_factor_ = spread_factor(errors, scales);
  for (float& scale : scales) scale *= spread_factor_;
  skew_ = skew_of(errors, scales);
  quick_spread_ = spread_factor(quick_errors, std::vector<float>(count, 1));
  return {};
}

std::optional<LearnedAnswer> SparseModel::answer(const ir::Description& description,
                                                 Profile profile) const {
  const auto point = space_.place(description);
  if (!point) return std::nullopt;
  std::array<float, kKernelFeatures> shape;
  const double log_rule = put_features(description, *point, shape);
  LearnedAnswer answer;
  answer.pattern.kind = PatternKind::Sparse;
  answer.outside = point->outside;
  answer.strange = point->strange;
  if (point->outside > 0) answer.floor_ns = machine_.floor_ns(description.work, point->outside);
  Values values{};
  values[kTrees] = trees_.value(shape);
  if (profile == Profile::Fast) {
    answer.log_ns = log_rule + static_cast<double>(values[kTrees]);
    answer.sd_log = spread_at(*point, static_cast<double>(quick_spread_));
    return answer;
  }
  std::vector<float> scaled(scaler_.columns().size());
  scaler_.write(shape, scaled);
  const Gaussian::Answer smooth =
      smooth_.answer(scaled, point->relative ? Gaussian::kNoSlice : point->slice, point->family);
  std::array<float, kCorrectionFeatures> corrected;
  put_correction(shape, smooth, corrected);
  values[kSmooth] = static_cast<float>(smooth.mean);
  values[kCorrected] = values[kSmooth] + correction_.value(corrected);
  answer.log_ns = log_rule + static_cast<double>(mixed(values));
  const float spread = spread_.value(spread_features(shape, smooth.sd, values));
  double sd = static_cast<double>(spread_factor_ * std::exp(spread));
  // Left-out rows, of which the spread is learned, had others of their slice.
  if (point->relative) sd = std::max(sd, smooth.sd);
  answer.log_ns += mean_over_median(static_cast<double>(skew_), sd);
  answer.sd_log = spread_at(*point, sd);
  return answer;
}

}  // namespace oplat::estimate
