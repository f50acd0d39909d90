// SPDX-License-Identifier: Apache-2.0
#include "app/check.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "app/table_source.hpp"
#include "compat/registry.hpp"

namespace oplat::app {
namespace {

struct TimedRows {
  std::vector<table::RowId> ids;
  std::vector<std::string> keys;
  std::vector<double> ns;
};

Result<TimedRows> timed_rows(const table::Table& table, const predict::Selection& selection) {
  TimedRows rows;
  const table::RowFilter timed{selection.device_id, selection.setting_ids, true};
  OPLAT_CHECK(table.each_row(timed, [&](const table::StoredRow& stored) {
    const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
    if (timing == nullptr || !(timing->median_ns > 0) || !std::isfinite(timing->median_ns))
      return true;
    rows.ids.push_back(stored.id);
    rows.keys.push_back(stored.row.key);
    rows.ns.push_back(timing->median_ns);
    return true;
  }));
  return rows;
}

estimate::Sanity sanity_of(const TimedRows& rows, const ir::Catalogue& catalogue,
                           const estimate::SanityRequest& limits) {
  std::vector<estimate::CheckedRow> checked;
  for (std::size_t i = 0; i < rows.ids.size(); ++i) checked.push_back({rows.keys[i], rows.ns[i]});
  return estimate::check_rows(checked, catalogue, limits);
}

}  // namespace

Status warn_of_rows_too_fast(const table::Table& table, const predict::RowFilter& filter,
                             const std::string& path, Events& events) {
  // What was measured stays, whatever a later selection says.
  const auto selection = select_rows(table, filter);
  if (!selection) return {};
  OPLAT_TRY(rows, timed_rows(table, *selection));
  const estimate::Sanity sanity = sanity_of(rows, *selection->catalogue, {});
  const auto too_fast =
      std::count_if(sanity.suspects.begin(), sanity.suspects.end(),
                    [](const auto& suspect) { return suspect.fault == estimate::Fault::TooFast; });
  if (too_fast == 0) return {};
  events.warn(fmt::format(
      "{} of {} rows are faster than this machine can be, and what is predicted from them is too "
      "short: 'oplat check {}' lists them",
      too_fast, rows.ids.size(), base::printable(path, 400)));
  return {};
}

Result<CheckResult> check(const CheckRequest& request, Events& events) {
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  OPLAT_TRY(selection, select_rows(table, request.rows));
  OPLAT_TRY(rows, timed_rows(table, selection));
  if (rows.ids.empty())
    return fail(Code::Refused, "{}: holds no row with a time; measure or import some first",
                request.table);
  for (const std::string& warning : selection.warnings) events.warn(warning);
  estimate::Sanity sanity = sanity_of(rows, *selection.catalogue, request.limits);
  CheckResult result;
  result.device = std::move(selection.device);
  result.setting = std::move(selection.setting);
  result.rows = rows.ids.size();
  result.examined = sanity.examined;
  result.sizes_unknown = sanity.unknown;
  result.peak_flops_per_ns = sanity.flops_per_ns;
  result.peak_bytes_per_ns = sanity.bytes_per_ns;
  for (estimate::SuspectRow& suspect : sanity.suspects) {
    result.suspects.push_back({rows.ids[suspect.row], std::move(rows.keys[suspect.row]),
                               rows.ns[suspect.row], suspect.fault, std::move(suspect.reason)});
  }
  return result;
}

report::CheckReport check_report(const CheckRequest& request, CheckResult result) {
  report::CheckReport report;
  report.table = request.table;
  report.device = std::move(result.device);
  report.setting = std::move(result.setting);
  report.rows = result.rows;
  report.examined = result.examined;
  report.sizes_unknown = result.sizes_unknown;
  report.peak_gflops = result.peak_flops_per_ns;
  report.peak_gb_per_s = result.peak_bytes_per_ns;
  report.max_ratio = request.limits.max_ratio;
  for (app::Suspect& suspect : result.suspects) {
    report.suspects.push_back({suspect.row, std::move(suspect.key), suspect.latency_ns,
                               std::string(estimate::name(suspect.fault)),
                               std::move(suspect.reason)});
  }
  return report;
}

}  // namespace oplat::app
