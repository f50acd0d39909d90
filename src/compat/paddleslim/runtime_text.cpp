// SPDX-License-Identifier: Apache-2.0
/// From Paddle's own operators (PIR) to those of Paddle-Lite, which the tables name.
#include "compat/paddleslim/runtime_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "compat/paddleslim/key.hpp"

namespace oplat::compat::paddleslim {

using namespace ir;  // NOLINT: the file is about keys

namespace {

using Numbers = std::vector<std::int64_t>;

/// What the second number of a list of two is in the keys of table texts.
Value only_second(std::int64_t number) { return Value(List{Unknown{}, number}); }

std::optional<Numbers> numbers(const Value* value) {
  const List* list = value == nullptr ? nullptr : value->list();
  if (list == nullptr) return std::nullopt;
  Numbers found;
  for (const Value& each : *list) {
    if (each.integer() == nullptr) return std::nullopt;
    found.push_back(*each.integer());
  }
  return found;
}

/// The elements of a constant operand; one value stands for all that are equal.
std::optional<Numbers> constant(const Key& key, std::size_t index) {
  const TensorEntry* entry = key.operand(index);
  if (entry == nullptr || !entry->value) return std::nullopt;
  if (const auto* one = entry->value->integer()) {
    const auto elements = entry->shape.elements();
    if (!elements || *elements > 64) return std::nullopt;
    return Numbers(static_cast<std::size_t>(std::max<std::int64_t>(*elements, 1)), *one);
  }
  return numbers(&*entry->value);
}

std::int64_t integer_or(const Key& key, std::string_view name, std::int64_t fallback) {
  const Value* value = key.attribute(name);
  return value == nullptr || value->integer() == nullptr ? fallback : *value->integer();
}

std::string_view word_or(const Key& key, std::string_view name, std::string_view fallback) {
  const Value* value = key.attribute(name);
  return value == nullptr || value->text() == nullptr ? fallback : std::string_view(*value->text());
}

/// Shape and type alone, as texts have them.
std::optional<Entry> plain(const TensorEntry* entry, bool is_constant = false) {
  if (entry == nullptr) return std::nullopt;
  return TensorEntry{entry->dtype, is_constant, entry->shape, std::nullopt};
}

/// A key in the domain of the texts, filled piece by piece; nothing once a piece was missing.
class RuntimeText {
 public:
  explicit RuntimeText(std::string_view op) {
    key_.domain = "paddle_lite";
    key_.op = op;
  }
  RuntimeText& operand(const TensorEntry* entry, bool is_constant = false) {
    return put(key_.operands, plain(entry, is_constant));
  }
  RuntimeText& result(const TensorEntry* entry) { return put(key_.results, plain(entry)); }
  RuntimeText& set(std::string_view name, std::optional<Value> value) {
    if (!value)
      missing_ = true;
    else
      key_.attributes.emplace_back(name, *std::move(value));
    return *this;
  }
  RuntimeText& no_quantising() {
    return set("quant", Value("None")).set("bit_length", Value("None"));
  }
  std::optional<std::string> print() {
    if (missing_) return std::nullopt;
    key_.canonicalise();
    return paddle_text_of(key_);
  }

 private:
  RuntimeText& put(std::vector<Entry>& entries, std::optional<Entry> entry) {
    if (!entry)
      missing_ = true;
    else
      entries.push_back(*std::move(entry));
    return *this;
  }

  Key key_;
  bool missing_ = false;
};

/// Paddings are one number an axis, or two.
std::optional<std::int64_t> second_padding(const std::optional<Numbers>& paddings) {
  if (!paddings || (paddings->size() != 2 && paddings->size() != 4)) return std::nullopt;
  return paddings->size() == 2 ? (*paddings)[1] : (*paddings)[2];
}

Value padding(std::int64_t number) { return Value(List{Unknown{}, Unknown{}, number, number}); }

std::optional<std::string> conv(const Key& key) {
  const auto strides = numbers(key.attribute("strides"));
  const auto dilations = numbers(key.attribute("dilations"));
  const auto paddings = second_padding(numbers(key.attribute("paddings")));
  const TensorEntry* in = key.operand(0);
  const TensorEntry* filter = key.operand(1);
  if (!strides || strides->size() != 2 || !dilations || dilations->size() != 2 || !paddings)
    return std::nullopt;
  if (in == nullptr || in->shape.dims.size() != 4 || filter == nullptr ||
      filter->shape.dims.size() != 4) {
    return std::nullopt;
  }
  // oneDNN has one operator for both kinds.
  const std::int64_t groups = integer_or(key, "groups", 1);
  const bool depthwise =
      groups > 1 && in->shape.dims[1] == groups && filter->shape.dims[0] == groups;
  return RuntimeText(depthwise ? "depthwise_conv2d" : "conv2d")
      .operand(in)
      .operand(filter, true)
      .result(key.result(0))
      .set("pads", padding(*paddings))
      .set("strides", only_second((*strides)[1]))
      .set("dilations", only_second((*dilations)[1]))
      .set("group", Value(groups))
      .set("activation", Value(Unknown{}))
      .set("bias", Value(Unknown{}))
      .no_quantising()
      .print();
}

std::optional<std::string> pool(const Key& key) {
  const auto kernel = constant(key, 1);
  const auto strides = numbers(key.attribute("strides"));
  const auto paddings = second_padding(numbers(key.attribute("paddings")));
  if (!kernel || kernel->size() != 2 || !strides || strides->size() != 2 || !paddings)
    return std::nullopt;
  const bool adaptive = word_or(key, "adaptive", "false") == "true";
  const bool global =
      word_or(key, "global_pooling", "false") == "true" || (adaptive && *kernel == Numbers{1, 1});
  return RuntimeText("pool2d")
      .operand(key.operand(0))
      .result(key.result(0))
      .set("strides", only_second((*strides)[1]))
      .set("kernel_shape", only_second((*kernel)[1]))
      .set("pads", padding(*paddings))
      .set("global_pooling", Value(global ? 1 : 0))
      .set("pooling_type", Value(std::string(word_or(key, "pooling_type", "max"))))
      .print();
}

std::optional<std::string> elementwise(const Key& key, std::string_view op) {
  return RuntimeText(op)
      .operand(key.operand(0))
      .operand(key.operand(1))
      .set("axis", Value(integer_or(key, "axis", -1)))
      .result(key.result(0))
      .print();
}

std::optional<std::string> in_out(const Key& key, std::string_view op) {
  return RuntimeText(op).operand(key.operand(0)).result(key.result(0)).print();
}

std::optional<std::string> matmul(const Key& key) {
  return RuntimeText("matmul_v2")
      .operand(key.operand(0))
      .operand(key.operand(1))
      .result(key.result(0))
      .no_quantising()
      .print();
}

std::optional<std::string> fc(const Key& key) {
  return RuntimeText("fc")
      .operand(key.operand(0))
      .operand(key.operand(1), true)
      .result(key.result(0))
      .print();
}

/// concat and stack: the axis is the last operand, or an attribute.
std::optional<std::string> join(const Key& key, std::string_view op) {
  RuntimeText text(op);
  std::size_t count = key.operands.size();
  std::optional<Value> axis;
  if (const Value* given = key.attribute("axis")) axis = *given;
  if (!axis && count > 1) {
    const auto given = constant(key, --count);
    if (given && given->size() == 1) axis = Value(given->front());
  }
  for (std::size_t i = 0; i < count; ++i) text.operand(key.operand(i));
  return text.set("axis", std::move(axis)).result(key.result(0)).print();
}

std::optional<std::string> flatten(const Key& key) {
  return RuntimeText("flatten_contiguous_range")
      .operand(key.operand(0))
      .result(key.result(0))
      .set("start_axis", Value(integer_or(key, "start_axis", 1)))
      .set("stop_axis", Value("None"))
      .print();
}

std::optional<std::string> shuffle(const Key& key) {
  return RuntimeText("shuffle_channel")
      .operand(key.operand(0))
      .result(key.result(0))
      .set("group", Value(integer_or(key, "group", 1)))
      .print();
}

std::optional<Value> value_of(const std::optional<Numbers>& numbers) {
  return numbers ? std::optional(Value::ints(*numbers)) : std::nullopt;
}

/// Axes and sections are constant operands.
std::optional<std::string> squeeze(const Key& key, std::string_view op) {
  return RuntimeText(op)
      .operand(key.operand(0))
      .set("axes", value_of(constant(key, 1)))
      .result(key.result(0))
      .print();
}

std::optional<std::string> split(const Key& key) {
  const auto axis = constant(key, 2);
  return RuntimeText("split")
      .operand(key.operand(0))
      .set("sections", value_of(constant(key, 1)))
      .set("axis", axis && axis->size() == 1 ? std::optional(Value(axis->front())) : std::nullopt)
      .print();
}

std::optional<std::string> mean(const Key& key) {
  const Value* axis = key.attribute("axis");
  return RuntimeText("reduce_mean")
      .operand(key.operand(0))
      .result(key.result(0))
      .set("dim", axis == nullptr ? std::nullopt : std::optional(*axis))
      .print();
}

using Renamed = std::pair<std::string_view, std::string_view>;

/// Operators whose texts hold the shapes of what they read and write, and nothing else.
constexpr std::array<Renamed, 21> kRuntimeFunctions = {{{"relu", "relu"},
                                                        {"relu6", "relu6"},
                                                        {"leaky_relu", "leaky_relu"},
                                                        {"tanh", "tanh"},
                                                        {"hardswish", "hard_swish"},
                                                        {"swish", "swish"},
                                                        {"silu", "swish"},
                                                        {"softmax", "softmax"},
                                                        {"sigmoid", "sigmoid"},
                                                        {"hardsigmoid", "hard_sigmoid"},
                                                        {"gelu", "gelu"},
                                                        {"clip", "clip"},
                                                        {"sqrt", "sqrt"},
                                                        {"floor", "floor"},
                                                        {"scale", "scale"},
                                                        {"reshape", "reshape2"},
                                                        {"transpose", "transpose2"},
                                                        {"batch_norm", "batch_norm"},
                                                        {"layer_norm", "layer_norm"},
                                                        {"nearest_interp", "nearest_interp_v2"},
                                                        {"bilinear_interp", "bilinear_interp_v2"}}};

constexpr std::array<Renamed, 12> kRuntimeElementwise = {
    {{"add", "elementwise_add"},
     {"subtract", "elementwise_sub"},
     {"multiply", "elementwise_mul"},
     {"divide", "elementwise_div"},
     {"maximum", "elementwise_max"},
     {"minimum", "elementwise_min"},
     {"elementwise_pow", "elementwise_pow"},
     {"floor_divide", "elementwise_floordiv"},
     {"fused_elementwise_add", "elementwise_add"},
     {"fused_elementwise_sub", "elementwise_sub"},
     {"fused_elementwise_mul", "elementwise_mul"},
     {"fused_elementwise_div", "elementwise_div"}}};

constexpr std::array<Renamed, 2> kJoins = {{{"concat", "concat"}, {"stack", "stack"}}};

template <std::size_t Size>
std::optional<std::string_view> renamed(const std::array<Renamed, Size>& list,
                                        std::string_view op) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Renamed& each) { return each.first == op; });
  return found == list.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<std::string> paddle_runtime_text(const Key& key) {
  if (key.domain != "paddle" && key.domain != "paddle.onednn") return std::nullopt;
  std::string_view op = key.op;
  // What writes over its operand ends in "_".
  if (op.ends_with('_')) op.remove_suffix(1);
  if (op == "conv2d" || op == "depthwise_conv2d" || op == "fused_conv2d") return conv(key);
  if (op == "pool2d") return pool(key);
  if (op == "matmul" || op == "fused_matmul") return matmul(key);
  if (op == "fc") return fc(key);
  if (op == "flatten") return flatten(key);
  if (op == "shuffle_channel") return shuffle(key);
  if (op == "mean") return mean(key);
  if (op == "squeeze") return squeeze(key, "squeeze2");
  if (op == "unsqueeze") return squeeze(key, "unsqueeze2");
  if (op == "split") return split(key);
  if (op == "dropout") return RuntimeText("dropout").operand(key.operand(0)).print();
  if (const auto name = renamed(kRuntimeFunctions, op)) return in_out(key, *name);
  if (const auto name = renamed(kRuntimeElementwise, op)) return elementwise(key, *name);
  if (const auto name = renamed(kJoins, op)) return join(key, *name);
  return std::nullopt;
}

}  // namespace oplat::compat::paddleslim
