// SPDX-License-Identifier: Apache-2.0
/// Use case: the implausible rows of a table, and why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
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

/// What each estimate::Fault means, an entry of help each.
inline constexpr std::string_view kFaultHelp =
    R"(
Faults:
  sizes     no kernel of the operator can have these sizes: filters that do not fit the channels, a
            window that does not give the result's size
  too fast  more operations or bytes a second than the machine can do. Operations are those of the
            cheapest known algorithm (Winograd's for windows of stride 1). The default limits come
            from the fastest hundredth of the rows with known sizes (at least three rows): 1.5 times
            their operations, and 3 times their bytes, which caches may serve
  twin      a row of unknown batch ('?' where others have 1) that differs from the row of batch 1 by
            more than --max-ratio
  order     a row of unknown batch that is, by more than --max-ratio, slower than a kernel as large
            in every size, or faster than a smaller one
)";

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

/// Warns where rows of `filter` are faster than their machine can be, by the limits that check()
/// has by default: they were measured wrongly, or the runtime did other work than their keys say.
/// `path`: of the table, for the message.
Status warn_of_rows_too_fast(const table::Table& table, const predict::RowFilter& filter,
                             const std::string& path, Events& events);

/// What `oplat check` says of them.
report::CheckReport check_report(const CheckRequest& request, CheckResult result);

}  // namespace oplat::app
