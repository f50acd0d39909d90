// SPDX-License-Identifier: Apache-2.0
/// The rule: https://github.com/PaddlePaddle/PaddleSlim paddleslim/analysis/latency.py.
#include "compat/paddleslim/evaluator_operators.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"

namespace oplat::compat::paddleslim {
namespace {

using Numbers = std::vector<std::int64_t>;
using Fields = std::vector<std::string>;

constexpr std::array<std::string_view, 7> kEvaluatorActivations = {
    "relu", "prelu", "sigmoid", "relu6", "elu", "brelu", "leaky_relu"};
constexpr std::array<std::string_view, 3> kEvaluatorElementwise = {
    "elementwise_mul", "elementwise_add", "elementwise_max"};

class Operator {
 public:
  Operator(const ir::Graph& graph, const ir::Node& node) : graph_(graph), node_(node) {}

  [[nodiscard]] tl::unexpected<Error> lacks(std::string_view what) const {
    return fail(Code::Input, "operator '{}' ({}): {}", base::printable(node_.name),
                base::printable(node_.op), what);
  }
  [[nodiscard]] bool has(std::string_view slot) const {
    return std::find(node_.input_slots.begin(), node_.input_slots.end(), slot) !=
           node_.input_slots.end();
  }
  /// The known sizes behind the batch of an operand; `behind` false: all sizes.
  Result<Numbers> sizes(std::string_view slot, bool behind) const {
    return sizes_of(node_.input_slots, node_.inputs, slot, behind);
  }
  Result<Numbers> result_sizes() const {
    return sizes_of(node_.output_slots, node_.outputs, "Out", false);
  }

  [[nodiscard]] const ir::Value* attribute(std::string_view name) const {
    const auto found = std::find_if(node_.attributes.begin(), node_.attributes.end(),
                                    [&](const auto& each) { return each.first == name; });
    return found == node_.attributes.end() ? nullptr : &found->second;
  }
  /// A flag that the program may leave out.
  [[nodiscard]] bool flag(std::string_view name) const {
    const ir::Value* value = attribute(name);
    if (value == nullptr) return false;
    if (const auto* number = value->integer()) return *number != 0;
    return value->text() != nullptr && *value->text() == "true";
  }
  Result<std::int64_t> number(std::string_view name) const {
    const ir::Value* value = attribute(name);
    if (value == nullptr || value->integer() == nullptr)
      return lacks(fmt::format("the number '{}' is missing", name));
    return *value->integer();
  }
  /// The first two numbers of a list.
  Result<std::array<std::int64_t, 2>> pair(std::string_view name) const {
    const ir::Value* value = attribute(name);
    const ir::List* list = value == nullptr ? nullptr : value->list();
    if (list == nullptr || list->size() < 2 || (*list)[0].integer() == nullptr ||
        (*list)[1].integer() == nullptr) {
      return lacks(fmt::format("the two numbers '{}' are missing", name));
    }
    return std::array<std::int64_t, 2>{*(*list)[0].integer(), *(*list)[1].integer()};
  }

 private:
  Result<Numbers> sizes_of(const std::vector<std::string>& slots,
                           const std::vector<ir::TensorId>& tensors, std::string_view slot,
                           bool behind) const {
    const auto at =
        static_cast<std::size_t>(std::find(slots.begin(), slots.end(), slot) - slots.begin());
    if (at >= slots.size() || at >= tensors.size() || tensors[at] == ir::kNoTensor)
      return lacks(fmt::format("operand '{}' is missing", slot));
    const ir::Shape& shape = graph_.tensors[static_cast<std::size_t>(tensors[at])].shape;
    Numbers sizes;
    if (!shape.ranked || shape.dims.empty())
      return lacks(fmt::format("the sizes of '{}' are unknown", slot));
    for (std::size_t i = behind ? 1 : 0; i < shape.dims.size(); ++i) {
      if (!shape.dims[i])
        return lacks(
            fmt::format("size {} of '{}' is unknown; set it with --shape or --batch", i + 1, slot));
      sizes.push_back(*shape.dims[i]);
    }
    return sizes;
  }

  const ir::Graph& graph_;
  const ir::Node& node_;
};

void add(Fields& fields, std::int64_t number) { fields.push_back(std::to_string(number)); }

/// C, H, W of a map.
Status add_map(Fields& fields, const Operator& op, std::string_view slot) {
  OPLAT_TRY(sizes, op.sizes(slot, true));
  if (sizes.size() != 3)
    return op.lacks(fmt::format("'{}' has {} sizes; expected 4", slot, sizes.size() + 1));
  for (const std::int64_t size : sizes) add(fields, size);
  return {};
}

/// Sizes behind the batch, ones where there are fewer than three.
Status add_padded(Fields& fields, const Operator& op) {
  OPLAT_TRY(sizes, op.sizes("X", true));
  sizes.resize(std::max<std::size_t>(sizes.size(), 3), 1);
  for (const std::int64_t size : sizes) add(fields, size);
  return {};
}

/// The first of two numbers; the second, or what the original writes for it, goes to the end where
/// they differ.
void add_pair(Fields& fields, Fields& more, const std::array<std::int64_t, 2>& two,
              std::int64_t second) {
  add(fields, two[0]);
  if (two[0] != two[1]) add(more, second);
}

Result<Fields> conv_fields(const Operator& op) {
  Fields fields = {"conv", op.has("Bias") ? "1" : "0", op.flag("fuse_relu") ? "1" : "0", "1"};
  Fields more;
  OPLAT_CHECK(add_map(fields, op, "Input"));
  OPLAT_TRY(filter, op.sizes("Filter", false));
  if (filter.size() != 4) return op.lacks("the filter does not have four sizes");
  OPLAT_TRY(groups, op.number("groups"));
  OPLAT_TRY(paddings, op.pair("paddings"));
  OPLAT_TRY(strides, op.pair("strides"));
  OPLAT_TRY(dilations, op.pair("dilations"));
  add(fields, filter[0]);
  add(fields, groups);
  add_pair(fields, more, {filter[2], filter[3]}, filter[3]);
  // The original repeats the first.
  add_pair(fields, more, paddings, paddings[0]);
  add_pair(fields, more, strides, strides[1]);
  add_pair(fields, more, dilations, dilations[1]);
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

Result<Fields> pool_fields(const Operator& op) {
  Fields fields = {"pooling", op.flag("global_pooling") ? "1" : "0", "1"};
  Fields more;
  OPLAT_CHECK(add_map(fields, op, "X"));
  OPLAT_TRY(kernel, op.pair("ksize"));
  OPLAT_TRY(paddings, op.pair("paddings"));
  OPLAT_TRY(strides, op.pair("strides"));
  add_pair(fields, more, kernel, kernel[1]);
  add_pair(fields, more, paddings, paddings[1]);
  add_pair(fields, more, strides, strides[1]);
  add(fields, op.flag("ceil_mode") ? 1 : 0);
  const ir::Value* type = op.attribute("pooling_type");
  if (type == nullptr || type->text() == nullptr) return op.lacks("'pooling_type' is missing");
  const bool exclusive = op.flag("exclusive");
  add(fields, exclusive ? 3 : *type->text() == "max" ? 1 : *type->text() == "avg" ? 2 : 3);
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

Result<Fields> product_fields(const Operator& op) {
  OPLAT_TRY(in, op.sizes("X", true));
  OPLAT_TRY(out, op.result_sizes());
  if (out.size() < 2) return op.lacks("the result has fewer than two sizes");
  std::int64_t channels = 1;
  for (const std::int64_t size : in) {
    if (size < 0 || (size > 0 && channels > (std::int64_t{1} << 40) / size))
      return op.lacks("an operand has too many elements");
    channels *= size;
  }
  return Fields{
      "conv", "0", "0", "1", std::to_string(channels), "1", "1", std::to_string(out[1]), "1",
      "1",    "0", "1", "1"};
}

/// Nothing for operators that the rule does not count.
Result<std::optional<Fields>> fields_of(const Operator& op, std::string_view type, bool only_conv) {
  if (type == "conv2d" || type == "depthwise_conv2d") {
    OPLAT_TRY(fields, conv_fields(op));
    return std::optional(std::move(fields));
  }
  if (only_conv) return std::nullopt;
  const auto* const elementwise =
      std::find(kEvaluatorElementwise.begin(), kEvaluatorElementwise.end(), type);
  Fields fields;
  if (elementwise != kEvaluatorElementwise.end()) {
    fields = {"eltwise", std::to_string(elementwise - kEvaluatorElementwise.begin() + 1), "1"};
    OPLAT_CHECK(add_padded(fields, op));
  } else if (std::find(kEvaluatorActivations.begin(), kEvaluatorActivations.end(), type) !=
             kEvaluatorActivations.end()) {
    fields = {std::string(type), "1"};
    OPLAT_CHECK(add_padded(fields, op));
  } else if (type == "batch_norm") {
    fields = {"batch_norm", op.flag("fuse_with_relu") ? "relu" : "None", "1"};
    OPLAT_CHECK(add_map(fields, op, "X"));
  } else if (type == "softmax") {
    OPLAT_TRY(axis, op.number("axis"));
    fields = {"softmax", std::to_string(axis), "1"};
    OPLAT_CHECK(add_padded(fields, op));
  } else if (type == "pool2d") {
    OPLAT_TRY(pool, pool_fields(op));
    fields = std::move(pool);
  } else if (type == "mul") {
    OPLAT_TRY(product, product_fields(op));
    fields = std::move(product);
  } else {
    return std::nullopt;
  }
  return std::optional(std::move(fields));
}

}  // namespace

Result<EvaluatorQuestions> evaluator_questions(const ir::Graph& graph, bool only_conv,
                                               const std::string& delimiter) {
  EvaluatorQuestions questions;
  for (const ir::Node& node : graph.nodes) {
    OPLAT_TRY(fields, fields_of(Operator(graph, node), node.op, only_conv));
    if (fields) {
      questions.asked.push_back({node.name, base::join(*fields, delimiter)});
    } else {
      ++questions.passed_over[node.op];
    }
  }
  return questions;
}

}  // namespace oplat::compat::paddleslim
