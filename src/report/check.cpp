// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat check` in each form.
#include <ostream>

#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"

namespace oplat::report {
namespace {

std::string peak_text(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("{:.4g} {}", *value, unit) : "no bound (too few rows)";
}

}  // namespace

void print_document(const CheckReport& check, std::ostream& out) {
  out << fmt::format("{}: {} on {}\n", base::printable(check.table, 400),
                     base::printable(table::describe(check.setting), 400),
                     base::printable(check.device.name));
  out << fmt::format("{} rows have a time; for {} of them only the batch is unknown\n", check.rows,
                     check.sizes_unknown);
  out << fmt::format("limits: {} and {}\n", peak_text(check.peak_gflops, "GFLOP/s"),
                     peak_text(check.peak_gb_per_s, "GB/s"));
  for (const CheckReport::Suspect& suspect : check.suspects) {
    out << fmt::format("row {}: {}: {}\n  {}\n", suspect.row, suspect.fault, suspect.reason,
                       suspect.key);
  }
  out << fmt::format("{} of {} rows are implausible\n", check.suspects.size(), check.rows);
}

Json json_document(const CheckReport& check) {
  Json suspects = Json::array();
  for (const CheckReport::Suspect& suspect : check.suspects) {
    suspects.push_back({{"row", suspect.row},
                        {"key", suspect.key},
                        {"latency_ns", suspect.latency_ns},
                        {"fault", suspect.fault},
                        {"reason", suspect.reason}});
  }
  return {{"schema", "oplat.check/1"},
          {"table", check.table},
          {"device", check.device.name},
          {"setting", table::describe(check.setting)},
          {"rows", check.rows},
          {"examined", check.examined},
          {"sizes_unknown", check.sizes_unknown},
          {"peak_gflops", number(check.peak_gflops)},
          {"peak_gb_per_s", number(check.peak_gb_per_s)},
          {"most_ratio", check.max_ratio},
          {"suspects", std::move(suspects)}};
}

void write_csv(const CheckReport& check, std::ostream& out) {
  out << csv_line({"row", "key", "latency_ns", "fault", "reason"});
  for (const CheckReport::Suspect& suspect : check.suspects) {
    out << csv_line({csv_number(suspect.row), csv_field(suspect.key),
                     csv_number(suspect.latency_ns), csv_field(suspect.fault),
                     csv_field(suspect.reason)});
  }
}

}  // namespace oplat::report
