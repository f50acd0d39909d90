// SPDX-License-Identifier: Apache-2.0
/// The document of `oplat inspect` in each form.
#include "report/inspection.hpp"

#include <array>
#include <cmath>
#include <ostream>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv.hpp"
#include "report/documents.hpp"
#include "report/json_documents.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kModulesShown = 24;

/// "3.50 M": three digits and a power of 1000.
std::string amount_text(double value) {
  constexpr std::array<std::string_view, 6> kUnits = {"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string flops_text(const InspectionReport::Part& part) {
  if (part.flops <= 0 && part.uncounted > 0) return "-";
  return amount_text(part.flops) + (part.uncounted > 0 ? " +" : "");
}

std::vector<std::string> cells_of(const InspectionReport::Part& part, std::string name,
                                  double all_flops) {
  return {std::move(name),
          std::to_string(part.calls),
          flops_text(part),
          all_flops > 0 ? share_text(part.flops / all_flops) : "-",
          amount_text(part.parameters),
          base::bytes_text(part.activation_bytes)};
}

TextTable parts_table(const std::string& title) {
  return TextTable({{title},
                    {"calls", Align::Right},
                    {"FLOPs", Align::Right},
                    {"share", Align::Right},
                    {"parameters", Align::Right},
                    {"activations", Align::Right}});
}

Json part_json(const InspectionReport::Part& part) {
  return {{"name", part.name},
          {"calls", part.calls},
          {"uncounted", part.uncounted},
          {"flops", part.flops},
          {"parameters", part.parameters},
          {"parameter_bytes", part.parameter_bytes},
          {"activation_bytes", part.activation_bytes}};
}

std::string part_line(std::string_view kind, const InspectionReport::Part& part) {
  return csv_line({std::string(kind), csv_field(part.name), csv_number(part.calls),
                   csv_number(part.uncounted), csv_number(part.flops), csv_number(part.parameters),
                   csv_number(part.parameter_bytes), csv_number(part.activation_bytes)});
}

}  // namespace

std::vector<std::string> module_parts(const std::string& node) {
  const char separator = node.find('/') != std::string::npos ? '/' : '.';
  std::vector<std::string> parts;
  for (std::string& part : base::split(node, separator))
    if (!part.empty()) parts.push_back(std::move(part));
  if (!parts.empty()) parts.pop_back();  // the node itself
  return parts;
}

void print_document(const InspectionReport& report, std::ostream& out) {
  const InspectionReport::Part& total = report.total;
  out << fmt::format("{}, batch {}, sizes from {}\n", base::printable(report.model, 400),
                     report.batch, base::printable(report.sizes_from));
  out << fmt::format(
      "{}FLOPs (a multiply-add is two), {} parameters ({})\n",
      total.flops > 0 || total.uncounted == 0 ? amount_text(total.flops) + " " : "- ",
      amount_text(total.parameters), base::bytes_text(total.parameter_bytes));
  out << fmt::format("{} of activations in one run", base::bytes_text(total.activation_bytes));
  if (report.peak_activation_bytes) {
    out << fmt::format(", at most {} at once{}\npeak memory: {} with parameters\n",
                       base::bytes_text(*report.peak_activation_bytes),
                       report.peak_node.empty()
                           ? std::string()
                           : fmt::format(" (at {})", base::printable(report.peak_node)),
                       base::bytes_text(*report.peak_activation_bytes + total.parameter_bytes));
  } else {
    out << "\npeak memory: unknown, since some results have no known size\n";
  }
  if (total.uncounted > 0)
    out << fmt::format("FLOPs leave out {} of {} calls, whose operators have no formula (+)\n",
                       total.uncounted, total.calls);
  out << "\n";
  TextTable operators = parts_table("operator");
  for (const auto& part : report.operators)
    operators.add(cells_of(part, base::printable(part.name), total.flops));
  if (!operators.empty()) operators.print(out);
  if (report.modules.empty()) return;
  out << "\n";
  TextTable modules = parts_table("module");
  for (std::size_t i = 0; i < report.modules.size() && i < kModulesShown; ++i) {
    const auto& part = report.modules[i];
    const std::size_t indent = part.depth > 0 ? 2 * (part.depth - 1) : 0;
    modules.add(cells_of(
        part,
        std::string(indent, ' ') + (part.name.empty() ? "(no module)" : base::printable(part.name)),
        total.flops));
  }
  modules.print(out);
  if (report.modules.size() > kModulesShown)
    out << fmt::format("and {} more modules; --depth 1 sums them up, --json lists them\n",
                       report.modules.size() - kModulesShown);
}

Json json_document(const InspectionReport& report) {
  Json operators = Json::array();
  for (const auto& part : report.operators) operators.push_back(part_json(part));
  Json modules = Json::array();
  for (const auto& part : report.modules) modules.push_back(part_json(part));
  return {{"schema", "oplat.inspection/1"},
          {"model", report.model},
          {"batch", report.batch},
          {"sizes_from", report.sizes_from},
          {"fused", report.fused},
          {"calls", report.total.calls},
          {"uncounted", report.total.uncounted},
          {"flops", report.total.flops},
          {"parameters", report.total.parameters},
          {"parameter_bytes", report.total.parameter_bytes},
          {"activation_bytes", report.total.activation_bytes},
          {"peak_activation_bytes", number(report.peak_activation_bytes)},
          {"peak_bytes",
           number(report.peak_activation_bytes
                      ? std::optional(*report.peak_activation_bytes + report.total.parameter_bytes)
                      : std::nullopt)},
          {"peak_node", report.peak_node},
          {"by_operator", std::move(operators)},
          {"by_module", std::move(modules)}};
}

void write_csv(const InspectionReport& report, std::ostream& out) {
  out << csv_line({"kind", "name", "calls", "uncounted", "flops", "parameters", "parameter_bytes",
                   "activation_bytes"});
  out << part_line("total", report.total);
  for (const auto& part : report.operators) out << part_line("operator", part);
  for (const auto& part : report.modules) out << part_line("module", part);
}

}  // namespace oplat::report
