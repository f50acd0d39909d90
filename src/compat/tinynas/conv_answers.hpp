// SPDX-License-Identifier: Apache-2.0
/// Who answers `oplat tinynas predict`: the original's method, or the chain of estimators.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "compat/tinynas/original/predictor.hpp"
#include "compat/tinynas/questions.hpp"
#include "estimate/learned.hpp"
#include "predict/row_selection.hpp"
#include "table/table.hpp"

namespace oplat::compat::tinynas {

/// Times are ms of the whole batch.
struct ConvAnswer {
  std::optional<double> ms;  ///< nothing: nobody answers, and `why` says so
  double sd_log = 0;         ///< of the time; the original knows none
  std::optional<base::Interval> interval;
  std::optional<double> floor_ms =
      std::nullopt;    ///< beyond the rows: no interval reaches below; KernelPrediction::floor_ns
  std::string source;  ///< "original", or that of the estimate; "missing"
  std::string group;   ///< convolutions of one group err together
  std::string why;     ///< of a missing one, and of one that is `far`
  bool far = false;    ///< beyond the rows
};

/// One answer a question, in their order.
using Answerer = std::function<Result<std::vector<ConvAnswer>>(std::span<const ConvQuestion>)>;

/// The original's method on a library. Code::Input if no row of it can be used.
Result<Answerer> original_answers(std::span<const LibraryTime> rows);
/// The rows of a table's selection that are convolutions of libraries, in the order in which they
/// were added.
Result<std::vector<LibraryTime>> table_times(const table::Table& table,
                                             const predict::Selection& selection);

/// The chain on a table's rows; keeps the table. Half the probability beyond `level` lies on either
/// side of an interval.
Result<Answerer> best_answers(std::shared_ptr<const table::Table> table,
                              predict::Selection selection, double level,
                              estimate::Profile profile);

/// Of the convolutions of a sum, whose errors are correlated. std::nullopt if one is missing or has
/// no spread.
std::optional<base::Interval> total_interval(std::span<const ConvAnswer> answers, double level);

}  // namespace oplat::compat::tinynas
