// SPDX-License-Identifier: Apache-2.0
/// Fit without, ask for, compare.
#include "oplat/estimate/accuracy.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "estimate/accuracy_networks.hpp"
#include "estimate/accuracy_split.hpp"
#include "estimate/learned/fitted_model.hpp"
#include "estimate/quantile.hpp"

namespace oplat::estimate {
namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Answered {
  double truth_ns = 0;
  double predicted_ns = 0;
  double sd_log = 0;
  std::string tier;
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
    line.bias += error / count;
    line.within5 += (std::abs(error) <= 0.05 ? 1 : 0) / count;
    line.within10 += (std::abs(error) <= 0.1 ? 1 : 0) / count;
    line.coverage += (std::abs(std::log(each->truth_ns / each->predicted_ns)) <= z * each->sd_log ? 1 : 0) / count;
    line.half_width += std::sinh(z * each->sd_log) / count;
  }
  std::sort(errors.begin(), errors.end());
  line.median = errors[errors.size() / 2];
  line.p90 = errors[errors.size() * 9 / 10];
  return line;
}

std::string band_of(double ns) {
  if (ns < 30e3) return "below 0.03 ms";
  if (ns < 300e3) return "0.03 to 0.3 ms";
  if (ns < 3e6) return "0.3 to 3 ms";
  return "3 ms and more";
}

}  // namespace

Result<Accuracy> measure_accuracy(std::span<const Sample> samples, const AccuracyRequest& request) {
  std::vector<DescribedRow> rows;
  for (const Sample& sample : samples) {
    const auto key = ir::parse(sample.key);
    auto description = key ? ir::describe(*key) : std::nullopt;
    if (description) rows.push_back({sample.key, std::move(*description), sample.log_ns});
  }
  OPLAT_TRY(roles, roles_of(rows, request.split, request.learn));
  std::vector<ir::Description> descriptions;
  std::vector<double> log_ns;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (roles[i] != Role::Learn) continue;
    descriptions.push_back(rows[i].description);
    log_ns.push_back(rows[i].log_ns);
  }
  if (std::find(roles.begin(), roles.end(), Role::Ask) == roles.end()) {
    return fail(Code::Refused, "the split leaves no row to ask for");
  }
  Accuracy accuracy;
  accuracy.learned_from = static_cast<std::int64_t>(descriptions.size());
  double begin = seconds();
  std::vector<ir::Description> questions;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (roles[i] == Role::Ask) questions.push_back(rows[i].description);
  }
  LearnRequest learn = request.learn;
  learn.questions = questions;
  OPLAT_TRY(model, FittedModel::fit(descriptions, log_ns, learn));
  accuracy.fit_seconds = seconds() - begin;

  std::vector<Answered> answers;
  std::vector<NetworkRow> network_rows;
  begin = seconds();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (roles[i] != Role::Ask) continue;
    ++accuracy.asked;
    const auto answer = model.answer(rows[i].description, request.profile);
    if (!answer) {
      ++accuracy.unanswered;
      continue;
    }
    answers.push_back({std::exp(rows[i].log_ns), std::exp(answer->log_ns), answer->sd_log, std::string(name(answer->pattern.kind))});
    if (request.networks > 0) network_rows.push_back({&rows[i].description, answers.back().truth_ns, answers.back().predicted_ns});
  }
  accuracy.microseconds_a_row = 1e6 * (seconds() - begin) / std::max(1.0, static_cast<double>(accuracy.asked));
  if (answers.empty()) return fail(Code::Refused, "none of the rows held out can be answered");

  const double z = two_sided_quantile(request.level);
  std::vector<const Answered*> all;
  std::map<std::string, std::vector<const Answered*>> tiers;
  std::map<double, std::vector<const Answered*>> bands;
  for (const Answered& each : answers) {
    all.push_back(&each);
    tiers[each.tier].push_back(&each);
    bands[each.truth_ns < 30e3 ? 0 : each.truth_ns < 300e3 ? 1 : each.truth_ns < 3e6 ? 2 : 3].push_back(&each);
  }
  accuracy.lines.push_back(line_of("all", all, z));
  for (const auto& [tier, own] : tiers) accuracy.lines.push_back(line_of(tier, own, z));
  for (const auto& [band, own] : bands) accuracy.lines.push_back(line_of(band_of(own.front()->truth_ns), own, z));
  if (request.networks > 0) accuracy.networks = random_networks(network_rows, request.networks, request.network_seed);
  return accuracy;
}

}  // namespace oplat::estimate
