// SPDX-License-Identifier: Apache-2.0
/// Paddle graphs written by hand: operators with named slots.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compat/registry.hpp"
#include "plan/rules.hpp"
#include "unit/plan/net.hpp"

namespace oplat::plan::testing {

using Slots = std::vector<std::pair<std::string, std::string>>;
using Attributes = std::vector<std::pair<std::string, ir::Value>>;

inline ir::Value ints(const std::vector<std::int64_t>& numbers) { return ir::Value::ints(numbers); }

class PaddleNet : public Net {
 public:
  /// An activation of this shape.
  void activation(const std::string& name, const Dims& dims) {
    tensor(name).dtype = ir::Dtype::F32;
    tensor(name).shape = ir::Shape::of(dims);
  }

  ir::Node& op(const std::string& type, const Slots& in, const Slots& out,
               const Attributes& attributes = {}) {
    std::vector<std::string> inputs, outputs;
    for (const auto& [slot, name] : in) inputs.push_back(name);
    for (const auto& [slot, name] : out) outputs.push_back(name);
    ir::Node& made = node(type, inputs, outputs, type + std::to_string(graph.nodes.size()));
    made.domain = "paddle";
    for (const auto& [slot, name] : in) made.input_slots.push_back(slot);
    for (const auto& [slot, name] : out) made.output_slots.push_back(slot);
    made.attributes = attributes;
    for (const auto& [slot, name] : out)
      if (tensor(name).dtype == std::nullopt) tensor(name).dtype = ir::Dtype::F32;
    return made;
  }

  /// A convolution of `to` filters of kernel x kernel from `x`, whose channels it takes; result
  /// [1,to,size,size].
  void conv(const std::string& x, const std::string& y, const Dims& filter, std::int64_t size,
            std::int64_t stride = 1, std::int64_t groups = 1) {
    constant(y + ".w", filter);
    const std::int64_t pad = filter[2] / 2;
    op(groups > 1 ? "depthwise_conv2d" : "conv2d", {{"Filter", y + ".w"}, {"Input", x}},
       {{"Output", y}},
       {{"strides", ints({stride, stride})},
        {"paddings", ints({pad, pad})},
        {"dilations", ints({1, 1})},
        {"groups", ir::Value(groups)}});
    activation(y, {1, filter[0], size, size});
  }
  void batch_norm(const std::string& x, const std::string& y) {
    const std::int64_t channels = *tensor(x).shape.dims[1];
    for (const char* one : {".b", ".m", ".s", ".v"}) constant(y + one, {channels});
    op("batch_norm",
       {{"Bias", y + ".b"},
        {"Mean", y + ".m"},
        {"Scale", y + ".s"},
        {"Variance", y + ".v"},
        {"X", x}},
       {{"Y", y}});
    tensor(y).shape = tensor(x).shape;
  }
  /// An operator from X to Out that keeps the shape.
  void unary(const std::string& type, const std::string& x, const std::string& y,
             const Attributes& attributes = {}) {
    op(type, {{"X", x}}, {{"Out", y}}, attributes);
    tensor(y).shape = tensor(x).shape;
  }
  void binary(const std::string& type, const std::string& x, const std::string& y,
              const std::string& out) {
    op(type, {{"X", x}, {"Y", y}}, {{"Out", out}}, {{"axis", ir::Value(-1)}});
    tensor(out).shape = tensor(x).shape;
  }
  /// x of [rows, from] times a constant of [from, to], plus a bias.
  void linear(const std::string& x, const std::string& y, std::int64_t from, std::int64_t to) {
    constant(y + ".w", {from, to});
    constant(y + ".b", {to});
    op("matmul_v2", {{"X", x}, {"Y", y + ".w"}}, {{"Out", y + ".product"}},
       {{"trans_x", ir::Value("false")}, {"trans_y", ir::Value("false")}});
    activation(y + ".product", {1, to});
    binary("elementwise_add", y + ".product", y + ".b", y);
  }
};

/// Operators of the fused graph, each with its filter and attributes; or the error's message.
inline std::vector<std::string> fused(const PaddleNet& net,
                                      const std::string& rules = "paddle-lite",
                                      const RuleOptions& options = {}) {
  const auto set = built_in_rules(rules, compat::rule_sets());
  if (!set) return {set.error().message};
  const auto graph = fuse(net.graph, *set, options);
  if (!graph) return {graph.error().message};
  std::vector<std::string> lines;
  for (const ir::Node& node : graph->nodes) {
    const FusedWords words = fused_words(*graph, node);
    lines.push_back(words.op + (words.filter.empty() ? "" : " " + words.filter));
    for (const auto& [name, value] : node.attributes) {
      if (name == "act_type" || name == "activation_type") lines.back() += " " + *value.text();
    }
  }
  return lines;
}

/// Keys of the plan, or the error's message.
inline std::vector<std::string> rule_keys(const PaddleNet& net,
                                          const std::string& rules = "paddle-lite",
                                          const RuleOptions& options = {}) {
  const auto set = built_in_rules(rules, compat::rule_sets());
  if (!set) return {set.error().message};
  const auto plan = plan_by_rules(net.graph, *set, compat::catalogue(), options);
  if (!plan) return {plan.error().message};
  std::vector<std::string> lines;
  for (const PlanKernel& kernel : plan->kernels) lines.push_back(kernel.key);
  return lines;
}

}  // namespace oplat::plan::testing
