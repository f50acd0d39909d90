// SPDX-License-Identifier: Apache-2.0
/// A rule set over a graph, and the plan of what is left.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "ir/catalogue.hpp"
#include "plan/blocked_layout.hpp"
#include "plan/identity.hpp"
#include "plan/rules.hpp"
#include "plan/rules/rewrite.hpp"
#include "plan/touched_bytes.hpp"

namespace oplat::plan {
namespace {

constexpr std::size_t kMaxNodes = 100'000;
/// Nodes looked at, for each node of the graph. Networks need less than a hundred.
constexpr std::size_t kStepsOfANode = 300;
constexpr std::size_t kStepsOfAGraph = 10'000;

constexpr std::string_view kOnnxModels = "onnx";
constexpr std::string_view kBlock16 = "block16";
constexpr std::string_view kBlock8 = "block8";

bool is_native(const RuleSet& rules) {
  return !rules.passes.empty() && rules.passes.front()->native.has_value();
}

Result<ort::Machine> machine_of(const RuleSet& rules, const RuleOptions& options) {
  const bool wide = options.contains(std::string(kBlock16));
  const bool narrow = options.contains(std::string(kBlock8));
  if (depends_on_blocks(rules) && wide == narrow)
    return fail(Code::Usage,
                "the rules {} need to know how many channels are in a block of the runtime's "
                "layout: one of the options {} and {}",
                rules.name, kBlock16, kBlock8);
  return ort::Machine{wide ? 16 : narrow ? 8 : 0};
}

Status check_domain(const ir::Graph& graph, const RuleSet& rules) {
  // Only models of ONNX say which operator sets they are written in.
  if (rules.reads == kOnnxModels) {
    if (!graph.opsets.empty()) return {};
    return fail(Code::Usage, "the rules {} are for models in ONNX's format; give one, or --runtime",
                rules.name);
  }
  for (const ir::Node& node : graph.nodes) {
    if (node.domain == rules.reads) continue;
    return fail(Code::Usage,
                "the rules {} are for models of the domain '{}'; the operator {} of this one is of "
                "{}; give a model of that kind, or --runtime",
                rules.name, rules.reads, base::printable(node.op),
                node.domain.empty() ? "ONNX" : fmt::format("'{}'", base::printable(node.domain)));
  }
  return {};
}

Status check_opsets(const ir::Graph& graph, const RuleSet& rules) {
  for (const auto& [domain, version] : graph.opsets) {
    const auto newest = rules.opsets.find(domain);
    if (newest == rules.opsets.end() || version <= newest->second) continue;
    return fail(
        Code::Refused,
        "the model uses operator set {}{}{}, but {} {} supports at most {}; export it with that "
        "one or an earlier one",
        version, domain.empty() ? "" : " of ", base::printable(domain), rules.runtime,
        rules.version, newest->second);
  }
  return {};
}

Status check_options(const RuleSet& rules, const RuleOptions& options) {
  for (const std::string& option : options) {
    if (rules.options.contains(option)) continue;
    return fail(Code::Usage, "the rules {} have no option '{}'; they have {}", rules.name,
                base::printable(option),
                rules.options.empty() ? "none"
                                      : base::join(std::vector<std::string>(rules.options.begin(),
                                                                            rules.options.end()),
                                                   ", "));
  }
  return {};
}

Status check(const ir::Graph& graph, const RuleSet& rules, const RuleOptions& options) {
  OPLAT_CHECK(check_options(rules, options));
  OPLAT_CHECK(check_domain(graph, rules));
  OPLAT_CHECK(check_opsets(graph, rules));
  if (graph.nodes.size() <= kMaxNodes) return {};
  return fail(Code::Input, "a graph of {} nodes; rules take at most {}", graph.nodes.size(),
              kMaxNodes);
}

/// What the passes of a native set leave of a graph, which must outlive it.
Result<ort::Net> native_net(const ir::Graph& graph, const RuleSet& rules,
                            const RuleOptions& options, const ort::Machine& machine) {
  std::vector<ort::Level> levels;
  for (const auto& pass : rules.passes)
    if (pass->option.empty() || options.contains(pass->option)) levels.push_back(*pass->native);
  return ort::optimise(graph, levels, machine);
}

Result<Plan> native_plan(const GraphView& fused, const RuleSet& rules,
                         const ort::Machine& machine) {
  OPLAT_TRY(made, ort::plan_of(fused, machine));
  made.source = "rules:" + rules.name;
  return std::move(made);
}

}  // namespace

Result<ir::Graph> fuse(const ir::Graph& graph, const RuleSet& rules, const RuleOptions& options) {
  OPLAT_CHECK(check(graph, rules, options));
  if (is_native(rules)) {
    OPLAT_TRY(machine, machine_of(rules, options));
    OPLAT_TRY(net, native_net(graph, rules, options, machine));
    return net.graph();
  }
  rules::WorkGraph work(graph);
  std::size_t steps = 0;
  const std::size_t max_steps = kStepsOfAGraph + kStepsOfANode * graph.nodes.size();
  for (const auto& pass : rules.passes) {
    if (!pass->option.empty() && !options.contains(pass->option)) continue;
    for (const rules::Rule& rule : pass->rules)
      OPLAT_CHECK(rules::apply(work, rule, steps, max_steps));
    if (pass->casts) rules::apply(work, *pass->casts);
  }
  ir::Graph fused = work.take(rules.depth_first);
  for (ir::Node& node : fused.nodes) node.domain = rules.makes;
  return fused;
}

std::vector<std::string> not_compared(const ir::Graph& graph, const RuleSet& rules) {
  std::set<std::string> found;
  if (rules.compared.empty()) return {};
  for (const ir::Node& node : graph.nodes) {
    std::string name = node.domain.empty() ? node.op : node.domain + ":" + node.op;
    if (!rules.compared.contains(name)) found.insert(std::move(name));
  }
  return {found.begin(), found.end()};
}

bool depends_on_blocks(const RuleSet& rules) {
  return rules.options.contains(std::string(kBlock16)) ||
         rules.options.contains(std::string(kBlock8));
}

Result<std::optional<std::string>> block_option(const RuleSet& rules, std::string_view architecture,
                                                std::string_view isa) {
  if (!depends_on_blocks(rules)) return std::optional<std::string>();
  const auto has = [&](std::string_view feature) {
    const std::vector<std::string> all = base::split(isa, ' ');
    return std::find(all.begin(), all.end(), feature) != all.end();
  };
  const auto block = channels_of_block(architecture, isa);
  if (block == 16) return std::optional(std::string(kBlock16));
  // The rules were written for processors with AVX2.
  if (block == 8 && has("avx2")) return std::optional(std::string(kBlock8));
  return fail(Code::Refused,
              "the rules {} know x86-64 processors with AVX2 or AVX-512, whose instruction set "
              "decides the layout of convolutions, but the device is '{}' with '{}'; use --plan "
              "runtime on the device",
              rules.name, base::printable(architecture), base::printable(isa));
}

Result<Plan> plan_of_fused(const ir::Graph& fused, const RuleSet& rules,
                           const ir::Catalogue& catalogue, const RuleOptions& options) {
  if (is_native(rules)) {
    OPLAT_TRY(machine, machine_of(rules, options));
    return native_plan(fused, rules, machine);
  }
  const ir::KeyDomain* domain = catalogue.domain(rules.makes);
  if (domain == nullptr) {
    return fail(Code::Usage, "the rules {} make kernels of '{}', a domain without keys", rules.name,
                base::printable(rules.makes));
  }
  Plan plan;
  plan.source = "rules:" + rules.name;
  TouchedConstants constants;
  for (const ir::Node& node : fused.nodes) {
    OPLAT_TRY(key, domain->kernel_key(fused, node));
    plan.kernels.push_back({node.name, ir::print(key), 1});
    ResultBytes results;
    for (const ir::TensorId id : node.outputs) {
      if (id == ir::kNoTensor) continue;
      const ir::TensorInfo& tensor = fused.tensors[static_cast<std::size_t>(id)];
      results.add(tensor.dtype, tensor.shape.ranked, tensor.shape.dims);
    }
    for (const ir::TensorId id : node.inputs) {
      if (id == ir::kNoTensor) continue;
      const ir::TensorInfo& tensor = fused.tensors[static_cast<std::size_t>(id)];
      if (tensor.constant)
        constants.add(static_cast<std::uint64_t>(id), static_cast<double>(tensor.constant_bytes),
                      node.op, results);
    }
    const ir::OperatorInfo* info = catalogue.find(node.domain, node.op);
    if (info == nullptr || !info->view) plan.activation_bytes += results.bytes;
  }
  plan.weight_bytes = std::move(constants).bytes();
  return plan;
}

Result<Plan> plan_by_rules(const ir::Graph& graph, const RuleSet& rules,
                           const ir::Catalogue& catalogue, const RuleOptions& options) {
  if (is_native(rules)) {
    OPLAT_CHECK(check(graph, rules, options));
    OPLAT_TRY(machine, machine_of(rules, options));
    OPLAT_TRY(net, native_net(graph, rules, options, machine));
    return native_plan(net.view(), rules, machine);
  }
  OPLAT_TRY(fused, fuse(graph, rules, options));
  return plan_of_fused(fused, rules, catalogue, options);
}

std::string rules_identity(std::string_view model_hash, const formats::ShapeOptions& shapes,
                           const RuleSet& rules, const RuleOptions& options) {
  Setting setting;
  setting.runtime = rules.runtime;
  setting.version = rules.version;
  setting.build = "rules:" + rules.name + ":" + rules.hash;
  for (const std::string& option : options) setting.options.emplace(option, "on");
  return identity(model_hash, shapes, setting, "");
}

}  // namespace oplat::plan
