// SPDX-License-Identifier: Apache-2.0
/// Rows, as measured then and now.
#include "report/csv_verification.hpp"

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

void write_verification_csv(const Verification& verification, std::ostream& out) {
  line(out, {"key", "state", "reuse_bytes", "table_ns", "now_ns", "ratio", "ratio_low",
             "ratio_high", "verdict", "outcome"});
  for (const auto& row : verification.rows) {
    std::optional<double> now;
    if (row.after) {
      if (const auto* timing = std::get_if<table::Timing>(&*row.after)) now = timing->median_ns;
    }
    line(out, {csv_field(row.key), row.state, csv_number(row.reuse_bytes),
               csv_number(row.before.median_ns), csv_number(now), csv_number(row.ratio),
               csv_number(row.ratio_low), csv_number(row.ratio_high), row.verdict,
               row.after ? std::string(table::outcome_name(*row.after)) : ""});
  }
}

}  // namespace oplat::report
