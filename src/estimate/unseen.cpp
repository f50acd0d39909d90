// SPDX-License-Identifier: Apache-2.0
/// Leaving families of networks out.
#include "estimate/unseen.hpp"

#include <algorithm>
#include <cmath>

#include "estimate/learned/sparse_model.hpp"

namespace oplat::estimate {
namespace {

constexpr std::size_t kMinNetworks = 10;
constexpr int kCorrelations = 19;
constexpr double kCorrelationStep = 0.05;

/// Of times a share of whose logarithms is not known.
struct SpreadSum {
  double ns = 0, linear = 0, squares = 0;
  void add(double part_ns, double sd_log) {
    ns += part_ns;
    linear += part_ns * sd_log;
    squares += part_ns * part_ns * sd_log * sd_log;
  }
};

double variance_of(double linear_sd, double root_sd, double correlation) {
  return correlation * linear_sd * linear_sd + (1 - correlation) * root_sd * root_sd;
}

}  // namespace

Result<std::vector<UnseenNetwork>> errors_of_unseen(
    std::span<const ir::Description> rows, std::span<const double> log_ns,
    std::span<const std::vector<std::size_t>> groups_of_rows,
    std::span<const NetworkOfRows> networks, std::size_t folds, const LearnRequest& request) {
  std::vector<UnseenNetwork> errors(networks.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const bool is_asked =
        std::any_of(networks.begin(), networks.end(),
                    [&](const NetworkOfRows& network) { return network.group % folds == fold; });
    if (!is_asked) continue;
    const auto is_out = [&](std::size_t row) {
      const std::vector<std::size_t>& groups = groups_of_rows[row];
      return !groups.empty() && std::all_of(groups.begin(), groups.end(), [&](std::size_t group) {
        return group % folds == fold;
      });
    };
    std::vector<ir::Description> known;
    std::vector<double> known_ns;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_out(i)) continue;
      known.push_back(rows[i]);
      known_ns.push_back(log_ns[i]);
    }
    OPLAT_TRY(model, SparseModel::fit(known, known_ns, request));
    for (std::size_t n = 0; n < networks.size(); ++n) {
      if (networks[n].group % folds != fold) continue;
      double measured = 0;
      SpreadSum predicted;
      for (const auto& [row, count] : networks[n].rows) {
        const double ns = count * std::exp(log_ns[row]);
        if (!is_out(row)) {
          measured += ns;
          predicted.add(ns, 0);
          continue;
        }
        // Of a slice that only this network has nothing is known; predictions say so.
        const auto answer = model.answer(rows[row], Profile::Accurate);
        if (!answer) continue;
        measured += ns;
        predicted.add(count * std::exp(answer->log_ns), answer->sd_log);
      }
      if (!(measured > 0 && predicted.ns > 0)) continue;
      SpreadSum whole = predicted;
      for (const auto& [description, count] : networks[n].without_row) {
        const auto answer = model.answer(*description, Profile::Accurate);
        if (answer) whole.add(count * std::exp(answer->log_ns), answer->sd_log);
      }
      errors[n] = {predicted.ns / measured - 1, predicted.linear / predicted.ns,
                   std::sqrt(predicted.squares) / predicted.ns, whole.linear / whole.ns,
                   std::sqrt(whole.squares) / whole.ns};
    }
  }
  return errors;
}

std::optional<double> learned_correlation(std::span<const UnseenNetwork> networks) {
  std::size_t asked = 0;
  double best = 0;
  double least = 0;
  for (int step = 0; step < kCorrelations; ++step) {
    const double rho = kCorrelationStep * step;
    double misfit = 0;
    asked = 0;
    for (const UnseenNetwork& network : networks) {
      if (!(network.linear_sd > 0) || !(network.error > -1)) continue;
      ++asked;
      const double variance = variance_of(network.linear_sd, network.root_sd, rho);
      const double log_error = std::log1p(network.error);
      misfit += std::log(variance) + log_error * log_error / variance;
    }
    if (step == 0 || misfit < least) {
      least = misfit;
      best = rho;
    }
  }
  if (asked < kMinNetworks) return std::nullopt;
  return best;
}

double error_of_whole_networks(std::span<const UnseenNetwork> networks, double correlation) {
  double sum = 0;
  std::size_t compared = 0;
  for (const UnseenNetwork& network : networks) {
    const double part = variance_of(network.linear_sd, network.root_sd, correlation);
    const double whole =
        variance_of(network.linear_sd_of_whole, network.root_sd_of_whole, correlation);
    if (!(part > 0) && whole > 0) continue;
    ++compared;
    sum += std::abs(network.error) * (part > 0 ? std::sqrt(whole / part) : 1);
  }
  return compared > 0 ? sum / static_cast<double>(compared) : 0;
}

}  // namespace oplat::estimate
