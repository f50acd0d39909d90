// SPDX-License-Identifier: Apache-2.0
/// Fused nodes of Paddle-Lite as keys: one line an operator says which slots and attributes make
/// its key.
#include "compat/paddleslim/kernel.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "base/text.hpp"

namespace oplat::compat::paddleslim {

using namespace ir;  // NOLINT: the file is about keys

namespace {

constexpr std::string_view kKernelDomain = "paddle_lite";

/// An attribute of the key, the name under which the operator has it, and its value if it
/// has none.
struct KeyAttribute {
  std::string_view name;
  std::string_view source;
  std::string_view otherwise = "None";
};

/// How a type becomes a key. Slots are in the order in which the key has them; a slot that takes a
/// list gives them all.
struct Form {
  std::string_view type;
  bool part;                                 ///< of any operator whose type holds this text
  std::array<std::string_view, 2> operands;  ///< "*": the first of all, as PaddleSlim takes it
  std::array<KeyAttribute, 4> attributes = {};
  bool result = true;
};

/// In the order in which PaddleSlim asks. Of some operators its text is the bare type: their keys
/// say sizes all the same, which the text leaves out, and from which an estimate can be made where
/// no row is of the type. What is part of several counts as the first. Convolutions, pools, matrix
/// products and fully connected layers stand below.
constexpr Form kForms[] = {
    {"batch_norm", true, {"X"}},
    {"layer_norm", true, {"X"}},
    {"hard_swish", false, {"X"}},
    {"relu", false, {"X"}},
    {"leaky_relu", false, {"X"}},
    {"tanh", false, {"X"}},
    {"swish", false, {"X"}},
    {"softmax", false, {"X"}},
    {"hard_sigmoid", false, {"X"}},
    {"sigmoid", false, {"X"}},
    {"gelu", false, {"X"}},
    {"clip", false, {"X"}},
    {"shape", false, {"Input"}},
    {"sqrt", false, {"X"}},
    {"transpose", true, {"X"}},
    {"interp_v2", true, {"X"}},
    {"fill_constant", false, {}},
    {"range", false, {}},
    {"cast", false, {"X"}},
    {"expand", true, {"X"}},
    {"scale", false, {"*"}},
    {"reshape", true, {"*"}},
    {"elementwise", true, {"X", "Y"}, {{{"axis", "axis", "-1"}}}},
    {"concat", false, {"X"}, {{{"axis", "axis"}}}},
    {"yolo_box", false, {"X"}, {{{"class_num", "class_num"}}}},
    {"prior_box",
     false,
     {"Input"},
     {{{"aspect_ratios", "aspect_ratios"},
       {"max_sizes", "max_sizes"},
       {"min_sizes", "min_sizes"}}}},
    {"slice", false, {"Input"}, {{{"axes", "axes"}}}, false},
    {"stack", false, {"X"}, {{{"axis", "axis"}}}},
    {"exp",
     false,
     {"X"},
     {{{"axes", "axes"}, {"decrease_axis", "decrease_axis"}, {"ends", "ends"}}}},
    {"multiclass_nms3",
     false,
     {"BBoxes", "Scores"},
     {{{"keep_top_k", "keep_top_k"}, {"nms_top_k", "nms_top_k"}}},
     false},
    {"matrix_nms",
     false,
     {"BBoxes", "Scores"},
     {{{"keep_top_k", "keep_top_k"}, {"nms_top_k", "nms_top_k"}}},
     false},
    {"dropout", false, {"X"}, {}, false},
    {"shuffle_channel", false, {"X"}, {{{"group", "group"}}}},
    {"split", false, {"X"}, {{{"axis", "axis"}, {"sections", "sections"}}}, false},
    {"unsqueeze2", false, {"X"}, {{{"axes", "axes"}}}},
    {"squeeze2", false, {"X"}, {{{"axes", "axes"}}}},
    // PaddleSlim asks for the second under a name that no model has.
    {"flatten_contiguous_range", false, {"X"}, {{{"start_axis", "start_axis"}, {"stop_axis", ""}}}},
    {"sum", false, {"X"}},
    {"calib", false, {"Input"}},
    {"floor", false, {"X"}},
    {"uniform_random", false, {}, {{{"shape", "shape"}}}},
    {"greater_equal", false, {"X", "Y"}},
    {"reduce_mean", false, {"X"}, {{{"dim", "dim"}}}},
    {"pad3d", true, {"X"}, {{{"paddings", "paddings"}}}},
    {"arg_max", false, {"X"}, {{{"axis", "axis"}}}},
    {"fill_constant_batch_size_like", false, {"Input"}, {{{"shape", "shape"}}}},
    // PaddleSlim's text does not tell the attributes, without which nobody knows how much there is
    // to do.
    {"rnn",
     false,
     {"Input"},
     {{{"mode", "mode"},
       {"hidden_size", "hidden_size"},
       {"num_layers", "num_layers"},
       {"is_bidirec", "is_bidirec", "false"}}}},
};

const Value* find(const Node& node, std::string_view name) {
  const auto found = std::find_if(node.attributes.begin(), node.attributes.end(),
                                  [&](const NamedValue& one) { return one.first == name; });
  return found == node.attributes.end() ? nullptr : &found->second;
}
bool is_true(const Value* value) {
  if (value == nullptr) return false;
  if (const auto* word = value->text()) return *word == "true";
  const auto* number = value->integer();
  return number != nullptr && *number != 0;
}
Value value_of(std::string_view text) {
  if (const auto number = base::parse_int(text)) return Value(*number);
  return Value(std::string(text));
}

class Maker {
 public:
  Maker(const Graph& graph, const Node& node) : graph_(graph), node_(node) {
    key_.domain = kKernelDomain;
    key_.op = node.op;
  }

  Result<Key> run() {
    OPLAT_CHECK(make());
    key_.canonicalise();
    return std::move(key_);
  }

 private:
  Status make() {
    const std::string& op = node_.op;
    if (op.find("conv2d") != std::string::npos) return convolution();
    if (op == "matmul" || op == "matmul_v2") return product();
    if (op.find("pool2d") != std::string::npos && find_form() == nullptr) return pool();
    if (op == "fc") return fully_connected();
    const Form* form = find_form();
    if (form == nullptr) return anything();
    for (const std::string_view slot : form->operands) {
      if (!slot.empty()) OPLAT_CHECK(operands(slot));
    }
    for (const KeyAttribute& one : form->attributes) {
      if (!one.name.empty()) attribute(one);
    }
    return form->result ? result() : Status();
  }

  const Form* find_form() const {
    const auto found = std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& form) {
      return form.part ? node_.op.find(form.type) != std::string::npos : node_.op == form.type;
    });
    return found == std::end(kForms) ? nullptr : &*found;
  }

  const TensorInfo& tensor(TensorId id) const {
    return graph_.tensors[static_cast<std::size_t>(id)];
  }
  TensorId operand(std::string_view slot) const {
    for (std::size_t i = 0; i < node_.inputs.size() && i < node_.input_slots.size(); ++i) {
      if (node_.input_slots[i] == slot) return node_.inputs[i];
    }
    return kNoTensor;
  }
  TensorEntry entry(TensorId id) const {
    const TensorInfo& info = tensor(id);
    return {info.dtype.value_or(Dtype::F32), info.constant, info.shape, std::nullopt};
  }
  [[nodiscard]] tl::unexpected<Error> lacks(std::string_view what) const {
    return fail(Code::Input, "the node {} ({}) has no {}", base::printable(node_.name),
                base::printable(node_.op), what);
  }

  /// The operands of a slot; "*" is the first of all.
  Status operands(std::string_view slot) {
    if (slot == "*") {
      if (node_.inputs.empty() || node_.inputs[0] == kNoTensor) return lacks("operand");
      key_.operands.emplace_back(entry(node_.inputs[0]));
      return {};
    }
    bool any = false;
    for (std::size_t i = 0; i < node_.inputs.size() && i < node_.input_slots.size(); ++i) {
      if (node_.input_slots[i] != slot || node_.inputs[i] == kNoTensor) continue;
      key_.operands.emplace_back(entry(node_.inputs[i]));
      any = true;
    }
    return any ? Status() : Status(lacks(fmt::format("operand {}", slot)));
  }
  Status result() {
    if (node_.outputs.empty() || node_.outputs[0] == kNoTensor) return lacks("result");
    key_.results.emplace_back(entry(node_.outputs[0]));
    return {};
  }
  void attribute(const KeyAttribute& one) {
    const Value* given = one.source.empty() ? nullptr : find(node_, one.source);
    key_.attributes.emplace_back(std::string(one.name),
                                 given != nullptr ? *given : value_of(one.otherwise));
  }

  /// "quant" and "bit_length": of what computes on eight or sixteen bits.
  void precision() {
    const bool half =
        !key_.operands.empty() && std::get<TensorEntry>(key_.operands[0]).dtype == Dtype::F16;
    const bool eight = is_true(find(node_, "enable_int8"));
    key_.attributes.emplace_back("quant", Value(half || eight ? "True" : "None"));
    const Value* bits = find(node_, "bit_length");
    key_.attributes.emplace_back("bit_length", half                       ? Value(16)
                                               : eight && bits != nullptr ? *bits
                                               : eight                    ? Value(8)
                                                                          : Value("None"));
  }

  /// One or two numbers of an attribute as the list of two; "?" where the model does not say.
  List two(std::string_view name) const {
    const Value* given = find(node_, name);
    const List* list = given == nullptr ? nullptr : given->list();
    if (list == nullptr || list->empty()) return {Unknown{}, Unknown{}};
    return {list->front(), list->size() > 1 ? (*list)[1] : list->front()};
  }
  /// Top, bottom, left, right.
  List pads() const {
    const Value* given = find(node_, "paddings");
    const List* list = given == nullptr ? nullptr : given->list();
    constexpr std::size_t kSides = 4;
    if (list != nullptr && list->size() == kSides) return *list;
    const List each = two("paddings");
    return {each[0], each[0], each[1], each[1]};
  }
  /// Paddings that follow from the size are not those of the list.
  void padding() {
    key_.attributes.emplace_back("pads", Value(pads()));
    const Value* algorithm = find(node_, "padding_algorithm");
    const std::string* word = algorithm == nullptr ? nullptr : algorithm->text();
    if (word != nullptr && !word->empty() && *word != "EXPLICIT")
      key_.attributes.emplace_back("padding_algorithm", *algorithm);
  }

  Status convolution() {
    const TensorId image = operand("Input");
    const TensorId filter = operand("Filter");
    if (image == kNoTensor) return lacks("operand Input");
    if (filter == kNoTensor) return lacks("operand Filter");
    OPLAT_CHECK(result());
    key_.operands.emplace_back(entry(image));
    TensorEntry weights = entry(filter);
    weights.constant = true;
    // Of a filter into which another was folded, the model states the shape that it had; the
    // result's channels are right.
    const TensorEntry& made = std::get<TensorEntry>(key_.results[0]);
    if (weights.shape.ranked && made.shape.ranked && !weights.shape.dims.empty() &&
        made.shape.dims.size() > 1)
      weights.shape.dims[0] = made.shape.dims[1];
    key_.operands.emplace_back(std::move(weights));
    const Value* activation = find(node_, "act_type");
    key_.attributes.emplace_back(
        "activation",
        is_true(find(node_, "with_act")) && activation != nullptr ? *activation : Value("None"));
    key_.attributes.emplace_back("bias", Value(operand("Bias") != kNoTensor ? "true" : "false"));
    const Value* group = find(node_, "groups");
    key_.attributes.emplace_back("group", group != nullptr ? *group : Value(1));
    key_.attributes.emplace_back("dilations", Value(two("dilations")));
    key_.attributes.emplace_back("strides", Value(two("strides")));
    if (const Value* non_zero = find(node_, "NonZeroWeights"))
      key_.attributes.emplace_back("NonZeroWeights", *non_zero);
    padding();
    precision();
    return {};
  }

  Status product() {
    OPLAT_CHECK(operands("X"));
    OPLAT_CHECK(operands("Y"));
    precision();
    return result();
  }

  Status fully_connected() {
    OPLAT_CHECK(operands("Input"));
    OPLAT_CHECK(operands("W"));
    std::get<TensorEntry>(key_.operands.back()).constant = true;
    return result();
  }

  Status pool() {
    OPLAT_CHECK(operands("X"));
    key_.attributes.emplace_back("global_pooling",
                                 Value(is_true(find(node_, "global_pooling")) ? 1 : 0));
    key_.attributes.emplace_back("kernel_shape", Value(two("ksize")));
    key_.attributes.emplace_back("strides", Value(two("strides")));
    attribute({"pooling_type", "pooling_type", "max"});
    padding();
    return result();
  }

  Status anything() {
    key_.attributes = node_.attributes;
    for (const TensorId id : node_.inputs) add(id, key_.operands);
    for (const TensorId id : node_.outputs) add(id, key_.results);
    return {};
  }
  void add(TensorId id, std::vector<Entry>& entries) const {
    if (id == kNoTensor) {
      entries.emplace_back(AbsentEntry{});
    } else {
      entries.emplace_back(entry(id));
    }
  }

  const Graph& graph_;
  const Node& node_;
  Key key_;
};

}  // namespace

Result<Key> paddle_kernel_key(const Graph& graph, const Node& node) {
  return Maker(graph, node).run();
}

}  // namespace oplat::compat::paddleslim
