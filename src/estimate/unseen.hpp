// SPDX-License-Identifier: Apache-2.0
/// How well networks are predicted whose kernels were not measured.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

/// Predicts each network from rows that none but networks of other groups gave reason to measure:
/// groups fall into `folds`, and a row is left out with the fold that holds all its groups (rows of
/// no group stay). A row that stays answers for itself. Gives predicted / measured - 1 of each
/// network, of the sum over its rows, in their order. Code::Refused: too few rows.
/// `groups_of_rows`: of each row, which groups execute its kernel or one that it was drawn from.
Result<std::vector<double>> errors_of_unseen(
    std::span<const ir::Description> rows, std::span<const double> log_ns,
    std::span<const std::vector<std::size_t>> groups_of_rows,
    std::span<const NetworkOfRows> networks, std::size_t folds, const LearnRequest& request);

}  // namespace oplat::estimate
