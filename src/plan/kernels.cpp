// SPDX-License-Identifier: Apache-2.0
/// Nodes that ran, as keys with counts.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/text.hpp"
#include "ir/catalogue.hpp"
#include "ir/parameters.hpp"
#include "ir/work.hpp"
#include "plan/liveness.hpp"
#include "plan/loops.hpp"
#include "plan/plan.hpp"

namespace oplat::plan {
namespace {

/// What a worker's answer may hold, and a row of a table.
constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 20U;

struct Place {
  const ir::Graph* graph = nullptr;
  const ir::Node* node = nullptr;
  const ir::Node* owner = nullptr;  // of the body that the node is in
  const ir::OperatorInfo* info = nullptr;
  std::vector<std::size_t> overwritable;
  std::vector<std::size_t> kernels;  // of the plan, that are of this node
};
using Index = std::unordered_map<std::string_view, Place>;

void index_graph(const ir::Graph& graph, const ir::Node* owner, Index& index) {
  auto overwritable = overwritable_operands(graph);
  index.reserve(index.size() + graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const ir::OperatorInfo* info = ir::Catalogue::own().find(node.domain, node.op);
    index.emplace(node.name, Place{&graph, &node, owner, info, std::move(overwritable[n]), {}});
    for (const auto& [attribute, body] : node.bodies) index_graph(*body, &node, index);
  }
}

/// Whether each tensor is read, or leaves the graph.
class UsedTensors {
 public:
  explicit UsedTensors(const ir::Graph& graph) : used_(graph.tensors.size(), false) {
    add(graph.outputs);
    for (const ir::Node& node : graph.nodes) {
      add(node.inputs);
      add(node.captured);
    }
  }
  [[nodiscard]] bool contains(ir::TensorId id) const {
    return id != ir::kNoTensor && used_[static_cast<std::size_t>(id)];
  }

 private:
  void add(const std::vector<ir::TensorId>& ids) {
    for (const ir::TensorId id : ids)
      if (id != ir::kNoTensor) used_[static_cast<std::size_t>(id)] = true;
  }
  std::vector<bool> used_;
};

/// Whether the value of constant operand i belongs into the key.
bool value_printed(const ir::OperatorInfo* info, std::size_t operand,
                   const ir::TensorInfo& tensor) {
  if (!tensor.dtype || !tensor.small_value) return false;
  if (ir::is_float(*tensor.dtype)) {
    return info != nullptr &&
           std::find(info->printed_float_operands.begin(), info->printed_float_operands.end(),
                     operand) != info->printed_float_operands.end();
  }
  return info == nullptr ||
         std::find(info->unprinted_operands.begin(), info->unprinted_operands.end(), operand) ==
             info->unprinted_operands.end();
}

/// A flat list as the key prints it: one value where all are equal.
ir::Value key_value(const ir::Value& flat) {
  const ir::List* list = flat.list();
  if (list == nullptr || list->empty()) return flat;
  const bool scalar_or_equal = std::all_of(list->begin(), list->end(),
                                           [&](const ir::Value& v) { return v == list->front(); });
  if (!scalar_or_equal) return flat;
  return list->front();
}

bool is_view(const Place& place) { return place.info != nullptr && place.info->view; }

/// A view moves nothing, unless its result leaves the graph or a body: that has memory of its own.
/// A Loop shares what an Identity of its body takes from outside, its own count of steps excepted.
bool is_copied_view(const Place& place) {
  const ir::Node& node = *place.node;
  const std::vector<ir::TensorId>& leaving = place.graph->outputs;
  if (!is_view(place) || node.outputs.empty() ||
      std::find(leaving.begin(), leaving.end(), node.outputs[0]) == leaving.end())
    return false;
  if (place.owner == nullptr || place.owner->op != "Loop" || node.op != "Identity") return true;
  const ir::TensorId from = node.inputs.empty() ? ir::kNoTensor : node.inputs[0];
  if (from == ir::kNoTensor) return true;
  const std::vector<ir::TensorId>& given = place.graph->inputs;
  const bool is_given = place.graph->tensors[static_cast<std::size_t>(from)].outer ||
                        std::find(given.begin(), given.end(), from) != given.end();
  const bool is_count = !given.empty() && from == given.front();
  return !is_given || is_count;
}

class KeyMaker {
 public:
  KeyMaker(const Place& place, const NodeRun& run, const UsedTensors& used)
      : place_(place), run_(run), used_(used), info_(place.info) {}

  ir::Key make() {
    const ir::Node& node = *place_.node;
    key_.domain = node.domain;
    key_.op = node.op;
    key_.since = node.since;
    key_.attributes = node.attributes;
    key_.tags = run_.tags;
    add_operands();
    add_results();
    if (is_copied_view(place_))
      key_.tags.emplace_back(std::string(ir::kCopiedTag), std::int64_t{1});
    key_.canonicalise();
    ir::canonicalise(key_);
    return std::move(key_);
  }

 private:
  const ir::TensorInfo& tensor(ir::TensorId id) const {
    return place_.graph->tensors[static_cast<std::size_t>(id)];
  }

  void add_operands() {
    const std::vector<ir::TensorId>& inputs = place_.node->inputs;
    // The runtime lists the operands that are there. If the numbers differ (an operand that is not
    // a tensor), positions cannot be told, and the graph's own knowledge has to do.
    const auto present = static_cast<std::size_t>(std::count_if(
        inputs.begin(), inputs.end(), [](ir::TensorId id) { return id != ir::kNoTensor; }));
    const bool seen = present == run_.inputs.size();
    std::size_t next = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == ir::kNoTensor) {
        key_.operands.emplace_back(ir::AbsentEntry{});
        continue;
      }
      const SeenTensor* run = seen ? &run_.inputs[next] : nullptr;
      ++next;
      const auto first =
          std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]);
      const ir::TensorInfo& info = tensor(inputs[i]);
      if (!info.constant && first != inputs.begin() + static_cast<std::ptrdiff_t>(i)) {
        key_.operands.emplace_back(
            ir::AliasEntry{static_cast<std::size_t>(first - inputs.begin())});
        continue;
      }
      ir::TensorEntry entry = entry_of(info, run);
      entry.constant = info.constant;
      if (info.constant && value_printed(info_, i, info))
        entry.value = key_value(*info.small_value);
      key_.operands.emplace_back(std::move(entry));
    }
  }

  static ir::TensorEntry entry_of(const ir::TensorInfo& info, const SeenTensor* run) {
    ir::TensorEntry entry;
    // A constant's own dimensions win: a runtime that pre-packs weights may show others.
    const bool use_run = run != nullptr && !info.constant;
    entry.dtype = use_run && run->dtype          ? *run->dtype
                  : info.dtype                   ? *info.dtype
                  : run != nullptr && run->dtype ? *run->dtype
                                                 : ir::Dtype::Any;
    entry.shape = use_run ? run->shape : info.shape;
    return entry;
  }

  void add_results() {
    const std::vector<ir::TensorId>& outputs = place_.node->outputs;
    const auto present = static_cast<std::size_t>(std::count_if(
        outputs.begin(), outputs.end(), [](ir::TensorId id) { return id != ir::kNoTensor; }));
    const bool seen = present == run_.outputs.size();
    // A kernel of which nobody reads anything still runs. Its key has its first result as if that
    // were read: without it, nothing would say how much the kernel has to do.
    const bool none_used = std::none_of(outputs.begin(), outputs.end(),
                                        [&](ir::TensorId id) { return used_.contains(id); });
    std::size_t next = 0;
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      const SeenTensor* run = outputs[r] != ir::kNoTensor && seen ? &run_.outputs[next] : nullptr;
      const bool first = next == 0;
      if (outputs[r] != ir::kNoTensor) ++next;
      if (outputs[r] == ir::kNoTensor || !(used_.contains(outputs[r]) || (none_used && first))) {
        key_.results.emplace_back(ir::AbsentEntry{});
        continue;
      }
      ir::TensorEntry entry = entry_of(tensor(outputs[r]), run);
      if (const auto over = r == 0 ? overwritten(entry) : std::nullopt) {
        key_.results.emplace_back(ir::AliasEntry{*over});
      } else {
        key_.results.emplace_back(std::move(entry));
      }
    }
  }

  std::optional<std::size_t> overwritten(const ir::TensorEntry& result) const {
    for (const std::size_t i : place_.overwritable) {
      const ir::TensorEntry* operand = key_.operand(i);
      if (operand == nullptr || operand->constant || operand->dtype != result.dtype ||
          operand->shape != result.shape)
        continue;
      const auto* alias = std::get_if<ir::AliasEntry>(&key_.operands[i]);
      return alias != nullptr ? alias->index : i;
    }
    return std::nullopt;
  }

  const Place& place_;
  const NodeRun& run_;
  const UsedTensors& used_;
  const ir::OperatorInfo* info_;
  ir::Key key_;
};

/// How often each execution of a Loop ran its body: runs in order of their end, in which the
/// kernels of a body come before the execution that they belong to.
class LoopSteps {
 public:
  LoopSteps(const Index& index, std::span<const NodeRun> runs) : steps_(runs.size(), 0) {
    if (std::none_of(index.begin(), index.end(),
                     [](const auto& one) { return !one.second.node->bodies.empty(); }))
      return;
    std::vector<std::size_t> order(runs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return runs[a].ended < runs[b].ended; });
    // Of a node with bodies: how often each node right in them ran since it last ended.
    std::unordered_map<const ir::Node*, std::unordered_map<std::string, std::int64_t>> since;
    for (const std::size_t i : order) {
      const auto at = index.find(runs[i].node);
      if (at == index.end()) continue;
      const Place& place = at->second;
      if (!place.node->bodies.empty()) {
        for (const auto& [name, count] : since[place.node]) steps_[i] = std::max(steps_[i], count);
        since[place.node].clear();
      }
      if (place.owner != nullptr) ++since[place.owner][runs[i].node];
    }
  }
  /// 0 where no kernel of the body ran.
  std::int64_t of(std::size_t run) const { return steps_[run]; }

 private:
  std::vector<std::int64_t> steps_;
};

const ir::TensorInfo* tensor_at(const ir::Graph& graph, const std::vector<ir::TensorId>& list,
                                std::size_t i) {
  if (i >= list.size() || list[i] == ir::kNoTensor) return nullptr;
  return &graph.tensors[static_cast<std::size_t>(list[i])];
}

/// Whether the data that a model is fed decide how often a Loop runs its body: its count or first
/// condition is not a constant, or the body computes the condition.
bool data_ends_loop(const Place& place) {
  const ir::Node& loop = *place.node;
  for (const std::size_t i : {0U, 1U}) {
    const ir::TensorInfo* operand = tensor_at(*place.graph, loop.inputs, i);
    if (operand != nullptr && !operand->constant) return true;
  }
  return computes_condition(*loop.bodies.front().second);
}

/// Steps of a Loop of whose body nothing ran: its constant count, or what its scan outputs hold.
std::int64_t steps_without_kernels(const Place& place, const NodeRun& run) {
  const ir::Node& loop = *place.node;
  if (const auto steps = constant_steps(*place.graph, loop)) return *steps;
  const std::size_t states = loop.inputs.size() > 2 ? loop.inputs.size() - 2 : 0;
  const bool seen = run.outputs.size() == loop.outputs.size() && loop.outputs.size() > states;
  if (!seen || run.outputs.back().shape.dims.empty()) return 0;
  return run.outputs.back().shape.dims.front().value_or(0);
}

void tag_loop(const Place& place, std::int64_t steps, NodeRun& run) {
  if (steps == 0) steps = steps_without_kernels(place, run);
  run.tags.emplace_back("steps", steps);
  if (data_ends_loop(place)) run.tags.emplace_back("ends", "data");
}

/// A constant that is an output of the graph is copied for every run.
void add_leaving_constants(const ir::Graph& graph, std::vector<PlanKernel>& kernels) {
  for (const ir::TensorId id : graph.outputs) {
    const ir::TensorInfo& tensor = graph.tensors[static_cast<std::size_t>(id)];
    if ((!tensor.constant && !tensor.overridable) || !tensor.dtype) continue;
    ir::Key key;
    key.op = "Identity";
    const auto opset = graph.opsets.find("");
    if (opset != graph.opsets.end()) key.since = ir::since_version("", key.op, opset->second);
    if (!key.since) key.since = 1;
    key.tags.emplace_back(std::string(ir::kCopiedTag), std::int64_t{1});
    const ir::TensorEntry result{*tensor.dtype, false, tensor.shape, std::nullopt};
    ir::TensorEntry operand = result;
    operand.constant = tensor.constant;
    key.operands.emplace_back(std::move(operand));
    key.results.emplace_back(result);
    key.canonicalise();
    ir::canonicalise(key);
    kernels.push_back({tensor.name, ir::print(key), 1});
  }
}

Result<Place*> place_of(Index& index, const NodeRun& run) {
  const auto at = index.find(run.node);
  if (at == index.end())
    return fail(Code::Internal, "the runtime ran a node '{}' that its plan does not hold",
                base::printable(run.node));
  return &at->second;
}

}  // namespace

namespace {

Footprint footprint(const Index& index, std::span<const NodeRun> runs) {
  Footprint sum;
  std::unordered_set<std::uint64_t> counted;
  std::unordered_set<const ir::Node*> met;
  for (const NodeRun& run : runs) {
    const auto at = index.find(run.node);
    if (at == index.end() || !at->second.node->bodies.empty()) continue;
    const Place& place = at->second;
    if (met.insert(place.node).second)
      sum.weight_bytes += ir::parameter_bytes(place.node->attributes);
    for (const ir::TensorId id : place.node->inputs) {
      if (id == ir::kNoTensor) continue;
      const ir::TensorInfo& tensor = place.graph->tensors[static_cast<std::size_t>(id)];
      if ((tensor.constant || tensor.overridable) && counted.insert(tensor.constant_hash).second)
        sum.weight_bytes += static_cast<double>(tensor.constant_bytes);
    }
    if (is_view(place) && !is_copied_view(place)) continue;
    for (const SeenTensor& output : run.outputs) {
      const auto elements = output.shape.elements();
      const auto bits = output.dtype ? ir::bits(*output.dtype) : std::nullopt;
      if (elements && bits) sum.activation_bytes += static_cast<double>(*elements) * *bits / 8;
    }
  }
  return sum;
}

}  // namespace

Result<std::vector<PlanKernel>> kernels_of(const ir::Graph& graph, std::span<const NodeRun> runs,
                                           Footprint* bytes) {
  Index index;
  index_graph(graph, nullptr, index);
  if (bytes != nullptr) *bytes = footprint(index, runs);
  std::unordered_map<const ir::Graph*, UsedTensors> used;
  std::vector<PlanKernel> kernels;
  kernels.reserve(runs.size());
  const LoopSteps steps(index, runs);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    OPLAT_TRY(place, place_of(index, runs[r]));
    const auto used_at = used.try_emplace(place->graph, *place->graph).first;
    const auto key_of = [&](const NodeRun& run) {
      return ir::print(KeyMaker(*place, run, used_at->second).make());
    };
    std::string key;
    if (place->node->op == "Loop" && !place->node->bodies.empty()) {
      NodeRun run = runs[r];
      tag_loop(*place, steps.of(r), run);
      key = key_of(run);
    } else {
      key = key_of(runs[r]);
    }
    const std::string& node = runs[r].node;
    if (key.size() > kMaxKeyBytes) {
      return fail(
          Code::Input, "node '{}' ({}): its key of {} bytes is longer than a table holds ({})",
          base::printable(node), base::printable(place->node->op), key.size(), kMaxKeyBytes);
    }
    const auto known = std::find_if(place->kernels.begin(), place->kernels.end(),
                                    [&](std::size_t at) { return kernels[at].key == key; });
    if (known == place->kernels.end()) {
      place->kernels.push_back(kernels.size());
      kernels.push_back({node, std::move(key), 1});
    } else {
      ++kernels[*known].count;
    }
  }
  add_leaving_constants(graph, kernels);
  return kernels;
}

Footprint footprint(const ir::Graph& graph, std::span<const NodeRun> runs) {
  Index index;
  index_graph(graph, nullptr, index);
  return footprint(index, runs);
}

}  // namespace oplat::plan
