// SPDX-License-Identifier: Apache-2.0
/// Keys as values: look-ups in them, sorting, hashing.
#include "ir/key.hpp"

#include <algorithm>

namespace oplat::ir {
namespace {

const Value* find_value(const std::vector<NamedValue>& pairs, std::string_view name) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const NamedValue& p) { return p.first == name; });
  return found == pairs.end() ? nullptr : &found->second;
}

void sort_by_name(std::vector<NamedValue>& pairs) {
  const auto less = [](const NamedValue& a, const NamedValue& b) { return a.first < b.first; };
  const auto not_less = [&](const NamedValue& a, const NamedValue& b) { return !less(a, b); };
  if (std::adjacent_find(pairs.begin(), pairs.end(), not_less) == pairs.end()) return;
  constexpr std::size_t kFew = 32;
  if (pairs.size() > kFew) {
    std::stable_sort(pairs.begin(), pairs.end(), less);
  } else {
    for (auto at = pairs.begin(); at != pairs.end(); ++at) {
      const auto to = std::upper_bound(pairs.begin(), at, *at, less);
      if (to == at) continue;
      NamedValue moved = std::move(*at);
      std::move_backward(to, at, at + 1);
      *to = std::move(moved);
    }
  }
  // An untrusted node may name an attribute twice; the first counts, as in Key::attribute().
  const auto same = [](const NamedValue& a, const NamedValue& b) { return a.first == b.first; };
  pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
}

/// What is not a dimension is one that the source does not know: exporters write -1 for it.
void tidy_shapes(std::vector<Entry>& entries) {
  for (Entry& entry : entries) {
    auto* const tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr) continue;
    if (!tensor->shape.ranked) tensor->shape.dims.clear();
    for (Dim& dim : tensor->shape.dims) {
      if (dim && *dim < 0) dim.reset();
    }
  }
}

bool has_unknown(const Value& value) {
  if (value.unknown()) return true;
  const List* const list = value.list();
  return list != nullptr &&
         std::any_of(list->begin(), list->end(), [](const Value& v) { return has_unknown(v); });
}

bool has_unknown(const std::vector<NamedValue>& pairs) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [](const NamedValue& p) { return has_unknown(p.second); });
}

bool has_unknown(const std::vector<Entry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
    const auto* const tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr) return false;
    const auto& dims = tensor->shape.dims;
    return !tensor->shape.ranked ||
           std::any_of(dims.begin(), dims.end(), [](const Dim& d) { return !d; }) ||
           (tensor->value && has_unknown(*tensor->value));
  });
}

}  // namespace

Shape Shape::of(const std::vector<std::int64_t>& numbers) {
  Shape shape;
  shape.dims.assign(numbers.begin(), numbers.end());
  return shape;
}

std::optional<std::int64_t> Shape::elements() const {
  return ranked ? ir::elements_of(dims) : std::nullopt;
}

std::optional<std::int64_t> elements_of(std::span<const Dim> dims) {
  std::int64_t product = 1;
  bool empty = false;
  bool overflow = false;
  for (const Dim& dim : dims) {
    if (!dim) return std::nullopt;
    empty = empty || *dim == 0;
    overflow = overflow || __builtin_mul_overflow(product, *dim, &product);
  }
  if (empty) return 0;
  if (overflow) return std::nullopt;
  return product;
}

const Value* Key::attribute(std::string_view name) const { return find_value(attributes, name); }

const Value* Key::tag(std::string_view name) const { return find_value(tags, name); }

const TensorEntry* Key::operand(std::size_t i) const {
  if (i >= operands.size()) return nullptr;
  const Entry* entry = &operands[i];
  if (const auto* alias = std::get_if<AliasEntry>(entry)) {
    if (alias->index >= i) return nullptr;
    // Indices fall, so this ends.
    return operand(alias->index);
  }
  return std::get_if<TensorEntry>(entry);
}

const TensorEntry* Key::result(std::size_t i) const {
  if (i >= results.size()) return nullptr;
  if (const auto* alias = std::get_if<AliasEntry>(&results[i])) return operand(alias->index);
  return std::get_if<TensorEntry>(&results[i]);
}

void Key::canonicalise() {
  sort_by_name(tags);
  sort_by_name(attributes);
  tidy_shapes(operands);
  tidy_shapes(results);
}

base::Hash128 hash(const Key& key) { return base::hash128(print(key)); }

bool has_unknown(const Key& key) {
  return has_unknown(key.tags) || has_unknown(key.attributes) || has_unknown(key.operands) ||
         has_unknown(key.results);
}

}  // namespace oplat::ir
