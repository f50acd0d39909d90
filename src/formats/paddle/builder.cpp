// SPDX-License-Identifier: Apache-2.0
/// Programs to graphs: variables that are written again become tensors of their own, shapes flow
/// from the inputs.
#include "formats/paddle/builder.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "formats/paddle/shapes.hpp"

namespace oplat::formats::paddle {
namespace {

/// A batch normalisation in inference writes its statistics back as they are.
bool is_written_back(std::string_view op, std::string_view slot) {
  return (op == "batch_norm" || op == "sync_batch_norm") &&
         (slot == "MeanOut" || slot == "VarianceOut");
}

/// Where an operator's main result stands.
int rank_of(std::string_view slot) {
  constexpr std::array<std::string_view, 6> kMain = {"Out",   "Output",    "Y",
                                                     "Boxes", "OutputBox", "Anchors"};
  return static_cast<int>(std::find(kMain.begin(), kMain.end(), slot) - kMain.begin());
}

/// Parameters by name; of results the main one first.
std::vector<const Argument*> in_order(const std::vector<Argument>& arguments, bool main_first) {
  std::vector<const Argument*> list;
  for (const Argument& argument : arguments) list.push_back(&argument);
  std::stable_sort(list.begin(), list.end(), [&](const Argument* a, const Argument* b) {
    const int rank_a = main_first ? rank_of(a->slot) : 0;
    const int rank_b = main_first ? rank_of(b->slot) : 0;
    return rank_a != rank_b ? rank_a < rank_b : a->slot < b->slot;
  });
  return list;
}

class Builder {
 public:
  Builder(const std::string& file, const Program& program, const std::vector<Input>& inputs)
      : file_(file), block_(program.blocks.front()), inputs_(inputs) {}

  Result<ir::Graph> run() {
    graph_.name = "main";
    find_uses();
    OPLAT_CHECK(add_inputs());
    for (std::size_t i = 0; i < block_.operators.size(); ++i) {
      const Operator& op = block_.operators[i];
      if (op.type == "feed") continue;
      if (op.type == "fetch") {
        OPLAT_CHECK(add_output(i, op));
      } else {
        OPLAT_CHECK(add_node(i, op));
      }
    }
    OPLAT_CHECK(finish());
    return std::move(graph_);
  }

 private:
  ir::TensorInfo& tensor(ir::TensorId id) { return graph_.tensors[static_cast<std::size_t>(id)]; }

  const Variable* described(const std::string& name) const {
    const auto found = block_.variables.find(name);
    return found == block_.variables.end() ? nullptr : &found->second;
  }

  void find_uses() {
    for (std::size_t i = 0; i < block_.operators.size(); ++i) {
      for (const Argument& argument : block_.operators[i].inputs) {
        read_.insert(argument.variables.begin(), argument.variables.end());
      }
      for (const Argument& argument : block_.operators[i].outputs) {
        for (const std::string& name : argument.variables) writers_.emplace(name, i);
      }
    }
  }

  /// A new tensor for the variable, which from here on means this one.
  ir::TensorId define(const std::string& variable, std::optional<ir::Dtype> dtype,
                      const Dims& dims) {
    std::string name = variable;
    const auto [times, first] = written_.try_emplace(variable, 0);
    if (!first) name = fmt::format("{}.{}", variable, ++times->second);
    while (!names_.insert(name).second) name += '\'';
    const auto id = static_cast<ir::TensorId>(graph_.tensors.size());
    current_[variable] = id;
    ir::TensorInfo& info = graph_.tensors.emplace_back();
    info.name = std::move(name);
    info.dtype = dtype;
    info.shape = ir::Shape::of(dims);
    known_.push_back({.dims = dims, .values = {}});
    return id;
  }

  Status add_inputs() {
    for (const Input& input : inputs_) {
      graph_.inputs.push_back(define(input.name, described(input.name)->dtype, input.dims));
    }
    return {};
  }

  Result<ir::TensorId> add_parameter(const std::string& where, const std::string& name,
                                     const Variable& variable) {
    const auto& dims = variable.dims;
    const bool sound =
        std::all_of(dims.begin(), dims.end(), [](auto d) { return d >= 0 && d <= kMaxDim; });
    const auto elements = ir::Shape::of(dims).elements();
    if (!sound || !elements || dims.size() > kMaxRank || !variable.dtype) {
      return fail(Code::Input,
                  "{} reads the parameter '{}' of the shape {}; expected dimensions from 0 to {}",
                  where, base::printable(name), dims_text(dims), kMaxDim);
    }
    const ir::TensorId id = define(name, variable.dtype, dims);
    ir::TensorInfo& info = tensor(id);
    info.constant = true;
    if (const auto bits = ir::bits(*variable.dtype)) {
      info.constant_bytes =
          static_cast<std::uint64_t>(*elements) * static_cast<std::uint64_t>(*bits) / 8;
    }
    info.constant_hash = base::hash64(name);
    return id;
  }

  /// The tensor that the variable means before operator `i`.
  Result<ir::TensorId> read(std::size_t i, const std::string& where, const std::string& name) {
    if (const auto found = current_.find(name); found != current_.end()) {
      const auto open = open_.find(found->second);
      if (open == open_.end()) return found->second;
      return fail(Code::Input, "{}", open->second);
    }
    const Variable* variable = described(name);
    if (variable == nullptr) {
      return fail(Code::Input, "{} reads '{}', which the program does not describe", where,
                  base::printable(name));
    }
    const auto writer = writers_.find(name);
    const bool written_later = writer != writers_.end() && writer->second >= i;
    if (variable->persistable && variable->tensor) return add_parameter(where, name, *variable);
    if (written_later) {
      return fail(Code::Input,
                  "{} reads '{}', which only operator {} writes: the program is cyclic, or not in "
                  "order of execution",
                  where, base::printable(name), writer->second);
    }
    return fail(Code::Input, "{} reads '{}', which is neither written nor fed", where,
                base::printable(name));
  }

  Status add_output(std::size_t i, const Operator& op) {
    const std::string where = place(file_, i, op);
    for (const Argument& argument : op.inputs) {
      for (const std::string& name : argument.variables) {
        OPLAT_TRY(id, read(i, where, name));
        if (fetched_.insert(id).second) graph_.outputs.push_back(id);
      }
    }
    return {};
  }

  Status refuse_bodies(const std::string& where, const Operator& op) const {
    if (op.bodies.empty()) return {};
    return fail(Code::Input,
                "{} runs block {} of the program, which depends on data; export the model without "
                "control flow",
                where, op.bodies.front().second);
  }

  Status add_node(std::size_t i, const Operator& op) {
    const std::string where = place(file_, i, op);
    OPLAT_CHECK(refuse_bodies(where, op));
    ir::Node node;
    node.domain = kPaddleDomain;
    node.op = op.type;
    PaddleCall call{.op = node.op, .attributes = op.attributes, .operands = {}, .results = {}};
    std::unordered_set<std::string_view> own;
    for (const Argument* argument : in_order(op.inputs, false)) {
      for (const std::string& name : argument->variables) {
        OPLAT_TRY(id, read(i, where, name));
        own.insert(name);
        node.inputs.push_back(id);
        node.input_slots.push_back(argument->slot);
        call.operands[argument->slot].push_back(known_[static_cast<std::size_t>(id)]);
      }
    }
    for (const Argument& argument : op.outputs)
      call.results[argument.slot] = argument.variables.size();
    PaddleSlots results;
    std::string why;
    if (auto inferred = infer_paddle(call)) {
      results = std::move(*inferred);
    } else if (inferred.error().code == Code::Missing) {
      why = std::move(inferred).error().message;
    } else {
      return fail(Code::Input, "{}: operator {}, which writes '{}': {}", file_, i, first_result(op),
                  inferred.error().message);
    }
    for (const ir::NamedValue& attribute : op.attributes) {
      if (is_telling(op.type, attribute)) node.attributes.push_back(attribute);
    }
    if (keeps_former_shape(op)) node.attributes.emplace_back("XShape", ir::Value("true"));
    OPLAT_CHECK(add_results(i, op, results, why, own, node));
    node.name =
        node.outputs.empty() ? fmt::format("{}_{}", op.type, i) : tensor(node.outputs.front()).name;
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  /// Whether the program has the result XShape. Nobody reads it, so the graph does not hold it,
  /// but optimisers look for it (data/fusion/paddle-lite.yaml).
  static bool keeps_former_shape(const Operator& op) {
    if (op.type != "reshape2" && op.type != "transpose2") return false;
    return std::any_of(op.outputs.begin(), op.outputs.end(), [](const Argument& argument) {
      return argument.slot == "XShape" && !argument.variables.empty();
    });
  }

  static std::string first_result(const Operator& op) {
    const auto list = in_order(op.outputs, true);
    return list.empty() ? "nothing" : base::printable(list.front()->variables.front());
  }

  Status add_results(std::size_t i, const Operator& op, const PaddleSlots& results,
                     const std::string& why, const std::unordered_set<std::string_view>& own,
                     ir::Node& node) {
    const std::string where = place(file_, i, op);
    const std::vector<const Argument*> slots = in_order(op.outputs, true);
    std::unordered_set<std::string_view> written;
    for (const Argument* argument : slots) {
      if (is_written_back(op.type, argument->slot)) continue;
      const auto inferred = results.find(argument->slot);
      for (std::size_t j = 0; j < argument->variables.size(); ++j) {
        const std::string& name = argument->variables[j];
        if (!written.insert(name).second)
          return fail(Code::Input, "{} writes '{}' twice", where, base::printable(name));
        // Former shapes, masks, saved statistics: nobody computes with them.
        if (argument->slot != slots.front()->slot && !read_.contains(name)) continue;
        const Variable* variable = described(name);
        if (variable == nullptr) {
          return fail(Code::Input, "{} writes '{}', which the program does not describe", where,
                      base::printable(name));
        }
        if (current_.contains(name) && !own.contains(name)) {
          return fail(Code::Input,
                      "{} writes '{}', which already has a value: the program reuses memory, or is "
                      "broken; export it without memory optimisation",
                      where, base::printable(name));
        }
        const bool known = inferred != results.end() && j < inferred->second.size();
        add_result(name, *variable, known ? &inferred->second[j] : nullptr, i, why);
        node.outputs.push_back(current_.at(name));
        node.output_slots.push_back(argument->slot);
      }
    }
    return {};
  }

  void add_result(const std::string& name, const Variable& variable, const PaddleTensor* inferred,
                  std::size_t op, const std::string& why) {
    const bool bounded = variable.dims.size() <= kMaxRank &&
                         std::all_of(variable.dims.begin(), variable.dims.end(),
                                     [](auto d) { return d >= 0 && d <= kMaxDim; });
    const auto elements =
        bounded && variable.dtype ? ir::Shape::of(variable.dims).elements() : std::nullopt;
    // What older versions call [1] has no dimensions today: as the program has it.
    const bool same =
        inferred != nullptr && elements && *elements == ir::Shape::of(inferred->dims).elements();
    if (inferred != nullptr) {
      const ir::TensorId id = define(name, variable.dtype, same ? variable.dims : inferred->dims);
      known_[static_cast<std::size_t>(id)].values = inferred->values;
      return;
    }
    const ir::TensorId id = define(name, variable.dtype, elements ? variable.dims : Dims{});
    if (elements) return;
    open_.try_emplace(id, fmt::format("{} has an unknown result shape: '{}' is {}{}{}; export the "
                                      "model with fixed shapes (--shape does not help here)",
                                      place(file_, op, block_.operators[op]), base::printable(name),
                                      dims_text(variable.dims), why.empty() ? "" : ", and ", why));
    tensor(id).shape = {.ranked = false, .dims = {}};
  }

  Status finish() {
    if (graph_.nodes.empty()) return fail(Code::Input, "{}: the program computes nothing", file_);
    std::unordered_set<ir::TensorId> used(graph_.outputs.begin(), graph_.outputs.end());
    for (const ir::Node& node : graph_.nodes) {
      for (const ir::TensorId id : node.outputs) {
        if (const auto open = open_.find(id); open != open_.end())
          return fail(Code::Input, "{}", open->second);
      }
      used.insert(node.inputs.begin(), node.inputs.end());
    }
    if (!graph_.outputs.empty()) return {};
    for (const ir::Node& node : graph_.nodes) {
      for (const ir::TensorId id : node.outputs) {
        if (!used.contains(id)) graph_.outputs.push_back(id);
      }
    }
    return {};
  }

  const std::string& file_;
  const Block& block_;
  const std::vector<Input>& inputs_;
  ir::Graph graph_;
  std::vector<PaddleTensor> known_;  ///< parallel to graph_.tensors
  std::unordered_map<std::string, ir::TensorId> current_;
  std::unordered_map<std::string, std::size_t> writers_;
  std::unordered_map<std::string, int> written_;  ///< how often each variable was written again
  std::unordered_set<std::string> names_;
  std::unordered_set<ir::TensorId> fetched_;
  std::unordered_set<std::string_view> read_;  ///< by any operator
  /// what is wrong, should anybody need the shape
  std::unordered_map<ir::TensorId, std::string> open_;
};

}  // namespace

Result<ir::Graph> build(const std::string& file, const Program& program,
                        const std::vector<Input>& inputs) {
  return Builder(file, program, inputs).run();
}

}  // namespace oplat::formats::paddle
