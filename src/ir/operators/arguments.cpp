// SPDX-License-Identifier: Apache-2.0
/// Reading and writing what formulas ask of a key.
#include "ir/operators/arguments.hpp"

#include <algorithm>
#include <cmath>

#include "ir/axis.hpp"
#include "ir/operand_values.hpp"

namespace oplat::ir::ops {
namespace {

constexpr std::int64_t kMaxConstants = 4096;

std::optional<std::vector<std::int64_t>> numbers_in(const Value& value, const Shape& shape) {
  const auto count = shape.elements();
  if (!count || *count > kMaxConstants) return std::nullopt;
  if (const std::int64_t* one = value.integer())
    return std::vector<std::int64_t>(static_cast<std::size_t>(*count), *one);
  const List* list = value.list();
  if (list == nullptr || static_cast<std::int64_t>(list->size()) != *count) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Value& each : *list) {
    if (each.integer() == nullptr) return std::nullopt;
    numbers.push_back(*each.integer());
  }
  return numbers;
}

}  // namespace

std::optional<double> extent(const Shape& shape) {
  if (!shape.ranked) return std::nullopt;
  double product = 1;
  bool empty = false;
  for (const Dim& dim : shape.dims) {
    if (!dim) return std::nullopt;
    empty = empty || *dim == 0;
    product *= static_cast<double>(*dim);
  }
  if (empty) return 0;
  if (!std::isfinite(product)) return std::nullopt;
  return product;
}

std::optional<double> elements(const TensorEntry* tensor) {
  return tensor == nullptr ? std::nullopt : extent(tensor->shape);
}

std::optional<std::int64_t> dim(const TensorEntry* tensor, int index) {
  const auto size = rank(tensor);
  if (!size) return std::nullopt;
  const auto at = axis_index(index, *size);
  return at ? tensor->shape.dims[*at] : std::nullopt;
}

std::optional<std::vector<std::int64_t>> dims_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const Dim& dim : tensor->shape.dims) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

std::optional<std::vector<std::int64_t>> numbers_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->value) return std::nullopt;
  return numbers_in(*tensor->value, tensor->shape);
}

const Value* value_of(const Key& key, std::size_t operand) {
  const TensorEntry* tensor = key.operand(operand);
  if (tensor == nullptr) return nullptr;
  return tensor->value ? &*tensor->value : key.tag(values_tag(operand));
}

std::optional<std::vector<std::int64_t>> numbers_of(const Key& key, std::size_t operand) {
  const Value* value = value_of(key, operand);
  return value == nullptr ? std::nullopt : numbers_in(*value, key.operand(operand)->shape);
}

std::optional<std::size_t> rank(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  return tensor->shape.dims.size();
}

std::optional<std::int64_t> integer(const Key& key, std::string_view name) {
  const Value* value = key.attribute(name);
  if (value == nullptr || value->integer() == nullptr) return std::nullopt;
  return *value->integer();
}

std::optional<std::vector<std::int64_t>> integers(const Key& key, std::string_view name) {
  const Value* value = key.attribute(name);
  if (value == nullptr || value->list() == nullptr) return std::nullopt;
  std::vector<std::int64_t> numbers;
  numbers.reserve(value->list()->size());
  for (const Value& element : *value->list()) {
    if (element.integer() == nullptr) return std::nullopt;
    numbers.push_back(*element.integer());
  }
  return numbers;
}

bool is_word(const Key& key, std::string_view name, std::string_view word) {
  const Value* value = key.attribute(name);
  return value != nullptr && value->text() != nullptr && *value->text() == word;
}

bool is_dilated(const Key& key) {
  const auto dilations = integers(key, "dilations");
  return dilations && std::any_of(dilations->begin(), dilations->end(),
                                  [](std::int64_t dilation) { return dilation != 1; });
}

bool is_nearest(const Key& key) {
  return key.attribute("mode") == nullptr || is_word(key, "mode", "nearest");
}

std::optional<double> neighbours_of_resize(const Key& key) {
  const double taps = is_nearest(key)                                                      ? 1
                      : is_word(key, "mode", "linear") || is_word(key, "mode", "bilinear") ? 2
                      : is_word(key, "mode", "cubic")                                      ? 4
                                                                                           : 0;
  const auto size = rank(key.operand(0));
  if (taps == 0 || !size || rank(key.result(0)) != size) return std::nullopt;
  double neighbours = 1;
  for (std::size_t i = 0; i < *size; ++i) {
    const auto before = dim(key.operand(0), static_cast<int>(i));
    const auto after = dim(key.result(0), static_cast<int>(i));
    if (!before || !after) return std::nullopt;
    if (*before != *after) neighbours *= taps;
  }
  return neighbours;
}

void set_attribute(Key& key, std::string_view name, Value value) {
  const auto found = std::find_if(key.attributes.begin(), key.attributes.end(),
                                  [&](const NamedValue& a) { return a.first == name; });
  if (found == key.attributes.end()) {
    key.attributes.emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

void fill_attribute(Key& key, std::string_view name, Value value) {
  if (key.attribute(name) == nullptr) key.attributes.emplace_back(name, std::move(value));
}

void drop_attribute(Key& key, std::string_view name) {
  std::erase_if(key.attributes, [&](const NamedValue& a) { return a.first == name; });
}

std::size_t second_factor(const Key& key) {
  const bool scales_between = key.op == "QGemm" || key.op == "QLinearMatMul";
  return scales_between ? 3 : 1;
}

std::optional<double> no_flops(const Key&) { return 0.0; }

}  // namespace oplat::ir::ops
