// SPDX-License-Identifier: Apache-2.0
/// Fitting a GridModel, and its answers. grid_model.hpp describes the method.
#include "estimate/learned/grid_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.hpp"
#include "estimate/learned/row_weights.hpp"
#include "estimate/learned/spread.hpp"

namespace oplat::estimate {
namespace {

/// Trees of the patterns in which most questions come, and of the others.
constexpr int kMaxTrees = 1800;
constexpr int kFewerTrees = 300;
constexpr int kQuickTrees = 40;
/// Few rows say what they can in fewer trees.
constexpr std::size_t kSitesPerTree = 20;
/// Fewer trees take larger steps, up to the largest that is any good.
constexpr double kRateTimesTrees = 29;
constexpr double kMaxRate = 0.07;
constexpr double kQuickRate = 0.2;
/// Columns drawn for each tree: few trees must see more of them.
constexpr double kColumnShare = 0.2;
constexpr double kFewerColumnShare = 0.5;
constexpr double kQuickColumnShare = 0.5;
/// Rows drawn for each tree.
constexpr double kRowShare = 0.7;
constexpr std::size_t kMaxLeaves = 400;
constexpr std::size_t kFewerLeaves = 255;
constexpr std::size_t kQuickLeaves = 255;
constexpr std::size_t kMinLeaves = 4;
constexpr std::size_t kRowsPerLeaf = 20;
constexpr std::size_t kMinTrials = 20;
/// What shows how sure an answer is if neighbours are few.
constexpr std::size_t kFarSpreadFeatures = 8;
/// Between two calls of the progress, which may draw on a terminal.
constexpr int kTreesPerCall = 10;

/// ln(wave work) - log_reference for each tile; NaN where no product is summed.
std::array<float, kTileCount> waves_of(const ir::Description& description, const Machine& machine,
                                       double log_reference) {
  std::array<float, kTileCount> waves;
  for (std::size_t tile = 0; tile < kTileCount; ++tile) {
    waves[tile] = description.contraction
                      ? static_cast<float>(log_wave_work(*description.contraction, kTiles[tile],
                                                         machine.processors) -
                                           log_reference)
                      : std::numeric_limits<float>::quiet_NaN();
  }
  return waves;
}

/// The patterns in which most questions come.
bool is_common(const Pattern& pattern) {
  return pattern.kind == PatternKind::Grid || pattern.kind == PatternKind::FlagUnseen;
}

/// Models of whole levels held out learn fewer trees: how far answers are off hardly depends on the
/// last ones. Of rows at random it does: with fewer trees intervals come out a few per cent too
/// wide.
double effort_of_trials(const std::vector<Pattern>& patterns) {
  return is_common(patterns.front()) ? 1 : 0.7;
}

bool is_in(const Pattern& pattern, std::span<const Pattern> patterns) {
  return std::find(patterns.begin(), patterns.end(), pattern) != patterns.end();
}

int trees_of(const Pattern& pattern, std::size_t sites, double effort) {
  const int common = std::clamp(static_cast<int>(sites / kSitesPerTree), kFewerTrees, kMaxTrees);
  return static_cast<int>(effort * (is_common(pattern) ? common : kFewerTrees));
}

float default_shape_share(PatternKind kind) {
  switch (kind) {
    case PatternKind::Grid:
    case PatternKind::FlagUnseen:
      return 0;
    case PatternKind::Level:
    case PatternKind::TwoAxes:
      return 0.4F;
    case PatternKind::Extrapolated:
      return 0.5F;
    case PatternKind::Shape:
    case PatternKind::Sparse:
      return 0;
  }
  return 0;
}

/// Standard deviations before any calibration: errors seen on other tables, with a margin.
float default_spread(PatternKind kind) {
  switch (kind) {
    case PatternKind::Grid:
      return 0.05F;
    case PatternKind::FlagUnseen:
      return 0.06F;
    case PatternKind::Level:
      return 0.1F;
    case PatternKind::TwoAxes:
      return 0.15F;
    case PatternKind::Extrapolated:
      return 0.2F;
    case PatternKind::Shape:
    case PatternKind::Sparse:
      return 0.3F;
  }
  return 1;
}

/// Where neighbours abound there are many columns and many answers to learn from. The few levels
/// left out must not be told apart, so few trees see a quarter of the columns each; beyond all rows
/// the errors grow with the distance, which trees are to learn.
SpreadOptions spread_options(PatternKind kind, std::uint64_t seed) {
  SpreadOptions options;
  options.seed = seed;
  switch (kind) {
    case PatternKind::Grid:
    case PatternKind::FlagUnseen:
      options.trees = 80;
      options.max_leaves = 31;
      break;
    case PatternKind::Extrapolated:
      options.trees = 80;
      options.feature_fraction = 0.5;
      break;
    case PatternKind::Level:
    case PatternKind::TwoAxes:
    case PatternKind::Shape:
    case PatternKind::Sparse:
      break;
  }
  return options;
}

/// The sites but some, without their points.
Sites without(const Sites& sites, std::span<const std::uint32_t> some) {
  std::vector<bool> left_out(sites.log_ns.size(), false);
  for (const std::uint32_t site : some) left_out[site] = true;
  Sites rest;
  for (std::size_t i = 0; i < sites.log_ns.size(); ++i) {
    if (left_out[i]) continue;
    rest.descriptions.push_back(sites.descriptions[i]);
    rest.log_ns.push_back(sites.log_ns[i]);
  }
  return rest;
}

/// How far a question of a pattern is from the rows: of a level, to the neighbours on both sides,
/// and what the interpolation errs there; of one beyond all, to the nearest and the farthest of the
/// axes' last rows, and how far the extrapolations along the axes are apart. NaN for what there is
/// not.
std::array<float, 3> distances_of(const Pattern& pattern, const NeighbourLayout& layout,
                                  std::span<const float> around) {
  using L = NeighbourLayout;
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  if (pattern.kind == PatternKind::Level) {
    const float* const at = &around[layout.around(pattern.axis)];
    return {std::abs(at[L::kLowDistance]), std::abs(at[L::kHighDistance]),
            std::abs(at[L::kOwnError])};
  }
  if (pattern.kind != PatternKind::Extrapolated) return {kNone, kNone, kNone};
  float nearest = kNone, farthest = kNone, least = kNone, most = kNone;
  for (std::size_t axis = 0; axis < layout.axes; ++axis) {
    const float* const at = &around[layout.around(axis)];
    // fmin() and fmax() leave out what is NaN.
    nearest = std::fmin(nearest, at[L::kLowDistance]);
    farthest = std::fmax(farthest, at[L::kLowDistance]);
    least = std::fmin(least, at[L::kFromLow]);
    most = std::fmax(most, at[L::kFromLow]);
  }
  return {nearest, farthest, most - least};
}

}  // namespace

double GridModel::log_reference(const ir::Description& description) const {
  return estimate::log_reference(reference_, machine_, description);
}

GridModel GridModel::prepare(std::span<const ir::Description> rows, std::span<const double> log_ns,
                             const GridModel* like, Sites& sites, Matrix& shapes) {
  GridModel model;
  model.space_ = like != nullptr ? like->space_ : Space::learn(rows);
  sites = sites_of(rows, log_ns, model.space_);
  model.lines_ =
      std::make_unique<Lines>(std::move(sites.points), model.space_.axes(), model.space_.slices());
  model.machine_ = like != nullptr ? like->machine_
                                   : learn_machine(sites.descriptions, sites.log_ns, model.space_);
  model.reference_ =
      like != nullptr ? like->reference_ : learn_reference(sites.descriptions, sites.log_ns);
  SiteValues values;
  shapes = Matrix(sites.log_ns.size(), kShapeFeatures);
  for (std::size_t i = 0; i < sites.log_ns.size(); ++i) {
    const ir::Description& description = sites.descriptions[i];
    const double log_reference = model.log_reference(description);
    values.u.push_back(static_cast<float>(sites.log_ns[i] - log_reference));
    const auto waves = waves_of(description, model.machine_, log_reference);
    values.waves.insert(values.waves.end(), waves.begin(), waves.end());
    shape_features(description, model.lines_->sites()[i], model.space_.axes(), model.machine_,
                   log_reference, shapes.row(i));
  }
  model.neighbours_ = std::make_unique<NeighbourFeatures>(*model.lines_, values);
  model.patterns_ = patterns_of(*model.lines_, *model.neighbours_);
  return model;
}

Result<GridModel> GridModel::fit(std::span<const ir::Description> rows,
                                 std::span<const double> log_ns, const LearnRequest& options) {
  if (rows.size() < kMinRowsLearned) {
    return fail(Code::Refused, "{} rows are too few to learn from; at least {} are needed",
                rows.size(), kMinRowsLearned);
  }
  Sites sites;
  Matrix shapes;
  GridModel model = prepare(rows, log_ns, nullptr, sites, shapes);
  const std::vector<Pattern> patterns = model.needed(options.questions);
  std::vector<HoldOut> held;
  if (options.calibrate) {
    std::vector<double> work;
    for (const ir::Description& each : sites.descriptions)
      work.push_back(each.work.flops.value_or(each.work.bytes()));
    held = hold_outs(*model.lines_, model.patterns_, work, options.seed);
    for (HoldOut& each : held)
      std::erase_if(each.patterns,
                    [&](const Pattern& pattern) { return !is_in(pattern, patterns); });
    std::erase_if(held, [](const HoldOut& each) {
      return std::all_of(each.patterns.begin(), each.patterns.end(),
                         [](const Pattern& p) { return p.kind == PatternKind::Shape; });
    });
  }
  int trees = 0;
  for (const Pattern& pattern : patterns)
    trees += trees_of(pattern, model.sites(), options.effort) + kQuickTrees;
  for (const HoldOut& each : held) {
    for (const Pattern& pattern : each.patterns)
      trees += trees_of(pattern, model.sites() - each.rows.size(),
                        effort_of_trials(each.patterns) * options.effort) +
               kQuickTrees;
  }
  Steps steps(trees, kTreesPerCall, options.progress);
  OPLAT_CHECK(model.fit_patterns(patterns, shapes, options, steps));
  shapes = {};
  OPLAT_CHECK(model.calibrate(sites, held, options, steps));
  // A pattern that too few rows could be asked in has no model: its questions go where they would
  // without it. One that no question needed stays: whether a flag counts as a twin must not depend
  // on what is asked.
  std::erase_if(model.patterns_, [&](const Pattern& pattern) {
    return is_in(pattern, patterns) && model.model_of(pattern) == nullptr;
  });
  return model;
}

std::vector<Pattern> GridModel::needed(std::span<const ir::Description> questions) const {
  if (questions.empty()) return patterns_;
  std::vector<Pattern> asked{{PatternKind::Shape, 0}};
  for (const ir::Description& question : questions) {
    const auto point = space_.place(question);
    if (!point || point->strange) continue;
    const Pattern pattern = pattern_at(*lines_, *point, lines_->around(*point), patterns_);
    if (!is_in(pattern, asked)) asked.push_back(pattern);
  }
  std::vector<Pattern> patterns;
  for (const Pattern& pattern : patterns_) {
    if (is_in(pattern, asked)) patterns.push_back(pattern);
  }
  return patterns;
}

Status GridModel::fit_patterns(std::span<const Pattern> patterns, const Matrix& shapes,
                               const LearnRequest& options, Steps& steps) {
  std::vector<std::optional<PatternModel>> models(patterns.size());
  OPLAT_CHECK(base::for_each(patterns.size(), options.threads, [&](std::size_t i) -> Status {
    OPLAT_TRY(learned, learn_pattern(patterns[i], shapes, options, steps));
    models[i] = std::move(learned);
    return {};
  }));
  for (auto& each : models) {
    if (each) models_.push_back(std::move(*each));
  }
  return {};
}

Status GridModel::calibrate(const Sites& sites, const std::vector<HoldOut>& hold_outs,
                            const LearnRequest& options, Steps& steps) {
  std::vector<std::vector<Trial>> trials(hold_outs.size());
  OPLAT_CHECK(base::for_each(hold_outs.size(), options.threads, [&](std::size_t i) -> Status {
    OPLAT_TRY(own, try_out(sites, hold_outs[i], i, options, steps));
    trials[i] = std::move(own);
    return {};
  }));
  for (const Pattern& pattern : patterns_) {
    std::vector<const Trial*> own;
    for (const auto& of_one : trials) {
      for (const Trial& trial : of_one) {
        if (trial.pattern == pattern) own.push_back(&trial);
      }
    }
    OPLAT_CHECK(fit_spread(pattern, std::move(own), options));
  }
  return {};
}

Result<std::vector<Trial>> GridModel::try_out(const Sites& sites, const HoldOut& held,
                                              std::size_t number, const LearnRequest& options,
                                              Steps& steps) const {
  std::vector<Trial> trials;
  const Sites rest = without(sites, held.rows);
  if (rest.log_ns.size() < kMinRowsLearned) return trials;
  // Of rows at random, a question sees all rows but itself (and its twin): what a fit lacks is what
  // is asked of it, and hardly ever its neighbours, of which a fold would hide some from most of
  // its rows. Only the trees learn without the fold.
  const GridModel* whole = is_common(held.patterns.front()) ? this : nullptr;
  Sites unused;
  Matrix shapes;
  GridModel part = prepare(rest.descriptions, rest.log_ns, whole, unused, shapes);
  LearnRequest less = options;
  less.effort = effort_of_trials(held.patterns) * options.effort;
  less.threads = 1;  // the hold-outs share the threads
  OPLAT_CHECK(part.fit_patterns(held.patterns, shapes, less, steps));
  const GridModel& seen = whole != nullptr ? *whole : part;
  const PatternModel* shape = part.model_of({PatternKind::Shape, 0});
  std::vector<float> row(seen.features());
  for (const std::uint32_t asked : held.asked) {
    const ir::Description& description = sites.descriptions[asked];
    const auto point = seen.space_.place(description);
    if (!point) continue;
    Surroundings around = seen.lines_->around(*point);
    if (const Pattern& of = held.patterns.front(); of.kind == PatternKind::FlagUnseen)
      around[of.axis] = {};
    const PatternModel* model =
        part.model_of(pattern_at(*seen.lines_, *point, around, seen.patterns_));
    if (model == nullptr || model == shape) continue;
    const double log_reference = seen.log_reference(description);
    seen.write(description, log_reference, *point, around, row);
    Trial trial;
    trial.pattern = model->pattern;
    trial.hold_out = number;
    trial.accurate = part.answers_of(*model, shape, row, Profile::Accurate);
    trial.fast = part.answers_of(*model, shape, row, Profile::Fast);
    trial.truth = static_cast<float>(sites.log_ns[asked] - log_reference);
    trial.features = part.spread_features(*model, row, trial.accurate);
    trial.gap = part.gap_of(model->pattern, row);
    trials.push_back(std::move(trial));
  }
  return trials;
}

std::vector<float> GridModel::spread_features(const PatternModel& model, std::span<const float> row,
                                              const Trial::Answers& answers) const {
  if (is_common(model.pattern)) {
    std::vector<float> features(row.begin(), row.end());
    features.push_back(answers.own + row[kLogReferenceFeature]);
    return features;
  }
  const NeighbourLayout layout = neighbours_->layout();
  const auto around = row.subspan(kShapeFeatures);
  const float base = around[layout.base()];
  const auto [first, second, third] = distances_of(model.pattern, layout, around);
  const std::array<float, kFarSpreadFeatures> features{std::abs(answers.own - answers.shape),
                                                       std::abs(answers.own - base),
                                                       answers.own,
                                                       row[kLogReferenceFeature],
                                                       row[kComputeOverMemoryFeature],
                                                       first,
                                                       second,
                                                       third};
  return {features.begin(), features.end()};
}

std::size_t GridModel::spread_columns(const Pattern& pattern) const {
  return is_common(pattern) ? features() + 1 : kFarSpreadFeatures;
}

Status GridModel::fit_spread(const Pattern& pattern, std::vector<const Trial*> trials,
                             const LearnRequest& options) {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [&](const PatternModel& m) { return m.pattern == pattern; });
  if (found == models_.end() || trials.size() < kMinTrials) return {};
  PatternModel& model = *found;
  const bool common = is_common(pattern);
  if (!common) model.shape_share = best_shape_share(trials, default_shape_share(pattern.kind));
  std::vector<Judged> answers;
  for (const Trial* trial : trials) {
    const float share = model.shape_share.across(trial->gap);
    answers.push_back({trial->features, trial->accurate.mixed(share) - trial->truth,
                       trial->fast.mixed(share) - trial->truth, trial->hold_out});
    // The last of such features is what was predicted.
    if (common)
      left_out_.push_back({trial->features.back() - answers.back().error, answers.back().error});
  }
  SpreadOptions how = spread_options(pattern.kind, options.seed);
  // By the predicted time, the last of spread_features(): the shortest kernels err in another way
  // than the longest.
  if (common) how.banded = static_cast<std::uint32_t>(features());
  OPLAT_TRY(spread, learn_spread(answers, how));
  model.spread = std::move(spread.forest);
  model.spread_factor = spread.factor;
  model.quick_spread_factor = spread.quick_factor;
  return {};
}

Result<std::optional<GridModel::PatternModel>> GridModel::learn_pattern(const Pattern& pattern,
                                                                        const Matrix& shapes,
                                                                        const LearnRequest& options,
                                                                        Steps& steps) const {
  const NeighbourLayout layout = neighbours_->layout();
  const bool shape = pattern.kind == PatternKind::Shape;
  const std::size_t columns = kShapeFeatures + (shape ? 0 : layout.count());
  Matrix x(shapes.rows, columns);
  std::vector<float> y;
  std::vector<float> times;
  std::size_t used = 0;
  for (std::size_t i = 0; i < shapes.rows; ++i) {
    const auto row = x.row(used);
    std::copy(shapes.row(i).begin(), shapes.row(i).end(), row.begin());
    const auto number = static_cast<Site>(i);
    float target = neighbours_->u(number);
    if (!shape) {
      const auto around = row.subspan(kShapeFeatures);
      const Point& site = lines_->sites()[i];
      neighbours_->write(site, lines_->around(site), neighbours_->waves(number),
                         blindfold_of(pattern, *lines_, i), around);
      // A row that sees nothing under this blindfold is a question of another pattern.
      if (std::all_of(around.begin() + 1, around.end(),
                      [](float value) { return std::isnan(value); }))
        continue;
      target -= around[layout.base()];
    }
    y.push_back(target);
    times.push_back(neighbours_->u(number) + row[kLogReferenceFeature]);
    ++used;
  }
  if (used < kMinRowsLearned) return std::nullopt;
  x.rows = used;
  x.values.resize(used * columns);

  PatternModel model;
  model.pattern = pattern;
  BoostOptions boosting;
  boosting.progress = [&](int) { return steps.step(); };
  boosting.seed = options.seed;
  boosting.finished = options.finished;
  boosting.trees = trees_of(pattern, sites(), options.effort);
  boosting.learning_rate = std::min(kMaxRate, kRateTimesTrees / std::max(1, boosting.trees));
  // Small tables: leaves of enough rows, and no more of them than rows can fill.
  boosting.leaves = std::clamp<std::size_t>(used / kRowsPerLeaf, kMinLeaves,
                                            is_common(pattern) ? kMaxLeaves : kFewerLeaves);
  boosting.feature_fraction = is_common(pattern) ? kColumnShare : kFewerColumnShare;
  boosting.bagging_fraction = kRowShare;
  // Where neighbours abound, what their mean leaves is mostly how well rows were measured.
  if (is_common(pattern)) boosting.weights = row_weights(times, y);
  OPLAT_TRY(forest, boost(x, y, boosting));
  model.forest = std::move(forest);
  boosting.trees = kQuickTrees;
  boosting.learning_rate = kQuickRate;
  boosting.feature_fraction = kQuickColumnShare;
  boosting.leaves = std::clamp<std::size_t>(used / kRowsPerLeaf, kMinLeaves, kQuickLeaves);
  OPLAT_TRY(quick, boost(x, y, boosting));
  model.quick = std::move(quick);
  model.shape_share.share = default_shape_share(pattern.kind);
  model.spread_factor = model.quick_spread_factor = default_spread(pattern.kind);
  return model;
}

void GridModel::write(const ir::Description& description, double log_reference, const Point& point,
                      const Surroundings& around, std::span<float> out) const {
  shape_features(description, point, space_.axes(), machine_, log_reference,
                 out.first(kShapeFeatures));
  neighbours_->write(point, around, waves_of(description, machine_, log_reference), {},
                     out.subspan(kShapeFeatures));
}

bool GridModel::calibrated() const {
  return std::any_of(models_.begin(), models_.end(),
                     [](const PatternModel& model) { return model.spread.trees() > 0; });
}

const GridModel::PatternModel* GridModel::model_of(const Pattern& pattern) const {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [&](const PatternModel& m) { return m.pattern == pattern; });
  return found == models_.end() ? nullptr : &*found;
}

float GridModel::gap_of(const Pattern& pattern, std::span<const float> row) const {
  if (pattern.kind != PatternKind::Level) return std::numeric_limits<float>::quiet_NaN();
  const auto around = row.subspan(kShapeFeatures + neighbours_->layout().around(pattern.axis));
  return around[NeighbourLayout::kLowDistance] + around[NeighbourLayout::kHighDistance];
}

Trial::Answers GridModel::answers_of(const PatternModel& model, const PatternModel* shape,
                                     std::span<const float> features, Profile profile) const {
  Trial::Answers answers;
  answers.own = residual_of(model, features, profile);
  answers.shape = shape != nullptr ? residual_of(*shape, features, profile) : answers.own;
  return answers;
}

float GridModel::residual_of(const PatternModel& model, std::span<const float> features,
                             Profile profile) const {
  const Forest& forest = profile == Profile::Fast ? model.quick : model.forest;
  const bool shape = model.pattern.kind == PatternKind::Shape;
  const float base = shape ? 0 : features[kShapeFeatures + neighbours_->layout().base()];
  return base + forest.value(features);
}

std::optional<LearnedAnswer> GridModel::answer(const ir::Description& description,
                                               Profile profile) const {
  const auto point = space_.place(description);
  if (!point) return std::nullopt;
  const Surroundings around = lines_->around(*point);
  const Pattern asked = point->strange ? Pattern{PatternKind::Shape, 0}
                                       : pattern_at(*lines_, *point, around, patterns_);
  const PatternModel* model = model_of(asked);
  const PatternModel* shape = model_of({PatternKind::Shape, 0});
  if (model == nullptr) model = shape;
  if (model == nullptr) return std::nullopt;
  std::vector<float> row(features());
  const double log_reference = this->log_reference(description);
  write(description, log_reference, *point, around, row);
  // The model of shapes is asked only where it counts: it doubles the time of an answer.
  const Trial::Answers answers =
      answers_of(*model, is_common(model->pattern) ? nullptr : shape, row, profile);
  LearnedAnswer answer;
  answer.pattern = model->pattern;
  const float share = model->shape_share.across(gap_of(model->pattern, row));
  answer.log_ns = answers.mixed(share) + log_reference;
  answer.sd_log = profile == Profile::Fast ? model->quick_spread_factor : model->spread_factor;
  if (model->spread.trees() > 0)
    answer.sd_log *= std::exp(model->spread.value(spread_features(*model, row, answers)));
  answer.sd_log = spread_at(*point, answer.sd_log);
  answer.outside = point->outside;
  if (point->outside > 0) answer.floor_ns = machine_.floor_ns(description.work, point->outside);
  return answer;
}

}  // namespace oplat::estimate
