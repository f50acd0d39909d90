// SPDX-License-Identifier: Apache-2.0
/// Lists of models as text and CSV; as JSON they are in json_renderer.cpp, with what they hold.
#include "report/model_lists.hpp"

#include <ostream>

#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kListedName = 400;

/// What the column "result" says.
std::string_view state_text(const std::optional<Error>& error) {
  if (!error) return "ok";
  switch (error->code) {
    case Code::Missing:
      return "kernels missing";
    case Code::GateNotMet:
      return "too slow";
    case Code::Usage:
      return "usage";
    case Code::Input:
      return "bad file";
    case Code::Runtime:
      return "no plan";
    case Code::Refused:
      return "refused";
    case Code::Write:
    case Code::Interrupted:
    case Code::Internal:
      break;
  }
  return "failed";
}

/// Share of the kernels' calls that the table measured itself.
std::optional<double> measured_share(const predict::Prediction& p) {
  double all = 0;
  double measured = 0;
  for (const auto& [source, count] : p.coverage.count) {
    all += static_cast<double>(count);
    if (source == estimate::Source::Measured || source == estimate::Source::Free)
      measured += static_cast<double>(count);
  }
  if (all <= 0) return std::nullopt;
  return measured / all;
}

void print_errors(const auto& models, std::ostream& out) {
  bool first = true;
  for (const auto& entry : models) {
    if (!entry.error) continue;
    out << (first ? "\n" : "") << base::printable_message(entry.error->message) << "\n";
    first = false;
  }
}

std::string interval_end(const std::optional<base::Interval>& interval,
                         double base::Interval::*end) {
  return csv_number(interval ? std::optional((*interval).*end) : std::nullopt);
}

}  // namespace

std::string_view code_name(Code code) {
  switch (code) {
    case Code::Usage:
      return "usage";
    case Code::Input:
      return "input";
    case Code::Missing:
      return "missing";
    case Code::Runtime:
      return "runtime";
    case Code::Refused:
      return "refused";
    case Code::GateNotMet:
      return "gate_not_met";
    case Code::Write:
      return "write";
    case Code::Interrupted:
      return "interrupted";
    case Code::Internal:
      break;
  }
  return "internal";
}

void print_document(const PredictionList& list, std::ostream& out) {
  double level = 0.9;
  for (const auto& entry : list.models)
    if (entry.report) level = entry.report->prediction.level;
  TextTable table({{"model"},
                   {"latency", Align::Right},
                   {"interval " + level_text(level), Align::Right},
                   {"in table", Align::Right},
                   {"result"}});
  for (const auto& entry : list.models) {
    const predict::Prediction* p = entry.report ? &entry.report->prediction : nullptr;
    const auto share = p != nullptr ? measured_share(*p) : std::nullopt;
    table.add({base::printable(entry.model, kListedName),
               p != nullptr ? time_text(p->latency_ns) : "-",
               p != nullptr && p->interval ? range_text(p->interval->low, p->interval->high) : "-",
               share ? share_text(*share) : "-", std::string(state_text(entry.error))});
  }
  if (!table.empty()) table.print(out);
  print_errors(list.models, out);
}

void write_csv(const PredictionList& list, std::ostream& out) {
  out << csv_line({"model", "latency_ns", "interval_lo_ns", "interval_hi_ns", "batch", "in_table",
                   "code", "error"});
  for (const auto& entry : list.models) {
    const predict::Prediction none;
    const predict::Prediction& p = entry.report ? entry.report->prediction : none;
    out << csv_line({csv_field(entry.model), csv_number(p.latency_ns),
                     interval_end(p.interval, &base::Interval::low),
                     interval_end(p.interval, &base::Interval::high),
                     entry.report ? csv_number(p.batch) : "",
                     csv_number(entry.report ? measured_share(p) : std::nullopt),
                     entry.error ? std::string(code_name(entry.error->code)) : "",
                     entry.error ? csv_field(entry.error->message) : ""});
  }
}

void write_csv(const PlanList& list, std::ostream& out) {
  out << csv_line({"model", "name", "key", "count", "code", "error"});
  for (const auto& entry : list.models) {
    if (entry.plan)
      for (const auto& kernel : entry.plan->plan.kernels)
        out << csv_line({csv_field(entry.model), csv_field(kernel.name), csv_field(kernel.key),
                         csv_number(kernel.count), "", ""});
    if (entry.error)
      out << csv_line({csv_field(entry.model), "", "", "",
                       std::string(code_name(entry.error->code)), csv_field(entry.error->message)});
  }
}

}  // namespace oplat::report
