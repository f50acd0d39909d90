// SPDX-License-Identifier: Apache-2.0
/// Of the sum: coefficients first, then each model predicted without its group, then what was left
/// aside. Then what the kernels' own rows taught.
#include "report/text_fit.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

constexpr double kBytesPerMib = 1024.0 * 1024.0;

std::string ramp_text(const estimate::Ramp& ramp) {
  return fmt::format("{} to {}", base::bytes_text(ramp.lo_bytes), base::bytes_text(ramp.hi_bytes));
}

void print_summary(const char* what, const predict::ValidationSummary& summary, std::ostream& out) {
  if (!summary.mape) return;
  out << fmt::format("{}: MAPE {}, bias {}", what, share_text(*summary.mape),
                     signed_text(summary.bias));
  if (summary.within_5_percent) out << ", within 5 % " << share_text(*summary.within_5_percent);
  if (summary.within_10_percent) out << ", within 10 % " << share_text(*summary.within_10_percent);
  if (summary.interval_coverage)
    out << ", inside the interval " << share_text(*summary.interval_coverage);
  out << "\n";
}

/// A table of a quiet machine needs no such line.
void print_load(std::int64_t under_load, std::string_view of_what, std::ostream& out) {
  if (under_load > 0)
    out << fmt::format("{} of the {} {} measured on a busy machine\n", under_load, of_what,
                       under_load == 1 ? "was" : "were");
}

std::string_view sign_text(double value) { return value < 0 ? "-" : "+"; }

/// How far apart a machine's moments are: from the model that feels them least to the one that
/// feels them most.
void print_moments(const predict::FitResult& result, std::ostream& out) {
  if (!(result.fit.moments.sd_log > 0)) return;
  std::string sds = share_text(result.fit.moments.sd_log);
  if (result.fit.moments.per_reach > 0 && !result.left_out.empty()) {
    const auto of_moments = [](const predict::LeftOutModel& model) { return model.moment_sd_log; };
    sds += " to " + share_text(std::ranges::max(result.left_out, {}, of_moments).moment_sd_log);
    sds += ", by how far it feels the last level,";
  }
  out << fmt::format("one model differs by {} from moment to moment, and intervals include that\n",
                     sds);
}

/// "calibrated on 23 whole models". A model whose own time is hardly known says nothing of how far
/// predictions are off, and is fitted to all the same.
std::string calibration_text(const predict::FitResult& result) {
  const std::size_t scored = result.fit.scores.size();
  const auto fitted =
      static_cast<std::size_t>(std::count_if(result.left_out.begin(), result.left_out.end(),
                                             [](const auto& one) { return one.calibrates; }));
  std::string text = "calibrated on " + base::counted(scored, "whole model");
  if (scored < fitted)
    text += fmt::format(" of {} fitted to, since the time of {} is known less well than predicted",
                        fitted, scored == 0 ? "each" : "the rest");
  if (scored == 0) text += "; intervals use start values";
  return text;
}

void print_composition(const CompositionReport& composition, double level, std::ostream& out) {
  const predict::CompositionFit& fit = composition.result.fit;
  out << fmt::format(
      "latency = {} {} {} per kernel {} {} per MiB of results evicted + {:.3f} x kernels{}; spread "
      "{}, correlation between kernels {:.1f}; {}\n",
      base::duration_text(fit.c0_ns), sign_text(fit.c1_ns),
      base::duration_text(std::abs(fit.c1_ns)), sign_text(fit.c2_ns_per_byte),
      base::duration_text(std::abs(fit.c2_ns_per_byte) * kBytesPerMib), fit.scale,
      fit.scale_int8 == fit.scale
          ? std::string()
          : fmt::format(" ({:.3f} x those with 8-bit tensors)", fit.scale_int8),
      share_text(fit.sd_log), fit.measured_correlation, calibration_text(composition.result));
  const auto unsure = [&](predict::Unknown one) {
    return std::sqrt(std::max(0.0, fit.covariance.at(one, one)));
  };
  out << fmt::format(
      "standard deviations of these: {}, {}, {}, {:.3f}\n",
      base::duration_text(unsure(predict::kC0)), base::duration_text(unsure(predict::kC1)),
      base::duration_text(unsure(predict::kC2) * kBytesPerMib), unsure(predict::kScale));
  print_moments(composition.result, out);
  if (fit.foreign_bytes_per_ns > 0)
    out << fmt::format(
        "others bring {:.2g} GB/s into the last level; models feel {:.0f} +- {:.0f} % of that\n",
        fit.foreign_bytes_per_ns, 100 * fit.foreign_share, 100 * fit.foreign_share_sd);
  print_load(composition.result.under_load, "whole models", out);
  if (fit.curve) {
    out << fmt::format("weights leave {}the last-level cache at a footprint of {}\n",
                       fit.curve->own ? fmt::format("the core's own cache at a footprint of {}, ",
                                                    ramp_text(*fit.curve->own))
                                      : std::string(),
                       ramp_text(fit.curve->last));
  }
  TextTable table({{"model"},
                   {"predicted", Align::Right},
                   {"interval " + level_text(level), Align::Right},
                   {"measured", Align::Right},
                   {"error", Align::Right},
                   {"without fit", Align::Right, false},
                   {"inside"}});
  for (const auto& model : composition.result.left_out) {
    const double measured = model.measured.median_ns;
    const bool inside = model.interval.low <= measured && measured <= model.interval.high;
    table.add({base::printable(model.name), base::duration_text(model.predicted_ns),
               range_text(model.interval.low, model.interval.high), base::duration_text(measured),
               signed_text(model.predicted_ns / measured - 1),
               signed_text(model.unfitted_ns / measured - 1),
               std::string(inside ? "yes" : "no") +
                   (model.calibrates ? "" : ", not measured well enough to be used")});
  }
  out << "\n"
         "cross-validation (each model is predicted by a fit to the other groups):\n";
  table.print(out);
  out << "\n";
  print_summary("left out", composition.left_out, out);
  print_summary("without fit", composition.unfitted, out);
  for (const auto& [name, reason] : composition.result.excluded)
    out << fmt::format("not used: {}: {}\n", base::printable(name), reason);
}

}  // namespace

void print_fit(const FitReport& report, std::ostream& out) {
  out << fmt::format("{}: {} on {}\n", base::printable(report.table),
                     base::printable(table::describe(report.setting), 400),
                     base::printable(report.device.name));
  if (report.composition) print_composition(*report.composition, report.level, out);
  if (!report.no_composition.empty())
    out << fmt::format("composition: not fitted: {}\n", report.no_composition);
  if (report.learned) {
    const LearnedReport& learned = *report.learned;
    out << fmt::format(
        "kernels: learned from {} rows in {}, {}; intervals {}\n", learned.rows,
        base::duration_text(1e9 * learned.seconds),
        base::bytes_text(static_cast<double>(learned.bytes)),
        learned.calibrated ? "calibrated by cross-validation" : "are wide guesses, not calibrated");
    print_load(learned.under_load, "rows", out);
  }
  if (!report.no_learned.empty())
    out << fmt::format("kernels: not fitted: {}\n", report.no_learned);
  if (!report.stored) out << "not stored\n";
}

}  // namespace oplat::report
