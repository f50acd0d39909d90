// SPDX-License-Identifier: Apache-2.0
/// The page of `oplat predict`: the latency with its interval, where the time comes from, the
/// costliest kernels, what makes the interval wide, and what the numbers hold for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/html_documents.hpp"
#include "report/html_page.hpp"
#include "report/text_prediction.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kCostliestOnPage = 10;
constexpr std::size_t kOperatorsOnPage = 20;
constexpr std::size_t kUncertainOnPage = 5;
constexpr std::size_t kKeyOnPage = 160;

int shade_of(estimate::Source source) {
  switch (source) {
    case estimate::Source::Measured:
      return 0;
    case estimate::Source::Interpolated:
      return 1;
    case estimate::Source::Learned:
      return 2;
    case estimate::Source::Roofline:
      return 3;
    case estimate::Source::Free:
      return 6;
    case estimate::Source::Missing:
      break;
  }
  return 5;
}
constexpr int kOverheadShade = 4;

HtmlCell words_cell(std::string_view text) { return {html_text(text), ""}; }
HtmlCell number_cell(std::string_view text) { return {html_text(text), "n"}; }
HtmlCell key_cell(std::string_view key, std::size_t max = kKeyOnPage) {
  return {html_text(key, max), "k"};
}
std::string rate_on_page(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.3g}", *rate) : "-";
}

void print_interval(const predict::Prediction& p, std::ostream& out) {
  const double high = std::max(
      {p.interval ? p.interval->high : 0, *p.latency_ns, p.measured ? p.measured->median_ns : 0});
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : axis_ticks(0, high))
    ticks.emplace_back(tick, tick > 0 ? base::duration_text(tick) : "0");
  const HtmlRange range = {
      .name = "",
      .mark = *p.latency_ns,
      .low = p.interval ? std::optional(p.interval->low) : std::nullopt,
      .high = p.interval ? std::optional(p.interval->high) : std::nullopt,
      .other = p.measured ? std::optional(p.measured->median_ns) : std::nullopt};
  print_ranges(out, {&range, 1}, ticks, latency_text(*p.latency_ns, p.interval, p.level));
}

void print_head(const predict::Prediction& p, std::ostream& out) {
  out << "<h1>" << html_text(p.model.empty() ? "model" : p.model) << "</h1>\n<p class=\"dim\">"
      << html_text(
             fmt::format("predicted latency of one run, batch {}, on {}, ", p.batch, p.device.name))
      << html_text(table::describe(p.setting)) << "</p>\n";
  if (!p.latency_ns) {
    out << "<p class=\"big none\">no latency</p>\n";
    return;
  }
  out << "<p class=\"big\">" << html_text(base::duration_text(*p.latency_ns)) << "</p>\n";
  if (p.interval)
    out << "<p>"
        << html_text(fmt::format("{} interval: {}", level_text(p.level),
                                 range_text(p.interval->low, p.interval->high)))
        << "</p>\n";
  print_interval(p, out);
  if (p.measured) out << "<p>" << html_text(measured_text(*p.measured)) << "</p>\n";
}

void print_sources(const predict::Prediction& p, std::ostream& out) {
  if (p.coverage.count.empty()) return;
  const double known = predict::known_ns(p);
  print_heading(out, "Where the time comes from");
  std::vector<HtmlPart> parts;
  HtmlTable table({"source", "calls", "time", "share"});
  for (const auto& [source, count] : p.coverage.count) {
    const auto share = p.coverage.time.find(source);
    const bool timed = share != p.coverage.time.end();
    const std::string time = timed ? base::duration_text(share->second * known) : "-";
    if (timed && share->second > 0)
      parts.push_back({std::string(estimate::name(source)), time, share->second, shade_of(source)});
    table.add({words_cell(estimate::name(source)), number_cell(std::to_string(count)),
               number_cell(time),
               number_cell(timed && p.latency_ns ? share_text(share->second) : "-")});
  }
  if (p.coverage.overhead) {
    const std::string time = base::duration_text(*p.coverage.overhead * known);
    parts.push_back({"overhead", time, *p.coverage.overhead, kOverheadShade});
    table.add({words_cell("overhead"), number_cell("-"), number_cell(time),
               number_cell(p.latency_ns ? share_text(*p.coverage.overhead) : "-")});
  }
  if (p.latency_ns) print_parts(out, parts);
  table.print(out);
}

void print_operators_on_page(const predict::Diagnosis& diagnosis, std::ostream& out) {
  const OperatorLines lines = operator_lines(diagnosis, kOperatorsOnPage);
  if (lines.shown.empty()) return;
  print_heading(out, "By operator");
  std::vector<std::string> columns = {"operator", "calls", "time", "share", "rate", "bound"};
  if (lines.has_missing) columns.emplace_back("missing kernels");
  HtmlTable table(columns);
  for (const OperatorLine& one : lines.shown) {
    std::vector<HtmlCell> cells = {words_cell(one.name),  number_cell(one.calls),
                                   number_cell(one.time), number_cell(one.share),
                                   number_cell(one.rate), words_cell(one.bound)};
    if (lines.has_missing) cells.push_back(number_cell(one.missing));
    table.add(std::move(cells));
  }
  table.print(out);
}

/// The label, and its key where keys are wanted.
HtmlCell kernel_cell(const PredictionReport& report, std::size_t kernel, const Options& options,
                     std::size_t max = kKeyOnPage) {
  if (options.keys) return key_cell(report.prediction.kernels.at(kernel).key, max);
  return words_cell(report.diagnosis.kernels.at(kernel).label.text);
}
std::string_view kernel_column(const Options& options) { return options.keys ? "key" : "kernel"; }

void print_costliest_on_page(const PredictionReport& report, const Options& options,
                             std::ostream& out) {
  const predict::Prediction& p = report.prediction;
  const auto costly = costliest(p, kCostliestOnPage);
  if (costly.empty()) return;
  const double known = predict::known_ns(p);
  print_heading(out, "Costliest kernels");
  HtmlTable table({std::string(kernel_column(options)), "share", "time", "calls", "rate", "bound",
                   "source", "name"});
  for (const CostlyKernel& one : costly) {
    const auto& kernel = p.kernels[one.first];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(one.first);
    const std::string places =
        one.places > 1 ? fmt::format(" and {} more", one.places - 1) : std::string();
    table.add({kernel_cell(report, one.first, options),
               number_cell(p.latency_ns ? share_text(one.time_ns / known) : "-"),
               number_cell(base::duration_text(one.time_ns)),
               number_cell(std::to_string(one.count)),
               number_cell(bounding_rate(more.bound, more.gflops_per_s, more.gbytes_per_s)),
               words_cell(bound_text(more)), words_cell(estimate::name(kernel.source)),
               words_cell((kernel.name.empty() ? "-" : kernel.name) + places)});
  }
  table.print(out);
}

void print_uncertainty_on_page(const PredictionReport& report, const Options& options,
                               std::ostream& out) {
  const auto& uncertainty = report.diagnosis.uncertainty;
  if (!uncertainty) return;
  print_heading(out, "What makes the interval wide");
  std::vector<HtmlPart> parts = {{"kernels", "", uncertainty->kernels, 0},
                                 {"composition", "", uncertainty->composition, kOverheadShade}};
  if (uncertainty->mismatch > 0) parts.push_back({"mismatch", "", uncertainty->mismatch, 5});
  out << "<p class=\"dim\">Shares of the variance.</p>\n";
  print_parts(out, parts);
  HtmlTable table(
      {std::string(kernel_column(options)), "share", "count", "source", "to do", "name"});
  for (std::size_t i = 0; i < uncertainty->most.size() && i < kUncertainOnPage; ++i) {
    const predict::UncertainKernel& one = uncertainty->most[i];
    const auto& kernel = report.prediction.kernels.at(one.first);
    table.add({kernel_cell(report, one.first, options), number_cell(share_text(one.share)),
               number_cell(std::to_string(one.count)), words_cell(estimate::name(kernel.source)),
               words_cell(name(one.remedy)), words_cell(kernel.name.empty() ? "-" : kernel.name)});
  }
  if (!table.empty()) table.print(out);
  const std::vector<std::string> remedies = remedy_lines(report, options);
  if (remedies.empty()) return;
  out << "<ul>\n";
  for (const std::string& line : remedies) out << "<li>" << html_text(line) << "</li>\n";
  out << "</ul>\n";
}

void print_movement_on_page(const predict::Diagnosis& diagnosis, std::ostream& out) {
  if (diagnosis.movement.empty()) return;
  print_heading(out, "Kernels that only move or convert data");
  HtmlTable table({"kind", "inserted by", "kernels", "time", "share"});
  for (const predict::MovementSum& sum : diagnosis.movement) {
    table.add({words_cell(name(sum.movement)),
               words_cell(!sum.inserted_by_runtime   ? "unknown"
                          : *sum.inserted_by_runtime ? "the runtime"
                                                     : "the model"),
               number_cell(std::to_string(sum.kernels)),
               number_cell(base::duration_text(sum.time_ns)),
               number_cell(sum.time_share ? share_text(*sum.time_share) : "-")});
  }
  table.print(out);
}

void print_missing(const predict::Prediction& p, std::ostream& out) {
  if (p.missing.empty()) return;
  print_heading(out, "Missing kernels");
  const std::vector<std::string> lines = missing_lines(p);
  out << "<p>" << html_text(lines.front()) << "</p>\n";
  for (std::size_t i = 1; i < lines.size(); ++i)
    out << "<p><code>" << html_text(lines[i]) << "</code></p>\n";
  out << "<details><summary>" << html_text(fmt::format("All {} keys", p.missing.size()))
      << "</summary>\n<ul>\n";
  for (const std::string& key : p.missing)
    out << "<li><code>" << html_text(key) << "</code></li>\n";
  out << "</ul>\n</details>\n";
}

void print_origin(const predict::Prediction& p, std::ostream& out) {
  const predict::Composition& c = p.composition;
  const std::string terms = fmt::format(
      "{} {} {} per kernel + {:.3g} ns per byte of results evicted + {:.3f} x kernels ({:.3f} x "
      "those in 8 bits)",
      base::duration_text(c.c0_ns), c.c1_ns < 0 ? "-" : "+", base::duration_text(std::abs(c.c1_ns)),
      c.c2_ns_per_byte, c.scale, c.scale_int8);
  const std::pair<std::string, std::string> facts[] = {
      {"table", p.table_path.string()},
      {"plan", p.plan_source},
      {"kernel calls", std::to_string(c.n_kernels)},
      {"weights and activations", base::bytes_text(p.reuse_bytes)},
      {"composition", terms},
      {"calibration", composition_text(c)},
      {"others", others_text(c)}};
  print_heading(out, "How it was predicted");
  print_facts(out, facts);
}

void print_all_kernels(const PredictionReport& report, bool open, std::ostream& out) {
  const predict::Prediction& p = report.prediction;
  if (p.kernels.empty()) return;
  out << (open ? "<details open>" : "<details>") << "<summary>"
      << html_text(fmt::format("All {} kernels in order of execution", p.kernels.size()))
      << "</summary>\n";
  HtmlTable table({"name", "kernel", "count", "each", "+-", "GFLOP/s", "GB/s", "bound", "source",
                   "why", "key"});
  for (std::size_t i = 0; i < p.kernels.size(); ++i) {
    const predict::KernelPrediction& kernel = p.kernels[i];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(i);
    table.add({words_cell(kernel.name.empty() ? "-" : kernel.name), words_cell(more.label.text),
               number_cell(std::to_string(kernel.count)), number_cell(time_text(kernel.latency_ns)),
               number_cell(kernel.sd_log ? share_text(*kernel.sd_log) : "-"),
               number_cell(rate_on_page(more.gflops_per_s)),
               number_cell(rate_on_page(more.gbytes_per_s)), words_cell(bound_text(more)),
               words_cell(estimate::name(kernel.source)), words_cell(kernel.why),
               key_cell(kernel.key, 1 << 16)});
  }
  table.print(out);
  out << "</details>\n";
}

}  // namespace

void write_page_part(const PredictionReport& report, const Options& options, std::ostream& out) {
  const predict::Prediction& p = report.prediction;
  const HtmlFragment fragment(out);
  print_head(p, out);
  print_cautions(out, p.mismatch, p.warnings);
  print_missing(p, out);
  print_sources(p, out);
  print_operators_on_page(report.diagnosis, out);
  print_costliest_on_page(report, options, out);
  if (options.per_op) print_all_kernels(report, false, out);
}

void write_page(const PredictionReport& report, const Options& options, std::ostream& out) {
  const predict::Prediction& p = report.prediction;
  const HtmlPage page(
      out, fmt::format("{}: {}", p.model,
                       p.latency_ns ? base::duration_text(*p.latency_ns) : "no latency"));
  print_head(p, out);
  print_cautions(out, p.mismatch, p.warnings);
  print_missing(p, out);
  print_sources(p, out);
  print_operators_on_page(report.diagnosis, out);
  print_costliest_on_page(report, options, out);
  print_uncertainty_on_page(report, options, out);
  print_movement_on_page(report.diagnosis, out);
  print_device(out, p.device, p.setting);
  print_origin(p, out);
  print_all_kernels(report, options.per_op, out);
}

}  // namespace oplat::report
