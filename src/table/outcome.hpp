// SPDX-License-Identifier: Apache-2.0
/// The columns that rows and model rows share: outcome, statistics, method.
#pragma once

#include <string>

#include "table/cells.hpp"
#include "table/records.hpp"
#include "table/sqlite.hpp"

namespace oplat::table {

/// In the order in which they are bound and read; one macro so that statements stay literals.
#define OPLAT_OUTCOME_COLUMNS                                                                     \
  "outcome, reason, median_ns, sd_log, ci_low_ns, ci_high_ns, ci_level, min_ns, p10_ns, p90_ns, " \
  "blocks, processes, "                                                                           \
  "copies, topology, flags"
constexpr int kOutcomeColumns = 15;

/// Adds the first kOutcomeColumns - 3 of them, all but the method; `outcome` must be valid and
/// outlive the statement's run.
void add_outcome(Statement& statement, const Outcome& outcome);

/// An outcome made ready for binding: holds the texts that the statement points to.
class OutcomeCells {
 public:
  /// Code::Input if a value may not stand in a table.
  static Result<OutcomeCells> make(const Outcome& outcome, const Method& method);
  /// Adds kOutcomeColumns parameters; `this` must outlive the run of the statement.
  void add_to(Statement& statement) const;

 private:
  Outcome outcome_;
  Method method_;
  std::string flags_;
};

Outcome read_outcome(Cells& cells, int first_column);
Method read_method(Cells& cells, int first_column);

}  // namespace oplat::table
