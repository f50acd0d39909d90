// SPDX-License-Identifier: Apache-2.0
/// How well networks are predicted whose kernels were not measured.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "estimate/learned.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// A network as far as its kernels have rows.
struct NetworkOfRows {
  std::size_t group = 0;                             ///< its family
  std::vector<std::pair<std::size_t, double>> rows;  ///< index of the row, executions
  /// Its kernels without a row, and executions. Borrowed; none is null.
  std::vector<std::pair<const ir::Description*, double>> without_row = {};
};

/// What was said of a network, and what it takes.
struct UnseenNetwork {
  double error = 0;  ///< predicted / measured - 1, of the sum over its rows
  /// By what was said of the rows left out: the sum of shares times spreads, and the root of the
  /// sum of their squares. 0: none was left out.
  double linear_sd = 0;
  double root_sd = 0;
  /// The same of all its kernels, with those that have no row.
  double linear_sd_of_whole = 0;
  double root_sd_of_whole = 0;
};

/// Predicts each network from rows that none but networks of other groups gave reason to measure:
/// groups fall into `folds`, and a row is left out with the fold that holds all its groups (rows of
/// no group stay). A row that stays answers for itself. In the order of the networks.
/// Code::Refused: too few rows. `groups_of_rows`: of each row, which groups execute its kernel or
/// one that it was drawn from.
Result<std::vector<UnseenNetwork>> errors_of_unseen(
    std::span<const ir::Description> rows, std::span<const double> log_ns,
    std::span<const std::vector<std::size_t>> groups_of_rows,
    std::span<const NetworkOfRows> networks, std::size_t folds, const LearnRequest& request);

/// How far the errors of rows left out have the same sign inside a network: the correlation in [0,
/// 0.9] that makes the errors of the networks likeliest, each normal with the variance correlation
/// * linear_sd^2 + (1 - correlation) * root_sd^2. Spreads that are too large or too small by a
/// common factor are put down to it, too. std::nullopt for too few networks.
std::optional<double> learned_correlation(std::span<const UnseenNetwork> networks);

/// Mean magnitude of the errors of whole networks. Rows are of the kernels of which least was said
/// to be known, and of few of a network's, so that their errors cancel less. So the error of each
/// counts times the spread of the whole over that of its rows, both by what was said and by
/// `correlation`, in [0, 1]. A network none of whose rows was left out, though others are missing,
/// says nothing and does not count. 0 where none counts.
double error_of_whole_networks(std::span<const UnseenNetwork> networks, double correlation);

}  // namespace oplat::estimate
