// SPDX-License-Identifier: Apache-2.0
/// Sizes of results, by operator, as ONNX defines them. Every size of the operands is known, since
/// a model's inputs are fixed before it is planned. What data decide (NonZero, a Reshape to a size
/// that is computed from data) cannot be told: the error names the node.
#include <algorithm>

#include "base/text.hpp"
#include "plan/onnxruntime/shapes/rules.hpp"

namespace oplat::plan::ort {
namespace {

const shapes::Rules& all_rules() {
  static const shapes::Rules kRules = [] {
    shapes::Rules rules;
    shapes::add_elementwise(rules);
    shapes::add_windows(rules);
    shapes::add_products(rules);
    shapes::add_movement(rules);
    shapes::add_reductions(rules);
    return rules;
  }();
  return kRules;
}

}  // namespace

Status Net::infer(NodeId id) {
  const Node& n = node(id);
  const auto& rules = n.domain.empty()     ? all_rules().onnx
                      : n.domain == kNchwc ? all_rules().blocked
                                           : all_rules().contrib;
  const bool ours = n.domain.empty() || n.domain == kMs || n.domain == kNchwc;
  const auto rule = rules.find(n.op);
  const std::string_view name = n.source == nullptr ? std::string_view() : n.source->name;
  if (!ours || rule == rules.end())
    return fail(Code::Refused,
                "the node '{}': the rules do not know the operator {}{}{}; use --plan runtime",
                base::printable(name), base::printable(n.domain), n.domain.empty() ? "" : ":",
                base::printable(n.op));
  const bool sized = std::all_of(n.inputs.begin(), n.inputs.end(),
                                 [&](TensorId one) { return one == kNone || tensor(one).known; });
  const bool concats = n.op == "QLinearConcat";  // its first operands are scales
  const bool fed = !n.inputs.empty() && (n.inputs[0] != kNone || concats);
  const bool told = sized && fed && rule->second(*this, id) &&
                    std::all_of(n.outputs.begin(), n.outputs.end(),
                                [&](TensorId one) { return one == kNone || tensor(one).known; });
  if (!told)
    return fail(
        Code::Refused,
        "the node '{}' ({}): the rules cannot tell the size of its result, which data or an "
        "operand that is not a constant may decide; use --plan runtime",
        base::printable(name), base::printable(n.op));
  return {};
}

}  // namespace oplat::plan::ort
