// SPDX-License-Identifier: Apache-2.0
/// Reports for people; those about plans and tables are here, the longer ones in
/// text_prediction.cpp.
#include <algorithm>
#include <ostream>
#include <sstream>

#include "base/counted.hpp"
#include "base/layout.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "ir/label.hpp"
#include "report/documents.hpp"
#include "report/renderers.hpp"
#include "report/text_accuracy.hpp"
#include "report/text_fit.hpp"
#include "report/text_prediction.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"
#include "report/text_verification.hpp"
#include "report/text_width.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kWholeKey = 1 << 16;

bool has_labels(const Options& options) { return options.labels != nullptr && !options.keys; }

std::string kernel_title(const Options& options) { return has_labels(options) ? "kernel" : "key"; }

std::string kernel_text(const std::string& key, const Options& options) {
  return has_labels(options) ? ir::label_of(key, *options.labels).text
                             : base::printable(key, kWholeKey);
}

void print_plan(const table::Plan& plan, const Options& options, std::ostream& out) {
  out << fmt::format("{}, batch {}, plan from {}: {} kernels, {} of weights, {} of activations\n",
                     base::printable(plan.model), plan.batch, base::printable(plan.source),
                     plan.kernels.size(), base::bytes_text(plan.weight_bytes),
                     base::bytes_text(plan.activation_bytes));
  TextTable table({{"count", Align::Right}, {"name"}, {kernel_title(options)}});
  for (const auto& kernel : plan.kernels)
    table.add({std::to_string(kernel.count),
               kernel.name.empty() ? "-" : base::printable(kernel.name),
               kernel_text(kernel.key, options)});
  if (!table.empty()) table.print(out);
}

class TextWriter {
 public:
  TextWriter(const Options& options, std::ostream& out) : options_(options), out_(out) {}

  void operator()(const PredictionReport& report) { print_prediction(report, options_, out_); }
  void operator()(const predict::Validation& validation) {
    print_validation(validation, options_, out_);
  }
  void operator()(const ForeignReport& foreign) { out_ << foreign->text(); }
  void operator()(const FitReport& fit) { print_fit(fit, out_); }
  void operator()(const AccuracyReport& accuracy) { print_accuracy(accuracy, out_); }
  void operator()(const Verification& verification) {
    print_verification(verification, options_, out_);
  }
  void operator()(const EstimateListing& listing) { print_estimates(listing, options_, out_); }

  void operator()(const Comparison& comparison) {
    std::string_view letter = "A";
    std::size_t width = 0;
    for (const predict::Prediction& p : comparison.models)
      width = std::max(width, base::text_columns(base::printable(p.model)));
    for (const predict::Prediction& p : comparison.models) {
      out_ << fmt::format(
          "{}  {:<{}}  {}\n", letter, base::printable(p.model), width,
          p.latency_ns ? latency_text(*p.latency_ns, p.interval, p.level) : "no latency");
      letter = "B";
    }
    if (const auto ratio = comparison.ratio())
      out_ << fmt::format(
          "B takes {:.3f} times as long as A{}\n", *ratio,
          comparison.intervals_apart() ? "" : "; the intervals overlap, so the order is uncertain");
  }

  void operator()(const table::Plan& plan) { print_plan(plan, options_, out_); }

  void operator()(const RulesPlan& made) { (*this)(made.plan); }

  void operator()(const PlanList& list) {
    bool first = true;
    for (const auto& entry : list.models) {
      if (!first) out_ << "\n";
      first = false;
      if (entry.plan)
        (*this)(*entry.plan);
      else if (entry.error)
        out_ << base::printable_message(entry.error->message) << "\n";
    }
  }

  template <class Document>
  requires requires(const Document& other, std::ostream& out) { print_document(other, out); }
  void operator()(const Document& other) { print_document(other, out_); }

  void operator()(const TableInfo& info) {
    out_ << fmt::format("{}: schema {}, {}, {}, {}\n", base::printable(info.path, 400),
                        info.schema_version, base::counted(info.campaigns, "campaign"),
                        base::counted(info.plans, "plan"),
                        base::counted(info.models, "whole model"));
    TextTable table({{"device"}, {"setting"}, {"rows", Align::Right}, {"timed", Align::Right}});
    for (const auto& line : info.contexts)
      table.add({base::printable(line.device.name),
                 base::printable(table::describe(line.setting), 400), std::to_string(line.rows),
                 std::to_string(line.timings)});
    if (!table.empty()) table.print(out_);
  }

  void operator()(const RowListing& listing) {
    TextTable table({{"row", Align::Right},
                     {"median", Align::Right},
                     {"+-", Align::Right},
                     {"reuse", Align::Right},
                     {"outcome"},
                     {kernel_title(options_)}});
    for (const auto& line : listing.rows) {
      const table::Row& row = line.row.row;
      const auto* timing = std::get_if<table::Timing>(&row.outcome);
      table.add({std::to_string(line.row.id),
                 timing != nullptr ? base::duration_text(timing->median_ns) : "-",
                 timing != nullptr ? share_text(timing->sd_log) : "-",
                 row.reuse_bytes ? base::bytes_text(*row.reuse_bytes) : "-",
                 std::string(table::outcome_name(row.outcome)), kernel_text(row.key, options_)});
    }
    table.print(out_);
    if (listing.cut)
      out_ << fmt::format("the first {} rows; the table holds more\n", listing.rows.size());
  }

 private:
  const Options& options_;
  std::ostream& out_;
};

class Text final : public Renderer {
  std::string_view do_name() const override { return "text"; }
  Status do_render(const ReportModel& model, std::ostream& out) const override {
    std::ostringstream text;
    set_text_width(text, model.options.columns);
    if (model.options.text)
      text << *model.options.text;
    else
      std::visit(TextWriter(model.options, text), model.subject);
    const std::string lines = base::printable_lines(text.view(), model.options.colour);
    out << (model.options.columns > 0 ? base::wrap_lines(lines, model.options.columns) : lines);
    return {};
  }
};

}  // namespace

std::unique_ptr<Renderer> create_text_renderer() { return std::make_unique<Text>(); }

}  // namespace oplat::report
