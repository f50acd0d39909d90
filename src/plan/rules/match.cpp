// SPDX-License-Identifier: Apache-2.0
/// Matching: along the edges of the pattern, from a candidate for its first node, with
/// backtracking.
#include "plan/rules/match.hpp"

#include <algorithm>
#include <unordered_set>

namespace oplat::plan::rules {
namespace {

bool is_one_of(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether any operand in this slot (it may take a list) is the tensor.
bool reads_in_slot(const ir::Node& node, const std::string& slot, ir::TensorId tensor) {
  if (node.input_slots.empty()) {
    const int at = find_input(node, slot);
    return at >= 0 && node.inputs[static_cast<std::size_t>(at)] == tensor;
  }
  for (std::size_t i = 0; i < node.inputs.size() && i < node.input_slots.size(); ++i) {
    if (node.inputs[i] == tensor && node.input_slots[i] == slot) return true;
  }
  return false;
}

class Finder {
 public:
  Finder(const WorkGraph& graph, const Rule& rule, std::size_t& steps, std::size_t most)
      : graph_(graph), rule_(rule), steps_(steps), max_(most) {}

  std::optional<std::vector<Match>> run() {
    std::vector<WorkGraph::NodeId> candidates;
    for (const std::string& op : rule_.match[0].ops) {
      const auto& some = graph_.with_op(op);
      candidates.insert(candidates.end(), some.begin(), some.end());
    }
    if (rule_.match[0].ops.size() > 1) {
      std::sort(candidates.begin(), candidates.end());
      candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    }
    std::vector<Match> found;
    std::unordered_set<WorkGraph::NodeId> taken;
    bool any = rule_.if_any.empty();
    for (const WorkGraph::NodeId candidate : candidates) {
      match_.clear();
      if (!place(candidate)) {
        if (steps_ > max_) return std::nullopt;
        continue;
      }
      const MatchFacts facts(graph_, match_);
      any = any || std::all_of(rule_.if_any.begin(), rule_.if_any.end(),
                               [&](const Expression& one) { return one.holds(facts); });
      if (std::any_of(match_.begin(), match_.end(),
                      [&](WorkGraph::NodeId id) { return taken.contains(id); }))
        continue;
      taken.insert(match_.begin(), match_.end());
      found.push_back(match_);
    }
    if (!any) found.clear();
    return found;
  }

 private:
  /// Puts `id` in the place of the next node of the pattern and finds the rest.
  bool place(WorkGraph::NodeId id) {
    if (++steps_ > max_) return false;
    const PatternNode& pattern = rule_.match[match_.size()];
    if (!fits(pattern, id)) return false;
    match_.push_back(id);
    if (rest()) return true;
    match_.pop_back();
    return false;
  }

  bool rest() {
    if (match_.size() == rule_.match.size()) return complete();
    const PatternNode& next = rule_.match[match_.size()];
    const MatchFacts facts(graph_, match_);
    if (!next.reads.empty()) {
      const ir::TensorId tensor = facts.tensor(next.reads[0].second);
      if (tensor == ir::kNoTensor) return false;
      const auto& readers = graph_.readers(tensor);
      return std::any_of(readers.begin(), readers.end(),
                         [&](WorkGraph::NodeId id) { return place(id); });
    }
    const ir::TensorId tensor = facts.tensor(next.feeds[0].second);
    return tensor != ir::kNoTensor && graph_.producer(tensor) != WorkGraph::kNone &&
           place(graph_.producer(tensor));
  }

  bool fits(const PatternNode& pattern, WorkGraph::NodeId id) const {
    if (!graph_.alive(id) || std::find(match_.begin(), match_.end(), id) != match_.end())
      return false;
    const ir::Node& node = graph_.node(id);
    if (!is_one_of(pattern.ops, node.op) || !node.bodies.empty()) return false;
    const MatchFacts facts(graph_, match_);
    for (const auto& [slot, result] : pattern.reads) {
      const ir::TensorId tensor = facts.tensor(result);
      if (tensor == ir::kNoTensor || !reads_in_slot(node, slot, tensor)) return false;
    }
    for (const auto& [slot, operand] : pattern.feeds) {
      const int at = find_output(node, slot);
      if (at < 0 || node.outputs[static_cast<std::size_t>(at)] != facts.tensor(operand))
        return false;
    }
    for (const std::string& slot : pattern.has) {
      if (find_input(node, slot) < 0) return false;
    }
    for (const std::string& slot : pattern.lacks) {
      if (find_input(node, slot) >= 0) return false;
    }
    for (const std::string& slot : pattern.constant) {
      const int at = find_input(node, slot);
      const ir::TensorId tensor =
          at < 0 ? ir::kNoTensor : node.inputs[static_cast<std::size_t>(at)];
      if (tensor == ir::kNoTensor || !graph_.tensor(tensor).constant) return false;
    }
    return std::all_of(pattern.attributes.begin(), pattern.attributes.end(),
                       [&](const auto& asked) {
                         const auto* word = asked.second.text();
                         if (word != nullptr && *word == "true")
                           return is_marked(node, asked.first);
                         const ir::Value* given = find_attribute(node, asked.first);
                         if (word != nullptr && *word == "false")
                           return given != nullptr && !is_marked(node, asked.first);
                         return given != nullptr && *given == asked.second;
                       });
  }

  bool complete() const {
    const MatchFacts facts(graph_, match_);
    return std::all_of(rule_.where.begin(), rule_.where.end(),
                       [&](const Expression& one) { return one.holds(facts); }) &&
           leaves_nothing_open(graph_, rule_, match_);
  }

  const WorkGraph& graph_;
  const Rule& rule_;
  std::size_t& steps_;
  std::size_t max_;
  Match match_;
};

}  // namespace

const ir::Value* MatchFacts::attribute(const Reference& of) const {
  return find_attribute(node(of.node), of.name);
}

ir::TensorId MatchFacts::tensor(const Reference& of) const {
  const ir::Node& from = node(of.node);
  if (const int in = find_input(from, of.name); in >= 0)
    return from.inputs[static_cast<std::size_t>(in)];
  const int out = find_output(from, of.name);
  return out < 0 ? ir::kNoTensor : from.outputs[static_cast<std::size_t>(out)];
}

std::size_t MatchFacts::readers(ir::TensorId tensor) const {
  return graph_.readers(tensor).size() + (graph_.is_output(tensor) ? 1 : 0);
}

std::string_view MatchFacts::producer(ir::TensorId tensor) const {
  const WorkGraph::NodeId id = graph_.producer(tensor);
  return id == WorkGraph::kNone ? std::string_view() : std::string_view(graph_.node(id).op);
}

std::optional<std::vector<Match>> find_matches(const WorkGraph& graph, const Rule& rule,
                                               std::size_t& steps, std::size_t most) {
  return Finder(graph, rule, steps, most).run();
}

bool leaves_nothing_open(const WorkGraph& graph, const Rule& rule, const Match& match) {
  const MatchFacts facts(graph, match);
  std::vector<ir::TensorId> kept;  // results that stay written, or whose readers get another tensor
  if (rule.kind != Rule::Kind::Remove) {
    const ir::Node& base = facts.node(rule.base);
    for (std::size_t i = 0; i < base.outputs.size() && !rule.only; ++i) {
      const bool replaced = std::any_of(rule.out.begin(), rule.out.end(), [&](const auto& out) {
        return find_output(base, out.first) == static_cast<int>(i);
      });
      if (!replaced) kept.push_back(base.outputs[i]);
    }
    for (const auto& [slot, result] : rule.out) kept.push_back(facts.tensor(result));
  }
  if (rule.forward) {
    const ir::TensorId from = facts.tensor(rule.forward->first),
                       to = facts.tensor(rule.forward->second);
    if (from == ir::kNoTensor || to == ir::kNoTensor) return false;
    kept.push_back(from);
  }
  for (const WorkGraph::NodeId id : match) {
    for (const ir::TensorId result : graph.node(id).outputs) {
      if (result == ir::kNoTensor || std::find(kept.begin(), kept.end(), result) != kept.end())
        continue;
      if (graph.is_output(result)) return false;
      for (const WorkGraph::NodeId reader : graph.readers(result)) {
        if (std::find(match.begin(), match.end(), reader) == match.end()) return false;
      }
    }
  }
  return true;
}

}  // namespace oplat::plan::rules
