// SPDX-License-Identifier: Apache-2.0
/// Use case: the implausible rows of a table, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "base/result.hpp"
#include "estimate/sanity.hpp"
#include "predict/row_selection.hpp"
#include "report/check_report.hpp"

namespace oplat::app {

struct CheckRequest {
  std::string table;  ///< a table of oplat
  predict::RowFilter rows = {.has_mismatch_flag = false};
  estimate::SanityRequest limits = {};
};

/// An implausible row.
struct Suspect {
  table::RowId row = 0;
  std::string key;
  double latency_ns = 0;
  estimate::Fault fault = estimate::Fault::Sizes;
  std::string reason;
};

struct CheckResult {
  table::Device device;
  table::Setting setting;
  std::size_t rows = 0;                     ///< with a time
  std::size_t examined = 0;                 ///< of those
  std::size_t sizes_unknown = 0;            ///< rows of which more than the batch is unknown
  std::optional<double> peak_flops_per_ns;  ///< what nothing may exceed; empty: too few rows
  std::optional<double> peak_bytes_per_ns;
  std::vector<Suspect> suspects;  ///< in order of row, one fault each
};

/// Checks the rows of one device and setting; changes nothing. Code::Refused if none has a time.
Result<CheckResult> check(const CheckRequest& request, Events& events);

/// What `oplat check` says of them.
report::CheckReport check_report(const CheckRequest& request, CheckResult result);

}  // namespace oplat::app
