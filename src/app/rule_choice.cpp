// SPDX-License-Identifier: Apache-2.0
/// Which rules, and in which precision.
#include "app/rule_choice.hpp"

#include <algorithm>

#include "app/rules_plan.hpp"
#include "app/table_source.hpp"
#include "base/text.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/registry.hpp"
#include "formats/paddle.hpp"
#include "formats/paddle/shapes.hpp"
#include "plan/rules.hpp"

namespace oplat::app {
namespace {

/// As populations have it: a factor of two either way.
constexpr double kOtherPrecisionSd = 0.7;

std::optional<ir::Dtype> dtype_of(std::string_view precision) {
  if (precision == "fp32") return ir::Dtype::F32;
  if (precision == "fp16") return ir::Dtype::F16;
  if (precision == "int8") return ir::Dtype::I8;
  return std::nullopt;
}

/// What the kernels are to be asked for in.
Result<std::string> plan_precision(const table::Table& table, predict::Selection& selection,
                                   const std::string& model, const std::string& held,
                                   const predict::RowFilter& filter) {
  const std::string& rows = selection.setting.precision;
  OPLAT_CHECK(check_precision(model, held, filter.precision));
  const std::string wanted = filter.precision                   ? *filter.precision
                             : held == "fp32" && rows == "fp16" ? rows
                                                                : held;
  if (wanted == rows || !dtype_of(rows)) return wanted;
  OPLAT_TRY(stated, stated_precisions(table));
  if (std::find(stated.begin(), stated.end(), wanted) != stated.end()) return wanted;
  // The filter's own precision was compared when the rows were selected, and a mismatch allowed.
  if (filter.precision) return rows;
  if (!filter.allow_setting_mismatch) {
    return fail(Code::Refused,
                "{}: the model computes in {}, but the rows of {} are in {}; use a table measured "
                "in {}, or add --allow-setting-mismatch",
                model, wanted, table.path().string(), base::printable(rows), wanted);
  }
  selection.mismatch.push_back({"precision", wanted, rows, kOtherPrecisionSd});
  return rows;
}

/// Kernels in `precision`, of those whose keys state it; the others in that of the rows' setting,
/// under which they are filed.
Status set_precision(table::Plan& plan, std::string_view precision, std::string_view of_rows) {
  const auto dtype = dtype_of(precision);
  if (!dtype) return {};
  const ir::Dtype unstated = dtype_of(of_rows).value_or(*dtype);
  for (table::PlanKernel& kernel : plan.kernels) {
    OPLAT_TRY(key, ir::parse(kernel.key));
    std::string text = ir::print(compat::paddleslim::paddle_in_precision(key, *dtype));
    const bool stated = compat::paddleslim::states_paddle_precision(text, precision);
    kernel.key = stated
                     ? std::move(text)
                     : ir::print(compat::paddleslim::paddle_in_precision(std::move(key), unstated));
  }
  return {};
}

/// A rule set's plan and how much of it the table holds. Views that it does not time are not part
/// of either.
struct Candidate {
  std::string name;
  table::Plan plan;
  std::size_t kernels = 0;
  std::size_t found = 0;
  std::size_t strange = 0;  ///< of operators that no row of the table is of, whatever their sizes
};

/// By the operators first: which those are depends on the version alone, what is found also on
/// batch and sizes.
bool fits_worse(const Candidate& a, const Candidate& b) {
  return a.strange != b.strange ? a.strange > b.strange : a.found < b.found;
}

Status count(const predict::Predictor& measured, Candidate& candidate) {
  OPLAT_TRY(kernels, measured.estimate(candidate.plan.kernels, std::nullopt,
                                       predict::MissingPolicy::Error, false));
  for (const predict::KernelPrediction& kernel : kernels) {
    if (kernel.source == estimate::Source::Free) continue;
    ++candidate.kernels;
    if (kernel.latency_ns) {
      ++candidate.found;
      continue;
    }
    OPLAT_TRY(timed, measured.times_operator(kernel.key));
    if (!timed) ++candidate.strange;
  }
  return {};
}

Result<std::vector<std::string>> names_for(const predict::Selection& selection,
                                           const std::string& asked) {
  if (!asked.empty()) return std::vector{asked};
  std::vector<std::string> names = rule_sets_for(selection.setting.runtime);
  if (names.empty()) {
    return fail(Code::Usage, "--plan rules: no rules exist for {}; available: {}",
                base::printable(selection.setting.runtime),
                base::join(plan::rule_set_names(compat::rule_sets()), ", "));
  }
  for (const std::string& name : names)
    if (!selection.setting.version.empty() && name.ends_with("@" + selection.setting.version))
      return std::vector{name};
  return names;
}

std::string counts_text(const Candidate& one) {
  return fmt::format(
      "{} of {} kernels{}", one.found, one.kernels,
      one.strange > 0 ? fmt::format(" (it has no row at all of the operators of {})", one.strange)
                      : std::string());
}

void say_which(const std::vector<Candidate>& candidates, const Candidate& best,
               const std::string& version, bool asked, Events& events) {
  const std::string why =
      version.empty() ? "the rows do not state their runtime's version"
                      : fmt::format("there are no rules for version {}", base::printable(version));
  std::string others;
  for (const Candidate& one : candidates)
    if (one.name != best.name) others += fmt::format("; with {1}, {0}", counts_text(one), one.name);
  const bool alike = std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
    return fits_worse(one, best) || fits_worse(best, one);
  });
  if (candidates.size() == 1) {
    // One that was asked for by its name, or the version of the rows.
    if (!version.empty() && !asked && !best.name.ends_with("@" + version))
      events.warn(fmt::format("{}: planned by {}", why, best.name));
  } else if (alike && best.found == 0) {
    events.warn(
        fmt::format("{}, and no rules lead to any of the {} kernels in the table: planned by {}",
                    why, best.kernels, best.name));
  } else if (!alike) {
    events.warn(fmt::format("{}: planned by {}, with which the table holds {}{}", why, best.name,
                            counts_text(best), others));
  }
}

void say_what_was_not_compared(const RulesModel& model, const std::string& name, Events& events) {
  const auto rules = plan::rules_named(name, compat::rule_sets());
  const std::string note = rules ? not_compared_note(model, *rules) : std::string();
  if (!note.empty()) events.warn(note);
}

/// PaddleSlim asks Paddle-Lite's optimiser for sparse kernels, which rules cannot: they know no
/// values.
Status say_what_is_pruned(const RulesModel& model, Events& events) {
  constexpr double kThreshold = 0.4;  // PaddleSlim's --sparse_threshold
  if (model.graph.nodes.empty() ||
      model.graph.nodes.front().domain != formats::paddle::kPaddleDomain)
    return {};
  OPLAT_TRY(source, base::Source::open(model.path));
  OPLAT_TRY(pruned, formats::paddle::count_pruned_filters(source, kThreshold));
  if (pruned == 0) return {};
  events.warn(fmt::format(
      "{} pointwise convolutions have filters with {:.0f} % zeros or more; Paddle-Lite would run "
      "them as sparse_conv2d, but they are predicted as dense ones, which are slower",
      pruned, 100 * kThreshold));
  return {};
}

}  // namespace

std::vector<std::string> rule_sets_for(const std::string& runtime) {
  std::vector<std::string> names;
  for (const std::string& name : plan::rule_set_names(compat::rule_sets())) {
    const auto rules = plan::built_in_rules(name, compat::rule_sets());
    if (rules && rules->runtime == runtime) names.push_back(name);
  }
  return names;
}

std::string model_precision(const ir::Graph& graph) {
  const auto quantises = [](const ir::Node& node) {
    return node.op.find("quantize") != std::string::npos ||
           node.op.find("Quantize") != std::string::npos;
  };
  if (std::any_of(graph.nodes.begin(), graph.nodes.end(), quantises)) return "int8";
  const auto half = [](const ir::TensorInfo& tensor) {
    return tensor.constant && tensor.dtype == ir::Dtype::F16;
  };
  return std::any_of(graph.tensors.begin(), graph.tensors.end(), half) ? "fp16" : "fp32";
}

Status check_precision(const std::string& model, const std::string& held,
                       const std::optional<std::string>& asked) {
  if (!asked || !dtype_of(*asked) || *asked == held || (*asked == "fp16" && held == "fp32"))
    return {};
  return fail(Code::Usage, "{}: the model computes in {}, not in {}{}", model, held, *asked,
              *asked == "int8" ? "; quantise it first" : "");
}

Result<table::Plan> rule_plan(const table::Table& table, predict::Selection& selection,
                              const std::string& model, const RuleRequest& request,
                              Events& events) {
  OPLAT_TRY(read, read_rules_model(model, request.shapes));
  OPLAT_TRY(names, names_for(selection, request.name));
  OPLAT_CHECK(say_what_is_pruned(read, events));
  const std::string held = model_precision(read.graph);
  OPLAT_TRY(precision, plan_precision(table, selection, model, held, request.rows));
  std::optional<predict::Predictor> measured;
  if (names.size() > 1) {
    OPLAT_TRY(created, predict::Predictor::create(table, selection, std::nullopt));
    measured.emplace(std::move(created));
  }
  std::vector<Candidate> candidates;
  for (const std::string& name : names) {
    OPLAT_TRY(rules, plan::rules_named(name, compat::rule_sets()));
    const std::vector<std::string> precisions = precision_options(rules);
    const bool casts =
        std::find(precisions.begin(), precisions.end(), precision) != precisions.end();
    plan::RuleOptions options = casts ? plan::RuleOptions{precision} : plan::RuleOptions();
    OPLAT_TRY(block,
              plan::block_option(rules, selection.device.architecture, selection.device.isa));
    if (block) options.insert(*block);
    OPLAT_TRY(made, plan_model_by_rules(read, rules, options));
    if (!casts && precision != held)
      OPLAT_CHECK(set_precision(made.plan, precision, selection.setting.precision));
    Candidate& candidate = candidates.emplace_back();
    candidate.name = name;
    candidate.plan = std::move(made.plan);
    if (measured) OPLAT_CHECK(count(*measured, candidate));
  }
  // Newest first, and the first of equals is taken.
  const auto best = std::max_element(candidates.begin(), candidates.end(), fits_worse);
  say_which(candidates, *best, selection.setting.version, !request.name.empty(), events);
  say_what_was_not_compared(read, best->name, events);
  return std::move(best->plan);
}

}  // namespace oplat::app
