// SPDX-License-Identifier: Apache-2.0
/// Dump, name, run, join.
#include "runtimes/onnxruntime/planner.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "base/files.hpp"
#include "base/stats.hpp"
#include "base/text.hpp"
#include "ir/movement.hpp"
#include "ir/operand_values.hpp"
#include "plan/blocked_layout.hpp"
#include "plan/loops.hpp"
#include "plan/plan.hpp"
#include "runtimes/device_facts.hpp"
#include "runtimes/onnxruntime/node_labels.hpp"
#include "runtimes/onnxruntime/profile_events.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

Result<std::unique_ptr<Session>> create(const Api& api, const std::string& bytes,
                                        const SessionOptions& options) {
  auto session = Session::create(api, bytes, options);
  if (!session) return fail(std::move(session).error().error);
  return std::move(*session);
}

void collect_blocked_nodes(const ir::Graph& graph, std::unordered_set<std::string>& names) {
  for (const ir::Node& node : graph.nodes) {
    if (node.domain == "com.microsoft.nchwc") names.insert(node.name);
    for (const auto& [attribute, body] : node.bodies) collect_blocked_nodes(*body, names);
  }
}

/// Channels of a blocked layout come in groups whose size no attribute tells. Architectures of
/// which it is not known are left untagged.
void tag_blocked_layout(const ir::Graph& graph, const plan::Device& device,
                        std::vector<plan::NodeRun>& runs) {
  const auto block = plan::channels_of_block(device.architecture, device.isa);
  if (!block) return;
  std::unordered_set<std::string> blocked;
  collect_blocked_nodes(graph, blocked);
  for (plan::NodeRun& run : runs) {
    if (blocked.contains(run.node)) run.tags.emplace_back("block", *block);
  }
}

/// Kernels bear the names of `nodes`; `inserted_by_runtime` has an entry for each of those.
void mark_inserted(const std::vector<ir::NodeTitle>& nodes,
                   const std::vector<std::optional<bool>>& inserted_by_runtime,
                   std::vector<plan::PlanKernel>& kernels) {
  std::unordered_map<std::string_view, std::optional<bool>> by_name;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    by_name.emplace(nodes[i].name, inserted_by_runtime[i]);
  for (plan::PlanKernel& kernel : kernels) {
    const auto at = by_name.find(kernel.name);
    if (at != by_name.end()) kernel.inserted_by_runtime = at->second;
  }
}

/// The inputs of a model, and what a run that fails may owe to them: the end of its message.
struct RunInputs {
  const std::vector<InputData>& data;
  std::string_view made_up;
};

Status with_made_up(Status status, const RunInputs& inputs) {
  if (!status) status.error().message += inputs.made_up;
  return status;
}

/// An operand whose values its node's key records.
struct RecordedOperand {
  std::string node;
  std::size_t operand = 0;
  std::string tensor;
  std::optional<std::vector<std::int64_t>> values;
};

/// Those of nodes that ran, outside of bodies, as far as the key does not print them anyway.
std::vector<RecordedOperand> recorded_operands(const ir::Graph& graph,
                                               const std::vector<plan::NodeRun>& runs) {
  std::unordered_set<std::string_view> ran;
  for (const plan::NodeRun& run : runs) ran.insert(run.node);
  std::vector<RecordedOperand> recorded;
  for (const ir::Node& node : graph.nodes) {
    if (!ran.contains(node.name)) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::OperandRule* rule = ir::operand_rule(node.domain, node.op, i);
      if (node.inputs[i] == ir::kNoTensor || rule == nullptr || !ir::is_recorded(*rule)) continue;
      const ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(node.inputs[i])];
      if (tensor.small_value || (tensor.dtype && ir::is_float(*tensor.dtype))) continue;
      recorded.push_back({node.name, i, tensor.name, std::nullopt});
    }
  }
  return recorded;
}

/// The values of inner tensors in a run of their own.
Status read_inner_values(const Api& api, formats::onnx::Model& optimized, const RunInputs& inputs,
                         SessionOptions options, std::vector<RecordedOperand>& recorded) {
  std::vector<std::string> inner;
  for (const RecordedOperand& one : recorded)
    if (!one.values) inner.push_back(one.tensor);
  if (inner.empty()) return {};
  options.level = 0;
  options.data_folder = optimized.data_folder();
  optimized.also_output(inner);
  OPLAT_TRY(bytes, optimized.bytes());
  OPLAT_TRY(session, create(api, bytes, options));
  OPLAT_CHECK(session->bind(inputs.data));
  OPLAT_CHECK(with_made_up(session->run(), inputs));
  OPLAT_TRY(values, session->integer_outputs(inner));
  std::size_t next = 0;
  for (RecordedOperand& one : recorded)
    if (!one.values) one.values = std::move(values[next++]);
  return {};
}

/// Lengths and axes that no shape shows, as a run of the model sees them: tags of its nodes. Those
/// inside of bodies, of which each trip has its own, are not recorded: ir::value_caveat() says so.
Status record_values(const Api& api, formats::onnx::Model& optimized, const ir::Graph& graph,
                     const RunInputs& inputs, const SessionOptions& options,
                     std::vector<plan::NodeRun>& runs) {
  constexpr std::int64_t kMaxConstant = std::int64_t{1} << 24;
  std::vector<RecordedOperand> recorded = recorded_operands(graph, runs);
  for (RecordedOperand& one : recorded) {
    one.values = optimized.constant_integers(one.tensor, kMaxConstant);
    for (const InputData& input : inputs.data)
      if (!one.values && input.name == one.tensor)
        one.values = integers_in(input.bytes, input.dtype);
  }
  OPLAT_CHECK(read_inner_values(api, optimized, inputs, options, recorded));
  std::unordered_map<std::string_view, std::vector<const RecordedOperand*>> by_node;
  for (const RecordedOperand& one : recorded)
    if (one.values) by_node[one.node].push_back(&one);
  for (plan::NodeRun& run : runs) {
    const auto found = by_node.find(run.node);
    if (found == by_node.end()) continue;
    for (const RecordedOperand* one : found->second)
      run.tags.emplace_back(ir::values_tag(one->operand), ir::values_summary(*one->values));
  }
  return {};
}

/// The profiler keeps more than a kilobyte of memory for every execution, and stops silently after
/// a million of them, so that only a model of bodies, which may run without end, needs a bound.
constexpr std::int64_t kMaxExecutions = 150'000;
constexpr std::int64_t kMaxProfileMemory = std::int64_t{256} << 20;
constexpr std::uintmax_t kMinProfileFile = std::uintmax_t{16} << 20;

bool has_bodies(const ir::Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [](const ir::Node& node) { return !node.bodies.empty(); });
}

Error too_many_executions(const std::string& model, const std::string& how) {
  return {Code::Input, fmt::format("{}: {}; a plan holds at most {} executions of kernels: give "
                                   "inputs or sizes that make its loops shorter, or plan the "
                                   "loop's body as a model of its own",
                                   model, how, kMaxExecutions)};
}

/// Executions within loops whose count is a constant of the model, as far as that says.
Status check_loops(const ir::Graph& graph, const std::string& model) {
  for (const ir::Node& node : graph.nodes) {
    const std::int64_t steps =
        node.op == "Loop" ? plan::constant_steps(graph, node).value_or(1) : 1;
    for (const auto& [attribute, body] : node.bodies) {
      const auto nodes = static_cast<std::int64_t>(std::max<std::size_t>(1, body->nodes.size()));
      if (steps > kMaxExecutions / nodes)
        return tl::unexpected<Error>(too_many_executions(
            model, fmt::format("its loop takes {} steps of {} nodes", steps, nodes)));
      OPLAT_CHECK(check_loops(*body, model));
    }
  }
  return {};
}

/// The text of the profile of one run. Memory may fill with something else than the profile, such
/// as large results: what is ended with a small profile is run again with twice the bound, and
/// after some such runs without one.
Result<std::string> profile_run(const Api& api, const formats::onnx::Model& model, bool bounded,
                                const RunInputs& inputs, const SessionOptions& options) {
  constexpr int kMaxBoundedRuns = 4;
  OPLAT_TRY(bytes, model.bytes());
  std::int64_t growth = kMaxProfileMemory + 4 * static_cast<std::int64_t>(bytes.size());
  for (int bounded_runs = bounded ? 0 : kMaxBoundedRuns;; ++bounded_runs, growth *= 2) {
    OPLAT_TRY(session, create(api, bytes, options));
    OPLAT_CHECK(session->bind(inputs.data));
    bool was_ended = false;
    if (bounded_runs < kMaxBoundedRuns) {
      auto ended = session->run_within(growth);
      if (!ended) OPLAT_CHECK(with_made_up(fail(ended.error()), inputs));
      was_ended = *ended;
    } else {
      OPLAT_CHECK(with_made_up(session->run(), inputs));
    }
    OPLAT_TRY(file, session->end_profiling());
    if (!was_ended) return base::read_file(file);
    std::error_code unknown;
    const std::uintmax_t size = std::filesystem::file_size(file, unknown);
    if (!unknown && size >= kMinProfileFile)
      return tl::unexpected<Error>(too_many_executions(
          model.name(), "its loops go on for more executions than can be recorded"));
  }
}

/// What one run of the optimised model executes, by the names of `graph`.
struct Executed {
  ir::Graph graph;
  std::vector<plan::NodeRun> runs;
};

void collect_names(const ir::Graph& graph, std::unordered_set<std::string>& names) {
  for (const ir::Node& node : graph.nodes) {
    names.insert(node.name);
    for (const auto& [attribute, body] : node.bodies) collect_names(*body, names);
  }
}

/// A model that the runtime wrote, under the name of the user's own.
Result<formats::onnx::Model> load_written(const std::string& path,
                                          const formats::onnx::Model& user) {
  OPLAT_TRY(bytes, base::read_file(path));
  return formats::onnx::Model::load(base::Source::from_bytes(user.name(), std::move(bytes)),
                                    user.data_folder());
}

/// The model as the runtime rewrites it under `options`.
Result<formats::onnx::Model> optimise(const Api& api, const formats::onnx::Model& model,
                                      const SessionOptions& options,
                                      const std::filesystem::path& folder) {
  SessionOptions dump = options;
  dump.optimized_model = (folder / "optimized.onnx").string();
  dump.data_folder = model.data_folder();
  OPLAT_TRY(bytes, model.bytes());
  if (auto session = create(api, bytes, dump); !session) return fail(session.error());
  return load_written(dump.optimized_model, model);
}

/// Runs the optimised model under the profiler. A runtime may rewrite it once more while it loads
/// it, into nodes with names that it makes up: then what it wrote is named and run instead, until
/// all that runs is known.
Result<Executed> execute(const Api& api, formats::onnx::Model& optimized, const RunInputs& inputs,
                         const SessionOptions& options, const std::filesystem::path& folder) {
  constexpr int kMaxRewrites = 4;
  SessionOptions profiled = options;
  // Pre-packing takes weights out of the profiler's shapes; the level is 0 because the
  // optimisations are in the file.
  profiled.level = 0;
  profiled.prepacking = false;
  profiled.pairs_as_they_are = true;
  profiled.data_folder = optimized.data_folder();
  for (int rewrite = 0;; ++rewrite) {
    optimized.name_nodes();
    OPLAT_TRY(graph, optimized.graph());
    const bool bounded = has_bodies(graph);
    if (bounded) OPLAT_CHECK(check_loops(graph, optimized.name()));
    profiled.profile_prefix = (folder / fmt::format("profile{}", rewrite)).string();
    OPLAT_TRY(text, profile_run(api, optimized, bounded, inputs, profiled));
    OPLAT_TRY(runs, parse_profile(text));
    std::unordered_set<std::string> names;
    collect_names(graph, names);
    const auto unknown = std::find_if(runs.begin(), runs.end(), [&](const plan::NodeRun& run) {
      return !names.contains(run.node);
    });
    if (unknown == runs.end()) return Executed{std::move(graph), std::move(runs)};
    if (rewrite == kMaxRewrites)
      return fail(Code::Runtime,
                  "{}: the runtime ran a node '{}' that is not in the model that it wrote",
                  optimized.name(), base::printable(unknown->node));
    SessionOptions dump = profiled;
    dump.profile_prefix.clear();
    dump.optimized_model = (folder / fmt::format("rewritten{}.onnx", rewrite)).string();
    OPLAT_TRY(bytes, optimized.bytes());
    if (auto session = create(api, bytes, dump); !session) return fail(session.error());
    OPLAT_TRY(rewritten, load_written(dump.optimized_model, optimized));
    optimized = std::move(rewritten);
  }
}

void collect_bodied_nodes(const ir::Graph& graph, std::unordered_set<std::string>& names) {
  for (const ir::Node& node : graph.nodes) {
    if (!node.bodies.empty()) names.insert(node.name);
    for (const auto& [attribute, body] : node.bodies) collect_bodied_nodes(*body, names);
  }
}

/// Executions that are timed at most: an event takes some 700 bytes of text.
constexpr std::size_t kMaxTimedExecutions = 40'000;
constexpr std::size_t kMinTimedRuns = 5;
constexpr std::size_t kMaxTimedRuns = 50;
constexpr std::chrono::milliseconds kTimedAtLeast{300};

/// Durations of each node in `runs` runs after a first one, which allocates and is left out: of
/// each run the mean over the node's executions, us.
using RunTimes = std::unordered_map<std::string, std::vector<double>>;
RunTimes times_by_run(const std::vector<NodeDuration>& durations, std::size_t runs) {
  std::unordered_map<std::string, std::vector<double>> executions;
  for (const NodeDuration& one : durations) executions[one.node].push_back(one.us);
  RunTimes times;
  for (const auto& [node, us] : executions) {
    // Data that decide otherwise from run to run are none of a model's with fixed inputs.
    if (us.size() % (runs + 1) != 0) continue;
    const std::size_t per_run = us.size() / (runs + 1);
    std::vector<double>& means = times[node];
    for (std::size_t run = 1; run <= runs; ++run) {
      const auto begin = us.begin() + static_cast<std::ptrdiff_t>(run * per_run);
      const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(per_run), 0.0);
      means.push_back(sum / static_cast<double>(per_run));
    }
  }
  return times;
}

/// Profiled runs of a model: one that is left out, then `min_runs` or more until some time is over.
/// `further`: makes other inputs for the runs to come; may be empty.
Result<RunTimes> timed_runs(const Api& api, const std::string& bytes,
                            const std::vector<InputData>& inputs, const InputMaker& further,
                            const SessionOptions& options, std::size_t max_runs) {
  OPLAT_TRY(session, create(api, bytes, options));
  OPLAT_CHECK(session->bind(inputs));
  OPLAT_CHECK(session->run());
  const auto until = std::chrono::steady_clock::now() + kTimedAtLeast;
  std::size_t runs = further ? vary_inputs(*session, further, 1, max_runs) : 0;
  while (runs < max_runs && (runs < kMinTimedRuns || std::chrono::steady_clock::now() < until)) {
    OPLAT_CHECK(session->run());
    ++runs;
  }
  OPLAT_TRY(file, session->end_profiling());
  session.reset();
  OPLAT_TRY(text, base::read_file(file));
  OPLAT_TRY(durations, parse_durations(text));
  return times_by_run(durations, runs);
}

/// What the profiler shows for a kernel of 16 numbers, us: nearly all of it is its own work. It
/// lists the shapes of all operands and results within the time that it takes.
Result<double> profiler_us(const Api& api, SessionOptions options,
                           const std::filesystem::path& folder) {
  OPLAT_TRY(key, ir::parse(plan::kDispatchKey));
  OPLAT_TRY(kernel, formats::onnx::write_kernel_model(key, {}));
  OPLAT_TRY(inputs, kernel_inputs(kernel.inputs, 1));
  options.data_folder.clear();
  options.profile_prefix = (folder / "dispatch").string();
  OPLAT_TRY(times, timed_runs(api, kernel.bytes, inputs, {}, options, kMaxTimedRuns));
  const auto found = times.find("copy0");
  const auto us = found == times.end() ? std::nullopt : base::quantile(found->second, 0.25);
  if (!us) return fail(Code::Runtime, "onnxruntime: its profiler shows no time of a kernel");
  return *us;
}

/// The runs of one node as a range, ns. It begins at the fastest: on a busy machine others hold the
/// core during most of them. It ends at the lower quartile. Durations are whole microseconds,
/// rounded down. The profiler's part grows with the number of tensors, whose shapes it lists: on an
/// EPYC of Zen 4 a kernel of 2 tensors shows 2 to 4 us, one of 9 shows 5 to 7 us.
std::optional<base::Interval> range_ns(const std::vector<double>& us, double profiler_us,
                                       std::size_t tensors) {
  const auto quartile = base::quantile(us, 0.25);
  if (!quartile) return std::nullopt;
  const double own_us = profiler_us * (0.7 + 0.15 * static_cast<double>(tensors));
  const double fastest = *std::min_element(us.begin(), us.end());
  return base::Interval{1000 * std::max(0.0, fastest - own_us - 1),
                        1000 * std::max(0.0, *quartile + 1 - 0.5 * profiler_us)};
}

}  // namespace

Result<NodeTimes> time_nodes(const Api& api, const formats::onnx::Model& model,
                             const std::vector<InputData>& inputs, const InputMaker& further,
                             const SessionOptions& options) {
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-times"));
  OPLAT_TRY(optimized, optimise(api, model, options, folder.path()));
  const std::vector<formats::onnx::NodeEnds> written = optimized.node_ends();
  OPLAT_TRY(executed, execute(api, optimized, {inputs, {}}, options, folder.path()));
  const auto labels = node_labels(model.node_ends(), written, optimized.node_ends());
  const std::size_t executions = std::max<std::size_t>(1, executed.runs.size());
  const std::size_t max_runs = std::min(kMaxTimedRuns, kMaxTimedExecutions / executions);
  if (max_runs <= kMinTimedRuns) return NodeTimes();
  SessionOptions timed = options;
  timed.level = 0;
  timed.pairs_as_they_are = true;
  timed.data_folder = optimized.data_folder();
  OPLAT_TRY(own_us, profiler_us(api, timed, folder.path()));
  timed.profile_prefix = (folder.path() / "times").string();
  OPLAT_TRY(bytes, optimized.bytes());
  OPLAT_TRY(times, timed_runs(api, bytes, inputs, further, timed, max_runs - 1));
  std::unordered_set<std::string> bodied;
  collect_bodied_nodes(executed.graph, bodied);
  NodeTimes found;
  std::unordered_set<std::string_view> seen;
  for (const plan::NodeRun& run : executed.runs) {
    if (!seen.insert(run.node).second || bodied.contains(run.node)) continue;
    const auto at = times.find(run.node);
    if (at == times.end()) continue;
    const auto ns = range_ns(at->second, own_us, run.inputs.size() + run.outputs.size());
    if (!ns) continue;
    const auto label = labels.find(run.node);
    found.push_back({label == labels.end() ? run.node : label->second, *ns});
  }
  return found;
}

Result<ir::Graph> graph_with_shapes(const Api& api, const formats::onnx::Model& model) {
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-shapes"));
  SessionOptions dump;
  dump.optimized_model = (folder.path() / "shapes.onnx").string();
  dump.data_folder = model.data_folder();
  OPLAT_TRY(bytes, model.bytes());
  if (auto session = create(api, bytes, dump); !session) return fail(session.error());
  OPLAT_TRY(source, base::Source::open(dump.optimized_model));
  OPLAT_TRY(shaped, formats::onnx::Model::load(source, model.data_folder()));
  return shaped.graph();
}

Result<GraphRun> run_as_it_is(const Api& api, const formats::onnx::Model& model,
                              const std::vector<InputData>& data, const SessionOptions& options) {
  SessionOptions plain = options;
  plain.level = 0;
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-batch"));
  OPLAT_TRY(written, optimise(api, model, plain, folder.path()));
  OPLAT_TRY(executed, execute(api, written, {data, {}}, plain, folder.path()));
  return GraphRun{std::move(executed.graph), std::move(executed.runs)};
}

Result<plan::Plan> make_plan(const Api& api, const formats::onnx::Model& model,
                             const std::vector<InputData>& data, std::string_view made_up,
                             const SessionOptions& options) {
  const RunInputs inputs{data, made_up};
  OPLAT_TRY(folder, base::TemporaryFolder::create("oplat-plan"));
  OPLAT_TRY(optimized, optimise(api, model, options, folder.path()));
  const std::vector<std::optional<bool>> inserted_by_runtime =
      ir::inserted_by_runtime(model.nodes(), optimized.nodes());
  const std::size_t nodes = optimized.nodes().size();
  const std::vector<formats::onnx::NodeEnds> written = optimized.node_ends();
  OPLAT_TRY(executed, execute(api, optimized, inputs, options, folder.path()));
  tag_blocked_layout(executed.graph, this_device(), executed.runs);
  OPLAT_CHECK(record_values(api, optimized, executed.graph, inputs, options, executed.runs));
  OPLAT_TRY(kernels, plan::kernels_of(executed.graph, executed.runs));
  if (optimized.nodes().size() == nodes)
    mark_inserted(optimized.nodes(), inserted_by_runtime, kernels);
  const auto labels = node_labels(model.node_ends(), written, optimized.node_ends());
  for (plan::PlanKernel& kernel : kernels) {
    const auto label = labels.find(kernel.name);
    if (label != labels.end()) kernel.name = label->second;
  }
  const plan::Footprint footprint = plan::footprint(executed.graph, executed.runs);
  plan::Plan plan;
  plan.weight_bytes = footprint.weight_bytes;
  plan.activation_bytes = footprint.activation_bytes;
  plan.kernels = std::move(kernels);
  return plan;
}

}  // namespace oplat::runtimes::onnxruntime
