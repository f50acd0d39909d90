// SPDX-License-Identifier: Apache-2.0
/// What was asked, errors of the rows held out, errors of networks made of them.
#include "report/text_accuracy.hpp"

#include <ostream>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

/// Two digits: errors of a few per cent are compared here.
std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.2f} %", 100 * share); }

void print_lines(const AccuracyReport& report, std::ostream& out) {
  TextTable table({{"rows of"},
                   {"rows", Align::Right},
                   {"MAPE", Align::Right},
                   {"median", Align::Right},
                   {"p90", Align::Right},
                   {"bias", Align::Right},
                   {"within 5 %", Align::Right},
                   {"within 10 %", Align::Right},
                   {"inside " + level_text(report.level), Align::Right},
                   {"half-width", Align::Right}});
  for (const estimate::ErrorLine& line : report.accuracy.lines) {
    table.add({line.name, std::to_string(line.rows), percent(line.mape), percent(line.median),
               percent(line.p90), signed_percent(line.bias), share_text(line.within5),
               share_text(line.within10), share_text(line.coverage), percent(line.half_width)});
  }
  table.print(out);
}

void print_networks(const AccuracyReport& report, std::ostream& out) {
  out << fmt::format(
      "\n"
      "random networks built from rows held out, seed {}:\n",
      report.network_seed);
  TextTable table({{"batch", Align::Right},
                   {"networks", Align::Right},
                   {"MAPE", Align::Right},
                   {"bias", Align::Right},
                   {"within 1 %", Align::Right}});
  for (const estimate::NetworkLine& line : report.accuracy.networks) {
    table.add({std::to_string(line.batch), std::to_string(line.networks), percent(line.mape),
               signed_percent(line.bias), share_text(line.within1)});
  }
  table.print(out);
}

}  // namespace

void print_accuracy(const AccuracyReport& report, std::ostream& out) {
  const estimate::Accuracy& accuracy = report.accuracy;
  out << fmt::format("{}: {} on {}\n", base::printable(report.table),
                     base::printable(table::describe(report.setting), 400),
                     base::printable(report.device.name));
  out << fmt::format(
      "split {}, estimator {}: learned from {} rows in {}, predicted {}{}, {} each\n",
      base::printable(report.split), report.profile, accuracy.learned_from,
      base::duration_text(1e9 * accuracy.fit_seconds), accuracy.asked,
      accuracy.unanswered > 0 ? fmt::format(" ({} without an answer)", accuracy.unanswered) : "",
      base::duration_text(1e3 * accuracy.microseconds_a_row));
  if (accuracy.set_aside > 0)
    out << fmt::format("{} rows that oplat check reports were excluded\n", accuracy.set_aside);
  if (accuracy.stand_ins > 0)
    out << fmt::format("{} rows of unknown batch were used as rows of batch 1\n",
                       accuracy.stand_ins);
  if (!report.calibrated) out << "intervals are wide guesses, not calibrated by cross-validation\n";
  out << "\n";
  print_lines(report, out);
  if (!accuracy.networks.empty()) print_networks(report, out);
}

}  // namespace oplat::report
