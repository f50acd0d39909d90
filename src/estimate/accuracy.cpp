// SPDX-License-Identifier: Apache-2.0
/// Fit without, ask for, compare.
#include "estimate/accuracy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "base/stats.hpp"
#include "base/text.hpp"
#include "estimate/accuracy_networks.hpp"
#include "estimate/accuracy_split.hpp"
#include "estimate/learned/fitted_model.hpp"
#include "estimate/learned/states.hpp"
#include "estimate/sanity.hpp"

namespace oplat::estimate {
namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Answered {
  double truth_ns = 0;
  double predicted_ns = 0;
  double sd_log = 0;
  double floor_ns = 0;
  std::string tier;
  std::string operator_name;
};

ErrorLine line_of(std::string name, const std::vector<const Answered*>& answers, double z) {
  ErrorLine line;
  line.name = std::move(name);
  line.rows = static_cast<std::int64_t>(answers.size());
  std::vector<double> errors;
  const auto count = static_cast<double>(answers.size());
  for (const Answered* each : answers) {
    const double error = each->predicted_ns / each->truth_ns - 1;
    errors.push_back(std::abs(error));
    line.mape += std::abs(error) / count;
    line.mean_ns += std::abs(each->predicted_ns - each->truth_ns) / count;
    line.bias += error / count;
    line.within5 += (std::abs(error) <= 0.05 ? 1 : 0) / count;
    line.within10 += (std::abs(error) <= 0.1 ? 1 : 0) / count;
    const auto [low, high] = bounds_around(each->predicted_ns, each->sd_log, z, each->floor_ns);
    line.coverage += (low <= each->truth_ns && each->truth_ns <= high ? 1 : 0) / count;
    line.half_width += (high - low) / (2 * each->predicted_ns) / count;
  }
  std::sort(errors.begin(), errors.end());
  line.median = errors[errors.size() / 2];
  line.p90 = errors[errors.size() * 9 / 10];
  return line;
}

/// Bands of latency, the shortest first.
constexpr std::string_view kBands[] = {"below 0.03 ms", "0.03 to 0.3 ms", "0.3 to 3 ms",
                                       "3 ms and more"};
constexpr double kBandEnds[] = {30e3, 300e3, 3e6};  ///< in ns

std::size_t band_of(double ns) {
  return static_cast<std::size_t>(std::upper_bound(std::begin(kBandEnds), std::end(kBandEnds), ns) -
                                  std::begin(kBandEnds));
}

/// A fold's part of the whole progress.
std::function<bool(int, int)> part_of(const std::function<bool(int, int)>& whole, std::size_t fold,
                                      std::size_t folds) {
  if (!whole || folds == 1) return whole;
  return [&whole, fold = static_cast<int>(fold), folds = static_cast<int>(folds)](
             int done, int all) { return whole(fold * all + done, folds * all); };
}

/// Fits without a fold's rows and asks for them.
class Asker {
 public:
  Asker(std::span<const DescribedRow> rows, const AccuracyRequest& request,
        const ir::Catalogue& catalogue)
      : rows_(rows), request_(request), catalogue_(catalogue) {}

  Status ask(std::size_t fold, Accuracy& accuracy) {
    OPLAT_TRY(roles, roles_of(rows_, request_.split, fold, request_.learn, catalogue_));
    std::vector<ir::Description> known;
    std::vector<double> log_ns;
    std::vector<ir::Description> questions;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (roles[i] == Role::Ask) questions.push_back(rows_[i].description);
      if (roles[i] != Role::Learn) continue;
      known.push_back(rows_[i].description);
      log_ns.push_back(rows_[i].log_ns);
    }
    if (questions.empty()) return {};
    const auto learned_from = static_cast<std::int64_t>(known.size());
    accuracy.learned_from =
        fold == 0 ? learned_from : std::min(accuracy.learned_from, learned_from);
    double begin = seconds();
    LearnRequest learn = request_.learn;
    learn.questions = questions;
    learn.progress = part_of(request_.learn.progress, fold, request_.split.folds);
    OPLAT_TRY(model, FittedModel::fit(known, log_ns, learn));
    accuracy.fit_seconds += seconds() - begin;
    accuracy.calibrated = accuracy.calibrated && model.calibrated();
    begin = seconds();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (roles[i] == Role::Ask) ask(rows_[i], model, accuracy);
    }
    asking_seconds_ += seconds() - begin;
    return {};
  }
  [[nodiscard]] const std::vector<Answered>& answers() const { return answers_; }
  [[nodiscard]] const std::vector<NetworkRow>& network_rows() const { return network_rows_; }
  [[nodiscard]] double asking_seconds() const { return asking_seconds_; }

 private:
  void ask(const DescribedRow& row, const FittedModel& model, Accuracy& accuracy) {
    ++accuracy.asked;
    const auto answer = model.answer(row.description, request_.profile);
    if (!answer) {
      ++accuracy.unanswered;
      return;
    }
    answers_.push_back({std::exp(row.log_ns), std::exp(answer->log_ns), answer->sd_log,
                        answer->floor_ns.value_or(0), std::string(name(answer->pattern.kind)),
                        row.operator_name});
    if (request_.networks > 0)
      network_rows_.push_back(
          {&row.description, answers_.back().truth_ns, answers_.back().predicted_ns});
  }

  std::span<const DescribedRow> rows_;
  const AccuracyRequest& request_;
  const ir::Catalogue& catalogue_;
  std::vector<Answered> answers_;
  std::vector<NetworkRow> network_rows_;
  double asking_seconds_ = 0;
};

}  // namespace

Result<Accuracy> measure_accuracy(std::span<const Sample> samples, const AccuracyRequest& request,
                                  const ir::Catalogue& catalogue) {
  Accuracy accuracy;
  const TrainingSet taught = training_set(samples, request.exclude_suspects, catalogue);
  accuracy.set_aside = static_cast<std::int64_t>(taught.excluded);
  std::vector<DescribedRow> rows;
  std::set<std::string> operators;
  for (std::size_t i = 0; i < taught.samples.size(); ++i) {
    const Sample& sample = taught.samples[i];
    auto description = description_of(sample, catalogue, request.host);
    if (!description) continue;
    std::string own(operator_of(sample.key));
    operators.insert(own);
    const auto& wanted = request.operators;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), own) == wanted.end()) continue;
    const bool stand_in = i + taught.stand_ins >= taught.samples.size();
    accuracy.stand_ins += stand_in ? 1 : 0;
    rows.push_back({sample.key, std::move(*description), sample.log_ns, std::move(own), stand_in});
  }
  for (const std::string& wanted : request.operators) {
    if (operators.contains(wanted)) continue;
    return fail(Code::Usage, "no row with known sizes has the operator '{}'; available: {}",
                base::printable(wanted), fmt::join(operators, ", "));
  }
  Asker asker(rows, request, catalogue);
  for (std::size_t fold = 0; fold < request.split.folds; ++fold)
    OPLAT_CHECK(asker.ask(fold, accuracy));
  if (accuracy.asked == 0)
    return fail(Code::Refused, "the split holds out no row{}", why_none(rows, request.split));
  const std::vector<Answered>& answers = asker.answers();
  accuracy.microseconds_a_row = 1e6 * asker.asking_seconds() / static_cast<double>(accuracy.asked);
  if (answers.empty())
    return fail(
        Code::Refused,
        "none of the rows held out can be predicted; the others are too few or too different");

  const double z = base::two_sided_normal_quantile(request.level);
  std::vector<const Answered*> all;
  std::map<std::string, std::vector<const Answered*>> tiers;
  std::map<std::size_t, std::vector<const Answered*>> bands;
  std::map<std::string, std::vector<const Answered*>> of_operators;
  for (const Answered& each : answers) {
    all.push_back(&each);
    tiers[each.tier].push_back(&each);
    of_operators[each.operator_name].push_back(&each);
    bands[band_of(each.truth_ns)].push_back(&each);
  }
  accuracy.lines.push_back(line_of("all", all, z));
  for (const auto& [tier, own] : tiers) accuracy.lines.push_back(line_of(tier, own, z));
  for (const auto& [band, own] : bands)
    accuracy.lines.push_back(line_of(std::string(kBands[band]), own, z));
  if (of_operators.size() > 1) {
    for (const auto& [operator_name, own] : of_operators)
      accuracy.lines.push_back(line_of(operator_name, own, z));
  }
  if (request.networks > 0)
    accuracy.networks =
        random_networks(asker.network_rows(), request.networks, request.network_seed);
  return accuracy;
}

}  // namespace oplat::estimate
