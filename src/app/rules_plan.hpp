// SPDX-License-Identifier: Apache-2.0
/// Plans of model files by fusion rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/events.hpp"
#include "formats/format_reader.hpp"
#include "plan/rules.hpp"
#include "report/model_lists.hpp"

namespace oplat::app {

/// What "--plan rules:NAME" and "--precision P" ask for. Code::Usage lists what there is.
struct RulesAsked {
  plan::RuleSet set;
  plan::RuleOptions options;
};
/// Those of the set's options that are precisions.
std::vector<std::string> precision_options(const plan::RuleSet& rules);
Result<RulesAsked> rules_asked(const std::string& plan, const std::string& precision);

/// A model file, read once for any number of rule sets.
struct RulesModel {
  std::string path;
  std::string hash;
  ir::Graph graph;
  formats::ShapeOptions shapes;  ///< resolved (plan/identity.hpp)
  std::int64_t batch = 1;
  std::optional<std::string> nothing = {};  ///< why a run of it does nothing
};
Result<RulesModel> read_rules_model(const std::string& path, const formats::ShapeOptions& shapes);

struct RulesPlan {
  plan::Plan plan;  ///< complete: model, batch and identity too
  /// Has a node for each kernel of the plan, in their order; std::nullopt where the rules make keys
  /// as those of a run.
  std::optional<ir::Graph> fused;
};
/// A warning about operators of the model that the rules were never compared on; empty: none.
std::string not_compared_note(const RulesModel& model, const plan::RuleSet& rules);

/// Options that the instruction set of this machine decides; a sentence that says which, or empty.
Result<std::string> add_machine(RulesAsked& asked);

/// Code::Input where a run of the model does nothing, as a runtime's worker has it.
Result<RulesPlan> plan_model_by_rules(const RulesModel& model, const plan::RuleSet& rules,
                                      const plan::RuleOptions& options);

/// Plans of several models by the same rules.
struct RulesPlanRequest {
  std::vector<std::string> models;  ///< paths
  formats::ShapeOptions shapes;     ///< of every model
  std::string plan;                 ///< as rules_asked() takes it
  std::string precision;            ///< likewise
};
/// With what each fused node does in words. A model without a plan is an entry with its error; what
/// the rules do not know of this machine or were not compared on is a warning.
Result<report::PlanList> plan_by_rules(const RulesPlanRequest& request, Events& events);

}  // namespace oplat::app
