// SPDX-License-Identifier: Apache-2.0
/// Fused nodes in words, as lists of an optimised program show them.
#include <array>

#include "base/text.hpp"
#include "plan/rules.hpp"
#include "plan/rules/work_graph.hpp"

namespace oplat::plan {
namespace {

/// Attributes that tell kernels apart, in the order in which they are shown.
constexpr std::array<std::string_view, 11> kShown = {
    "strides",  "paddings",  "dilations",    "groups",         "axis", "act_type",
    "with_act", "fuse_relu", "pooling_type", "global_pooling", "ksize"};
constexpr std::array<std::string_view, 2> kFilters = {"Filter", "W"};

std::string text_of(const ir::Value& value) {
  if (const auto* list = value.list()) {
    std::string text;
    for (const ir::Value& one : *list) text += (text.empty() ? "" : ",") + text_of(one);
    return text;
  }
  if (const auto* integer = value.integer()) return std::to_string(*integer);
  if (const auto* real = value.real()) return base::float_text(*real);
  const auto* word = value.text();
  if (word == nullptr) return "?";
  return *word == "true" ? "1" : *word == "false" ? "0" : *word;
}

}  // namespace

FusedWords fused_words(const ir::Graph& fused, const ir::Node& node) {
  FusedWords words;
  words.op = node.op;
  for (const std::string_view slot : kFilters) {
    const int at = rules::find_input(node, slot);
    if (at < 0 || node.inputs[static_cast<std::size_t>(at)] == ir::kNoTensor) continue;
    const ir::TensorInfo& filter =
        fused.tensors[static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(at)])];
    for (const ir::Dim& dim : filter.shape.dims)
      words.filter +=
          (words.filter.empty() ? "" : "x") + (dim ? std::to_string(*dim) : std::string("?"));
    break;
  }
  for (const std::string_view name : kShown) {
    const ir::Value* value = rules::find_attribute(node, name);
    if (value == nullptr) continue;
    words.attributes +=
        fmt::format("{}{}={}", words.attributes.empty() ? "" : " ", name, text_of(*value));
  }
  return words;
}

FusedWords key_words(std::string_view key) {
  FusedWords words;
  const auto parsed = ir::parse(key);
  if (!parsed) return words;
  words.op = parsed->op;
  for (std::size_t i = 0; words.filter.empty() && i < parsed->operands.size(); ++i) {
    const auto* operand = std::get_if<ir::TensorEntry>(&parsed->operands[i]);
    if (operand == nullptr || !operand->constant || operand->shape.dims.size() < 2) continue;
    for (const ir::Dim& dim : operand->shape.dims)
      words.filter += (words.filter.empty() ? "" : "x") + (dim ? std::to_string(*dim) : "?");
  }
  for (const auto& [name, value] : parsed->attributes)
    words.attributes +=
        fmt::format("{}{}={}", words.attributes.empty() ? "" : " ", name, text_of(value));
  return words;
}

}  // namespace oplat::plan
