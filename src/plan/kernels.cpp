// SPDX-License-Identifier: Apache-2.0
/// Nodes that ran, as keys with counts.
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "ir/catalogue.hpp"
#include "ir/moved_work.hpp"
#include "ir/parameters.hpp"
#include "ir/work.hpp"
#include "plan/liveness.hpp"
#include "plan/loops.hpp"
#include "plan/plan.hpp"
#include "plan/touched_bytes.hpp"

namespace oplat::plan {
namespace {

/// What a worker's answer may hold, and a row of a table.
constexpr std::size_t kMaxKeyBytes = std::size_t{1} << 20U;

constexpr std::size_t kNoKernel = static_cast<std::size_t>(-1);

struct Place {
  const GraphView* graph = nullptr;
  const NodeView* node = nullptr;
  const NodeView* owner = nullptr;  // of the body that the node is in
  const ir::OperatorInfo* info = nullptr;
  std::vector<std::size_t> overwritable;
  std::size_t kernel = kNoKernel;  // the last one of the plan that is of this node
  bool weighed = false;            // whether the footprint has its parameters
};
struct Index {
  std::deque<GraphView> graphs;  // of the model and of bodies
  std::unordered_map<std::string_view, Place> places;
};

std::vector<Place> places_of_nodes(const GraphView& graph, const NodeView* owner) {
  std::vector<const ir::OperatorInfo*> infos;
  infos.reserve(graph.nodes.size());
  for (const NodeView& node : graph.nodes)
    infos.push_back(ir::Catalogue::own().find(node.domain, node.op));
  auto overwritable = overwritable_operands(graph, infos);
  std::vector<Place> places;
  places.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    places.push_back({&graph, &graph.nodes[n], owner, infos[n], std::move(overwritable[n])});
  return places;
}

void index_graph(const ir::Graph& whole, const NodeView* owner, Index& index) {
  const GraphView& graph = index.graphs.emplace_back(whole);
  index.places.reserve(index.places.size() + graph.nodes.size());
  for (Place& place : places_of_nodes(graph, owner)) {
    const NodeView& node = *place.node;
    index.places.emplace(node.name, std::move(place));
    for (const auto& [attribute, body] : node.whole->bodies) index_graph(*body, &node, index);
  }
}

/// Where the node of each run is; nullptr: nowhere.
std::vector<Place*> places_of(Index& index, std::span<const NodeRun> runs) {
  std::vector<Place*> places;
  places.reserve(runs.size());
  for (const NodeRun& run : runs) {
    const auto at = index.places.find(run.node);
    places.push_back(at == index.places.end() ? nullptr : &at->second);
  }
  return places;
}

/// Whether each tensor is read, or leaves the graph.
class UsedTensors {
 public:
  explicit UsedTensors(const GraphView& graph) : used_(graph.tensors.size(), false) {
    add(graph.outputs);
    for (const NodeView& node : graph.nodes) {
      add(node.inputs);
      add(node.captured);
    }
  }
  [[nodiscard]] bool contains(ir::TensorId id) const {
    return id != ir::kNoTensor && used_[static_cast<std::size_t>(id)];
  }

 private:
  void add(std::span<const ir::TensorId> ids) {
    for (const ir::TensorId id : ids)
      if (id != ir::kNoTensor) used_[static_cast<std::size_t>(id)] = true;
  }
  std::vector<bool> used_;
};

/// Whether the value of constant operand i belongs into the key.
bool value_printed(const ir::OperatorInfo* info, std::size_t operand, const TensorView& tensor) {
  if (!tensor.dtype || tensor.small_value == nullptr) return false;
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
ir::Value key_value(const ir::List& list) {
  const bool scalar_or_equal =
      !list.empty() &&
      std::all_of(list.begin(), list.end(), [&](const ir::Value& v) { return v == list.front(); });
  return scalar_or_equal ? list.front() : ir::Value(list);
}

bool is_view(const Place& place) { return place.info != nullptr && place.info->view; }

/// A view moves nothing, unless its result leaves the graph or a body: that has memory of its own.
/// A Loop shares what an Identity of its body takes from outside, its own count of steps excepted.
bool is_copied_view(const Place& place) {
  const NodeView& node = *place.node;
  const std::span<const ir::TensorId> leaving = place.graph->outputs;
  if (!is_view(place) || node.outputs.empty() ||
      std::find(leaving.begin(), leaving.end(), node.outputs[0]) == leaving.end())
    return false;
  if (place.owner == nullptr || place.owner->op != "Loop" || node.op != "Identity") return true;
  const ir::TensorId from = node.inputs.empty() ? ir::kNoTensor : node.inputs[0];
  if (from == ir::kNoTensor) return true;
  const std::span<const ir::TensorId> given = place.graph->inputs;
  const bool is_given =
      place.graph->tensor(from).outer || std::find(given.begin(), given.end(), from) != given.end();
  const bool is_count = !given.empty() && from == given.front();
  return !is_given || is_count;
}

/// Makes one key after another, each in the memory of the last.
class KeyMaker {
 public:
  /// Holds until the next is made.
  const ir::Key& make(const Place& place, const NodeRun& run, const UsedTensors& used) {
    place_ = &place;
    run_ = &run;
    used_ = &used;
    const NodeView& node = *place.node;
    key_.domain = node.domain;
    key_.op = node.op;
    key_.since = node.since;
    key_.tags = run.tags;
    set_attributes(node.attributes);
    add_operands();
    add_results();
    if (is_copied_view(place)) key_.tags.emplace_back(std::string(ir::kCopiedTag), std::int64_t{1});
    key_.canonicalise();
    ir::canonicalise(key_, place.info);
    return key_;
  }

 private:
  /// Sorted already, since pointers are moved in less time than attributes: those of a fusion
  /// first, whose names ("activation") mostly come before the model's.
  void set_attributes(const AttributeLists& attributes) {
    sorted_.clear();
    for (const auto list : {attributes[1], attributes[0]})
      for (const ir::NamedValue& one : list) sorted_.push_back(&one);
    const auto less = [](const ir::NamedValue* a, const ir::NamedValue* b) {
      const int order = a->first.compare(b->first);
      return order != 0 ? order < 0 : a < b;
    };
    if (!std::is_sorted(sorted_.begin(), sorted_.end(), less))
      std::sort(sorted_.begin(), sorted_.end(), less);
    key_.attributes.resize(sorted_.size());
    for (std::size_t i = 0; i < sorted_.size(); ++i) key_.attributes[i] = *sorted_[i];
  }

  void add_operands() {
    const std::span<const ir::TensorId> inputs = place_->node->inputs;
    key_.operands.resize(inputs.size());
    // The runtime lists the operands that are there. If the numbers differ (an operand that is not
    // a tensor), positions cannot be told, and the graph's own knowledge has to do.
    const auto present = static_cast<std::size_t>(std::count_if(
        inputs.begin(), inputs.end(), [](ir::TensorId id) { return id != ir::kNoTensor; }));
    const bool seen = present == run_->inputs.size();
    std::size_t next = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ir::Entry& operand = key_.operands[i];
      if (inputs[i] == ir::kNoTensor) {
        operand = ir::AbsentEntry{};
        continue;
      }
      const SeenTensor* run = seen ? &run_->inputs[next] : nullptr;
      ++next;
      const auto end = inputs.begin() + static_cast<std::ptrdiff_t>(i);
      const auto first = std::find(inputs.begin(), end, inputs[i]);
      const TensorView& info = place_->graph->tensor(inputs[i]);
      if (!info.constant && first != end) {
        operand = ir::AliasEntry{static_cast<std::size_t>(first - inputs.begin())};
        continue;
      }
      ir::TensorEntry& entry = set_entry(operand, info, run);
      entry.constant = info.constant;
      if (info.constant && value_printed(place_->info, i, info))
        entry.value = key_value(*info.small_value);
    }
  }

  /// Not a constant, and without a value.
  static ir::TensorEntry& set_entry(ir::Entry& to, const TensorView& info, const SeenTensor* run) {
    auto* const known = std::get_if<ir::TensorEntry>(&to);
    ir::TensorEntry& entry = known != nullptr ? *known : to.emplace<ir::TensorEntry>();
    entry.constant = false;
    entry.value.reset();
    // A constant's own dimensions win: a runtime that pre-packs weights may show others.
    const bool use_run = run != nullptr && !info.constant;
    entry.dtype = use_run && run->dtype          ? *run->dtype
                  : info.dtype                   ? *info.dtype
                  : run != nullptr && run->dtype ? *run->dtype
                                                 : ir::Dtype::Any;
    entry.shape.ranked = use_run ? run->shape.ranked : info.ranked;
    const std::span<const ir::Dim> dims = use_run ? std::span(run->shape.dims) : info.dims;
    entry.shape.dims.assign(dims.begin(), dims.end());
    return entry;
  }

  void add_results() {
    const std::span<const ir::TensorId> outputs = place_->node->outputs;
    key_.results.resize(outputs.size());
    const auto present = static_cast<std::size_t>(std::count_if(
        outputs.begin(), outputs.end(), [](ir::TensorId id) { return id != ir::kNoTensor; }));
    const bool seen = present == run_->outputs.size();
    // A kernel of which nobody reads anything still runs. Its key has its first result as if that
    // were read: without it, nothing would say how much the kernel has to do.
    const bool none_used = std::none_of(outputs.begin(), outputs.end(),
                                        [&](ir::TensorId id) { return used_->contains(id); });
    std::size_t next = 0;
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      const SeenTensor* run = outputs[r] != ir::kNoTensor && seen ? &run_->outputs[next] : nullptr;
      const bool first = next == 0;
      if (outputs[r] != ir::kNoTensor) ++next;
      if (outputs[r] == ir::kNoTensor || !(used_->contains(outputs[r]) || (none_used && first))) {
        key_.results[r] = ir::AbsentEntry{};
        continue;
      }
      const ir::TensorEntry& entry =
          set_entry(key_.results[r], place_->graph->tensor(outputs[r]), run);
      if (const auto over = r == 0 ? overwritten(entry) : std::nullopt)
        key_.results[r] = ir::AliasEntry{*over};
    }
  }

  std::optional<std::size_t> overwritten(const ir::TensorEntry& result) const {
    for (const std::size_t i : place_->overwritable) {
      const ir::TensorEntry* operand = key_.operand(i);
      if (operand == nullptr || operand->constant || operand->dtype != result.dtype ||
          operand->shape != result.shape)
        continue;
      const auto* alias = std::get_if<ir::AliasEntry>(&key_.operands[i]);
      return alias != nullptr ? alias->index : i;
    }
    return std::nullopt;
  }

  const Place* place_ = nullptr;
  const NodeRun* run_ = nullptr;
  const UsedTensors* used_ = nullptr;
  std::vector<const ir::NamedValue*> sorted_;
  ir::Key key_;
};

/// How often each execution of a Loop ran its body: runs in order of their end, in which the
/// kernels of a body come before the execution that they belong to.
class LoopSteps {
 public:
  LoopSteps(std::span<Place* const> places, std::span<const NodeRun> runs)
      : steps_(runs.size(), 0) {
    if (std::none_of(places.begin(), places.end(),
                     [](const Place* one) { return one != nullptr && one->node->has_bodies(); }))
      return;
    std::vector<std::size_t> order(runs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return runs[a].ended < runs[b].ended; });
    // Of a node with bodies: how often each node right in them ran since it last ended.
    std::unordered_map<const NodeView*, std::unordered_map<std::string, std::int64_t>> since;
    for (const std::size_t i : order) {
      if (places[i] == nullptr) continue;
      const Place& place = *places[i];
      if (place.node->has_bodies()) {
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

/// Whether the data that a model is fed decide how often a Loop runs its body: its count or first
/// condition is not a constant, or the body computes the condition.
bool data_ends_loop(const Place& place) {
  const NodeView& loop = *place.node;
  for (const ir::TensorId id : loop.inputs.first(std::min<std::size_t>(2, loop.inputs.size())))
    if (id != ir::kNoTensor && !place.graph->tensor(id).constant) return true;
  return computes_condition(*loop.whole->bodies.front().second);
}

/// Steps of a Loop of whose body nothing ran: its constant count, or what its scan outputs hold.
std::int64_t steps_without_kernels(const Place& place, const NodeRun& run) {
  const NodeView& loop = *place.node;
  if (const auto steps = constant_steps(*place.graph->whole, *loop.whole)) return *steps;
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
void add_leaving_constants(const GraphView& graph, std::vector<PlanKernel>& kernels) {
  for (const ir::TensorId id : graph.outputs) {
    const TensorView& tensor = graph.tensor(id);
    if ((!tensor.constant && !tensor.overridable) || !tensor.dtype) continue;
    ir::Key key;
    key.op = "Identity";
    const auto opset = graph.opsets->find("");
    if (opset != graph.opsets->end()) key.since = ir::since_version("", key.op, opset->second);
    if (!key.since) key.since = 1;
    key.tags.emplace_back(std::string(ir::kCopiedTag), std::int64_t{1});
    const ir::Shape shape{tensor.ranked, {tensor.dims.begin(), tensor.dims.end()}};
    const ir::TensorEntry result{*tensor.dtype, false, shape, std::nullopt};
    ir::TensorEntry operand = result;
    operand.constant = tensor.constant;
    key.operands.emplace_back(std::move(operand));
    key.results.emplace_back(result);
    key.canonicalise();
    ir::canonicalise(key);
    kernels.push_back({std::string(tensor.name), ir::print(key), 1, std::nullopt, 0.0});
  }
}

/// What a graph is given and none of its nodes has read yet, in order of execution.
class UnreadInputs {
 public:
  explicit UnreadInputs(const GraphView& graph) : graph_(&graph) {
    input_of_.assign(graph.tensors.size(), kNoInput);
    for (const ir::TensorId id : graph.inputs) {
      const TensorView& tensor = graph.tensor(id);
      if (tensor.constant || tensor.overridable) continue;
      input_of_[static_cast<std::size_t>(id)] = inputs_.size();
      inputs_.emplace_back();
    }
    unread_ = inputs_.size();
  }

  /// Bytes of it that a node reads whose key this is, which counts as read from then on;
  /// std::nullopt where its size is not known. What bodies read is not counted.
  std::optional<double> count_read(const Place& place, const ir::Key& key) {
    if (unread_ == 0 || place.graph != graph_) return 0;
    const NodeView& node = *place.node;
    if (is_view(place) && !is_copied_view(place)) {
      add_view(node);
      return 0;
    }
    if (node.has_bodies()) {
      for (const std::span<const ir::TensorId> ids : {node.inputs, node.captured})
        for (const ir::TensorId id : ids) end(input(id));
      return 0;
    }
    if (place.info != nullptr && place.info->moves_little) return 0;
    std::optional<double> bytes = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      Input* const read = input(node.inputs[i]);
      if (read == nullptr || read->read) continue;
      const auto part = read_of(*read, key, i);
      bytes = bytes && part ? std::optional(*bytes + *part) : std::nullopt;
    }
    return bytes;
  }

 private:
  struct Input {
    bool read = false;
    std::optional<double> left_bytes = std::nullopt;  // once some of it was read
  };
  static constexpr std::size_t kNoInput = static_cast<std::size_t>(-1);

  Input* input(ir::TensorId id) {
    if (id == ir::kNoTensor) return nullptr;
    const std::size_t at = input_of_[static_cast<std::size_t>(id)];
    return at == kNoInput ? nullptr : &inputs_[at];
  }

  void end(Input* one) {
    if (one == nullptr || one->read) return;
    one->read = true;
    --unread_;
  }

  /// What a kernel reads of operand i. One that picks leaves the rest of the first to others.
  std::optional<double> read_of(Input& one, const ir::Key& key, std::size_t i) {
    const auto stored = [](const ir::TensorEntry* entry) {
      return entry == nullptr ? std::nullopt : ir::stored_bytes(*entry);
    };
    const auto left = one.left_bytes ? one.left_bytes : stored(key.operand(i));
    const auto picked = ir::picks(key.op) && i == 0 ? stored(key.result(0)) : std::nullopt;
    if (!left || !picked || *picked >= *left) {
      end(&one);
      return left;
    }
    one.left_bytes = *left - *picked;
    return picked;
  }

  /// A view of an input is the input.
  void add_view(const NodeView& view) {
    if (view.inputs.empty() || view.outputs.empty() || view.inputs[0] == ir::kNoTensor ||
        view.outputs[0] == ir::kNoTensor)
      return;
    input_of_[static_cast<std::size_t>(view.outputs[0])] =
        input_of_[static_cast<std::size_t>(view.inputs[0])];
  }

  const GraphView* graph_;
  std::vector<std::size_t> input_of_;  // of each tensor, in inputs_
  std::vector<Input> inputs_;
  std::size_t unread_ = 0;
};

/// Of runs, one after another.
class FootprintSum {
 public:
  void add(Place& place, const NodeRun& run) {
    ResultBytes results;
    results.known = !run.outputs.empty();
    for (const SeenTensor& output : run.outputs)
      results.add(output.dtype, output.shape.ranked, output.shape.dims);
    add(place, results);
  }
  /// Of a run whose results are those that the graph states.
  void add(Place& place) {
    ResultBytes results;
    for (const ir::TensorId id : place.node->outputs) {
      if (id == ir::kNoTensor) continue;
      const TensorView& tensor = place.graph->tensor(id);
      results.add(tensor.dtype, tensor.ranked, tensor.dims);
    }
    add(place, results);
  }
  Footprint sum() && {
    sum_.weight_bytes += std::move(constants_).bytes();
    return sum_;
  }

 private:
  void add(Place& place, const ResultBytes& results) {
    const NodeView& node = *place.node;
    if (node.has_bodies()) return;
    if (!std::exchange(place.weighed, true)) {
      for (const auto list : node.attributes) sum_.weight_bytes += ir::parameter_bytes(list);
    }
    for (const ir::TensorId id : node.inputs) {
      if (id == ir::kNoTensor) continue;
      const TensorView& tensor = place.graph->tensor(id);
      if (tensor.constant || tensor.overridable)
        constants_.add(tensor.constant_hash, static_cast<double>(tensor.constant_bytes), node.op,
                       results);
    }
    if (!is_view(place) || is_copied_view(place)) sum_.activation_bytes += results.bytes;
  }

  Footprint sum_;
  TouchedConstants constants_;
};

/// The kernels of runs, one after another.
class KernelList {
 public:
  KernelList(const GraphView& graph, std::size_t runs) : unread_(graph) {
    kernels_.reserve(runs);
    before_.reserve(runs);
  }

  Status add(Place& place, const NodeRun& run) {
    const auto used = used_.try_emplace(place.graph, *place.graph).first;
    const ir::Key& made = maker_.make(place, run, used->second);
    std::string key = ir::print(made);
    const std::optional<double> input_bytes = unread_.count_read(place, made);
    if (key.size() > kMaxKeyBytes) {
      return fail(Code::Input,
                  "node '{}' ({}): its key of {} bytes is longer than a table holds ({})",
                  base::printable(place.node->name), base::printable(place.node->op), key.size(),
                  kMaxKeyBytes);
    }
    std::size_t known = place.kernel;
    while (known != kNoKernel && kernels_[known].key != key) known = before_[known];
    if (known == kNoKernel) {
      before_.push_back(std::exchange(place.kernel, kernels_.size()));
      kernels_.push_back(
          {std::string(place.node->name), std::move(key), 1, std::nullopt, input_bytes});
    } else {
      PlanKernel& again = kernels_[known];
      ++again.count;
      again.input_bytes = again.input_bytes && input_bytes
                              ? std::optional(*again.input_bytes + *input_bytes)
                              : std::nullopt;
    }
    return {};
  }

  std::vector<PlanKernel> take(const GraphView& graph) && {
    add_leaving_constants(graph, kernels_);
    return std::move(kernels_);
  }

 private:
  std::unordered_map<const GraphView*, UsedTensors> used_;
  KeyMaker maker_;
  UnreadInputs unread_;
  std::vector<PlanKernel> kernels_;
  std::vector<std::size_t> before_;  // of each kernel, the one before of the same node
};

}  // namespace

Result<std::vector<PlanKernel>> kernels_of(const ir::Graph& graph, std::span<const NodeRun> runs) {
  Index index;
  index_graph(graph, nullptr, index);
  const std::vector<Place*> places = places_of(index, runs);
  const LoopSteps steps(places, runs);
  const GraphView& model = index.graphs.front();
  KernelList kernels(model, runs.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (places[r] == nullptr)
      return fail(Code::Internal, "the runtime ran a node '{}' that its plan does not hold",
                  base::printable(runs[r].node));
    if (places[r]->node->op == "Loop" && places[r]->node->has_bodies()) {
      NodeRun run = runs[r];
      tag_loop(*places[r], steps.of(r), run);
      OPLAT_CHECK(kernels.add(*places[r], run));
    } else {
      OPLAT_CHECK(kernels.add(*places[r], runs[r]));
    }
  }
  return std::move(kernels).take(model);
}

Result<std::vector<PlanKernel>> kernels_of_nodes(const GraphView& graph,
                                                 std::span<const std::size_t> order,
                                                 const DomainTags& tags, Footprint& bytes) {
  std::vector<Place> places = places_of_nodes(graph, nullptr);
  KernelList kernels(graph, order.size());
  FootprintSum sum;
  NodeRun run;  // without tensors: what the graph states of them holds
  for (const std::size_t n : order) {
    const bool tagged = places[n].node->domain == tags.domain;
    if (tagged && run.tags.empty()) run.tags = tags.tags;
    if (!tagged) run.tags.clear();
    sum.add(places[n]);
    OPLAT_CHECK(kernels.add(places[n], run));
  }
  bytes = std::move(sum).sum();
  return std::move(kernels).take(graph);
}

Footprint footprint(const ir::Graph& graph, std::span<const NodeRun> runs) {
  Index index;
  index_graph(graph, nullptr, index);
  const std::vector<Place*> places = places_of(index, runs);
  FootprintSum sum;
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (places[r] != nullptr) sum.add(*places[r], runs[r]);
  return std::move(sum).sum();
}

}  // namespace oplat::plan
