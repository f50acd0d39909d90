// SPDX-License-Identifier: Apache-2.0
/// Comma-separated values: one line per kernel, model, context or row.
#include <initializer_list>
#include <ostream>

#include "base/text.hpp"
#include "report/csv.hpp"
#include "report/csv_accuracy.hpp"
#include "report/csv_verification.hpp"
#include "report/documents.hpp"
#include "report/renderers.hpp"

namespace oplat::report {
namespace {

class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(out) {}

  void operator()(const PredictionReport& report) {
    line({"name", "key", "count", "latency_ns", "sd_log", "source", "why", "flops", "bytes",
          "gflops_per_s", "gbytes_per_s", "bound", "bound_share", "uncertainty_share", "movement"});
    for (std::size_t i = 0; i < report.prediction.kernels.size(); ++i) {
      const auto& kernel = report.prediction.kernels[i];
      const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(i);
      line({csv_field(kernel.name), csv_field(kernel.key), csv_number(kernel.count),
            csv_number(kernel.latency_ns), csv_number(kernel.sd_log),
            std::string(estimate::document_name(kernel.source)), csv_field(kernel.why),
            csv_number(more.flops), csv_number(more.bytes), csv_number(more.gflops_per_s),
            csv_number(more.gbytes_per_s), more.bound ? std::string(name(*more.bound)) : "",
            csv_number(more.bound_share), csv_number(more.uncertainty_share),
            more.movement ? std::string(name(*more.movement)) : ""});
    }
  }

  void operator()(const ForeignReport& foreign) { write_csv(foreign->sheet(), out_); }

  void operator()(const Comparison& comparison) {
    line({"name", "latency_ns", "interval_lo_ns", "interval_hi_ns"});
    for (const auto& model : comparison.models) {
      std::optional<double> lo, hi;
      if (model.interval) lo = model.interval->low, hi = model.interval->high;
      line({csv_field(model.model), csv_number(model.latency_ns), csv_number(lo), csv_number(hi)});
    }
  }

  void operator()(const FitReport& fit) {
    line({"model", "group", "predicted_ns", "interval_low_ns", "interval_high_ns", "measured_ns",
          "unfitted_ns", "calibrates"});
    if (!fit.composition) return;
    for (const auto& model : fit.composition->result.left_out)
      line({csv_field(model.name), csv_field(model.group), csv_number(model.predicted_ns),
            csv_number(model.interval.low), csv_number(model.interval.high),
            csv_number(model.measured.median_ns), csv_number(model.unfitted_ns),
            model.calibrates ? "true" : "false"});
  }

  void operator()(const AccuracyReport& accuracy) { write_accuracy_csv(accuracy, out_); }
  void operator()(const Verification& verification) { write_verification_csv(verification, out_); }
  void operator()(const EstimateListing& listing) {
    line({"name", "key", "count", "latency_ns", "sd_log", "source", "why"});
    for (const auto& kernel : listing.kernels)
      line({csv_field(kernel.name), csv_field(kernel.key), csv_number(kernel.count),
            csv_number(kernel.latency_ns), csv_number(kernel.sd_log),
            std::string(estimate::document_name(kernel.source)), csv_field(kernel.why)});
  }

  void operator()(const table::Plan& plan) {
    line({"name", "key", "count"});
    for (const auto& kernel : plan.kernels)
      line({csv_field(kernel.name), csv_field(kernel.key), csv_number(kernel.count)});
  }

  /// What a kernel does, in words, in further columns; a runtime's plan has none.
  void operator()(const RulesPlan& made) {
    if (made.words.empty() && !made.plan.source.starts_with("rules:")) return (*this)(made.plan);
    line({"name", "key", "count", "op", "filter", "attributes"});
    for (std::size_t i = 0; i < made.plan.kernels.size(); ++i) {
      const auto& kernel = made.plan.kernels[i];
      const RulesPlan::Words& words = made.words.at(i);
      line({csv_field(kernel.name), csv_field(kernel.key), csv_number(kernel.count),
            csv_field(words.op), csv_field(words.filter), csv_field(words.attributes)});
    }
  }

  template <class Document>
  requires requires(const Document& other, std::ostream& out) { write_csv(other, out); }
  void operator()(const Document& other) { write_csv(other, out_); }

  void operator()(const predict::Validation& validation) {
    line({"name", "predicted_ns", "interval_lo_ns", "interval_hi_ns", "measured_ns",
          "measured_ci_lo_ns", "measured_ci_hi_ns", "signed_error", "inside_interval"});
    for (const auto& model : validation.models) {
      std::optional<double> lo, hi;
      if (model.interval) lo = model.interval->low, hi = model.interval->high;
      const auto inside = model.inside();
      line({csv_field(model.name), csv_number(model.predicted_ns), csv_number(lo), csv_number(hi),
            csv_number(model.measured.median_ns), csv_number(model.measured.ci_low_ns),
            csv_number(model.measured.ci_high_ns), csv_number(model.signed_error()),
            inside ? (*inside ? "true" : "false") : ""});
    }
  }

  void operator()(const TableInfo& info) {
    line({"device", "runtime", "version", "build", "precision", "threads", "options", "rows",
          "timings"});
    for (const auto& one : info.contexts) {
      const table::Setting& setting = one.setting;
      line({csv_field(one.device.name), csv_field(setting.runtime), csv_field(setting.version),
            csv_field(setting.build), csv_field(setting.precision), csv_number(setting.threads),
            csv_field(options(setting)), csv_number(one.rows), csv_number(one.timings)});
    }
  }

  void operator()(const RowListing& listing) {
    line({"id", "device", "runtime", "version", "precision", "threads", "options", "key",
          "reuse_bytes", "origin", "outcome", "median_ns", "sd_log", "ci_low_ns", "ci_high_ns",
          "blocks", "reason"});
    for (const auto& one : listing.rows) {
      const table::Row& row = one.row.row;
      std::optional<double> median, sd, low, high;
      std::string blocks, reason;
      std::visit(
          [&](const auto& outcome) {
            if constexpr (requires { outcome.reason; }) {
              reason = outcome.reason;
            } else {
              median = outcome.median_ns, sd = outcome.sd_log, low = outcome.ci_low_ns,
              high = outcome.ci_high_ns;
              blocks = csv_number(outcome.blocks);
            }
          },
          row.outcome);
      line({csv_number(one.row.id), csv_field(one.device), csv_field(one.setting.runtime),
            csv_field(one.setting.version), csv_field(one.setting.precision),
            csv_number(one.setting.threads), csv_field(options(one.setting)), csv_field(row.key),
            csv_number(row.reuse_bytes), csv_field(row.origin),
            std::string(table::outcome_name(row.outcome)), csv_number(median), csv_number(sd),
            csv_number(low), csv_number(high), blocks, csv_field(reason)});
    }
  }

 private:
  void line(std::initializer_list<std::string> fields) { out_ << csv_line(fields); }

  static std::string options(const table::Setting& setting) {
    std::string text;
    for (const auto& [name, value] : setting.options)
      text += (text.empty() ? "" : ";") + name + "=" + value;
    return text;
  }

  std::ostream& out_;
};

class Csv final : public Renderer {
  std::string_view do_name() const override { return "csv"; }
  Status do_render(const ReportModel& model, std::ostream& out) const override {
    std::visit(Writer(out), model.subject);
    return {};
  }
};

}  // namespace

std::unique_ptr<Renderer> create_csv_renderer() { return std::make_unique<Csv>(); }

}  // namespace oplat::report
