// SPDX-License-Identifier: Apache-2.0
/// From operator, attributes and operands to words. Operators are told apart by what their names
/// have in common over all systems ("Conv", "Int8ConvRelu", "depthwise_conv2d"): a label that finds
/// less than there is to say is still right.
#include "ir/label.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "ir/catalogue.hpp"
#include "ir/key_head.hpp"
#include "ir/operators/arguments.hpp"

namespace oplat::ir {
namespace {

constexpr std::size_t kMaxWord = 80;       // of an untrusted name
constexpr std::size_t kMaxShapeDims = 12;  // more say nothing to people

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

enum class LabelKind { Convolution, Product, Pooling, Attention, Recurrent, Other };

LabelKind kind_of(std::string_view op) {
  const std::string name = base::lower(op);
  if (contains(name, "conv")) return LabelKind::Convolution;
  if (contains(name, "gemm") || contains(name, "matmul") || name == "fc" ||
      name.starts_with("int8fc"))
    return LabelKind::Product;
  if (contains(name, "pool")) return LabelKind::Pooling;
  if (contains(name, "attention")) return LabelKind::Attention;
  if (contains(name, "lstm") || contains(name, "gru") || name == "rnn") return LabelKind::Recurrent;
  return LabelKind::Other;
}

std::string word(std::string_view text) { return base::printable(text, kMaxWord); }

/// The first of these attributes that holds whole numbers, as many as axes can be.
std::vector<std::int64_t> numbers(const Key& key, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (auto found = ops::integers(key, name);
        found && !found->empty() && found->size() <= kMaxShapeDims)
      return *found;
  return {};
}

std::string joined(const std::vector<std::int64_t>& values, std::string_view separator) {
  return fmt::format("{}", fmt::join(values, separator));
}

bool all_are(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t one) { return one == value; });
}

/// "2" of [2, 2], "2x1" of [2, 1].
std::string step_text(const std::vector<std::int64_t>& values) {
  return all_are(values, values.front()) ? std::to_string(values.front()) : joined(values, "x");
}

/// " 3x3 s2 d2", without what is 1.
std::string window_text(const std::vector<std::int64_t>& kernel, const Key& key) {
  std::string text;
  if (!kernel.empty()) text += " " + joined(kernel, "x");
  const auto strides = numbers(key, {"strides"});
  if (!strides.empty() && !all_are(strides, 1)) text += " s" + step_text(strides);
  const auto dilations = numbers(key, {"dilations"});
  if (!dilations.empty() && !all_are(dilations, 1)) text += " d" + step_text(dilations);
  return text.empty() ? text : text.substr(1);
}

bool is_channels_last(const Key& key) {
  return ops::is_word(key, "order", "NHWC") || ops::integer(key, "channels_last") == 1 ||
         key.op.starts_with("Nhwc") || ops::is_word(key, "data_format", "NHWC");
}

const TensorEntry* as_tensor(const Entry& entry) { return std::get_if<TensorEntry>(&entry); }

/// Weights of a convolution: the first constant with the sizes of filters, else operand 1.
const TensorEntry* filters_of(const Key& key) {
  for (const Entry& entry : key.operands) {
    const TensorEntry* found = as_tensor(entry);
    if (found != nullptr && found->constant && found->shape.dims.size() > 2) return found;
  }
  return key.operand(1);
}

/// An operand of the results' sizes, which is added to them.
bool adds_residual(const Key& key) {
  const TensorEntry* result = key.result(0);
  if (result == nullptr || result->shape.dims.empty()) return false;
  for (std::size_t i = 2; i < key.operands.size(); ++i) {
    const TensorEntry* operand = key.operand(i);
    if (operand != nullptr && !operand->constant && operand->shape == result->shape) return true;
  }
  return false;
}

/// "Clip(0, 6)" of an activation with parameters; empty if there is none.
std::string activation_of(const Key& key) {
  const Value* named = key.attribute("activation");
  const std::string* text = named == nullptr ? nullptr : named->text();
  if (text == nullptr || text->empty() || base::lower(*text) == "none" ||
      base::lower(*text) == "identity")
    return {};
  std::string activation = word(*text);
  const Value* given = key.attribute("activation_params");
  const List* parameters = given == nullptr ? nullptr : given->list();
  if (parameters == nullptr || parameters->empty() || parameters->size() > 4) return activation;
  std::vector<std::string> parts;
  for (const Value& one : *parameters) {
    if (one.real() != nullptr)
      parts.push_back(fmt::format("{:g}", *one.real()));
    else if (one.integer() != nullptr)
      parts.push_back(std::to_string(*one.integer()));
  }
  return parts.empty() ? activation : activation + "(" + base::join(parts, ", ") + ")";
}

/// "Conv" of "FusedConv": what is fused is said.
std::string unfused(std::string op) {
  constexpr std::string_view kFused = "Fused";
  if (const std::size_t at = op.find(kFused); at != std::string::npos && op.size() > kFused.size())
    op.erase(at, kFused.size());
  return op;
}

void say_convolution(const Key& key, KernelWords& words) {
  words.op = word(unfused(key.op));
  words.type = words.op;
  const TensorEntry* filters = filters_of(key);
  const bool channels_last = is_channels_last(key);
  std::vector<std::int64_t> kernel = numbers(key, {"kernel_shape", "kernels"});
  if (kernel.empty() && filters != nullptr && !channels_last) {
    for (std::size_t i = 2; i < filters->shape.dims.size(); ++i)
      if (filters->shape.dims[i]) kernel.push_back(*filters->shape.dims[i]);
  }
  if (kernel.size() > kMaxShapeDims) kernel.clear();
  words.size = window_text(kernel, key);
  const auto group = ops::integer(key, "group").value_or(ops::integer(key, "groups").value_or(1));
  const int axis = channels_last ? -1 : 1;
  const auto channels = ops::dim(key.result(0), axis);
  const auto read = ops::dim(key.operand(0), axis);
  const auto add = [&](std::string_view separator, const std::string& text) {
    words.size += (words.size.empty() ? "" : std::string(separator)) + text;
  };
  const bool says_depthwise = contains(base::lower(key.op), "depthwise");
  if (group > 1 && (read == group || (!read && channels == group))) {
    if (!says_depthwise) {
      add(" ", "depthwise");
      words.type += " depthwise";
    }
  } else if (group > 1) {
    add(" ", fmt::format("{} groups", group));
  }
  if (channels) add(", ", fmt::format("{} ch", *channels));
  if (adds_residual(key)) words.fused.emplace_back("residual");
}

/// Sizes of a matrix as it is multiplied.
std::string matrix_text(const TensorEntry& matrix, bool transposed) {
  Shape shape = matrix.shape;
  if (transposed && shape.dims.size() > 1)
    std::swap(shape.dims[shape.dims.size() - 1], shape.dims[shape.dims.size() - 2]);
  return shape_text(shape);
}

void say_product(const Key& key, KernelWords& words) {
  words.op = word(unfused(key.op));
  words.type = words.op;
  const TensorEntry* a = key.operand(0);
  if (a == nullptr) return;
  words.operands = matrix_text(*a, ops::integer(key, "transA").value_or(0) != 0);
  const auto inner = ops::integer(key, "K");
  const auto columns = ops::integer(key, "N");
  if (inner && columns) {  // packed
    words.operands += fmt::format(" by {}x{}", *inner, *columns);
    if (const auto bits = ops::integer(key, "bits")) words.size = fmt::format("{} bit", *bits);
    return;
  }
  for (std::size_t i = 1; i < key.operands.size(); ++i) {
    const TensorEntry* b = key.operand(i);
    if (b == nullptr || b->shape.dims.size() < 2) continue;
    words.operands += " by " + matrix_text(*b, ops::integer(key, "transB").value_or(0) != 0);
    return;
  }
}

void say_attention(const Key& key, KernelWords& words) {
  for (const std::string_view name : {"num_heads", "q_num_heads"}) {
    const auto heads = ops::integer(key, name);
    if (!heads) continue;
    words.size = fmt::format("{} heads", *heads);
    const auto shared = ops::integer(key, "kv_num_heads");
    if (shared && *shared > 0 && *shared != *heads) words.size += fmt::format(" on {}", *shared);
    break;
  }
}

void say_recurrence(const Key& key, KernelWords& words) {
  if (const auto hidden = ops::integer(key, "hidden_size"))
    words.size = fmt::format("{} hidden", *hidden);
  if (ops::is_word(key, "direction", "bidirectional") || ops::is_word(key, "is_bidirec", "true"))
    words.size += words.size.empty() ? "bidirectional" : ", bidirectional";
}

/// Attributes that people tell such operators apart by.
void say_attributes(const Key& key, KernelWords& words) {
  std::vector<std::string> parts;
  if (const Value* module = key.attribute("class"); module != nullptr && module->text() != nullptr)
    parts.push_back(word(*module->text()));
  if (const Value* mode = key.attribute("mode"); mode != nullptr && mode->text() != nullptr)
    parts.push_back(word(*mode->text()));
  if (const auto order = numbers(key, {"perm"}); !order.empty())
    parts.push_back("perm " + joined(order, " "));
  if (const auto axis = ops::integer(key, "axis")) parts.push_back(fmt::format("axis {}", *axis));
  if (const Value* steps = key.tag("steps"); steps != nullptr && steps->integer() != nullptr)
    parts.push_back(fmt::format("{} steps", *steps->integer()));
  if (contains(key.op, "Reorder")) {
    const Value* block = key.tag("block");
    if (block != nullptr && block->integer() != nullptr)
      parts.push_back(fmt::format("blocks of {}", *block->integer()));
  }
  words.size = base::join(parts, ", ");
}

/// "A", "A and B", "A and 3 more".
std::string listed(const std::vector<std::string>& shapes) {
  if (shapes.empty()) return {};
  if (shapes.size() == 1) return shapes.front();
  if (shapes.size() == 2) return shapes[0] + " and " + shapes[1];
  return fmt::format("{} and {} more", shapes.front(), shapes.size() - 1);
}

/// Of the operands that say how much there is to do.
std::vector<std::string> operand_shapes(const Key& key, LabelKind kind) {
  std::vector<std::string> shapes;
  const auto first_only = kind != LabelKind::Other;
  const bool table_first = key.operand(0) != nullptr && key.operand(0)->constant;
  for (const Entry& entry : key.operands) {
    const TensorEntry* one = as_tensor(entry);
    if (one == nullptr) continue;
    const auto elements = ops::elements(one);
    const bool matters = !one->constant || (table_first && shapes.empty()) ||
                         (key.operands.size() == 2 && elements && *elements > 1 && !one->value);
    if (!matters) continue;
    shapes.push_back(shape_text(one->shape));
    if (first_only) break;
  }
  return shapes;
}

std::string shapes_of(const Key& key, LabelKind kind, const KernelWords& words) {
  std::vector<std::string> operands = operand_shapes(key, kind);
  std::vector<std::string> results;
  for (std::size_t i = 0; i < key.results.size(); ++i)
    if (const TensorEntry* one = key.result(i)) results.push_back(shape_text(one->shape));
  if (words.operands.empty() && results.size() == 1 &&
      std::all_of(operands.begin(), operands.end(),
                  [&](const std::string& one) { return one == results.front(); }))
    return results.front();
  const std::string from = words.operands.empty() ? listed(operands) : words.operands;
  const std::string to =
      kind == LabelKind::Recurrent && !results.empty() ? results.front() : listed(results);
  if (from.empty() || to.empty()) return from + to;
  return from + " -> " + to;
}

/// Empty for f32 alone.
std::string dtypes_of(const Key& key) {
  std::optional<Dtype> from;
  for (const Entry& entry : key.operands) {
    const TensorEntry* one = as_tensor(entry);
    if (one == nullptr || (from && one->constant)) continue;
    from = one->dtype;
    if (!one->constant) break;
  }
  const TensorEntry* result = key.result(0);
  const std::optional<Dtype> to = result != nullptr ? std::optional(result->dtype) : from;
  if (!from || *from == Dtype::Any) from = to;
  if (!from || !to || *to == Dtype::Any || (*from == Dtype::F32 && *to == Dtype::F32)) return {};
  if (*from == *to) return std::string(name(*from));
  return fmt::format("{} -> {}", name(*from), name(*to));
}

}  // namespace

std::string shape_text(const Shape& shape) {
  if (!shape.ranked) return "*";
  if (shape.dims.empty()) return "scalar";
  std::vector<std::string> parts;
  for (const Dim& dim : shape.dims) {
    if (parts.size() == kMaxShapeDims) {
      parts.emplace_back("...");
      break;
    }
    parts.push_back(dim ? std::to_string(*dim) : "?");
  }
  return base::join(parts, "x");
}

KernelWords common_words(const Key& key) {
  KernelWords words;
  words.op = word(key.op);
  words.type = words.op;
  switch (kind_of(key.op)) {
    case LabelKind::Convolution:
      say_convolution(key, words);
      break;
    case LabelKind::Product:
      say_product(key, words);
      break;
    case LabelKind::Pooling:
      words.size = ops::integer(key, "global_pooling").value_or(0) != 0 ||
                           ops::is_word(key, "global_pooling", "true")
                       ? "global"
                       : window_text(numbers(key, {"kernel_shape", "kernels"}), key);
      break;
    case LabelKind::Attention:
      say_attention(key, words);
      break;
    case LabelKind::Recurrent:
      say_recurrence(key, words);
      break;
    case LabelKind::Other:
      say_attributes(key, words);
      break;
  }
  if (std::string activation = activation_of(key); !activation.empty())
    words.fused.push_back(std::move(activation));
  return words;
}

KernelLabel make_label(const Key& key, const Catalogue& catalogue) {
  const KeyDomain* domain = catalogue.domain(key.domain);
  const auto own = domain == nullptr ? std::nullopt : domain->words(key);
  const KernelWords words = own ? *own : common_words(key);
  std::string text = words.op;
  if (!words.size.empty()) text += " " + words.size;
  if (const std::string shapes = shapes_of(key, kind_of(key.op), words); !shapes.empty())
    text += (words.size.empty() ? " " : ", ") + shapes;
  for (const std::string& fused : words.fused) text += ", " + fused;
  if (const std::string dtypes = dtypes_of(key); !dtypes.empty()) text += ", " + dtypes;
  return {words.type, std::move(text)};
}

KernelLabel label_of(std::string_view key, const Catalogue& catalogue) {
  if (const auto parsed = parse(key)) return make_label(*parsed, catalogue);
  return {word(head_of(key).op), base::printable(key, 200)};
}

}  // namespace oplat::ir
