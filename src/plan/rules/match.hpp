// SPDX-License-Identifier: Apache-2.0
/// Finds a rule's pattern in a graph.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plan/rules/rule.hpp"
#include "plan/rules/work_graph.hpp"

namespace oplat::plan::rules {

/// Node of the graph for each node of the pattern.
using Match = std::vector<WorkGraph::NodeId>;

/// A match as expressions see it.
class MatchFacts final : public Facts {
 public:
  MatchFacts(const WorkGraph& graph, const Match& match) : graph_(graph), match_(match) {}
  [[nodiscard]] const ir::Node& node(std::size_t i) const { return graph_.node(match_[i]); }
  [[nodiscard]] const ir::Value* attribute(const Reference& of) const override;
  [[nodiscard]] ir::TensorId tensor(const Reference& of) const override;
  [[nodiscard]] const ir::TensorInfo& info(ir::TensorId tensor) const override {
    return graph_.tensor(tensor);
  }
  [[nodiscard]] std::size_t readers(ir::TensorId tensor) const override;
  [[nodiscard]] std::string_view producer(ir::TensorId tensor) const override;

 private:
  const WorkGraph& graph_;
  const Match& match_;
};

/// All matches of a rule that share no node, in the order of their first nodes. `steps` counts what
/// was looked at; where it passes `most`, nothing is returned.
std::optional<std::vector<Match>> find_matches(const WorkGraph& graph, const Rule& rule,
                                               std::size_t& steps, std::size_t most);
/// Whether every result that the rule takes away is read by nodes of the match alone.
bool leaves_nothing_open(const WorkGraph& graph, const Rule& rule, const Match& match);

}  // namespace oplat::plan::rules
