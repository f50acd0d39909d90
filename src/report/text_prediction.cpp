// SPDX-License-Identifier: Apache-2.0
/// Predictions, estimates and validations for people.
#include "report/text_prediction.hpp"

#include <map>
#include <ostream>
#include <vector>

#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kCostliest = 5;
constexpr std::size_t kUncertainShown = 3;
/// A part of the variance that is worth a word: without it the interval would be a tenth narrower.
constexpr double kMuch = 0.2;
/// ... and of a single kernel.
constexpr double kSome = 0.05;
constexpr std::size_t kShortKey = 100;
constexpr std::size_t kPredictionWholeKey = 1 << 16;
constexpr std::size_t kLongName = 48;
constexpr std::size_t kShortName = 28;

std::string name_text(std::string_view name, std::size_t most = kLongName) {
  return name.empty() ? "-" : base::printable(name, most);
}

/// Exporters put the module's path in front of a kernel's name, whose end says more.
std::string kernel_name_text(std::string_view name, std::size_t most) {
  if (name.size() <= most) return name_text(name, most);
  name.remove_prefix(name.size() - most);
  while (!name.empty() && (static_cast<unsigned char>(name[0]) & 0xc0U) == 0x80)
    name.remove_prefix(1);  // the rest of a character
  return "..." + base::printable(name, most);
}

std::string percent_of_spread(const std::optional<double>& sd_log) {
  return sd_log ? fmt::format("{:.1f} %", 100 * *sd_log) : "-";
}

void print_notes(const std::vector<predict::Mismatch>& mismatch,
                 const std::vector<std::string>& warnings, const Paint& paint, std::ostream& out) {
  for (const auto& one : mismatch)
    out << paint.alarm(fmt::format("mismatch: {}: asked for {}, rows have {}", one.field,
                                   name_text(one.asked), name_text(one.used)))
        << "\n";
  for (const auto& warning : warnings)
    out << "warning: " << base::printable_message(warning) << "\n";
}

std::string rate_text(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.3g}", *rate) : "-";
}

void print_kernel_table(const PredictionReport& report, std::ostream& out) {
  TextTable table({{"name"},
                   {"count", Align::Right},
                   {"each", Align::Right},
                   {"+-", Align::Right},
                   {"share", Align::Right},
                   {"GFLOP/s", Align::Right},
                   {"GB/s", Align::Right},
                   {"bound"},
                   {"of variance", Align::Right},
                   {"source"},
                   {"why"},
                   {"key"}});
  const auto& total = report.prediction.latency_ns;
  for (std::size_t i = 0; i < report.prediction.kernels.size(); ++i) {
    const auto& kernel = report.prediction.kernels[i];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(i);
    std::string share = "-";
    if (kernel.latency_ns && total && *total > 0)
      share = share_text(static_cast<double>(kernel.count) * *kernel.latency_ns / *total);
    table.add({kernel_name_text(kernel.name, kLongName), std::to_string(kernel.count),
               time_text(kernel.latency_ns), percent_of_spread(kernel.sd_log), share,
               rate_text(more.gflops_per_s), rate_text(more.gbytes_per_s), bound_text(more),
               more.uncertainty_share ? share_text(*more.uncertainty_share) : "-",
               std::string(estimate::name(kernel.source)),
               base::printable(kernel.why, kPredictionWholeKey),
               base::printable(kernel.key, kPredictionWholeKey)});
  }
  if (!table.empty()) table.print(out);
}

void print_coverage(const predict::Prediction& prediction, std::ostream& out) {
  const double known = known_ns(prediction);
  TextTable table(
      {{"source"}, {"kernels", Align::Right}, {"time", Align::Right}, {"share", Align::Right}});
  for (const auto& [source, count] : prediction.coverage.count) {
    const auto share = prediction.coverage.time.find(source);
    const bool timed = share != prediction.coverage.time.end();
    table.add({std::string(estimate::name(source)), std::to_string(count),
               timed ? base::duration_text(share->second * known) : "-",
               timed ? share_text(share->second) : "-"});
  }
  if (prediction.coverage.overhead)
    table.add({"overhead", "", base::duration_text(*prediction.coverage.overhead * known),
               share_text(*prediction.coverage.overhead)});
  table.print(out);
}

std::string places_text(const predict::KernelPrediction& kernel, std::size_t places) {
  return kernel_name_text(kernel.name, kShortName) +
         (places > 1 ? fmt::format(" and {} more", places - 1) : "");
}

void print_costliest(const PredictionReport& report, std::ostream& out) {
  const predict::Prediction& prediction = report.prediction;
  const auto costly = costliest(prediction, kCostliest);
  if (costly.empty()) return;
  const double known = known_ns(prediction);
  out << "\ncostliest kernels\n";
  TextTable table({{"share", Align::Right},
                   {"time", Align::Right},
                   {"count", Align::Right},
                   {"GFLOP/s", Align::Right},
                   {"GB/s", Align::Right},
                   {"bound"},
                   {"source"},
                   {"name"},
                   {"key"}});
  for (const CostlyKernel& one : costly) {
    const auto& kernel = prediction.kernels[one.first];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(one.first);
    table.add({share_text(one.time_ns / known), base::duration_text(one.time_ns),
               std::to_string(one.count), rate_text(more.gflops_per_s),
               rate_text(more.gbytes_per_s), bound_text(more),
               std::string(estimate::name(kernel.source)), places_text(kernel, one.places),
               base::printable(kernel.key, kShortKey)});
  }
  table.print(out);
}

void print_uncertainty(const PredictionReport& report, const Options& options, std::ostream& out) {
  const auto& uncertainty = report.diagnosis.uncertainty;
  if (!uncertainty) return;
  const predict::Prediction& p = report.prediction;
  out << fmt::format(
      "\n"
      "shares of the variance: kernels {}, composition {}",
      share_text(uncertainty->kernels), share_text(uncertainty->composition));
  if (uncertainty->mismatch > 0)
    out << fmt::format(", mismatch {}", share_text(uncertainty->mismatch));
  out << "\n";
  TextTable table({{"share", Align::Right},
                   {"+-", Align::Right},
                   {"count", Align::Right},
                   {"source"},
                   {"to do"},
                   {"name"},
                   {"key"}});
  for (std::size_t i = 0; i < uncertainty->most.size() && i < kUncertainShown; ++i) {
    const predict::UncertainKernel& one = uncertainty->most[i];
    const auto& kernel = p.kernels.at(one.first);
    table.add({share_text(one.share), percent_of_spread(kernel.sd_log), std::to_string(one.count),
               std::string(estimate::name(kernel.source)), std::string(name(one.remedy)),
               places_text(kernel, one.places), base::printable(kernel.key, kShortKey)});
  }
  if (!table.empty()) table.print(out);
  for (const std::string& line : remedy_lines(report, options)) out << line << "\n";
}

std::string movement_text(const predict::MovementSum& sum) {
  static const std::map<ir::Movement, std::string_view> kWords = {
      {ir::Movement::Reorder, "layout reorders"},
      {ir::Movement::Copy, "copies between devices"},
      {ir::Movement::Cast, "casts"},
      {ir::Movement::Quantisation, "quantise and dequantise"},
      {ir::Movement::Transpose, "transposes"}};
  return fmt::format("{} {} ({})", sum.kernels, kWords.at(sum.movement),
                     sum.time_share ? share_text(*sum.time_share) : "-");
}

void print_movement(const predict::Diagnosis& diagnosis, std::ostream& out) {
  std::vector<std::string> inserted, own, untold;
  for (const predict::MovementSum& sum : diagnosis.movement)
    (!sum.put_in ? untold : *sum.put_in ? inserted : own).push_back(movement_text(sum));
  if (!diagnosis.movement.empty()) out << "\n";
  const auto line = [&](std::string_view whose, const std::vector<std::string>& sums) {
    if (!sums.empty()) out << whose << ": " << base::join(sums, ", ") << "\n";
  };
  line("data movement inserted by the runtime", inserted);
  line("data movement of the model itself", own);
  line("data movement of unknown origin", untold);
}

}  // namespace

std::string bound_text(const predict::KernelDiagnosis& diagnosis) {
  if (!diagnosis.bound_share) return "-";
  return fmt::format("{} {:.0f} %", diagnosis.bound ? name(*diagnosis.bound) : "none",
                     100 * *diagnosis.bound_share);
}

std::string measured_text(const predict::MeasuredModel& measured) {
  return fmt::format("measured: {} ({}, 95 % CI of the median){}",
                     base::duration_text(measured.median_ns),
                     range_text(measured.ci_ns.low, measured.ci_ns.high),
                     measured.under_load ? ", on a busy machine" : "");
}

std::string composition_text(const predict::Composition& composition) {
  if (composition.fitted)
    return fmt::format("fitted, calibrated on {} whole models", composition.calibration_models);
  return "not fitted (oplat fit does it, from measured models): the interval uses start values";
}

std::vector<std::string> remedy_lines(const PredictionReport& report, const Options& options) {
  std::vector<std::string> lines;
  if (!report.diagnosis.uncertainty) return lines;
  const predict::Prediction& p = report.prediction;
  const predict::Uncertainty& uncertainty = *report.diagnosis.uncertainty;
  bool measure = false, more_blocks = false;
  for (std::size_t i = 0; i < uncertainty.most.size() && i < kUncertainShown; ++i) {
    if (uncertainty.most[i].share < kSome) break;
    measure |= uncertainty.most[i].remedy == predict::Remedy::Measure;
    more_blocks |= uncertainty.most[i].remedy == predict::Remedy::MoreBlocks;
  }
  if (uncertainty.mismatch > kMuch)
    lines.emplace_back("a narrower interval needs rows of the device and setting asked for");
  if (uncertainty.composition > kMuch && options.measures_here)
    lines.emplace_back(p.composition.fitted ? "a narrower interval needs a fit on more whole "
                                              "models: oplat profile --model, then oplat fit"
                                            : "a narrower interval needs a fit on whole models: "
                                              "oplat profile --model, then oplat fit");
  if (measure && !options.measures_here)
    lines.push_back(
        fmt::format("a narrower interval needs rows of the keys above: measure them on the device "
                    "with the tools of {}, then oplat import",
                    name_text(p.setting.runtime)));
  if ((measure || more_blocks) && options.measures_here)
    lines.push_back(
        fmt::format("a narrower interval needs the keys above {} (one a line in FILE): oplat "
                    "profile --keys FILE --table {} --runtime {} --threads {}",
                    measure ? "measured" : "measured in more blocks",
                    base::printable(p.table_path.string(), kShortKey), name_text(p.setting.runtime),
                    p.setting.threads));
  return lines;
}

void print_prediction(const PredictionReport& report, const Options& options, std::ostream& out) {
  const predict::Prediction& p = report.prediction;
  const Paint paint{options.colour};
  out << fmt::format("{}, batch {}, on {}, {}\n", name_text(p.model, kShortKey), p.batch,
                     name_text(p.device.name), base::printable(table::describe(p.setting), 400));
  if (p.latency_ns)
    out << paint.bold(latency_text(*p.latency_ns, p.interval, p.level)) << "\n";
  else
    out << paint.alarm(fmt::format("no latency: {} distinct kernels are missing", p.missing.size()))
        << "\n";
  if (p.measured) out << measured_text(*p.measured) << "\n";
  print_notes(p.mismatch, p.warnings, paint, out);
  out << "\n";
  print_coverage(p, out);
  print_costliest(report, out);
  print_uncertainty(report, options, out);
  print_movement(report.diagnosis, out);
  if (!p.missing.empty()) {
    out << "\n" << paint.alarm("missing kernels") << "\n";
    for (const auto& key : p.missing)
      out << "  " << base::printable(key, kPredictionWholeKey) << "\n";
  }
  if (options.per_op) {
    out << "\nkernels in order of execution\n";
    print_kernel_table(report, out);
  }
  out << fmt::format("\nplan: {}, {} kernels executed, {} of weights and activations\n",
                     base::printable(p.plan_source), p.composition.n_kernels,
                     base::bytes_text(p.reuse_bytes));
  out << "composition: " << composition_text(p.composition) << "\n";
}

void print_estimates(const EstimateListing& listing, const Options& options, std::ostream& out) {
  const Paint paint{options.colour};
  out << fmt::format("on {}, {}\n", name_text(listing.device.name),
                     base::printable(table::describe(listing.setting), 400));
  print_notes(listing.mismatch, listing.warnings, paint, out);
  TextTable table({{"latency"}, {"source"}, {"why"}, {"key"}});
  for (const auto& kernel : listing.kernels) {
    std::string latency = "-";
    if (kernel.latency_ns && kernel.sd_log) {
      const auto bounds = predict::interval(*kernel.latency_ns, *kernel.sd_log, listing.level, {},
                                            kernel.floor_ns.value_or(0));
      latency = bounds ? latency_text(*kernel.latency_ns, *bounds, listing.level)
                       : time_text(kernel.latency_ns);
    }
    table.add({latency, std::string(estimate::name(kernel.source)),
               base::printable(kernel.why, kPredictionWholeKey),
               base::printable(kernel.key, kPredictionWholeKey)});
  }
  table.print(out);
}

void print_validation(const predict::Validation& validation, const Options& options,
                      std::ostream& out) {
  const Paint paint{options.colour};
  out << fmt::format("on {}, {}\n", name_text(validation.device.name),
                     base::printable(table::describe(validation.setting), 400));
  print_notes({}, validation.warnings, paint, out);
  TextTable table({{"model"},
                   {"predicted", Align::Right},
                   {"interval " + level_text(validation.level), Align::Right},
                   {"measured", Align::Right},
                   {"measured CI", Align::Right},
                   {"error", Align::Right},
                   {"inside"}});
  for (const auto& model : validation.models) {
    const auto inside = model.inside();
    table.add({name_text(model.name),
               model.predicted_ns ? time_text(model.predicted_ns) : "missing",
               model.interval ? range_text(model.interval->low, model.interval->high) : "-",
               time_text(model.measured.median_ns),
               range_text(model.measured.ci_low_ns, model.measured.ci_high_ns),
               signed_text(model.signed_error()), inside ? (*inside ? "yes" : "no") : "-"});
  }
  table.print(out);
  const predict::ValidationSummary summary = predict::summarise(validation.models);
  const auto share = [](const std::optional<double>& value) {
    return value ? share_text(*value) : std::string("-");
  };
  out << fmt::format(
      "\n{} of {} models predicted: MAPE {}, bias {}, within 5 % {}, within 10 % {}, inside the "
      "interval {}, "
      "rank correlation {}\n",
      summary.predicted, summary.models, share(summary.mape), signed_text(summary.bias),
      share(summary.within_5_percent), share(summary.within_10_percent),
      share(summary.interval_coverage),
      summary.rank_correlation ? fmt::format("{:.3f}", *summary.rank_correlation) : "-");
}

}  // namespace oplat::report
