// SPDX-License-Identifier: Apache-2.0
/// Predictions, estimates and validations for people.
#include "report/text_prediction.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "base/counted.hpp"
#include "base/layout.hpp"
#include "base/message.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/text_table.hpp"
#include "report/text_values.hpp"
#include "report/text_width.hpp"

namespace oplat::report {
namespace {

constexpr std::size_t kCostliest = 5;
constexpr std::size_t kOperatorsShown = 12;
constexpr std::size_t kUncertainShown = 3;
/// A part of the variance that is worth a word: without it the interval would be a tenth narrower.
constexpr double kMuch = 0.2;
/// ... and of a single kernel.
constexpr double kSome = 0.05;
constexpr std::size_t kShortKey = 100;
/// The table of every kernel is of use from so many columns on.
constexpr std::size_t kKernelTableColumns = 160;
constexpr std::size_t kPredictionWholeKey = 1 << 16;
constexpr std::size_t kLongName = 48;
constexpr std::size_t kShortName = 28;
constexpr std::size_t kMinName = 12;
constexpr std::string_view kDots = "...";
constexpr std::size_t kDotsAndCount = 16;

std::string name_text(std::string_view name, std::size_t most = kLongName) {
  return name.empty() ? "-" : base::printable(name, most);
}

/// Exporters put the module's path in front of a kernel's name, whose end says more.
std::string kernel_name_text(std::string_view name, std::size_t most) {
  if (name.size() <= most) return name_text(name, most);
  name.remove_prefix(name.size() - most);
  while (!name.empty() && (static_cast<unsigned char>(name[0]) & 0xc0U) == 0x80)
    name.remove_prefix(1);  // the rest of a character
  const std::size_t word = name.find_first_not_of("./");
  if (word != std::string_view::npos) name.remove_prefix(word);
  return std::string(kDots) + base::printable(name, most);
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

void print_kernel_table(const PredictionReport& report, const Options& options, std::ostream& out) {
  std::vector<TextTable::Column> columns = {{"name"},
                                            {"count", Align::Right},
                                            {"each", Align::Right},
                                            {"+-", Align::Right},
                                            {"share", Align::Right},
                                            {"GFLOP/s", Align::Right},
                                            {"GB/s", Align::Right},
                                            {"bound"},
                                            {"of variance", Align::Right},
                                            {"source"},
                                            {"kernel"},
                                            {"why"}};
  if (options.keys) columns.push_back({"key"});
  TextTable table(std::move(columns));
  const auto& total = report.prediction.latency_ns;
  for (std::size_t i = 0; i < report.prediction.kernels.size(); ++i) {
    const auto& kernel = report.prediction.kernels[i];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(i);
    std::string share = "-";
    if (kernel.latency_ns && total && *total > 0)
      share = share_text(static_cast<double>(kernel.count) * *kernel.latency_ns / *total);
    std::vector<std::string> cells = {
        kernel_name_text(kernel.name, kLongName),
        std::to_string(kernel.count),
        time_text(kernel.latency_ns),
        percent_of_spread(kernel.sd_log),
        share,
        rate_text(more.gflops_per_s),
        rate_text(more.gbytes_per_s),
        bound_text(more),
        more.uncertainty_share ? share_text(*more.uncertainty_share) : "-",
        std::string(estimate::name(kernel.source)),
        more.label.text,
        base::printable(kernel.why, kPredictionWholeKey)};
    if (options.keys) cells.push_back(base::printable(kernel.key, kPredictionWholeKey));
    table.add(std::move(cells));
  }
  if (!table.empty()) table.print(out);
}

/// Without a latency there is nothing that times are shares of.
void print_coverage(const predict::Prediction& prediction, std::ostream& out) {
  const double known = known_ns(prediction);
  const bool has_total = prediction.latency_ns.has_value();
  std::vector<TextTable::Column> columns = {
      {"source"}, {"calls", Align::Right}, {"time", Align::Right}};
  if (has_total) columns.push_back({"share", Align::Right});
  TextTable table(std::move(columns));
  const auto line = [&](std::string source, std::string calls, const std::optional<double>& share) {
    std::vector<std::string> cells = {std::move(source), std::move(calls),
                                      share ? base::duration_text(*share * known) : "-"};
    if (has_total) cells.push_back(share ? share_text(*share) : "-");
    table.add(std::move(cells));
  };
  for (const auto& [source, count] : prediction.coverage.count) {
    const auto share = prediction.coverage.time.find(source);
    line(std::string(estimate::name(source)), std::to_string(count),
         share != prediction.coverage.time.end() ? std::optional(share->second) : std::nullopt);
  }
  if (prediction.coverage.overhead) line("overhead", "", prediction.coverage.overhead);
  table.print(out);
}

void print_operators(const predict::Diagnosis& diagnosis, std::ostream& out) {
  const OperatorLines lines = operator_lines(diagnosis, kOperatorsShown);
  if (lines.shown.empty()) return;
  std::vector<TextTable::Column> columns = {
      {"operator"}, {"calls", Align::Right}, {"time", Align::Right}};
  if (lines.has_shares) columns.push_back({"share", Align::Right});
  if (lines.has_missing) columns.push_back({"missing kernels", Align::Right});
  columns.push_back({"rate", Align::Right});
  if (lines.has_bounds) columns.push_back({"bound"});
  TextTable table(std::move(columns));
  for (const OperatorLine& one : lines.shown) {
    std::vector<std::string> cells = {one.name, one.calls, one.time};
    if (lines.has_shares) cells.push_back(one.share);
    if (lines.has_missing) cells.push_back(one.missing);
    cells.push_back(one.rate);
    if (lines.has_bounds) cells.push_back(one.bound);
    table.add(std::move(cells));
  }
  out << "\n";
  table.print(out);
}

/// `room`: columns for the name and what follows it; the name gives way.
std::string places_text(const predict::KernelPrediction& kernel, std::size_t places,
                        std::size_t room = kShortName + kDotsAndCount) {
  const std::string more = places > 1 ? fmt::format(" and {} more", places - 1) : "";
  const std::size_t taken = more.size() + kDots.size();
  const std::size_t most = room > taken ? room - taken : 0;
  return kernel_name_text(kernel.name, std::clamp(most, kMinName, kShortName)) + more;
}

/// "12 calls, 106 GFLOP/s, compute 90 %, measured".
std::string facts_text(const predict::KernelDiagnosis& more, const CostlyKernel& one,
                       estimate::Source source) {
  std::vector<std::string> facts = {base::counted(one.count, "call")};
  if (const std::string rate = bounding_rate(more.bound, more.gflops_per_s, more.gbytes_per_s);
      rate != "-")
    facts.push_back(rate);
  if (more.bound_share) facts.push_back(bound_text(more));
  facts.emplace_back(estimate::name(source));
  return base::join(facts, ", ");
}

/// Columns for the line of facts, behind those of share and time; all if there is no width.
std::size_t room_for_facts(std::size_t width, bool has_shares) {
  constexpr std::size_t kShare = 8, kTime = 9;  // as wide as they get, with their gaps
  const std::size_t before = kTime + (has_shares ? kShare : 0);
  return width > before ? width - before : std::size_t{kPredictionWholeKey};
}

/// The name of the kernel gives way, not the facts; on a line of its own if too little were left.
std::vector<std::string> lines_of_facts(const predict::KernelDiagnosis& more,
                                        const CostlyKernel& one,
                                        const predict::KernelPrediction& kernel, std::size_t room) {
  const std::string facts = "  " + facts_text(more, one, kernel.source);
  if (kernel.name.empty()) return {facts};
  const std::size_t taken = facts.size() + 2;
  const std::string places =
      places_text(kernel, one.places, room > taken ? room - taken : std::size_t{0});
  if (taken + base::text_columns(places) <= room) return {facts + "; " + places};
  return {facts, "  " + places_text(kernel, one.places, room)};
}

/// Each with its label, and a line of facts below: side by side they would not fit.
void print_costliest(const PredictionReport& report, const Options& options, std::ostream& out) {
  const predict::Prediction& prediction = report.prediction;
  const auto costly = costliest(prediction, kCostliest);
  if (costly.empty()) return;
  const bool has_total = prediction.latency_ns.has_value();
  const double known = known_ns(prediction);
  out << "\ncostliest kernels\n";
  std::vector<TextTable::Column> columns;
  if (has_total) columns.push_back({"share", Align::Right});
  columns.push_back({"time", Align::Right});
  columns.push_back({"kernel"});
  TextTable table(std::move(columns));
  const auto line = [&](std::string share, std::string time, std::string text) {
    std::vector<std::string> cells;
    if (has_total) cells.push_back(std::move(share));
    cells.push_back(std::move(time));
    cells.push_back(std::move(text));
    table.add(std::move(cells));
  };
  const std::size_t room = room_for_facts(text_width(out), has_total);
  for (const CostlyKernel& one : costly) {
    const auto& kernel = prediction.kernels[one.first];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(one.first);
    line(share_text(one.time_ns / known), base::duration_text(one.time_ns), more.label.text);
    for (const std::string& text : lines_of_facts(more, one, kernel, room)) line("", "", text);
    if (options.keys) line("", "", "  " + base::printable(kernel.key, kPredictionWholeKey));
  }
  table.print(out);
}

/// Every kernel as print_costliest() has some: its table needs more columns than a terminal has.
void print_kernel_lines(const PredictionReport& report, const Options& options, std::ostream& out) {
  const predict::Prediction& prediction = report.prediction;
  const auto& total = prediction.latency_ns;
  TextTable table({{"share", Align::Right}, {"time", Align::Right}, {"kernel"}});
  for (std::size_t i = 0; i < prediction.kernels.size(); ++i) {
    const auto& kernel = prediction.kernels[i];
    const predict::KernelDiagnosis& more = report.diagnosis.kernels.at(i);
    std::optional<double> ns;
    if (kernel.latency_ns) ns = static_cast<double>(kernel.count) * *kernel.latency_ns;
    table.add({ns && total && *total > 0 ? share_text(*ns / *total) : "-", time_text(ns),
               more.label.text});
    for (const std::string& text : lines_of_facts(more, {i, kernel.count, 1, 0}, kernel,
                                                  room_for_facts(text_width(out), true)))
      table.add({"", "", text});
    if (kernel.sd_log)
      table.add({"", "",
                 fmt::format(
                     "  +-{}{}", percent_of_spread(kernel.sd_log),
                     more.uncertainty_share
                         ? fmt::format(", {} of the variance", share_text(*more.uncertainty_share))
                         : "")});
    if (!kernel.why.empty())
      table.add({"", "", "  " + base::printable(kernel.why, kPredictionWholeKey)});
    if (options.keys) table.add({"", "", "  " + base::printable(kernel.key, kPredictionWholeKey)});
  }
  if (!table.empty()) table.print(out);
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
                   {options.keys ? "key" : "kernel"}});
  const std::size_t width = text_width(out);
  const bool is_narrow = width > 0 && width < kKernelTableColumns;
  for (std::size_t i = 0; i < uncertainty->most.size() && i < kUncertainShown; ++i) {
    const predict::UncertainKernel& one = uncertainty->most[i];
    const auto& kernel = p.kernels.at(one.first);
    table.add(
        {share_text(one.share), percent_of_spread(kernel.sd_log), std::to_string(one.count),
         std::string(estimate::name(kernel.source)), std::string(name(one.remedy)),
         is_narrow ? kernel_name_text(kernel.name, kMinName) : places_text(kernel, one.places),
         options.keys ? base::printable(kernel.key, kPredictionWholeKey)
                      : report.diagnosis.kernels.at(one.first).label.text});
  }
  if (!table.empty()) table.print(out);
  for (const std::string& line : remedy_lines(report, options)) out << line << "\n";
}

std::string movement_text(const predict::MovementSum& sum) {
  using Words = std::pair<std::string_view, std::string_view>;
  static const std::map<ir::Movement, Words> kWords = {
      {ir::Movement::Reorder, {"layout reorder", "layout reorders"}},
      {ir::Movement::Copy, {"device copy", "device copies"}},
      {ir::Movement::Cast, {"cast", "casts"}},
      {ir::Movement::Quantisation,
       {"quantise or dequantise kernel", "quantise or dequantise kernels"}},
      {ir::Movement::Transpose, {"transpose", "transposes"}}};
  const auto& [one, many] = kWords.at(sum.movement);
  return fmt::format("{} ({})", base::counted(sum.kernels, one, many),
                     sum.time_share ? share_text(*sum.time_share) : "-");
}

void print_movement(const predict::Diagnosis& diagnosis, std::ostream& out) {
  std::vector<std::string> inserted, own, untold;
  for (const predict::MovementSum& sum : diagnosis.movement)
    (!sum.inserted_by_runtime   ? untold
     : *sum.inserted_by_runtime ? inserted
                                : own)
        .push_back(movement_text(sum));
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

std::string bounding_rate(const std::optional<predict::Bound>& bound,
                          const std::optional<double>& gflops_per_s,
                          const std::optional<double>& gbytes_per_s) {
  const bool by_bytes = bound ? bound == predict::Bound::Memory : !gflops_per_s;
  if (bound == predict::Bound::Overhead) return "-";
  if (by_bytes || !gflops_per_s || *gflops_per_s <= 0)
    return gbytes_per_s ? fmt::format("{:.3g} GB/s", *gbytes_per_s) : "-";
  return fmt::format("{:.3g} GFLOP/s", *gflops_per_s);
}

OperatorLines operator_lines(const predict::Diagnosis& diagnosis, std::size_t max) {
  OperatorLines lines;
  predict::OperatorSum others;
  std::size_t left = 0;
  const auto add = [&](const predict::OperatorSum& sum, std::string name, std::string rate) {
    lines.has_shares = lines.has_shares || sum.time_share.has_value();
    lines.has_missing = lines.has_missing || sum.missing > 0;
    lines.has_bounds = lines.has_bounds || sum.bound.has_value();
    lines.shown.push_back({std::move(name), std::to_string(sum.calls),
                           sum.missing < sum.kernels ? base::duration_text(sum.time_ns) : "-",
                           sum.time_share ? share_text(*sum.time_share) : "-",
                           sum.missing > 0 ? fmt::format("{} of {}", sum.missing, sum.kernels) : "",
                           std::move(rate),
                           sum.bound ? std::string(predict::name(*sum.bound)) : "-"});
  };
  for (const predict::OperatorSum& sum : diagnosis.operators) {
    if (sum.time_ns <= 0 && sum.missing == 0) continue;
    if (lines.shown.size() < max) {
      add(sum, sum.type, bounding_rate(sum.bound, sum.gflops_per_s, sum.gbytes_per_s));
      continue;
    }
    ++left;
    others.calls += sum.calls;
    others.kernels += sum.kernels;
    others.missing += sum.missing;
    others.time_ns += sum.time_ns;
    if (sum.time_share) others.time_share = others.time_share.value_or(0) + *sum.time_share;
  }
  if (left > 0) add(others, fmt::format("{} others", left), "-");
  return lines;
}

std::vector<std::string> missing_lines(const predict::Prediction& prediction) {
  std::vector<std::string> lines = {predict::missing_text(prediction)};
  for (std::string& line : predict::missing_remedies(prediction)) lines.push_back(std::move(line));
  return lines;
}

std::string measured_text(const predict::MeasuredModel& measured) {
  return fmt::format("measured: {} ({}, 95 % CI of the median){}",
                     base::duration_text(measured.median_ns),
                     range_text(measured.ci_ns.low, measured.ci_ns.high),
                     measured.under_load ? ", on a busy machine" : "");
}

std::string composition_text(const predict::Composition& composition) {
  if (composition.fitted)
    return fmt::format(
        "fitted, calibrated on {}{}", base::counted(composition.calibration_models, "whole model"),
        composition.calibration_models == 0 ? ": the interval uses start values" : "");
  if (composition.left_out)
    return "not fitted: of the models measured, this one is left out of its own prediction";
  return "not fitted (oplat fit does it, from measured models): the interval uses start values";
}

std::string others_text(const predict::Composition& composition) {
  if (!(composition.foreign_bytes > 0)) return {};
  return fmt::format(
      "other programs are taken to bring {} into the last-level cache during one run",
      base::bytes_text(composition.foreign_bytes));
}

std::vector<std::string> remedy_lines(const PredictionReport& report, const Options& options) {
  std::vector<std::string> lines;
  if (!report.diagnosis.uncertainty) return lines;
  const predict::Prediction& p = report.prediction;
  const predict::Uncertainty& uncertainty = *report.diagnosis.uncertainty;
  bool measure = false, more_blocks = false, loaded = false;
  for (std::size_t i = 0; i < uncertainty.most.size() && i < kUncertainShown; ++i) {
    if (uncertainty.most[i].share < kSome) break;
    measure |= uncertainty.most[i].remedy == predict::Remedy::Measure;
    if (uncertainty.most[i].remedy != predict::Remedy::MoreBlocks) continue;
    more_blocks = true;
    // Rows that have all their blocks get others for being asked.
    const std::string& group = p.kernels.at(uncertainty.most[i].first).group;
    loaded |= group == estimate::kUnderLoadGroup || group == estimate::kNeverQuietGroup;
  }
  if (uncertainty.mismatch > kMuch)
    lines.emplace_back("a narrower interval needs rows of the device and setting asked for");
  // No model mends how far apart the moments of a machine are.
  if (uncertainty.moments > kMuch)
    lines.push_back(fmt::format(
        "a narrower interval needs a machine that nobody shares: such a network takes {:.1f} % "
        "more or less from moment to moment",
        100 * p.moment_sd_log));
  if (uncertainty.composition - uncertainty.moments - uncertainty.control > kMuch &&
      options.measures_here)
    lines.push_back(fmt::format("a narrower interval needs {}whole models: {}",
                                p.composition.fitted || p.composition.left_out ? "more " : "",
                                predict::profile_another(p.table_path.string(), p.setting)));
  if (measure && !options.measures_here)
    lines.push_back(fmt::format(
        "a narrower interval needs rows of the kernels above: measure them on the device "
        "with the tools of {}, then oplat import (--keys shows their keys)",
        name_text(p.setting.runtime)));
  if ((measure || more_blocks) && options.measures_here && !p.help.profile_command.empty())
    lines.push_back(fmt::format("a narrower interval needs the kernels above {}: {}{}",
                                measure ? "measured" : "measured in more blocks",
                                p.help.profile_command, loaded ? " --retry-loaded" : ""));
  return lines;
}

void print_operators_and_costliest(const PredictionReport& report, const Options& options,
                                   std::ostream& out) {
  print_operators(report.diagnosis, out);
  print_costliest(report, options, out);
}

void print_prediction(const PredictionReport& report, const Options& options, std::ostream& out) {
  const predict::Prediction& p = report.prediction;
  const Paint paint{options.colour};
  out << fmt::format("{}, batch {}, on {}, {}\n", name_text(p.model, kShortKey), p.batch,
                     name_text(p.device.name), base::printable(table::describe(p.setting), 400));
  if (p.latency_ns) out << paint.bold(latency_text(*p.latency_ns, p.interval, p.level)) << "\n";
  if (p.latency_ns && p.batch > 1)
    out << fmt::format("{} per image\n",
                       base::duration_text(*p.latency_ns / static_cast<double>(p.batch)));
  if (p.measured) out << measured_text(*p.measured) << "\n";
  if (!p.missing.empty()) {
    const std::vector<std::string> lines = missing_lines(p);
    out << paint.alarm((p.latency_ns ? "" : "no latency: ") + lines.front()) << "\n";
    for (std::size_t i = 1; i < lines.size(); ++i)
      out << base::printable(lines[i], kPredictionWholeKey) << "\n";
  }
  print_notes(p.mismatch, p.warnings, paint, out);
  out << "\n";
  print_coverage(p, out);
  print_operators_and_costliest(report, options, out);
  print_uncertainty(report, options, out);
  print_movement(report.diagnosis, out);
  if (options.per_op) {
    if (!p.missing.empty()) {
      out << "\n" << paint.alarm("missing kernels") << "\n";
      for (const auto& key : p.missing)
        out << "  " << base::printable(key, kPredictionWholeKey) << "\n";
    }
    out << "\nkernels in order of execution\n";
    const std::size_t width = text_width(out);
    if (width > 0 && width < kKernelTableColumns)
      print_kernel_lines(report, options, out);
    else
      print_kernel_table(report, options, out);
  }
  out << fmt::format("\nplan: {}, {} kernel calls, {} of weights and activations\n",
                     base::printable(p.plan_source), p.composition.n_kernels,
                     base::bytes_text(p.reuse_bytes));
  out << "composition: " << composition_text(p.composition) << "\n";
  if (const std::string others = others_text(p.composition); !others.empty())
    out << "others: " << others << "\n";
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
                   {"measured CI", Align::Right, false},
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
