// SPDX-License-Identifier: Apache-2.0
/// Verdict first, then why, then what moved, then row by row.
#include "report/text_verification.hpp"

#include <cmath>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kMaxMoved = 8;
constexpr std::size_t kWholeVerifiedKey = 1 << 16;

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.3f}", *ratio) : "-";
}

std::string sentence(const std::string& verdict) {
  if (verdict == "same") return "same: the table still holds here";
  if (verdict == "slower") return "slower: this machine takes longer than the table says";
  if (verdict == "faster") return "faster: this machine takes less time than the table says";
  if (verdict == "another machine") return "another machine: the table does not describe this one";
  return verdict;
}

void print_median(const Verification& v, std::ostream& out) {
  if (!v.ratio || !v.ratio_low || !v.ratio_high) return;
  out << fmt::format("now / table: median {:.3f} ({:.3f} to {:.3f})", *v.ratio, *v.ratio_low,
                     *v.ratio_high);
  if (v.scatter && v.noise) {
    out << fmt::format("; rows scatter by {}, of which noise explains {}",
                       share_text(std::expm1(*v.scatter)), share_text(std::expm1(*v.noise)));
  }
  out << fmt::format("; {} of {} differ by more than 10 % beyond their noise\n", v.outlying,
                     v.compared);
}

void print_moved(const Verification& v, std::ostream& out) {
  std::vector<std::string> moved;
  std::size_t more = 0;
  for (const auto& one : v.classes) {
    if (!one.moved) continue;
    if (moved.size() == kMaxMoved) {
      ++more;
      continue;
    }
    moved.push_back(fmt::format("{} {} {:.2f}x ({})", base::printable(one.op), one.state, one.ratio,
                                base::counted(one.rows, "row")));
  }
  if (more > 0) moved.push_back(fmt::format("{} more", more));
  if (!moved.empty()) out << "moved: " << base::join(moved, ", ") << "\n";
}

void print_surroundings(const Verification& v, std::ostream& out) {
  std::vector<std::string> parts;
  for (const auto& reference : v.references) {
    if (!reference.recorded_ns || !reference.here_ns || !(*reference.recorded_ns > 0)) continue;
    parts.push_back(fmt::format("{} reference {:.3f}", reference.name,
                                *reference.here_ns / *reference.recorded_ns));
  }
  if (v.under_load > 0)
    parts.push_back(
        fmt::format("{} of {} rows measured while it was busy", v.under_load, v.compared));
  if (!parts.empty()) out << "machine: " << base::join(parts, ", ") << "\n";
}

std::string outcome_text(const Verification::Row& row) {
  if (!row.after) return "not measured";
  return row.verdict.empty() ? std::string(table::outcome_name(*row.after)) : row.verdict;
}

}  // namespace

void print_verification(const Verification& v, const Options& options, std::ostream& out) {
  const Paint paint{options.colour};
  const std::string line = sentence(v.verdict);
  out << (v.verdict == "same" ? paint.bold(line) : paint.alarm(line)) << "\n";
  for (const auto& reason : v.reasons) out << "  " << reason << "\n";
  print_median(v, out);
  print_moved(v, out);
  print_surroundings(v, out);
  out << fmt::format(
      "{}: {} on {}; {} of {} rows measured again, {} blocks in {} processes, {}{}\n", v.table,
      base::printable(table::describe(v.setting), 400), base::printable(v.device.name), v.compared,
      v.rows.size(), v.blocks, v.processes, base::clock_text(v.seconds),
      v.budget_ended ? ", the budget ended" : "");
  for (const auto& warning : v.warnings)
    out << "warning: " << base::printable(warning, 1000) << "\n";

  TextTable table({{"ratio", Align::Right},
                   {"table", Align::Right},
                   {"now", Align::Right},
                   {"row"},
                   {"state"},
                   {"key"}});
  for (const auto& row : v.rows) {
    const auto* timing = row.after ? std::get_if<table::Timing>(&*row.after) : nullptr;
    table.add({ratio_text(row.ratio), base::duration_text(row.before.median_ns),
               timing != nullptr ? base::duration_text(timing->median_ns) : "-", outcome_text(row),
               row.state, base::printable(row.key, kWholeVerifiedKey)});
  }
  if (!table.empty()) table.print(out);
  for (const auto& row : v.rows) {
    if (!row.after) continue;
    std::visit(
        [&](const auto& outcome) {
          if constexpr (requires { outcome.reason; }) {
            out << fmt::format("{}: {}\n  {}\n", table::outcome_name(*row.after),
                               base::printable(outcome.reason, 400),
                               base::printable(row.key, kWholeVerifiedKey));
          }
        },
        *row.after);
  }
}

}  // namespace oplat::report
