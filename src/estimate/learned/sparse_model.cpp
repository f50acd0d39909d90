// SPDX-License-Identifier: Apache-2.0
/// Fitting a SparseModel, and its answers. sparse_model.hpp describes the method.
#include "estimate/learned/sparse_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "estimate/learned/calibration.hpp"
#include "estimate/learned/sites.hpp"

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

}  // namespace

struct SparseModel::Rows {
  std::vector<std::uint32_t> families;
  Matrix shapes;
  std::vector<double> u;  ///< ln(time / reference)
  std::vector<float> truth;
  std::vector<std::size_t> folds;  ///< of each row
  std::size_t fold_count = 0;
};

/// What the members say of rows that they were not shown.
struct SparseModel::LeftOut {
  std::vector<Values> values;
};

SparseModel::Rows SparseModel::prepare(std::span<const ir::Description> rows,
                                       std::span<const double> log_ns, SparseModel& model) {
  model.space_ = Space::learn(rows);
  const Sites sites = sites_of(rows, log_ns, model.space_);
  model.machine_ = learn_machine(sites.descriptions, sites.log_ns, model.space_);
  model.reference_ = learn_reference(sites.descriptions, sites.log_ns);
  Rows out;
  out.shapes = Matrix(sites.points.size(), kShapeFeatures);
  for (std::size_t i = 0; i < sites.points.size(); ++i) {
    const ir::Description& description = sites.descriptions[i];
    const double log_rule = log_reference(model.reference_, model.machine_, description);
    out.families.push_back(sites.points[i].family);
    out.u.push_back(sites.log_ns[i] - log_rule);
    out.truth.push_back(static_cast<float>(out.u.back()));
    shape_features(description, sites.points[i], model.space_.axes(), model.machine_, log_rule,
                   out.shapes.row(i));
  }
  return out;
}

Result<SparseModel> SparseModel::fit(std::span<const ir::Description> rows,
                                     std::span<const double> log_ns, const LearnRequest& options) {
  if (rows.size() < kMinRowsLearned) {
    return fail(Code::Refused, "{} rows are too few to learn from; at least {} are needed",
                rows.size(), kMinRowsLearned);
  }
  SparseModel model;
  Rows sites = prepare(rows, log_ns, model);
  if (sites.u.size() < kMinRowsLearned) {
    return fail(Code::Refused,
                "{} different rows are too few to learn from; at least {} are needed",
                sites.u.size(), kMinRowsLearned);
  }
  sites.fold_count = sites.u.size() > kMany ? kFoldsOfMany : kFolds;
  base::Random random(options.seed);
  for (std::size_t i = 0; i < sites.u.size(); ++i) sites.folds.push_back(i % sites.fold_count);
  base::shuffle(sites.folds, random);

  Gaussian::Options smooth;
  smooth.seed = options.seed;
  smooth.steps = std::max(2, static_cast<int>(options.effort * smooth.steps));
  // The search for the kernel is a good part of the work and says each of its steps.
  Steps steps(smooth.steps + static_cast<int>(sites.fold_count) + 2, 1, options.progress);
  int searched = 0;
  bool stop = false;
  smooth.go_on = [&] {
    ++searched;
    stop = stop || !steps.step();
    return !stop;
  };
  model.scaler_ = Scaler::learn(sites.shapes);
  Points points = model.scaler_.points(sites.shapes);
  points.families = sites.families;
  model.gaussian_ = Gaussian::learn(points, sites.u, smooth);
  // A search that found its minimum early leaves steps out.
  for (; !stop && searched < smooth.steps; ++searched) stop = !steps.step();
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
  const auto smooth = gaussian_.left_out();
  Matrix corrections(count, kCorrectionFeatures);
  std::vector<float> residuals;
  left_out.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    put_correction(rows.shapes.row(i), smooth[i], corrections.row(i));
    residuals.push_back(static_cast<float>(rows.u[i] - smooth[i].mean));
    left_out.values[i][kSmooth] = static_cast<float>(smooth[i].mean);
  }
  for (std::size_t fold = 0; fold < rows.fold_count; ++fold) {
    const std::vector<std::size_t> rest = others(rows.folds, fold);
    const BoostOptions boosting = boosting_of(rest.size(), options);
    OPLAT_TRY(trees, boost(part(rows.shapes, rest), part(rows.truth, rest), boosting));
    OPLAT_TRY(correction, boost(part(corrections, rest), part(residuals, rest), boosting));
    for (std::size_t i = 0; i < count; ++i) {
      if (rows.folds[i] != fold) continue;
      Values& values = left_out.values[i];
      values[kTrees] = trees.value(rows.shapes.row(i));
      values[kCorrected] = values[kSmooth] + correction.value(corrections.row(i));
    }
    if (!steps.step()) return stopped();
  }
  const BoostOptions boosting = boosting_of(count, options);
  OPLAT_TRY(trees, boost(rows.shapes, rows.truth, boosting));
  OPLAT_TRY(correction, boost(corrections, residuals, boosting));
  trees_ = std::move(trees);
  correction_ = std::move(correction);
  return {};
}

void SparseModel::put_correction(std::span<const float> shape, const Gaussian::Answer& smooth,
                                 std::span<float> out) {
  std::copy(shape.begin(), shape.end(), out.begin());
  out[kShapeFeatures] = static_cast<float>(smooth.mean);
  out[kShapeFeatures + 1] = static_cast<float>(smooth.sd);
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
        spread_features(rows.shapes.row(i), gaussian_.left_out()[i].sd, left_out.values[i]);
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
  quick_spread_ = spread_factor(quick_errors, std::vector<float>(count, 1));
  return {};
}

std::optional<LearnedAnswer> SparseModel::answer(const ir::Description& description,
                                                 Profile profile) const {
  const auto point = space_.place(description);
  if (!point) return std::nullopt;
  std::array<float, kShapeFeatures> shape;
  const double log_rule = log_reference(reference_, machine_, description);
  shape_features(description, *point, space_.axes(), machine_, log_rule, shape);
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
      gaussian_.answer(scaled, point->relative ? Gaussian::kNoSlice : point->slice, point->family);
  std::array<float, kCorrectionFeatures> corrected;
  put_correction(shape, smooth, corrected);
  values[kSmooth] = static_cast<float>(smooth.mean);
  values[kCorrected] = values[kSmooth] + correction_.value(corrected);
  answer.log_ns = log_rule + static_cast<double>(mixed(values));
  const float spread = spread_.value(spread_features(shape, smooth.sd, values));
  double sd = static_cast<double>(spread_factor_ * std::exp(spread));
  // Left-out rows, of which the spread is learned, had others of their slice.
  if (point->relative) sd = std::max(sd, smooth.sd);
  answer.sd_log = spread_at(*point, sd);
  return answer;
}

}  // namespace oplat::estimate
