// SPDX-License-Identifier: Apache-2.0
/// Rows by what they add to the variance of models, for the seconds that they take.
///
/// On a busy machine intervals stay wide, and a budget ends before they are narrow. Passes over all
/// rows would then spend it evenly: on a kernel that is a thousandth of each model as on one that
/// is a quarter. The error of a model's sum is dominated by few rows, share^2 * spread^2 each, so
/// those come first.
///
/// Example: rows of 50, 10 and 0.1 % of a model, each known to 5 %, add 6.3, 0.25 and 0.000025 in
/// 10,000 to its variance. With seconds left for one of them, the first one gets them all.
#include "measure/priority.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

namespace oplat::measure {
namespace {

const table::Timing* timing_of(const CampaignRow& row) {
  return row.stored ? std::get_if<table::Timing>(&*row.stored) : nullptr;
}

/// Half of the confidence interval, relative.
double half_width_of(const table::Timing& timing) {
  if (!(timing.median_ns > 0)) return 0;
  const double width = 0.5 * (timing.ci_high_ns - timing.ci_low_ns) / timing.median_ns;
  return std::isfinite(width) ? std::max(width, 0.0) : 0;
}

}  // namespace

Priority::Priority(std::span<const ModelTarget> models,
                   std::span<const std::map<std::string, double>> networks)
    : models_(models.size() + networks.size()) {
  std::size_t at = 0;
  const auto add = [&](const std::map<std::string, double>& calls) {
    for (const auto& [key, count] : calls) uses_[key].push_back({at, count});
    ++at;
  };
  for (const ModelTarget& model : models) add(model.calls);
  for (const auto& network : networks) add(network);
}

void Priority::sort_out(std::span<CampaignRow> rows, const Forecast& forecast,
                        double seconds) const {
  for (CampaignRow& row : rows) row.can_wait = false;
  const bool any_without = std::any_of(rows.begin(), rows.end(), [](const CampaignRow& row) {
    return !row.finished && row.attempts() == 0;
  });
  if (uses_.empty() || any_without || forecast.seconds_left(rows) <= seconds) return;

  // What each model takes, by its hot rows.
  std::vector<double> total(models_, 0);
  const auto uses = [&](const CampaignRow& row) -> std::span<const Use> {
    const auto at = uses_.find(row.name);
    return at == uses_.end() ? std::span<const Use>() : std::span<const Use>(at->second);
  };
  for (const CampaignRow& row : rows) {
    const table::Timing* timing = row.kind == RowKind::Hot ? timing_of(row) : nullptr;
    if (timing == nullptr) continue;
    for (const Use& use : uses(row)) total[use.model] += use.count * timing->median_ns;
  }

  std::vector<double> gain(rows.size(), 0);  // of variance, for a second
  std::vector<std::size_t> order;
  const auto seconds_of = [&](std::size_t i) {
    return std::max(forecast.blocks_left(rows[i]) * forecast.cost(rows[i]), 1e-3);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].finished || rows[i].kind == RowKind::Model) continue;
    order.push_back(i);
    const table::Timing* timing = timing_of(rows[i]);
    const table::Timing* hot = rows[i].kind == RowKind::Hot ? timing : timing_of(rows[rows[i].hot]);
    if (timing == nullptr || hot == nullptr) continue;
    double share = 0;
    for (const Use& use : uses(rows[i])) {
      if (total[use.model] > 0)
        share = std::max(share, use.count * hot->median_ns / total[use.model]);
    }
    gain[i] = std::pow(share * half_width_of(*timing), 2) / seconds_of(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
  double spent = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t i = order[place];
    spent += seconds_of(i);
    rows[i].can_wait = place > 0 && spent > seconds;
  }
}

}  // namespace oplat::measure
