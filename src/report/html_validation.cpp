// SPDX-License-Identifier: Apache-2.0
/// The page of `oplat validate`: how good the predictions are, and each model's interval next to
/// what was measured. The drawing shows predictions as multiples of the measured time, so that
/// models of any size share one axis.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "report/html_documents.hpp"
#include "report/html_page.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

void print_tile(std::ostream& out, std::string_view name, const std::string& value) {
  out << "<div><b>" << html_text(value) << "</b>" << html_text(name) << "</div>\n";
}

std::string share_or_dash(const std::optional<double>& share) {
  return share ? share_text(*share) : "-";
}

void print_summary_tiles(const predict::ValidationSummary& summary, double level,
                         std::ostream& out) {
  out << "<div class=\"tiles\">\n";
  print_tile(out, "models predicted", fmt::format("{} of {}", summary.predicted, summary.models));
  print_tile(out, "mean absolute error", share_or_dash(summary.mape));
  print_tile(out, "mean error (bias)", signed_text(summary.bias));
  print_tile(out, "within 5 %", share_or_dash(summary.within_5_percent));
  print_tile(out, "within 10 %", share_or_dash(summary.within_10_percent));
  print_tile(out, fmt::format("inside the {} interval", level_text(level)),
             share_or_dash(summary.interval_coverage));
  print_tile(out, "rank correlation",
             summary.rank_correlation ? fmt::format("{:.3f}", *summary.rank_correlation) : "-");
  out << "</div>\n";
}

void print_errors(const predict::Validation& validation, std::ostream& out) {
  std::vector<HtmlRange> ranges;
  double low = 0.9, high = 1.1;
  for (const predict::ValidatedModel& model : validation.models) {
    const double measured = model.measured.median_ns;
    if (!model.predicted_ns || !(measured > 0)) continue;
    HtmlRange range = {.name = model.name,
                       .mark = *model.predicted_ns / measured,
                       .low = std::nullopt,
                       .high = std::nullopt,
                       .other = 1.0,
                       .alarm = !model.inside().value_or(true)};
    if (model.interval) {
      range.low = model.interval->low / measured;
      range.high = model.interval->high / measured;
    }
    low = std::min({low, range.mark, range.low.value_or(range.mark)});
    high = std::max({high, range.mark, range.high.value_or(range.mark)});
    ranges.push_back(std::move(range));
  }
  if (ranges.empty()) return;
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : axis_ticks(low, high))
    ticks.emplace_back(tick, fmt::format("{:.4g}", tick));
  print_heading(out, "Predicted / measured");
  print_ranges(out, ranges, ticks,
               "predictions and their intervals as multiples of measured times");
}

void print_models(const predict::Validation& validation, std::ostream& out) {
  print_heading(out, "Models");
  HtmlTable table(
      {"model", "predicted", "interval", "measured", "measured interval", "error", "inside"});
  for (const predict::ValidatedModel& model : validation.models) {
    const auto inside = model.inside();
    table.add(
        {{html_text(model.name), ""},
         {html_text(model.predicted_ns ? time_text(model.predicted_ns)
                                       : fmt::format("{} kernels missing", model.missing.size())),
          "n"},
         {html_text(model.interval ? range_text(model.interval->low, model.interval->high) : "-"),
          "n"},
         {html_text(time_text(model.measured.median_ns)), "n"},
         {html_text(range_text(model.measured.ci_low_ns, model.measured.ci_high_ns)), "n"},
         {html_text(signed_text(model.signed_error())), "n"},
         {inside ? (*inside ? "yes" : "<strong class=\"none\">no</strong>") : "-", ""}});
  }
  table.print(out);
  for (const predict::ValidatedModel& model : validation.models) {
    if (model.missing.empty()) continue;
    out << "<details><summary>"
        << html_text(fmt::format("{}: {} missing kernels", model.name, model.missing.size()))
        << "</summary>\n<ul>\n";
    for (const std::string& key : model.missing)
      out << "<li><code>" << html_text(key) << "</code></li>\n";
    out << "</ul></details>\n";
  }
}

}  // namespace

void write_page(const predict::Validation& validation, std::ostream& out) {
  const HtmlPage page(out, "Predicted and measured latencies");
  out << "<h1>Predicted and measured latencies</h1>\n<p class=\"dim\">"
      << html_text(fmt::format("on {}, ", validation.device.name))
      << html_text(table::describe(validation.setting)) << "</p>\n";
  print_summary_tiles(predict::summarise(validation.models), validation.level, out);
  print_cautions(out, {}, validation.warnings);
  print_errors(validation, out);
  print_models(validation, out);
  print_device(out, validation.device, validation.setting);
}

}  // namespace oplat::report
