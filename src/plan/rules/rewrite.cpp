// SPDX-License-Identifier: Apache-2.0
/// Replaces one match of a rule after another by the nodes that the rule leaves.
///
/// The problem: the kernels of a foreign table are those of an optimised program, and the optimiser
/// often cannot run here. So its passes are data (docs/adr/0014), and this engine applies them as
/// pattern matchers of runtimes do: all matches of a pass on the graph as it is, the first of those
/// that overlap, then the replacement. A rule that repeats must leave fewer nodes or another
/// operator, so that it ends; the number of sweeps and of places visited is bounded as well, since
/// rule files and graphs are untrusted.
///
/// Example: `conv2d -> batch_norm` with `keep: conv2d` leaves the convolution, which then writes
/// the result of the normalisation.
#include "plan/rules/rewrite.hpp"

#include <algorithm>

#include "plan/rules/match.hpp"

namespace oplat::plan::rules {
namespace {

/// Of a rule that repeats. Each leaves fewer nodes or another operator; the rest is left to the
/// next.
constexpr std::size_t kMaxSweeps = 64;

/// Puts a tensor into a slot: in place of what it held, else where the slots' names are in
/// alphabetical order.
void put_operand(ir::Node& node, const std::string& slot, ir::TensorId tensor) {
  if (const int at = find_input(node, slot); at >= 0) {
    node.inputs[static_cast<std::size_t>(at)] = tensor;
    return;
  }
  const auto before = std::find_if(node.input_slots.begin(), node.input_slots.end(),
                                   [&](const std::string& given) { return given > slot; });
  const auto position = before - node.input_slots.begin();
  node.inputs.insert(node.inputs.begin() + position, tensor);
  node.input_slots.insert(before, slot);
}

void put_result(ir::Node& node, const std::string& slot, ir::TensorId tensor) {
  if (const int at = find_output(node, slot); at >= 0) {
    node.outputs[static_cast<std::size_t>(at)] = tensor;
  } else {
    node.outputs.push_back(tensor);
    node.output_slots.push_back(slot);
  }
}

ir::Node made_of(const Rule& rule, const MatchFacts& facts) {
  ir::Node made = facts.node(rule.base);
  // Everything is looked up before anything changes: a rule may swap operands.
  std::vector<std::pair<std::string, ir::TensorId>> in, out;
  for (const auto& [slot, from] : rule.in) in.emplace_back(slot, facts.tensor(from));
  for (const auto& [slot, from] : rule.out) out.emplace_back(slot, facts.tensor(from));
  std::vector<std::pair<std::string, ir::Value>> set;
  for (const auto& [name, expression] : rule.set) set.emplace_back(name, expression.value(facts));
  if (rule.only) {
    made.inputs.clear();
    made.input_slots.clear();
    made.outputs.clear();
    made.output_slots.clear();
  }
  for (const auto& [slot, tensor] : in) {
    if (tensor != ir::kNoTensor) put_operand(made, slot, tensor);
  }
  for (const auto& [slot, tensor] : out) {
    if (tensor != ir::kNoTensor) put_result(made, slot, tensor);
  }
  for (auto& [name, value] : set) {
    if (!value.unknown()) set_attribute(made, name, std::move(value));
  }
  if (!rule.op.empty()) made.op = rule.op;
  return made;
}

void change_readers(WorkGraph& graph, const Rule& rule, const MatchFacts& facts) {
  const ir::TensorId from = facts.tensor(rule.forward->first);
  std::vector<WorkGraph::NodeId> readers = graph.readers(from);
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  for (const ReaderChange& change : rule.readers) {
    std::vector<std::pair<std::string, ir::Value>> set;
    for (const auto& [name, expression] : change.set)
      set.emplace_back(name, expression.value(facts));
    for (const WorkGraph::NodeId reader : readers) {
      ir::Node node = graph.node(reader);
      if (!change.ops.empty() &&
          std::find(change.ops.begin(), change.ops.end(), node.op) == change.ops.end())
        continue;
      for (const auto& [name, value] : set) {
        if (!value.unknown()) set_attribute(node, name, value);
      }
      graph.replace(reader, std::move(node));
    }
  }
}

/// Whether a node of the match writes the tensor: it does so no more afterwards, or it is the
/// reader itself.
bool is_of_match(const WorkGraph& graph, const Match& match, ir::TensorId tensor) {
  return tensor != ir::kNoTensor &&
         std::find(match.begin(), match.end(), graph.producer(tensor)) != match.end();
}

void replace(WorkGraph& graph, const Rule& rule, const Match& match) {
  const MatchFacts facts(graph, match);
  ir::Node made;
  if (rule.kind != Rule::Kind::Remove) made = made_of(rule, facts);
  // What would read a result that nobody writes is left as it was.
  if (std::any_of(made.inputs.begin(), made.inputs.end(),
                  [&](ir::TensorId one) { return is_of_match(graph, match, one); }))
    return;
  if (rule.forward && is_of_match(graph, match, facts.tensor(rule.forward->second))) return;
  if (rule.forward) {
    const ir::TensorId from = facts.tensor(rule.forward->first),
                       to = facts.tensor(rule.forward->second);
    change_readers(graph, rule, facts);
    graph.forward(from, to);
  }
  for (std::size_t i = 0; i < match.size(); ++i) {
    if (rule.kind != Rule::Kind::Keep || i != rule.base) graph.remove(match[i]);
  }
  if (rule.kind == Rule::Kind::Keep)
    graph.replace(match[rule.base], std::move(made));
  else if (rule.kind == Rule::Kind::Make)
    graph.add(std::move(made));
}

bool any_marked(const WorkGraph& graph, const std::string& attribute) {
  for (WorkGraph::NodeId id = 0; id < graph.size(); ++id) {
    if (graph.alive(id) && is_marked(graph.node(id), attribute)) return true;
  }
  return false;
}

}  // namespace

Status apply(WorkGraph& graph, const Rule& rule, std::size_t& steps, std::size_t most) {
  if (!rule.unless_marked.empty() && any_marked(graph, rule.unless_marked)) return {};
  for (std::size_t sweep = 0; sweep < (rule.repeat ? kMaxSweeps : 1); ++sweep) {
    const auto matches = find_matches(graph, rule, steps, most);
    if (!matches) {
      return fail(Code::Input,
                  "the rule {} finds no end in this graph: more than {} places were looked at",
                  rule.name, most);
    }
    if (matches->empty()) break;
    for (const Match& match : *matches) {
      // One that was replaced before may have taken what this one needs.
      if (leaves_nothing_open(graph, rule, match)) replace(graph, rule, match);
    }
  }
  return {};
}

}  // namespace oplat::plan::rules
