// SPDX-License-Identifier: Apache-2.0
/// A model file through its reader and fusion rules.
#include "app/rules_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/model_inputs.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "plan/identity.hpp"
#include "runtimes/device_facts.hpp"

namespace oplat::app {

std::vector<std::string> precision_options(const plan::RuleSet& rules) {
  std::vector<std::string> precisions;
  for (const std::string& option : rules.options)
    if (!option.starts_with("block")) precisions.push_back(option);
  return precisions;
}

Result<RulesAsked> rules_asked(const std::string& plan, const std::string& precision) {
  constexpr std::string_view kPrefix = "rules:";
  if (!plan.starts_with(kPrefix)) {
    return fail(Code::Usage,
                "--plan {}: expected rules:NAME with NAME one of {}, or rules:FILE.yaml",
                base::printable(plan), base::join(plan::rule_set_names(compat::rule_sets()), ", "));
  }
  RulesAsked asked;
  OPLAT_TRY(set,
            plan::rules_named(std::string_view(plan).substr(kPrefix.size()), compat::rule_sets()));
  asked.set = std::move(set);
  if (precision.empty() || precision == "model") return asked;
  const std::vector<std::string> precisions = precision_options(asked.set);
  if (std::find(precisions.begin(), precisions.end(), precision) == precisions.end()) {
    return fail(Code::Usage,
                "--precision {}: the rules {} accept model (the precision of the model itself){}",
                base::printable(precision), asked.set.name,
                precisions.empty() ? "" : " or " + base::join(precisions, ", "));
  }
  asked.options.insert(precision);
  return asked;
}

std::string not_compared_note(const RulesModel& model, const plan::RuleSet& rules) {
  const std::vector<std::string> operators = plan::not_compared(model.graph, rules);
  if (operators.empty()) return {};
  return fmt::format(
      "{}: the rules {} were never compared with the runtime on {}; its kernels may be others",
      base::printable(model.path, 400), rules.name,
      base::printable(base::join(operators, ", "), 400));
}

Result<std::string> add_machine(RulesAsked& asked) {
  const table::Device device = runtimes::this_device();
  OPLAT_TRY(block, plan::block_option(asked.set, device.architecture, device.isa));
  if (!block) return std::string();
  asked.options.insert(*block);
  return fmt::format(
      "the plan is that of this machine's instruction set, in which the runtime's layout of "
      "convolutions has blocks of {} channels",
      block->substr(std::string_view("block").size()));
}

Result<RulesModel> read_rules_model(const std::string& path, const formats::ShapeOptions& shapes) {
  RulesModel model{path, {}, {}, {}, 1};
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(whole, reader->read_whole(source, shapes));
  if (whole.rewritten_batch)
    return fail(Code::Usage,
                "{}: --batch {} cannot be set: the model fixes its batch to {}, and only a runtime "
                "can tell whether it computes the same with another one; export it with an open "
                "batch dimension",
                path, *shapes.batch, *whole.rewritten_batch);
  OPLAT_TRY(hash, plan::model_hash(source, whole.siblings));
  model.batch = batch_of(whole, shapes);
  model.nothing = nothing_to_run(whole);
  model.hash = std::move(hash);
  model.graph = std::move(whole.graph);
  model.shapes = std::move(whole.resolved);
  return model;
}

Result<RulesPlan> plan_model_by_rules(const RulesModel& model, const plan::RuleSet& rules,
                                      const plan::RuleOptions& options) {
  if (model.nothing) return fail(Code::Input, "{}: {}", model.path, *model.nothing);
  std::optional<ir::Graph> fused;
  const auto derive = [&]() -> Result<plan::Plan> {
    // The order of such kernels is not that of the nodes, and the graph is made for nobody.
    if (plan::depends_on_blocks(rules))
      return plan::plan_by_rules(model.graph, rules, compat::catalogue(), options);
    OPLAT_TRY(left, plan::fuse(model.graph, rules, options));
    fused = std::move(left);
    return plan::plan_of_fused(*fused, rules, compat::catalogue(), options);
  };
  auto made = derive();
  if (!made) return fail_in(model.path, made.error());
  made->model = std::filesystem::path(model.path).filename().string();
  made->identity = plan::rules_identity(model.hash, model.shapes, rules, options);
  made->batch = model.batch;
  return RulesPlan{*std::move(made), std::move(fused)};
}

namespace {

report::RulesPlan in_words(const RulesPlan& made) {
  report::RulesPlan report;
  report.plan = made.plan;
  for (std::size_t i = 0; i < made.plan.kernels.size(); ++i) {
    plan::FusedWords words = made.fused ? plan::fused_words(*made.fused, made.fused->nodes[i])
                                        : plan::key_words(made.plan.kernels[i].key);
    report.words.push_back(
        {std::move(words.op), std::move(words.filter), std::move(words.attributes)});
  }
  return report;
}

Result<report::RulesPlan> plan_in_words(const std::string& path,
                                        const formats::ShapeOptions& shapes,
                                        const RulesAsked& rules, Events& events) {
  OPLAT_CHECK(check_model_file(path));
  OPLAT_TRY(model, read_rules_model(path, shapes));
  if (const std::string note = not_compared_note(model, rules.set); !note.empty())
    events.warn(note);
  OPLAT_TRY(made, plan_model_by_rules(model, rules.set, rules.options));
  return in_words(made);
}

}  // namespace

Result<report::PlanList> plan_by_rules(const RulesPlanRequest& request, Events& events) {
  OPLAT_TRY(rules, rules_asked(request.plan, request.precision));
  OPLAT_TRY(noted, add_machine(rules));
  report::PlanList list;
  for (const std::string& model : request.models) {
    auto plan = plan_in_words(model, request.shapes, rules, events);
    // It is about plans, of which there may be none.
    if (plan && !noted.empty()) events.warn(std::exchange(noted, {}));
    if (plan)
      list.models.push_back({model, *std::move(plan)});
    else
      list.models.push_back({model, std::nullopt, plan.error()});
  }
  return list;
}

}  // namespace oplat::app
