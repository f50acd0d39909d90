// SPDX-License-Identifier: Apache-2.0
/// Error lines; networks have other columns and stand in the other forms.
#include "report/csv_accuracy.hpp"

#include <initializer_list>
#include <span>
#include <string>

#include "report/csv.hpp"

namespace oplat::report {
namespace {

void line(std::ostream& out, std::initializer_list<std::string> fields) {
  out << csv_line(std::span(fields.begin(), fields.size()));
}

}  // namespace

void write_accuracy_csv(const AccuracyReport& report, std::ostream& out) {
  line(out, {"rows_of", "rows", "mape", "median", "p90", "bias", "within_5_percent",
             "within_10_percent", "interval_coverage", "half_width"});
  for (const estimate::ErrorLine& each : report.accuracy.lines) {
    line(out, {csv_field(each.name), csv_number(each.rows), csv_number(each.mape),
               csv_number(each.median), csv_number(each.p90), csv_number(each.bias),
               csv_number(each.within5), csv_number(each.within10), csv_number(each.coverage),
               csv_number(each.half_width)});
  }
}

}  // namespace oplat::report
