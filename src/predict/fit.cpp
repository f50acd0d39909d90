// SPDX-License-Identifier: Apache-2.0
/// From whole models in a table to a composition: curves tried, groups left out, intervals
/// calibrated.
///
/// A few dozen measured models have to determine the coefficients of compose.cpp, the curve between
/// cache states, and how wide intervals are. Models come in families, and some are measured badly.
/// So a plain least-squares fit would follow the noise, and its errors on its own models would look
/// too good.
///
/// Therefore each coefficient is pulled to its start value with the weight of about one model, and
/// the loss is Huber's. Models of a single block or with a wide interval are ignored. A curve other
/// than the start must lower the loss clearly. Everything about spread comes from cross-validation:
/// each group of models is predicted by a fit to the other groups. The interval's quantile of these
/// errors is interpolated between two scores (docs/adr/0027). docs/adr/0024 has the curves that are
/// tried.
///
/// Example: with 47 models in 9 groups, ten fits are made: one to all models, which is stored, and
/// one without each group, whose errors calibrate the interval.
#include "predict/fit.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "predict/compose.hpp"
#include "predict/fit_sums.hpp"
#include "predict/prediction.hpp"

namespace oplat::predict {
namespace {

/// What the ramp out of the last level is tried at, in multiples of the start: both ends at once,
/// since what differs between machines is how much of that cache other tenants leave, not how it
/// loses data (docs/adr/0024). The ends of the core's own are tried one by one.
constexpr double kLastFactors[] = {1, 0.75, 1.5, 0.5, 2, 0.375, 3, 0.25};
constexpr double kOwnFactors[] = {1, 0.5, 2};
/// A curve other than the start must lower the loss by this share per move: with few models a lucky
/// one would win otherwise.
constexpr double kGainPerMove = 0.04;

/// Models that a message names.
constexpr std::size_t kMaxNamed = 5;

struct Curve {
  std::optional<estimate::ReuseCurve> curve;
  int moves = 0;
};

/// The start curve first, then its neighbours.
std::vector<Curve> curves_of(const table::Device& device,
                             const std::optional<table::MemoryHierarchy>& memory) {
  const auto start = estimate::default_curve(device, memory);
  if (!start) return {{std::nullopt, 0}};
  const auto scaled = [](const estimate::Ramp& ramp, double low, double high) {
    return estimate::Ramp{ramp.lo_bytes * low, ramp.hi_bytes * high};
  };
  const auto moved = [](double factor) { return factor != 1 ? 1 : 0; };
  std::vector<Curve> curves;
  for (const double factor : kLastFactors) {
    const estimate::Ramp last = scaled(start->last, factor, factor);
    if (!start->own) {
      curves.push_back({estimate::ReuseCurve{std::nullopt, last}, moved(factor)});
      continue;
    }
    for (const double low : kOwnFactors) {
      for (const double high : kOwnFactors) {
        const estimate::Ramp own = scaled(*start->own, low, high);
        if (!(own.lo_bytes < own.hi_bytes) || own.hi_bytes > last.lo_bytes) continue;
        curves.push_back(
            {estimate::ReuseCurve{own, last}, moved(factor) + moved(low) + moved(high)});
      }
    }
  }
  return curves;
}

/// A model that can take part, with its sum under every curve.
struct FitCandidate {
  table::StoredModelRow row;
  table::Timing measured;
  table::Plan plan;
  std::string group;  ///< distinct from those of other models, unless the request says otherwise
  std::string group_name;  ///< for people
  bool calibrates = true;
  std::vector<KernelSum> sums;
  double half_width = 0;
};

KernelSum sum_of(const std::vector<KernelPrediction>& kernels, double result_bytes) {
  KernelSum sum;
  sum.result_bytes = result_bytes;
  for (const KernelPrediction& kernel : kernels) {
    const double ns = static_cast<double>(kernel.count) * kernel.latency_ns.value_or(0);
    sum.ns += ns;
    if (ir::has_int8_tensor(kernel.key)) sum.int8_ns += ns;
    if (kernel.source != estimate::Source::Free) sum.n += static_cast<double>(kernel.count);
  }
  // With a total of 1 the shares are times.
  std::vector<Term> others;
  double common = 0;
  for (Term& term : terms_of(kernels, 1)) {
    common += term.share * term.common_sd_log;
    term.sd_log = term.own_sd_log();
    term.common_sd_log = 0;
    if (term.group == "measured") {
      sum.linear += term.share * term.sd_log;
      sum.squares += std::pow(term.share * term.sd_log, 2);
    } else {
      others.push_back(term);
    }
  }
  sum.other_variance = std::pow(total_spread(others, common), 2);
  return sum;
}

class Fitting {
 public:
  Fitting(const table::Table& table, const Selection& selection, const FitRequest& request)
      : table_(table),
        selection_(selection),
        request_(request),
        curves_(curves_of(selection.device, selection.memory)) {}

  Result<FitResult> run();

 private:
  /// What the models outside some groups say.
  struct Fitted {
    std::size_t curve = 0;
    Coefficients coefficients;
  };

  Status collect();
  Status add_sums(FitCandidate& candidate);
  [[nodiscard]] std::vector<const FitCandidate*> without(const std::set<std::string>& groups) const;
  [[nodiscard]] Fitted fit(const std::vector<const FitCandidate*>& models) const;
  [[nodiscard]] ErrorTerm error_of(const FitCandidate& model, const Fitted& fitted) const;
  /// Correlation, spread and scores from errors of models that were each left out.
  [[nodiscard]] CompositionFit calibrated(const Fitted& fitted,
                                          const std::vector<ErrorTerm>& errors) const;
  [[nodiscard]] std::vector<ErrorTerm> errors_left_out(
      const std::vector<const FitCandidate*>& models, const std::set<std::string>& already) const;
  Result<LeftOutModel> leave_out(const FitCandidate& model) const;
  /// For the message that too few can take part: those that were measured, but too widely. Empty
  /// where there are none.
  [[nodiscard]] std::string too_wide() const;

  const table::Table& table_;
  const Selection& selection_;
  const FitRequest& request_;
  std::vector<Curve> curves_;
  std::vector<Predictor> predictors_;  ///< one for each curve
  Coefficients prior_;
  std::vector<FitCandidate> models_;
  std::vector<std::pair<std::string, std::string>> excluded_;
};

Status Fitting::add_sums(FitCandidate& candidate) {
  const double reuse = candidate.plan.weight_bytes + candidate.plan.activation_bytes;
  for (const Predictor& predictor : predictors_) {
    OPLAT_TRY(kernels,
              predictor.estimate(candidate.plan.kernels, reuse, MissingPolicy::Error, false));
    const auto lacking = std::count_if(kernels.begin(), kernels.end(),
                                       [](const auto& kernel) { return !kernel.latency_ns; });
    if (lacking > 0) {
      excluded_.emplace_back(candidate.row.row.name,
                             fmt::format("{} of its kernels have no row", lacking));
      return {};
    }
    candidate.sums.push_back(sum_of(kernels, candidate.plan.activation_bytes));
  }
  return {};
}

Status Fitting::collect() {
  for (const Curve& curve : curves_) {
    Selection trial = selection_;
    trial.fit.emplace();
    trial.fit->curve = curve.curve;
    OPLAT_TRY(predictor, Predictor::create(table_, std::move(trial), std::nullopt));
    predictors_.push_back(std::move(predictor));
  }
  OPLAT_TRY(rows, table_.model_rows());
  for (const table::StoredModelRow& row : rows) {
    const auto& ids = selection_.setting_ids;
    if (row.device != selection_.device_id ||
        std::find(ids.begin(), ids.end(), row.setting) == ids.end())
      continue;
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
    const auto group = request_.groups.find(row.row.name);
    // Models of one file name, in other shapes, are of one group too.
    candidate.group_name = group == request_.groups.end() ? row.row.name : group->second;
    candidate.group = (group == request_.groups.end() ? "model " : "group ") + candidate.group_name;
    candidate.half_width = 0.5 * (timing->ci_high_ns - timing->ci_low_ns) / timing->median_ns;
    candidate.calibrates = timing->blocks >= 2 && candidate.half_width <= request_.max_half_width;
    OPLAT_CHECK(add_sums(candidate));
    if (!candidate.sums.empty()) models_.push_back(std::move(candidate));
  }
  std::stable_sort(models_.begin(), models_.end(),
                   [](const auto& a, const auto& b) { return a.row.row.name < b.row.row.name; });
  return {};
}

std::vector<const FitCandidate*> Fitting::without(const std::set<std::string>& groups) const {
  std::vector<const FitCandidate*> models;
  for (const FitCandidate& model : models_) {
    if (model.calibrates && groups.count(model.group) == 0) models.push_back(&model);
  }
  return models;
}

Fitting::Fitted Fitting::fit(const std::vector<const FitCandidate*>& models) const {
  std::vector<double> measured;
  for (const FitCandidate* model : models) measured.push_back(model->measured.median_ns);
  Fitted best;
  double least = 0;
  std::vector<KernelSum> sums(models.size());
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    for (std::size_t i = 0; i < models.size(); ++i) sums[i] = models[i]->sums[c];
    const FittedSums fitted = fit_sums(sums, measured, prior_);
    const double loss = fitted.loss * (1 + kGainPerMove * curves_[c].moves);
    if (c == 0 || loss < least) {
      least = loss;
      best = {c, fitted.coefficients};
    }
  }
  return best;
}

ErrorTerm Fitting::error_of(const FitCandidate& model, const Fitted& fitted) const {
  const KernelSum& sum = model.sums[fitted.curve];
  // A prior of hardly any models could drive the sum of a tiny one below zero.
  const double predicted =
      std::max(fitted.coefficients.predict(sum), 0.1 * model.sums[fitted.curve].ns);
  ErrorTerm error;
  error.log_error = std::log(model.measured.median_ns / predicted);
  const double scale =
      sum.ns > 0 ? fitted.coefficients.kernels_ns(sum) / sum.ns : fitted.coefficients.scale;
  const double share = scale / predicted;
  error.linear = share * sum.linear;
  error.squares = share * share * sum.squares;
  error.fixed_variance = share * share * sum.other_variance;
  return error;
}

std::vector<ErrorTerm> Fitting::errors_left_out(const std::vector<const FitCandidate*>& models,
                                                const std::set<std::string>& already) const {
  std::map<std::string, Fitted> fits;
  std::vector<ErrorTerm> errors;
  for (const FitCandidate* model : models) {
    auto at = fits.find(model->group);
    if (at == fits.end()) {
      std::set<std::string> out = already;
      out.insert(model->group);
      at = fits.emplace(model->group, fit(without(out))).first;
    }
    errors.push_back(error_of(*model, at->second));
  }
  return errors;
}

CompositionFit Fitting::calibrated(const Fitted& fitted,
                                   const std::vector<ErrorTerm>& errors) const {
  const SpreadFit spread = fit_spread(errors);
  CompositionFit fit;
  fit.c0_ns = fitted.coefficients.c0_ns;
  fit.c1_ns = fitted.coefficients.c1_ns;
  fit.c2_ns_per_byte = fitted.coefficients.c2_ns_per_byte;
  fit.scale = fitted.coefficients.scale;
  fit.scale_int8 = fitted.coefficients.scale_int8;
  fit.curve = curves_[fitted.curve].curve;
  fit.sd_log = spread.sd_log;
  fit.measured_correlation = spread.measured_correlation;
  for (const ErrorTerm& error : errors) {
    fit.scores.push_back(std::abs(error.log_error) /
                         std::sqrt(error.variance(fit.measured_correlation, fit.sd_log)));
  }
  std::sort(fit.scores.begin(), fit.scores.end());
  return fit;
}

Result<LeftOutModel> Fitting::leave_out(const FitCandidate& model) const {
  const std::set<std::string> out = {model.group};
  const auto others = without(out);
  const Fitted fitted = fit(others);
  const CompositionFit composition = calibrated(fitted, errors_left_out(others, out));
  const ErrorTerm error = error_of(model, fitted);
  LeftOutModel left;
  left.name = model.row.row.name;
  left.group = model.group_name;
  left.measured = model.measured;
  left.predicted_ns = model.measured.median_ns / std::exp(error.log_error);
  left.sd_log = std::sqrt(error.variance(composition.measured_correlation, composition.sd_log));
  const Calibration calibration{static_cast<std::int64_t>(composition.scores.size()),
                                composition.scores};
  OPLAT_TRY(bounds, interval(left.predicted_ns, left.sd_log, request_.level, calibration));
  left.interval = bounds;
  left.unfitted_ns = prior_.predict(model.sums.front());
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
      "{}{} are ignored, since they have a single block or an interval wider than +-{:.3g} % "
      "(--max-half-width {}); measure them longer or raise the limit; or ",
      base::join(wide, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
      100 * request_.max_half_width, request_.max_half_width);
}

Result<FitResult> Fitting::run() {
  OPLAT_TRY(empty, empty_call(table_, selection_));
  prior_.c0_ns = empty ? empty->ns : 0;
  OPLAT_CHECK(collect());
  std::set<std::string> groups;
  for (const FitCandidate* model : without({})) groups.insert(model->group);
  if (groups.size() < kMinFitGroups) {
    return fail(
        Code::Refused,
        "{}: only {} groups of whole models can be fitted for {}, but a fit needs {}; {}measure "
        "more models with their kernels: oplat profile --model MODEL --table {} --runtime {}",
        table_.path().string(), groups.size(), table::describe(selection_.setting), kMinFitGroups,
        too_wide(), table_.path().string(), selection_.setting.runtime);
  }
  FitResult result;
  const auto all = without({});
  result.fit = calibrated(fit(all), errors_left_out(all, {}));
  for (const FitCandidate& model : models_) {
    OPLAT_TRY(left, leave_out(model));
    result.left_out.push_back(std::move(left));
  }
  result.excluded = excluded_;
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

}  // namespace oplat::predict
