// SPDX-License-Identifier: Apache-2.0
/// From whole models in a table to a composition: curves tried, groups left out, intervals
/// calibrated.
///
/// One to a few dozen measured models have to determine the coefficients of compose.cpp, the curve
/// between cache states, and how wide intervals are. Models come in families, and some are measured
/// badly. So a plain least-squares fit would follow the noise, and its errors on its own models
/// would look too good.
///
/// Therefore the fit is an update of what other machines were found to be like (compose.cpp's
/// prior_of(), docs/adr/0052): each model weighs by how well it and its kernels are known, and what
/// it says little about stays as unsure as it was. So a single model helps, and there is no number
/// of models from which on it counts. The curves that are tried lie between and around the earliest
/// and the latest that the machine may have; their probabilities tell how unsure the place remains.
/// Spread comes from the prior and from cross-validation: each group of models is predicted by a
/// fit to the other groups. With 19 models the interval's quantile is one of these errors,
/// interpolated between two scores (docs/adr/0027).
///
/// Example: with 47 models in 9 groups, ten fits are made: one to all models, which is stored, and
/// one without each group, whose errors calibrate the interval. With one model, it is predicted by
/// the prior alone, and the fit that is stored has seen it.
#include "predict/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/stats.hpp"
#include "base/text.hpp"
#include "estimate/exact.hpp"
#include "estimate/foreign.hpp"
#include "estimate/load_spread.hpp"
#include "ir/work.hpp"
#include "plan/records.hpp"
#include "predict/compose.hpp"
#include "predict/fit_sums.hpp"
#include "predict/prediction.hpp"

namespace oplat::predict {
namespace {

/// Quantile of the normal distribution, two-sided 90 %: the earliest and the latest ramp of a start
/// curve are so many standard deviations from it.
constexpr double kSdsToTheEnds = 1.6448536269514722;
/// Where the ramp out of the last level is tried, in standard deviations of its place, both ends at
/// once: what differs between machines is how much of that cache other tenants leave, not how it
/// loses data (docs/adr/0024).
constexpr double kLastSteps[] = {0, -0.5, 0.5, -1, 1, -1.5, 1.5, -2.0, 2.0, -2.5, 2.5, -3.0, 3.0};

/// A model that takes so many times more or less than its kernels is not what a sum can describe,
/// and may be an untrusted table's.
constexpr double kMaxRatioToSum = 1000;
/// Nor is one of so many bytes, or kernels, for each ns that it takes.
constexpr double kMaxPerNs = 1e6;
/// No model takes less.
constexpr double kLeastNs = 1;

/// Groups are left out one by one up to so many, and more of them together beyond: what a fit takes
/// would grow with the third power of the number of models.
constexpr std::size_t kMaxFolds = 32;

/// Models of one file name are one model in other shapes up to this ratio of their weights: what a
/// runtime folds into constants differs a little from shape to shape.
constexpr double kSameWeights = 1.01;

/// Bytes of the kernels' constants as stored, each as often as it is read. Plan::weight_bytes would
/// say another model where a larger batch picks more from a table.
double stored_weights(const table::Plan& plan, const ir::Catalogue& catalogue) {
  double bytes = 0;
  for (const table::PlanKernel& kernel : plan.kernels) {
    const auto key = ir::parse(kernel.key);
    if (key) bytes += static_cast<double>(kernel.count) * ir::work(*key, catalogue).bytes_weights;
  }
  return bytes;
}

bool are_same_weights(double a, double b) {
  const auto [less, more] = std::minmax(a, b);
  return more <= kSameWeights * less;
}

/// Models that a message names.
constexpr std::size_t kMaxNamed = 5;

/// Two blocks say little of how far apart blocks are.
constexpr std::int64_t kMinBlocksOfAMoment = 3;

struct Curve {
  std::optional<estimate::ReuseCurve> curve;
  double place = 0;  ///< of the ramp out of the last level, in standard deviations
  double log_prior = 0;
  double foreign_share = 0;  ///< CompositionFit::foreign_share
};

/// The ramp so many standard deviations from the start, towards the earliest or the latest; how
/// the curve goes on beyond it stays as it was measured.
estimate::Ramp ramp_at(const estimate::ReuseCurve& start, double place) {
  const estimate::Ramp end = (place < 0 ? start.earliest : start.latest).value_or(start.last);
  const double share = std::abs(place) / kSdsToTheEnds;
  const auto between = [share](double from, double to) {
    return from * std::pow(to / from, share);
  };
  return {between(start.last.lo_bytes, end.lo_bytes), between(start.last.hi_bytes, end.hi_bytes),
          start.last.rise_per_octave};
}

/// The start curve first, then its neighbours.
std::vector<Curve> curves_of(const std::optional<estimate::ReuseCurve>& start) {
  if (!start) return {{}};
  std::vector<Curve> curves;
  for (const double place : kLastSteps) {
    const estimate::Ramp last = ramp_at(*start, place);
    if (!(last.lo_bytes < last.hi_bytes)) continue;
    if (place != 0 && last == start->last) continue;
    // Ramps that overlap could not be told apart.
    if (start->own && start->own->hi_bytes > last.lo_bytes) continue;
    curves.push_back({estimate::ReuseCurve{start->own, last}, place, -0.5 * place * place});
  }
  return curves;
}

/// Each curve with each share of what others bring in.
std::vector<Curve> with_foreign_shares(const std::vector<Curve>& curves) {
  std::vector<Curve> all;
  for (const Curve& curve : curves) {
    for (const auto& [share, likely] : kForeignShares) {
      all.push_back(curve);
      all.back().foreign_share = share;
      all.back().log_prior += std::log(likely);
    }
  }
  return all;
}

/// A model that can take part, with its sum under every curve.
struct FitCandidate {
  table::StoredModelRow row;
  table::Timing measured;
  table::Plan plan;
  double stored_weights = 0;  ///< of the plan, whose kernels are gone
  std::string group;  ///< distinct from those of other models, unless the request says otherwise
  std::string group_name;  ///< for people
  std::size_t fold = 0;    ///< of its group; groups of one fold are left out together
  bool calibrates = true;
  std::vector<KernelSum> sums;
  SumParts unfitted;  ///< as without a fit, which knows of others by looks alone
  double half_width = 0;
  double load_sd = 0;  ///< of its time, since it was measured on a busy machine; 0: it was not
  /// What the model touches is the same under every curve.
  [[nodiscard]] Exposure exposure(double ns) const { return exposure_of(sums.front().parts, ns); }
  /// The row, as the fit takes it.
  [[nodiscard]] MeasuredTime time() const {
    const double own = half_width / base::two_sided_normal_quantile(0.95);
    return {measured.median_ns, std::hypot(own, load_sd)};
  }
};

/// Of a model's own time, relative.
double half_width_of(const table::Timing& timing) {
  return 0.5 * (timing.ci_high_ns - timing.ci_low_ns) / timing.median_ns;
}

KernelSum sum_of(const std::vector<KernelPrediction>& kernels) {
  KernelSum sum;
  for (const KernelPrediction& kernel : kernels) {
    const double ns = static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
    sum.parts.ns += ns;
    if (ir::has_int8_tensor(kernel.key)) sum.parts.int8_ns += ns;
    if (kernel.source == estimate::Source::Free) continue;
    sum.parts.kernels += static_cast<double>(kernel.count);
    sum.parts.evicted_bytes += static_cast<double>(kernel.count) * kernel.evicted_bytes;
    sum.parts.touched_bytes += static_cast<double>(kernel.count) * kernel.touched_bytes;
  }
  // With a total of 1 the shares are times.
  std::vector<Term> others;
  double common = 0;
  for (Term& term : terms_of(kernels, 1)) {
    common += term.share * term.common_sd_log;
    const double own = term.own_sd_log();
    if (term.values_sd_log != 0)
      others.push_back({term.share, term.values_sd_log, {}, 0, term.values_sd_log, term.op});
    term.sd_log = own;
    term.common_sd_log = term.values_sd_log = 0;
    if (term.group == "measured") {
      sum.linear += term.share * term.sd_log;
      sum.squares += std::pow(term.share * term.sd_log, 2);
    } else {
      others.push_back(term);
    }
  }
  const SumVariance of_others = sum_variance(others, common);
  sum.other_variance = of_others.all();
  sum.unscored_ns2 = of_others.unscored;
  return sum;
}

class Fitting {
 public:
  Fitting(const table::Table& table, const Selection& selection, const FitRequest& request)
      : table_(table),
        selection_(selection),
        request_(request),
        start_(estimate::default_curve(selection.device, selection.memory)),
        curves_(curves_of(start_)) {}

  Result<FitResult> run();
  Status prepare();
  [[nodiscard]] bool holds_plan(const std::string& identity) const;
  [[nodiscard]] const std::vector<std::string>& silent_on_inputs() const {
    return silent_on_inputs_;
  }
  [[nodiscard]] std::optional<CompositionFit> without_plan(const std::string& identity) const;
  [[nodiscard]] std::optional<CompositionFit> without_relatives(const table::Plan& plan) const;

 private:
  /// What the models outside some groups say.
  struct Fitted {
    std::size_t curve = 0;            ///< the most probable one
    std::vector<FittedSums> sums;     ///< under each curve
    std::vector<double> probability;  ///< of each curve
    [[nodiscard]] const FittedSums& best() const { return sums[curve]; }
  };

  /// Of the rows; curves_ then have shares of it.
  Status learn_foreign_rate();
  /// Of what the fit is made from, at its device and settings.
  [[nodiscard]] bool is_of_selection(const table::StoredModelRow& row) const;
  [[nodiscard]] bool calibrates(const table::Timing& timing) const;
  /// Plans of an earlier oplat do not say what models are given; a coefficient of what only some of
  /// them say would be wrong for all.
  Status choose_counted(const std::vector<table::StoredModelRow>& rows);
  Status collect();
  /// Groups by the request, else by the identity of models: what it is to one plan is not known of
  /// the plan in another shape, so that the name of the file and its weights tell (docs/adr/0057).
  void name_groups();
  /// Of its kernels; std::nullopt, and it is excluded, if some have no row.
  Result<std::optional<KernelSum>> sum_with(const Predictor& predictor,
                                            const FitCandidate& candidate, double foreign_bytes);
  /// As predict() lets in what others bring, so many bytes a ns.
  Result<std::optional<KernelSum>> sum_among(const Predictor& predictor,
                                             const FitCandidate& candidate, double bytes_per_ns);
  Status add_sums(FitCandidate& candidate);
  [[nodiscard]] std::vector<const FitCandidate*> without(const std::set<std::string>& groups) const;
  [[nodiscard]] Fitted fit(const std::vector<const FitCandidate*>& models) const;
  [[nodiscard]] ErrorTerm error_of(const FitCandidate& model, const Fitted& fitted) const;
  /// Standard deviation of a number of the curves about that of the most probable one.
  [[nodiscard]] double sd_of(const Fitted& fitted, double Curve::*number) const;
  /// The most probable curve, with the ends of the interval of its place.
  [[nodiscard]] std::optional<estimate::ReuseCurve> curve_of(const Fitted& fitted) const;
  /// What was fitted to `models`, all but those of the groups `out`; correlation, spread and scores
  /// from errors of models that were each left out.
  [[nodiscard]] CompositionFit calibrated(const Fitted& fitted,
                                          const std::vector<const FitCandidate*>& models,
                                          const std::set<std::string>& out) const;
  /// CompositionFit::moments.
  [[nodiscard]] MomentSpread moments(const std::vector<const FitCandidate*>& models) const;
  [[nodiscard]] std::vector<ErrorTerm> errors_left_out(
      const std::vector<const FitCandidate*>& models, const std::set<std::string>& already) const;
  /// What is known without a fold.
  struct Without {
    Fitted fitted;
    CompositionFit composition;
  };
  [[nodiscard]] Without leave_out(std::size_t fold) const;
  [[nodiscard]] Result<LeftOutModel> left_out(const FitCandidate& model,
                                              const Without& without) const;
  [[nodiscard]] std::set<std::string> groups_of(std::size_t fold) const;
  [[nodiscard]] std::optional<CompositionFit> without_groups(
      const std::set<std::string>& out) const;
  /// For the message that none can take part: those that were measured, but not well enough. Empty
  /// where there are none.
  [[nodiscard]] std::string too_wide() const;
  /// The same of those that cannot take part at all: the first one, with the reason.
  [[nodiscard]] std::string left_aside() const;

  const table::Table& table_;
  const Selection& selection_;
  const FitRequest& request_;
  std::optional<estimate::ReuseCurve> start_;
  std::vector<Curve> curves_;
  std::size_t shares_ = 1;  ///< curves_ in a row that differ in foreign_share alone
  double foreign_bytes_per_ns_ = 0;
  double unfitted_bytes_per_ns_ = 0;  ///< that models feel without a fit
  CountedResults counted_ = kCountedNow;
  std::vector<std::string> silent_on_inputs_;  ///< LeaveOneOut::silent_on_inputs()
  std::vector<Predictor> predictors_;          ///< one for each place of the curve
  std::optional<Predictor> unfitted_;          ///< where predictors_ count more or less than it
  CoefficientPrior prior_;
  std::vector<FitCandidate> models_;
  std::vector<std::pair<std::string, std::string>> excluded_;
};

Result<std::optional<KernelSum>> Fitting::sum_with(const Predictor& predictor,
                                                   const FitCandidate& candidate,
                                                   double foreign_bytes) {
  const double reuse = candidate.plan.weight_bytes + candidate.plan.activation_bytes;
  OPLAT_TRY(kernels, predictor.estimate(candidate.plan.kernels, reuse, MissingPolicy::Error, false,
                                        {foreign_bytes, 0}));
  const auto lacking = std::count_if(kernels.begin(), kernels.end(),
                                     [](const auto& kernel) { return !kernel.latency_ns; });
  if (lacking > 0) {
    excluded_.emplace_back(candidate.row.row.name,
                           fmt::format("{} of its kernels have no row", lacking));
    return std::optional<KernelSum>();
  }
  KernelSum sum = sum_of(kernels);
  sum.parts.reuse_bytes = reuse;
  return std::optional(std::move(sum));
}

Result<std::optional<KernelSum>> Fitting::sum_among(const Predictor& predictor,
                                                    const FitCandidate& candidate,
                                                    double bytes_per_ns) {
  if (!(bytes_per_ns > 0)) return sum_with(predictor, candidate, 0);
  const double reuse = candidate.plan.weight_bytes + candidate.plan.activation_bytes;
  OPLAT_TRY(ns, predictor.ns_of(candidate.plan.kernels, reuse, MissingPolicy::Error, bytes_per_ns));
  return sum_with(predictor, candidate, bytes_per_ns * ns);
}

Status Fitting::add_sums(FitCandidate& candidate) {
  const double reuse = candidate.plan.weight_bytes + candidate.plan.activation_bytes;
  if (!(reuse >= 0 && std::isfinite(reuse))) {
    excluded_.emplace_back(candidate.row.row.name, "its plan states no finite number of bytes");
    return {};
  }
  std::vector<KernelSum> sums;
  for (const Predictor& predictor : predictors_) {
    OPLAT_TRY(alone, sum_with(predictor, candidate, 0));
    if (!alone) return {};
    for (std::size_t share = 0; share < shares_; ++share) {
      const double rate = curves_[sums.size()].foreign_share * foreign_bytes_per_ns_;
      if (!(rate > 0)) {
        sums.push_back(*alone);
        continue;
      }
      OPLAT_TRY(sum, sum_among(predictor, candidate, rate));
      if (!sum) return {};
      sums.push_back(*std::move(sum));
    }
  }
  candidate.unfitted = sums.front().parts;
  if (unfitted_) {
    OPLAT_TRY(sum, sum_among(*unfitted_, candidate, unfitted_bytes_per_ns_));
    if (!sum) return {};
    candidate.unfitted = sum->parts;
  }
  candidate.sums = std::move(sums);
  return {};
}

Status Fitting::learn_foreign_rate() {
  const auto last = estimate::measured_last_level(selection_.memory);
  if (!start_ || !last) return {};
  const estimate::RowSource rows{&table_, selection_.device_id, selection_.setting_ids, start_,
                                 selection_.catalogue};
  OPLAT_TRY(samples, estimate::read_samples_in_states(rows));
  foreign_bytes_per_ns_ = estimate::foreign_rate(samples, *selection_.memory, *last);
  if (!(foreign_bytes_per_ns_ > 0)) return {};
  curves_ = with_foreign_shares(curves_);
  shares_ = kForeignShares.size();
  return {};
}

bool Fitting::is_of_selection(const table::StoredModelRow& row) const {
  const auto& ids = selection_.setting_ids;
  return row.device == selection_.device_id &&
         std::find(ids.begin(), ids.end(), row.setting) != ids.end();
}

bool Fitting::calibrates(const table::Timing& timing) const {
  return timing.blocks >= 2 && half_width_of(timing) <= request_.max_half_width;
}

Status Fitting::choose_counted(const std::vector<table::StoredModelRow>& rows) {
  // The same model may have been measured again since, under another build of the runtime.
  using Model = std::pair<std::string, double>;  // file name, bytes of weights
  std::vector<Model> said;
  std::set<Model> silent;
  for (const table::StoredModelRow& row : rows) {
    const auto* timing = std::get_if<table::Timing>(&row.row.outcome);
    if (!is_of_selection(row) || timing == nullptr || !(timing->median_ns > 0) ||
        !calibrates(*timing))
      continue;
    OPLAT_TRY(plan, table_.find_plan(row.row.plan_identity));
    if (!plan) continue;
    const Model model{row.row.name, stored_weights(*plan, *selection_.catalogue)};
    if (plan::says_inputs(*plan)) {
      said.push_back(model);
    } else {
      silent.insert(model);
    }
  }
  std::erase_if(silent, [&](const Model& model) {
    return std::any_of(said.begin(), said.end(), [&](const Model& other) {
      return other.first == model.first && are_same_weights(other.second, model.second);
    });
  });
  if (silent.empty()) return {};
  counted_ = CountedResults::WithScratch;
  if (!plan::runtime_says_inputs(selection_.setting.runtime)) return {};
  for (const auto& [name, weights] : silent)
    if (silent_on_inputs_.empty() || silent_on_inputs_.back() != name)
      silent_on_inputs_.push_back(name);
  return {};
}

Status Fitting::collect() {
  OPLAT_TRY(rows, table_.model_rows());
  OPLAT_CHECK(choose_counted(rows));
  for (std::size_t c = 0; c < curves_.size(); c += shares_) {
    Selection trial = selection_;
    trial.fit.emplace();
    trial.fit->curve = curves_[c].curve;
    trial.fit->counted = counted_;
    trial.fit->foreign_bytes_per_ns = foreign_bytes_per_ns_;
    OPLAT_TRY(predictor, Predictor::create(table_, std::move(trial), std::nullopt));
    predictors_.push_back(std::move(predictor));
  }
  unfitted_bytes_per_ns_ = traffic_before_fit(selection_.memory).during(1).mean;
  if (foreign_bytes_per_ns_ > 0 || unfitted_bytes_per_ns_ > 0 || counted_ != kCountedNow) {
    Selection unfitted = selection_;
    unfitted.fit.reset();
    OPLAT_TRY(predictor, Predictor::create(table_, std::move(unfitted), std::nullopt));
    unfitted_ = std::move(predictor);
  }
  std::optional<double> load_sd;  // read once it is wanted
  for (const table::StoredModelRow& row : rows) {
    if (!is_of_selection(row)) continue;
    const auto* timing = std::get_if<table::Timing>(&row.row.outcome);
    if (timing == nullptr || !(timing->median_ns > 0)) {
      excluded_.emplace_back(row.row.name, "it could not be measured");
      continue;
    }
    OPLAT_TRY(plan, table_.find_plan(row.row.plan_identity));
    if (!plan) {
      excluded_.emplace_back(row.row.name, "the table holds no plan of this model");
      continue;
    }
    FitCandidate candidate;
    candidate.row = row;
    candidate.measured = *timing;
    candidate.plan = std::move(*plan);
    candidate.half_width = half_width_of(*timing);
    if (row.row.method.has(table::kUnderLoad)) {
      if (!load_sd) {
        OPLAT_TRY(
            sd, estimate::load_sd_of_models(table_, selection_.device_id, selection_.setting_ids));
        load_sd = sd;
      }
      candidate.load_sd = *load_sd;
    }
    candidate.calibrates = calibrates(*timing);
    OPLAT_CHECK(add_sums(candidate));
    if (candidate.sums.empty()) continue;
    candidate.stored_weights = stored_weights(candidate.plan, *selection_.catalogue);
    candidate.plan.kernels = {};  // their sum is all that is asked for
    const auto in_proportion = [&](const KernelSum& sum) {
      const double ratio = prior_.mean.predict(sum.parts) / timing->median_ns;
      return ratio < kMaxRatioToSum && ratio > 1 / kMaxRatioToSum &&
             std::max(sum.parts.evicted_bytes, sum.parts.kernels) < kMaxPerNs * timing->median_ns;
    };
    if (!(std::abs(candidate.half_width) < kMaxRatioToSum &&
          std::all_of(candidate.sums.begin(), candidate.sums.end(), in_proportion))) {
      excluded_.emplace_back(row.row.name, "its time is out of all proportion to its kernels");
      continue;
    }
    models_.push_back(std::move(candidate));
  }
  predictors_.clear();
  unfitted_.reset();
  std::stable_sort(models_.begin(), models_.end(),
                   [](const auto& a, const auto& b) { return a.row.row.name < b.row.row.name; });
  name_groups();
  std::map<std::string_view, std::size_t> number;
  for (FitCandidate& model : models_)
    model.fold = number.emplace(model.group, number.size()).first->second % kMaxFolds;
  return {};
}

/// No model's own group is called so.
std::string group_of_name(const std::string& name) { return "group " + name; }

void Fitting::name_groups() {
  std::map<std::string_view, std::vector<FitCandidate*>> of_name;
  for (FitCandidate& model : models_) {
    const std::string& name = model.row.row.name;
    const auto group = request_.groups.find(name);
    if (group == request_.groups.end()) {
      of_name[name].push_back(&model);
      continue;
    }
    model.group_name = group->second;
    model.group = group_of_name(model.group_name);
  }
  for (auto& [name, models] : of_name) {
    std::stable_sort(models.begin(), models.end(), [](const auto* a, const auto* b) {
      return a->stored_weights < b->stored_weights;
    });
    int number = 1;
    double first = models.front()->stored_weights;
    for (FitCandidate* model : models) {
      if (!are_same_weights(first, model->stored_weights)) {
        ++number;
        first = model->stored_weights;
      }
      model->group_name = number == 1 ? std::string(name) : fmt::format("{} ({})", name, number);
      model->group = fmt::format("model {} {}", number, name);
    }
  }
}

std::vector<const FitCandidate*> Fitting::without(const std::set<std::string>& groups) const {
  std::vector<const FitCandidate*> models;
  for (const FitCandidate& model : models_) {
    if (model.calibrates && groups.count(model.group) == 0) models.push_back(&model);
  }
  return models;
}

Fitting::Fitted Fitting::fit(const std::vector<const FitCandidate*>& models) const {
  std::vector<MeasuredTime> measured;
  for (const FitCandidate* model : models) measured.push_back(model->time());
  Fitted fitted;
  std::vector<KernelSum> sums(models.size());
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    for (std::size_t i = 0; i < models.size(); ++i) sums[i] = models[i]->sums[c];
    fitted.sums.push_back(fit_sums(sums, measured, prior_));
    fitted.probability.push_back(fitted.sums.back().evidence + curves_[c].log_prior);
    if (fitted.probability[c] > fitted.probability[fitted.curve]) fitted.curve = c;
  }
  const double most = fitted.probability[fitted.curve];
  double all = 0;
  for (double& one : fitted.probability) all += one = std::exp(one - most);
  for (double& one : fitted.probability) one /= all;
  return fitted;
}

/// A sum of hardly any models could drive the sum of a tiny one below zero, and that of one without
/// kernels to nothing.
double predicted_ns(const Coefficients& coefficients, const SumParts& parts) {
  return std::max({coefficients.predict(parts), kMinShareOfKernels * parts.ns, kLeastNs});
}

ErrorTerm Fitting::error_of(const FitCandidate& model, const Fitted& fitted) const {
  const FittedSums& best = fitted.best();
  const KernelSum& sum = model.sums[fitted.curve];
  const double predicted = predicted_ns(best.coefficients, sum.parts);
  ErrorTerm error;
  error.log_error = std::log(model.measured.median_ns / predicted);
  const double scale = sum.parts.ns > 0 ? best.coefficients.kernels_ns(sum.parts) / sum.parts.ns
                                        : best.coefficients.scale;
  const double share = scale / predicted;
  error.linear = share * sum.linear;
  error.squares = share * share * sum.squares;
  error.unscored = share * share * sum.unscored_ns2;
  error.fixed_variance = share * share * sum.other_variance +
                         best.covariance.variance_ns2(sum.parts) / (predicted * predicted);
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const double other =
        std::log(predicted_ns(fitted.sums[c].coefficients, model.sums[c].parts) / predicted);
    error.fixed_variance += fitted.probability[c] * other * other;
  }
  error.noise_variance = model.time().sd_log * model.time().sd_log;
  return error;
}

double Fitting::sd_of(const Fitted& fitted, double Curve::*number) const {
  double variance = 0;
  for (std::size_t c = 0; c < curves_.size(); ++c)
    variance +=
        fitted.probability[c] * std::pow(curves_[c].*number - curves_[fitted.curve].*number, 2);
  return std::sqrt(variance);
}

std::optional<estimate::ReuseCurve> Fitting::curve_of(const Fitted& fitted) const {
  std::optional<estimate::ReuseCurve> curve = curves_[fitted.curve].curve;
  if (!curve) return curve;
  const double place = curves_[fitted.curve].place;
  const double reach = kSdsToTheEnds * sd_of(fitted, &Curve::place);
  const auto end = [&](double at) -> std::optional<estimate::Ramp> {
    const estimate::Ramp ramp = ramp_at(*start_, at);
    return ramp.lo_bytes < ramp.hi_bytes ? ramp : curve->last;
  };
  curve->earliest = end(place - reach);
  curve->latest = end(place + reach);
  // No model was asked how the curve goes on beyond the ramp, so that this stays in doubt.
  curve->earliest->rise_per_octave = start_->earliest.value_or(start_->last).rise_per_octave;
  curve->latest->rise_per_octave = start_->latest.value_or(start_->last).rise_per_octave;
  return curve;
}

std::vector<ErrorTerm> Fitting::errors_left_out(const std::vector<const FitCandidate*>& models,
                                                const std::set<std::string>& already) const {
  std::map<std::size_t, Fitted> fits;
  std::vector<ErrorTerm> errors;
  for (const FitCandidate* model : models) {
    auto at = fits.find(model->fold);
    if (at == fits.end()) {
      std::set<std::string> out = groups_of(model->fold);
      out.insert(already.begin(), already.end());
      at = fits.emplace(model->fold, fit(without(out))).first;
    }
    errors.push_back(error_of(*model, at->second));
  }
  return errors;
}

CompositionFit Fitting::calibrated(const Fitted& fitted,
                                   const std::vector<const FitCandidate*>& models,
                                   const std::set<std::string>& out) const {
  const std::vector<ErrorTerm> errors = errors_left_out(models, out);
  const SpreadFit spread = fit_spread(errors, prior_);
  const Coefficients& coefficients = fitted.best().coefficients;
  CompositionFit fit;
  fit.c0_ns = coefficients.c0_ns;
  fit.c1_ns = coefficients.c1_ns;
  fit.c2_ns_per_byte = coefficients.c2_ns_per_byte;
  fit.counted = counted_;
  fit.scale = coefficients.scale;
  fit.scale_int8 = coefficients.scale_int8;
  fit.covariance = fitted.best().covariance;
  fit.curve = curve_of(fitted);
  fit.foreign_bytes_per_ns = foreign_bytes_per_ns_;
  fit.foreign_share = curves_[fitted.curve].foreign_share;
  fit.foreign_share_sd = sd_of(fitted, &Curve::foreign_share);
  fit.sd_log = spread.sd_log;
  fit.moments = moments(models);
  fit.measured_correlation = spread.measured_correlation;
  for (const ErrorTerm& error : errors) {
    // The score of a model that is hardly known says how well it was measured.
    if (error.noise_variance > error.variance(fit.measured_correlation, fit.sd_log)) continue;
    fit.scores.push_back(error.score(fit.measured_correlation, fit.sd_log));
  }
  fit.groups = request_.groups;
  // Without a model that was predicted, nothing is known better than without a fit.
  if (fit.scores.empty()) {
    fit.sd_log = std::max(fit.sd_log, kCompositionSd);
    fit.moments = {};  // that spread has a machine's moments in it
  }
  std::sort(fit.scores.begin(), fit.scores.end());
  return fit;
}

MomentSpread Fitting::moments(const std::vector<const FitCandidate*>& models) const {
  std::vector<ModelMoments> seen;
  for (const FitCandidate* model : models) {
    const table::Timing& timing = model->measured;
    if (timing.blocks >= kMinBlocksOfAMoment && std::isfinite(timing.sd_log))
      seen.push_back({timing.sd_log, timing.blocks, model->exposure(timing.median_ns)});
  }
  return fit_moments(seen, start_ ? std::optional(start_->last) : std::nullopt);
}

std::set<std::string> Fitting::groups_of(std::size_t fold) const {
  std::set<std::string> groups;
  for (const FitCandidate& model : models_) {
    if (model.fold == fold) groups.insert(model.group);
  }
  return groups;
}

Fitting::Without Fitting::leave_out(std::size_t fold) const {
  const std::set<std::string> out = groups_of(fold);
  const auto others = without(out);
  Fitted fitted = fit(others);
  CompositionFit composition = calibrated(fitted, others, out);
  return {std::move(fitted), std::move(composition)};
}

Result<LeftOutModel> Fitting::left_out(const FitCandidate& model, const Without& without) const {
  const CompositionFit& composition = without.composition;
  const ErrorTerm error = error_of(model, without.fitted);
  LeftOutModel left;
  left.name = model.row.row.name;
  left.group = model.group_name;
  left.measured = model.measured;
  left.predicted_ns = model.measured.median_ns / std::exp(error.log_error);
  left.moment_sd_log = composition.moments.sd_log_of(model.exposure(left.predicted_ns));
  SumVariance variance{
      error.variance(composition.measured_correlation, composition.sd_log) - error.unscored,
      error.unscored};
  variance.add_unscored(left.moment_sd_log);
  left.sd_log = std::sqrt(variance.all());
  const Calibration calibration{static_cast<std::int64_t>(composition.scores.size()),
                                composition.scores, variance.unscored_share()};
  OPLAT_TRY(bounds, interval(left.predicted_ns, left.sd_log, request_.level, calibration));
  left.interval = bounds;
  left.unfitted_ns = prior_.mean.predict(model.unfitted);
  left.calibrates = model.calibrates;
  return left;
}

std::string Fitting::too_wide() const {
  std::vector<std::string> wide;
  for (const FitCandidate& model : models_) {
    if (!model.calibrates)
      wide.push_back(fmt::format("{} (+-{:.1f} %)", base::printable(model.row.row.name),
                                 100 * model.half_width));
  }
  if (wide.empty()) return {};
  const std::size_t more = wide.size() - std::min(wide.size(), kMaxNamed);
  wide.resize(wide.size() - more);
  return fmt::format(
      "{}{} are ignored, since they have a single block{}; measure them longer; or ",
      base::join(wide, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
      std::isfinite(request_.max_half_width)
          ? fmt::format(" or an interval wider than +-{:.3g} % (--max-half-width {})",
                        100 * request_.max_half_width, request_.max_half_width)
          : "");
}

std::string Fitting::left_aside() const {
  if (excluded_.empty()) return {};
  const auto& [name, why] = excluded_.front();
  return fmt::format(
      "{}: {}{}; ", base::printable(name), why,
      excluded_.size() > 1 ? fmt::format(" (and {} more)", excluded_.size() - 1) : "");
}

Status Fitting::prepare() {
  OPLAT_TRY(empty, empty_call(table_, selection_));
  prior_ = prior_of(selection_, empty);
  OPLAT_CHECK(learn_foreign_rate());
  return collect();
}

bool Fitting::holds_plan(const std::string& identity) const {
  return std::any_of(models_.begin(), models_.end(), [&](const FitCandidate& model) {
    return model.row.row.plan_identity == identity;
  });
}

std::optional<CompositionFit> Fitting::without_plan(const std::string& identity) const {
  std::set<std::string> out;
  for (const FitCandidate& model : models_) {
    if (model.row.row.plan_identity == identity) out.insert(model.group);
  }
  return without_groups(out);
}

std::optional<CompositionFit> Fitting::without_groups(const std::set<std::string>& out) const {
  const auto others = without(out);
  if (others.empty()) return std::nullopt;
  return calibrated(fit(others), others, out);
}

std::optional<CompositionFit> Fitting::without_relatives(const table::Plan& plan) const {
  const auto named = request_.groups.find(plan.model);
  const double weights = stored_weights(plan, *selection_.catalogue);
  std::set<std::string> out;
  for (const FitCandidate& model : models_) {
    const bool same =
        model.row.row.name == plan.model && are_same_weights(model.stored_weights, weights);
    const bool of_group =
        named != request_.groups.end() && model.group == group_of_name(named->second);
    if (same || of_group || model.row.row.plan_identity == plan.identity) out.insert(model.group);
  }
  return without_groups(out);
}

Result<FitResult> Fitting::run() {
  OPLAT_CHECK(prepare());
  if (without({}).empty()) {
    return fail(
        Code::Refused,
        "{}: no whole model can be fitted for {}; {}{}measure models with their kernels: {}",
        table_.path().string(), table::describe(selection_.setting), left_aside(), too_wide(),
        profile_another(table_.path().string(), selection_.setting));
  }
  FitResult result;
  const auto all = without({});
  result.fit = calibrated(fit(all), all, {});
  std::map<std::size_t, Without> folds;
  for (const FitCandidate& model : models_) {
    auto at = folds.find(model.fold);
    if (at == folds.end()) at = folds.emplace(model.fold, leave_out(model.fold)).first;
    OPLAT_TRY(left, left_out(model, at->second));
    result.left_out.push_back(std::move(left));
  }
  result.excluded = excluded_;
  result.silent_on_inputs = silent_on_inputs_;
  result.under_load = std::count_if(all.begin(), all.end(), [](const FitCandidate* model) {
    return model->row.row.method.has(table::kUnderLoad);
  });
  return result;
}

}  // namespace

Result<FitResult> fit_composition(const table::Table& table, const Selection& selection,
                                  const FitRequest& request) {
  return Fitting(table, selection, request).run();
}

Result<std::map<std::string, std::string>> kept_groups(const table::Table& table,
                                                       const Selection& selection) {
  // A setting's other builds follow it: a fit of their rows named the groups, too.
  for (const table::SettingId setting : selection.setting_ids) {
    OPLAT_TRY(found, find_composition(table, selection.device_id, setting));
    if (!found) continue;
    if (auto fit = decode_composition(found->fit.blob)) return std::move(fit->groups);
  }
  return std::map<std::string, std::string>();
}

struct LeaveOneOut::Impl {
  Impl(const table::Table& table, Selection chosen, FitRequest how)
      : selection(std::move(chosen)), request(std::move(how)), fitting(table, selection, request) {}
  Selection selection;
  FitRequest request;
  Fitting fitting;
};

LeaveOneOut::LeaveOneOut(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LeaveOneOut::LeaveOneOut(LeaveOneOut&&) noexcept = default;
LeaveOneOut& LeaveOneOut::operator=(LeaveOneOut&&) noexcept = default;
LeaveOneOut::~LeaveOneOut() = default;

Result<LeaveOneOut> LeaveOneOut::prepare(const table::Table& table, Selection selection,
                                         FitRequest request) {
  auto impl = std::make_unique<Impl>(table, std::move(selection), std::move(request));
  OPLAT_CHECK(impl->fitting.prepare());
  return LeaveOneOut(std::move(impl));
}

const std::vector<std::string>& LeaveOneOut::silent_on_inputs() const {
  return impl_->fitting.silent_on_inputs();
}

bool LeaveOneOut::holds(const std::string& plan_identity) const {
  return impl_->fitting.holds_plan(plan_identity);
}

std::optional<CompositionFit> LeaveOneOut::without(const std::string& plan_identity) const {
  return impl_->fitting.without_plan(plan_identity);
}

std::optional<CompositionFit> LeaveOneOut::without_relatives(const table::Plan& plan) const {
  return impl_->fitting.without_relatives(plan);
}

}  // namespace oplat::predict
