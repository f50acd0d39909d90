// SPDX-License-Identifier: Apache-2.0
/// Sizes come from the file where it says them all, else from one run under a runtime that is asked
/// to change nothing.
#include "app/inspect.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "app/rules_plan.hpp"
#include "base/text.hpp"
#include "compat/registry.hpp"
#include "formats/format_reader.hpp"
#include "ir/label.hpp"
#include "plan/inspection.hpp"

namespace oplat::app {
namespace {

using Part = report::InspectionReport::Part;

/// Of keys whose operators are not to be counted; no catalogue has it.
constexpr std::string_view kUncountedDomain = "file";
constexpr std::string_view kOnnx = "onnx";
constexpr std::string_view kFile = "the file";
constexpr std::string_view kOnnxRuntime = "onnxruntime";
/// The option by which it fuses nothing.
constexpr std::string_view kLevel = "level", kUnfused = "0";

void add_kernel(Part& part, std::int64_t calls, const ir::Work& work,
                const plan::ParameterSum& parameters) {
  const auto times = static_cast<double>(calls);
  part.calls += calls;
  if (work.flops)
    part.flops += times * *work.flops;
  else
    part.uncounted += calls;
  part.parameters += parameters.count;
  part.parameter_bytes += parameters.bytes;
  part.activation_bytes += times * work.bytes_out;
}

/// "a/b" of [a, b, c] at depth 2.
std::string prefix_of(const std::vector<std::string>& parts, std::size_t depth) {
  return base::join(std::span(parts).first(depth), "/");
}

/// Modules in order of first execution, each behind the module that it is in.
class Modules {
 public:
  explicit Modules(std::size_t depth) : depth_(depth) {}
  void add(const std::string& node, std::int64_t calls, const ir::Work& work,
           const plan::ParameterSum& parameters) {
    const std::vector<std::string> parts = report::module_parts(node);
    if (parts.empty())
      return add_kernel(found_[place_of("", 0, std::nullopt)], calls, work, parameters);
    std::optional<std::size_t> outer;
    for (std::size_t depth = 1; depth <= std::min(depth_, parts.size()); ++depth) {
      outer = place_of(prefix_of(parts, depth), depth, outer);
      add_kernel(found_[*outer], calls, work, parameters);
    }
  }
  /// Empty if no node is in one.
  std::vector<Part> parts() && {
    const bool any = std::any_of(found_.begin(), found_.end(),
                                 [](const Part& part) { return !part.name.empty(); });
    if (!any) return {};
    std::vector<Part> sorted;
    for (std::size_t place = 0; place < found_.size(); ++place)
      if (found_[place].depth <= 1) add_with_inner(place, sorted);
    return sorted;
  }

 private:
  /// Of a module, which is made inside of `outer` where it is new.
  std::size_t place_of(const std::string& name, std::size_t depth,
                       const std::optional<std::size_t>& outer) {
    const auto [place, added] = index_.emplace(name, found_.size());
    if (!added) return place->second;
    found_.emplace_back();
    found_.back().name = name;
    found_.back().depth = depth;
    inner_.emplace_back();
    if (outer) inner_[*outer].push_back(place->second);
    return place->second;
  }
  void add_with_inner(std::size_t place, std::vector<Part>& sorted) const {
    sorted.push_back(found_[place]);
    for (const std::size_t inner : inner_[place]) add_with_inner(inner, sorted);
  }

  std::size_t depth_;
  std::vector<Part> found_;
  std::vector<std::vector<std::size_t>> inner_;  ///< parallel to `found_`
  std::map<std::string, std::size_t> index_;
};

/// One run under the runtime.
struct RunPlan {
  table::Plan plan;
  std::string by;
  bool fused = false;
};

Result<RunPlan> plan_by_run(const InspectRequest& request, bool is_onnx, Events& events) {
  RuntimeRequest runtime = request.runtime;
  if (runtime.runtime.empty() && !runtime.remote) runtime.runtime = kOnnxRuntime;
  const bool unfused = is_onnx && runtime.runtime == kOnnxRuntime;
  if (unfused) runtime.options.emplace(kLevel, kUnfused);
  OPLAT_TRY(session, start_session(runtime, events));
  OPLAT_TRY(plan, plan_with(session, request.model, request.inputs));
  return RunPlan{std::move(plan),
                 fmt::format("one run of {} {}", session.setting.runtime, session.setting.version),
                 !unfused};
}

/// Of nodes that name their operands the order says nothing, and the domain that fusion rules make
/// of them knows their keys. A node that it does not know has no operations that could be counted.
std::string key_of_named(const ir::Graph& graph, const ir::Node& node, const std::string& plain) {
  for (const plan::RuleSet& rules : compat::rule_sets()) {
    if (rules.reads != node.domain) continue;
    const ir::KeyDomain* domain = compat::catalogue().domain(rules.makes);
    const auto key = domain == nullptr
                         ? Result<ir::Key>(fail(Code::Internal, "no domain {}", rules.makes))
                         : domain->kernel_key(graph, node);
    if (key && !key->operands.empty()) return ir::print(*key);
  }
  auto key = ir::parse(plain);
  if (!key) return plain;
  key->domain = kUncountedDomain;
  return ir::print(*key);
}

}  // namespace

report::InspectionReport sum_kernels(const std::vector<table::PlanKernel>& kernels,
                                     std::int64_t depth,
                                     std::span<const plan::ParameterSum> parameters_of_each) {
  report::InspectionReport report;
  std::map<std::string, Part> by_type;
  Modules modules(static_cast<std::size_t>(std::max<std::int64_t>(0, depth)));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const table::PlanKernel& kernel = kernels[i];
    const auto key = ir::parse(kernel.key);
    if (!key) continue;
    ir::Work work = ir::work(*key, compat::catalogue());
    if (ir::is_view(*key, compat::catalogue())) {
      work.bytes_out = 0;
      work.flops = 0;
    }
    const plan::ParameterSum parameters =
        i < parameters_of_each.size() ? parameters_of_each[i] : plan::parameters_of(*key);
    add_kernel(report.total, kernel.count, work, parameters);
    const std::string type = ir::make_label(*key, compat::catalogue()).type;
    add_kernel(by_type[type], kernel.count, work, parameters);
    modules.add(kernel.name, kernel.count, work, parameters);
  }
  for (auto& [type, part] : by_type) {
    part.name = type;
    report.operators.push_back(std::move(part));
  }
  std::stable_sort(
      report.operators.begin(), report.operators.end(), [](const Part& a, const Part& b) {
        return std::pair(a.flops, a.activation_bytes) > std::pair(b.flops, b.activation_bytes);
      });
  report.modules = std::move(modules).parts();
  return report;
}

Result<report::InspectionReport> inspect(const InspectRequest& request, Events& events) {
  if (!request.runtime.runtime.empty()) OPLAT_CHECK(check_runtime(request.runtime));
  OPLAT_CHECK(check_model_file(request.model));
  OPLAT_TRY(source, base::Source::open(request.model));
  OPLAT_TRY(reader, formats::reader_for(source));
  const bool is_onnx = reader->name() == kOnnx;
  OPLAT_TRY(model, read_rules_model(request.model, request.inputs.shapes));
  OPLAT_TRY(kernels, plan::kernels_of_file(model.graph));
  std::string sizes_from(kFile);
  bool fused = false;
  const bool asked = !request.runtime.runtime.empty() || request.runtime.remote;
  if (asked || !plan::is_complete(model.graph, kernels)) {
    if (!asked && !is_onnx)
      return fail(Code::Runtime,
                  "{}: the file does not say the sizes of all results; name a runtime that runs it "
                  "with --runtime",
                  request.model);
    OPLAT_TRY(run, plan_by_run(request, is_onnx, events));
    warn_of_made_up_inputs(request.model, request.inputs, events);
    plan::take_sizes(run.plan.kernels, model.graph);
    model.batch = run.plan.batch;
    kernels = std::move(run.plan.kernels);
    sizes_from = std::move(run.by);
    fused = run.fused;
  }
  std::vector<plan::ParameterSum> parameters_of_each;
  if (sizes_from == kFile) {
    for (std::size_t i = 0; i < kernels.size() && i < model.graph.nodes.size(); ++i) {
      const ir::Node& node = model.graph.nodes[i];
      if (!node.input_slots.empty())
        kernels[i].key = key_of_named(model.graph, node, kernels[i].key);
      parameters_of_each.push_back(plan::parameters_of(model.graph, node));
    }
  }
  report::InspectionReport report = sum_kernels(kernels, request.depth, parameters_of_each);
  report.model = request.model;
  report.batch = model.batch;
  report.sizes_from = std::move(sizes_from);
  report.fused = fused;
  const plan::ParameterSum parameters = plan::parameters_of(model.graph);
  report.total.parameters = parameters.count;
  report.total.parameter_bytes = parameters.bytes;
  if (const auto peak = plan::peak_memory(model.graph, compat::catalogue())) {
    report.peak_activation_bytes = peak->bytes;
    report.peak_node = peak->node;
  }
  return report;
}

}  // namespace oplat::app
