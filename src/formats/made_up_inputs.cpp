// SPDX-License-Identifier: Apache-2.0
/// From inputs forward to the operands that decide.
///
/// The problem: a model whose Loop takes its trip count from an input, or whose LSTM takes lengths,
/// costs what these values ask for. oplat must put something there, and silence would make the time
/// of some other network. So inputs are followed forward, through what passes values on, to
/// operands of which ir::operand_rules() knows what they decide; into bodies, too.
#include "formats/made_up_inputs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "base/name_value.hpp"
#include "base/text.hpp"

namespace oplat::formats {
namespace {

constexpr int kMaxBodyDepth = 16;

constexpr std::array<std::string_view, 6> kKeepsValues = {"Cast",      "Reshape",  "Squeeze",
                                                          "Unsqueeze", "Identity", "Flatten"};
/// What makes other numbers of numbers that say how much there is.
constexpr std::array<std::string_view, 32> kComputes = {"Add",
                                                        "Sub",
                                                        "Mul",
                                                        "Div",
                                                        "Mod",
                                                        "Neg",
                                                        "Abs",
                                                        "Min",
                                                        "Max",
                                                        "Floor",
                                                        "Ceil",
                                                        "Round",
                                                        "Gather",
                                                        "Slice",
                                                        "Split",
                                                        "Expand",
                                                        "Tile",
                                                        "Transpose",
                                                        "ReduceSum",
                                                        "ReduceMax",
                                                        "ReduceMin",
                                                        "ReduceProd",
                                                        "CumSum",
                                                        "Equal",
                                                        "Greater",
                                                        "Less",
                                                        "And",
                                                        "Or",
                                                        "Not",
                                                        "Where",
                                                        "GreaterOrEqual",
                                                        "LessOrEqual"};

bool is_one_of(std::span<const std::string_view> list, std::string_view op) {
  return std::find(list.begin(), list.end(), op) != list.end();
}

ir::TensorEntry entry_of_tensor(const ir::TensorInfo& tensor) {
  ir::TensorEntry entry;
  entry.dtype = tensor.dtype.value_or(ir::Dtype::Any);
  entry.constant = tensor.constant;
  entry.shape = tensor.shape;
  if (tensor.constant) entry.value = tensor.small_value;
  return entry;
}

/// A node as far as its file says, for the rules: dimensions may be unknown.
ir::Key key_of_node(const ir::Graph& graph, const ir::Node& node) {
  ir::Key key;
  key.domain = node.domain;
  key.op = node.op;
  key.since = node.since;
  key.attributes = node.attributes;
  const auto entries = [&](const std::vector<ir::TensorId>& ids) {
    std::vector<ir::Entry> list;
    for (const ir::TensorId id : ids) {
      if (id == ir::kNoTensor) {
        list.emplace_back(ir::AbsentEntry{});
      } else {
        list.emplace_back(entry_of_tensor(graph.tensors[static_cast<std::size_t>(id)]));
      }
    }
    return list;
  };
  key.operands = entries(node.inputs);
  key.results = entries(node.outputs);
  return key;
}

/// The part of a tensor that the followed input has become.
struct Trail {
  bool direct = true;                 ///< its values are the input's
  bool summed = false;                ///< behind a sum: a mask is counted
  std::int64_t first = 0;             ///< element of the tensor that is the input's first
  std::optional<std::int64_t> count;  ///< elements of the input
};

/// Values for the input behind `trail`, of those for the operand.
std::optional<ir::OperandFill> part_of(std::optional<ir::OperandFill> fill, const Trail& trail) {
  if (!fill || fill->nonzero || fill->distinct) return fill;
  if (trail.summed) {
    ir::OperandFill ones;
    ones.values = {1};
    return ones;
  }
  if (fill->values.size() <= 1) return fill;
  const auto first = static_cast<std::size_t>(trail.first);
  const auto count = static_cast<std::size_t>(trail.count.value_or(0));
  if (trail.count && first + count <= fill->values.size()) {
    fill->values = {fill->values.begin() + static_cast<std::ptrdiff_t>(first),
                    fill->values.begin() + static_cast<std::ptrdiff_t>(first + count)};
  } else {
    fill->values = {*std::max_element(fill->values.begin(), fill->values.end())};
  }
  return fill;
}

/// Which nodes read a tensor, for every graph that was asked for; and how much was followed in all,
/// which a hostile model must not make endless.
class Readers {
 public:
  const std::vector<std::size_t>& of(const ir::Graph& graph, ir::TensorId tensor) {
    const auto [at, added] = by_graph_.try_emplace(&graph);
    if (added) {
      at->second.resize(graph.tensors.size());
      for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        note(at->second, graph.nodes[n].inputs, n);
        note(at->second, graph.nodes[n].captured, n);
      }
    }
    return at->second[static_cast<std::size_t>(tensor)];
  }
  bool spend() { return ++spent_ <= kMaxVisits; }

 private:
  static constexpr std::int64_t kMaxVisits = 1'000'000;
  using ByTensor = std::vector<std::vector<std::size_t>>;
  static void note(ByTensor& readers, const std::vector<ir::TensorId>& tensors, std::size_t node) {
    for (const ir::TensorId id : tensors) {
      if (id == ir::kNoTensor) continue;
      std::vector<std::size_t>& list = readers[static_cast<std::size_t>(id)];
      if (list.empty() || list.back() != node) list.push_back(node);
    }
  }
  std::map<const ir::Graph*, ByTensor> by_graph_;
  std::int64_t spent_ = 0;
};

class Follower {
 public:
  Follower(const onnx::InputInfo& input, Readers& readers) : input_(input), readers_(readers) {}

  std::vector<DecisiveInput> found() && { return std::move(found_); }

  void follow(const ir::Graph& graph, ir::TensorId id, const Trail& trail, int depth) {
    if (id == ir::kNoTensor || !seen_.insert({&graph, id}).second || depth > kMaxBodyDepth) return;
    std::vector<std::pair<ir::TensorId, Trail>> open = {{id, trail}};
    while (!open.empty()) {
      const auto [tensor, at] = open.back();
      open.pop_back();
      for (const std::size_t node : readers_.of(graph, tensor)) {
        if (!readers_.spend()) return;
        read_by(graph, graph.nodes[node], tensor, at, depth, open);
      }
    }
  }

 private:
  using Open = std::vector<std::pair<ir::TensorId, Trail>>;

  void read_by(const ir::Graph& graph, const ir::Node& node, ir::TensorId tensor, const Trail& at,
               int depth, Open& open) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != tensor) continue;
      note(graph, node, i, at);
      pass_on(graph, node, i, at, open);
      enter_as_input(node, i, at, depth);
    }
    if (std::find(node.captured.begin(), node.captured.end(), tensor) == node.captured.end())
      return;
    const std::string& name = graph.tensors[static_cast<std::size_t>(tensor)].name;
    for (const auto& [attribute, body] : node.bodies) {
      for (std::size_t t = 0; t < body->tensors.size(); ++t) {
        if (body->tensors[t].outer && body->tensors[t].name == name)
          follow(*body, static_cast<ir::TensorId>(t), at, depth + 1);
      }
    }
  }

  /// States and scanned inputs of Loop (behind trip count and condition) and Scan are inputs of the
  /// body. An If's body reads what it captures.
  void enter_as_input(const ir::Node& node, std::size_t operand, const Trail& at, int depth) {
    if (node.bodies.empty() || (node.op == "Loop" && operand < 2)) return;
    const ir::Graph& body = *node.bodies.front().second;
    if (node.op != "If" && operand < body.inputs.size()) {
      Trail inside = at;
      inside.direct = false;
      follow(body, body.inputs[operand], inside, depth + 1);
    }
  }

  void note(const ir::Graph& graph, const ir::Node& node, std::size_t operand, const Trail& at) {
    const ir::OperandRule* rule = ir::operand_rule(node.domain, node.op, operand);
    if (rule == nullptr) return;
    const ir::Key key = key_of_node(graph, node);
    auto fill = rule->fill(key, operand);
    // A float that only may be an integer's divisor decides nothing.
    if (rule->role == ir::ValueRole::Divisor && (!fill || ir::is_float(input_.dtype))) return;
    const bool bare_data = rule->role == ir::ValueRole::Data && ir::is_float(input_.dtype) &&
                           node.op != "NonZero" && node.op != "Compress";
    if (bare_data && !at.direct) return;
    // Numbers that were added to may be out of range, whatever they begin with: 0 and 1 are safest.
    if (rule->role == ir::ValueRole::Index && !at.direct) return;
    // A mask that is added to scores costs the same whatever it holds.
    const bool mask = rule->role == ir::ValueRole::Length && !ir::is_recorded(*rule);
    found_.push_back({input_.name, mask ? ir::ValueRole::Index : rule->role, node.op, node.name,
                      at.direct, part_of(std::move(fill), at)});
    if (at.direct || input_.dtype == ir::Dtype::Bool) return;
    if (ir::is_float(input_.dtype)) {
      // Features of which a size or a condition is computed stay what they are; of a mask that is
      // summed up, all counts.
      const bool mask_of_ones =
          at.summed && (rule->role == ir::ValueRole::Length || rule->role == ir::ValueRole::Size);
      if (!mask_of_ones) found_.back().fill.reset();
    } else if (rule->role == ir::ValueRole::Condition) {
      // A condition computed from numbers: such that make several trips.
      ir::OperandFill several;
      several.values = {10};
      found_.back().fill = several;
    }
  }

  void pass_on(const ir::Graph& graph, const ir::Node& node, std::size_t operand, const Trail& at,
               Open& open) {
    if (!node.bodies.empty()) return;
    Trail next = at;
    if (node.op == "Concat") {
      for (std::size_t before = 0; before < operand; ++before) {
        if (node.inputs[before] == ir::kNoTensor) continue;
        const auto& shape = graph.tensors[static_cast<std::size_t>(node.inputs[before])].shape;
        const auto elements = shape.ranked ? shape.elements() : std::nullopt;
        // Shapes of scalars that a reshape made are not in the file: one element each.
        next.first += elements.value_or(1);
      }
    } else if (is_one_of(kKeepsValues, node.op)) {
      if (operand != 0) return;
    } else if (is_one_of(kComputes, node.op)) {
      next.direct = false;
      if (node.op == "ReduceSum" || node.op == "CumSum") next.summed = true;
      if (node.op == "Gather" && operand != 0) return;
    } else {
      return;
    }
    for (const ir::TensorId output : node.outputs) {
      if (output == ir::kNoTensor || !seen_.insert({&graph, output}).second) continue;
      open.emplace_back(output, next);
    }
  }

  const onnx::InputInfo& input_;
  Readers& readers_;
  std::set<std::pair<const ir::Graph*, ir::TensorId>> seen_;
  std::vector<DecisiveInput> found_;
};

/// What is said if an input serves several operands.
int weight(const DecisiveInput& input) {
  using enum ir::ValueRole;
  const auto by_role = [&] {
    switch (input.role) {
      case Trips:
        return 7;
      case Condition:
        return 6;
      case Length:
        return 5;
      case Size:
        return 4;
      case Choice:
        return 3;
      case Data:
        return 2;
      case Index:
      case Divisor:
        return 1;
    }
    return 0;
  }();
  return 2 * by_role + (input.direct ? 1 : 0);
}

std::string_view what_it_decides(ir::ValueRole role) {
  using enum ir::ValueRole;
  switch (role) {
    case Trips:
      return "the number of trips";
    case Condition:
      return "the condition";
    case Length:
      return "lengths";
    case Size:
      return "sizes";
    case Choice:
      return "an operand";
    case Data:
      return "the data";
    case Index:
      return "indices";
    case Divisor:
      return "the divisor";
  }
  return "an operand";
}

std::string fill_text(const std::optional<ir::OperandFill>& fill, bool direct) {
  if (!fill) return direct ? "as the greatest that its shapes allow" : "as random numbers";
  if (fill->nonzero || fill->distinct) return "as random numbers";
  if (fill->values.empty()) return fmt::format("as numbers from {} to {}", fill->low, fill->high);
  constexpr std::size_t kMaxShown = 6;
  const std::vector<double>& values = fill->values;
  if (values.size() > kMaxShown)
    return fmt::format("as {} numbers from {} to {}", values.size(),
                       *std::min_element(values.begin(), values.end()),
                       *std::max_element(values.begin(), values.end()));
  return fmt::format("as {}", fmt::join(values, ","));
}

}  // namespace

std::vector<DecisiveInput> decisive_inputs(const std::vector<onnx::InputInfo>& inputs,
                                           const ir::Graph& graph) {
  std::vector<DecisiveInput> decisive;
  Readers readers;
  for (const onnx::InputInfo& input : inputs) {
    std::optional<DecisiveInput> best;
    for (const ir::TensorId id : graph.inputs) {
      if (graph.tensors[static_cast<std::size_t>(id)].name != input.name) continue;
      Follower follower(input, readers);
      follower.follow(graph, id, {true, false, 0, input.shape.elements()}, 0);
      std::int64_t high = -1;  // indices of several tables must be legal in each
      for (DecisiveInput& one : std::move(follower).found()) {
        if (one.role == ir::ValueRole::Index && one.fill && one.fill->values.empty())
          high = high < 0 ? one.fill->high : std::min(high, one.fill->high);
        if (!best || weight(one) > weight(*best)) best = std::move(one);
      }
      if (best && best->role == ir::ValueRole::Index && best->fill && high >= 0)
        best->fill->high = high;
    }
    if (best) decisive.push_back(*std::move(best));
  }
  return decisive;
}

bool decides_work(ir::ValueRole role) {
  return role != ir::ValueRole::Index && role != ir::ValueRole::Divisor;
}

std::string made_up_text(const DecisiveInput& input) {
  const std::string name = base::printable(input.name, 80);
  return fmt::format("input '{}' ({} of {}{}) was made up {}; give its values with --input {}",
                     name, what_it_decides(input.role), base::printable(input.op, 40),
                     input.direct ? "" : ", through other operators",
                     fill_text(input.fill, input.direct),
                     base::name_value_word(input.name, "FILE.npy"));
}

std::vector<std::string> made_up_texts(const std::vector<onnx::InputInfo>& inputs,
                                       const ir::Graph& graph,
                                       const std::map<std::string, std::string>& given) {
  std::vector<std::string> texts;
  for (const DecisiveInput& input : decisive_inputs(inputs, graph)) {
    if (decides_work(input.role) && !given.contains(input.name))
      texts.push_back(made_up_text(input));
  }
  return texts;
}

bool given_data_decide_bodies(const std::vector<onnx::InputInfo>& inputs, const ir::Graph& graph,
                              const std::map<std::string, std::string>& given) {
  if (std::all_of(inputs.begin(), inputs.end(),
                  [&](const onnx::InputInfo& one) { return given.contains(one.name); }))
    return !inputs.empty();
  bool bodies = false;
  for (const DecisiveInput& input : decisive_inputs(inputs, graph)) {
    if (!decides_work(input.role)) continue;
    if (!given.contains(input.name)) return false;
    bodies = bodies || input.role == ir::ValueRole::Condition || input.role == ir::ValueRole::Trips;
  }
  return bodies;
}

namespace {

struct ReadStructure {
  std::vector<onnx::InputInfo> inputs;
  ir::Graph graph;
};

/// std::nullopt: no ONNX model, or one that cannot be read.
std::optional<ReadStructure> read_structure(const base::Source& source,
                                            const ShapeOptions& shapes) {
  const auto reader = reader_for(source);
  if (!reader || (*reader)->name() != "onnx") return std::nullopt;
  auto model = onnx::Model::load_structure(source);
  if (!model || !model->specialise(shapes)) return std::nullopt;
  auto infos = model->inputs();
  auto graph = model->graph();
  if (!infos || !graph) return std::nullopt;
  return ReadStructure{*std::move(infos), *std::move(graph)};
}

}  // namespace

bool given_data_decide_bodies(const base::Source& source, const ShapeOptions& shapes,
                              const std::map<std::string, std::string>& given) {
  if (given.empty()) return false;
  const auto read = read_structure(source, shapes);
  return read && given_data_decide_bodies(read->inputs, read->graph, given);
}

std::vector<std::string> made_up_texts(const base::Source& source, const ShapeOptions& shapes,
                                       const std::map<std::string, std::string>& given) {
  const auto read = read_structure(source, shapes);
  if (!read) return {};
  return made_up_texts(read->inputs, read->graph, given);
}

}  // namespace oplat::formats
