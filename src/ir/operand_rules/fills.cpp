// SPDX-License-Identifier: Apache-2.0
#include "ir/operand_rules/fills.hpp"

#include <algorithm>
#include <utility>

#include "ir/axis.hpp"

namespace oplat::ir::fills {

std::optional<std::int64_t> count_of(const Key& key, std::size_t operand) {
  const TensorEntry* entry = key.operand(operand);
  return entry == nullptr ? std::nullopt : entry->shape.elements();
}

Fill listed(const Dims& values) {
  OperandFill fill;
  for (const std::int64_t value : values) fill.values.push_back(static_cast<double>(value));
  return fill;
}
Fill each(double value) {
  OperandFill fill;
  fill.values = {value};
  return fill;
}
Fill below(std::optional<std::int64_t> limit) {
  OperandFill fill;
  fill.high = std::max<std::int64_t>(0, limit.value_or(1) - 1);
  return fill;
}
std::optional<std::vector<double>> expanded(const Value& value, std::int64_t count) {
  const auto number = [](const Value& v) -> std::optional<double> {
    if (v.integer() != nullptr) return static_cast<double>(*v.integer());
    if (v.real() != nullptr) return *v.real();
    return std::nullopt;
  };
  if (count < 0 || count > kMaxListedElements) return std::nullopt;
  const auto wanted = static_cast<std::size_t>(count);
  if (const auto one = number(value)) return std::vector<double>(wanted, *one);
  if (value.list() == nullptr) return std::nullopt;
  std::vector<double> values;
  for (const Value& v : *value.list()) {
    const auto one = number(v);
    if (!one) return std::nullopt;
    values.push_back(*one);
  }
  if (values.size() == 1) values.resize(wanted, values.front());
  return values.size() == wanted ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<std::vector<double>> said(const Key& key, std::size_t operand) {
  const TensorEntry* entry = key.operand(operand);
  const auto count = count_of(key, operand);
  if (entry == nullptr || !count) return std::nullopt;
  if (entry->value) return expanded(*entry->value, *count);
  const Value* recorded = key.tag(values_tag(operand));
  return recorded == nullptr ? std::nullopt : expanded(*recorded, *count);
}

bool is_missing(const Key& key, std::size_t operand) { return key.operand(operand) == nullptr; }

std::int64_t attribute(const Key& key, std::string_view name, std::int64_t otherwise) {
  return ops::integer(key, name).value_or(otherwise);
}

std::optional<std::int64_t> size_along(const TensorEntry* tensor, std::int64_t axis) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  const auto at = axis_index(axis, tensor->shape.dims.size());
  return at ? tensor->shape.dims[*at] : std::nullopt;
}

}  // namespace oplat::ir::fills
