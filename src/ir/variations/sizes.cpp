// SPDX-License-Identifier: Apache-2.0
/// Sizes, their units, and constants that hold sizes.
#include "ir/variations/sizes.hpp"

#include <algorithm>
#include <cmath>

namespace oplat::ir::variations {
namespace {

constexpr std::int64_t kMaxUnit = 16;
constexpr double kKept = 1.0 / 3;
constexpr std::int64_t kMaxConstants = 4096;

}  // namespace

std::int64_t unit_of(std::int64_t size) {
  std::int64_t unit = 1;
  while (2 * unit <= kMaxUnit && 2 * unit <= size && size % (2 * unit) == 0) unit *= 2;
  return unit;
}

std::int64_t Draw::size(std::int64_t size, std::int64_t unit) {
  if (size <= kMaxKept || random_.uniform() < kKept) return size;
  const double wanted = static_cast<double>(size) * std::exp(spread_ * random_.normal());
  const double units = std::round(wanted / static_cast<double>(unit));
  return static_cast<std::int64_t>(std::clamp(units, 1.0, static_cast<double>(kMaxSize / unit))) *
         unit;
}

std::int64_t Draw::tied(std::int64_t size) {
  const auto [at, added] = tied_.emplace(size, size);
  if (added) at->second = this->size(size, unit_of(size));
  return at->second;
}

std::int64_t Draw::any(std::int64_t most) {
  const double doublings = std::log2(static_cast<double>(most));
  return std::llround(std::exp2(1 + random_.uniform() * (doublings - 1)));
}

bool usual(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](std::int64_t number) { return number >= 0 && number <= kMaxSize; });
}

std::optional<Numbers> dims_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  Numbers dims;
  for (const Dim& dim : tensor->shape.dims) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

TensorEntry* tensor_of(Entry& entry) { return std::get_if<TensorEntry>(&entry); }

std::optional<Numbers> numbers_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->value) return std::nullopt;
  const auto count = tensor->shape.elements();
  if (!count || *count > kMaxConstants) return std::nullopt;
  if (const std::int64_t* one = tensor->value->integer())
    return Numbers(static_cast<std::size_t>(*count), *one);
  const List* list = tensor->value->list();
  if (list == nullptr || static_cast<std::int64_t>(list->size()) != *count) return std::nullopt;
  Numbers numbers;
  for (const Value& each : *list) {
    if (each.integer() == nullptr) return std::nullopt;
    numbers.push_back(*each.integer());
  }
  return numbers;
}

std::optional<std::size_t> place_of(std::int64_t axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

}  // namespace oplat::ir::variations
