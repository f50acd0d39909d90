// SPDX-License-Identifier: Apache-2.0
/// Loops of operators that know no ranks.
#include "ir/operators/forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/axis.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/matmul.hpp"

namespace oplat::ir::ops {
namespace {

/// The axes that a reduction says; empty: all. std::nullopt if they are not known.
std::optional<std::vector<std::int64_t>> axes_of(const Key& key) {
  if (const auto axes = integers(key, "axes")) return axes;
  if (const auto axis = integer(key, "axis")) return std::vector<std::int64_t>{*axis};
  const TensorEntry* operand = key.operand(1);
  return operand == nullptr ? std::vector<std::int64_t>{} : numbers_of(operand);
}

}  // namespace

std::optional<Description> describe_elementwise(const Key& key) {
  const auto result = sizes_of(key.result(0));
  if (!result || key.operands.size() > kMaxOperands) return std::nullopt;
  std::vector<std::uint32_t> present(result->size(), 0);
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    if (std::holds_alternative<AbsentEntry>(key.operands[i])) continue;
    const auto sizes = sizes_of(key.operand(i));
    if (!sizes || sizes->size() > result->size()) return std::nullopt;
    const std::size_t lead = result->size() - sizes->size();
    for (std::size_t d = 0; d < sizes->size(); ++d) {
      if ((*sizes)[d] == 1) continue;
      if ((*sizes)[d] != (*result)[lead + d]) return std::nullopt;
      present[lead + d] |= 1U << i;
    }
  }
  Form form(key);
  form.types();
  add_loops(form, *result, [&](std::size_t i) { return std::to_string(present[i]); });
  return form.done();
}

std::optional<Description> describe_reduction(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto axes = axes_of(key);
  if (!sizes || !axes) return std::nullopt;
  const bool none = axes->empty() && integer(key, "noop_with_empty_axes").value_or(0) != 0;
  std::vector<bool> reduced(sizes->size(), axes->empty() && !none);
  for (const std::int64_t axis : *axes) {
    const auto place = axis_index(axis, sizes->size());
    if (!place) return std::nullopt;
    reduced[*place] = true;
  }
  // One reduced loop, as nearly all have: what is kept before and behind it may be of one element.
  std::string pattern;
  std::array<double, 3> loops{1, 1, 1};  // before, reduced, behind
  bool one_run = true;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] == 1) continue;
    const char own = reduced[i] ? 'R' : 'K';
    const bool behind = pattern.find('R') != std::string::npos;
    if (pattern.empty() || pattern.back() != own) {
      one_run = one_run && !(own == 'R' && behind);
      pattern += own;
    }
    loops[own == 'R' ? 1 : behind ? 2 : 0] *= (*sizes)[i];
  }
  Form form(key, {"axes", "axis", "keepdims", "noop_with_empty_axes"});
  if (one_run && pattern.find('R') != std::string::npos) {
    form.word(pattern).types(1);
    for (const double length : loops) form.number(length);
    return form.stride(loops[2]).aligned().done();
  }
  form.types(1);
  add_loops(form, *sizes, [&](std::size_t i) { return reduced[i] ? "R" : "K"; });
  return form.done();
}

std::optional<Description> describe_global_pool(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  if (!sizes || sizes->size() < 3) return std::nullopt;
  Form form(key);
  return form.types(1)
      .loop("K", product_of(*sizes, 0, 2))
      .loop("R", product_of(*sizes, 2, sizes->size()))
      .done();
}

std::optional<Description> describe_recurrent(const Key& key) {
  const auto x = sizes_of(key.operand(0));
  const auto weights = sizes_of(key.operand(1));
  const auto hidden = integer(key, "hidden_size");
  if (!x || x->size() != 3 || !weights || weights->size() != 3 || !hidden || *hidden < 1)
    return std::nullopt;
  const bool batch_first = integer(key, "layout").value_or(0) != 0;
  Form form(key, {"activations", "direction", "hidden_size", "layout", "input_forget"});
  form.types(2);
  // Of one direction; those of two come twice.
  if (const Value* functions = key.attribute("activations");
      functions != nullptr && functions->list() != nullptr) {
    const List& all = *functions->list();
    const auto count = all.size() / static_cast<std::size_t>(std::max(1.0, weights->front()));
    for (std::size_t i = 0; i < std::min(count, all.size()); ++i) form.word(said(all[i]));
  }
  return form.loop("directions", weights->front())
      .loop("steps", (*x)[batch_first ? 1 : 0])
      .loop("batch", (*x)[batch_first ? 0 : 1])
      .loop("input", (*x)[2])
      .loop("hidden", static_cast<double>(*hidden))
      .done();
}

std::optional<Description> describe_softmax(const Key& key) {
  const bool along_one = key.since.value_or(kSoftmaxAlongOneAxis) >= kSoftmaxAlongOneAxis;
  auto loops = around(key.operand(0), integer(key, "axis").value_or(along_one ? -1 : 1));
  if (!loops) return std::nullopt;
  if (!along_one) {
    loops->along *= loops->behind;
    loops->behind = 1;
  }
  Form form(key, {"axis"});
  // Along the last axis nothing is strided, which is another loop.
  const bool last = loops->behind == 1;
  return form.types(1)
      .loop(last ? "rows" : "before", loops->before)
      .loop("along", loops->along)
      .loop("behind", loops->behind)
      .stride(loops->behind)
      .done();
}

std::optional<Description> describe_layer_norm(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto place =
      sizes ? axis_index(integer(key, "axis").value_or(-1), sizes->size()) : std::nullopt;
  if (!place) return std::nullopt;
  Form form(key, {"axis", "stash_type"});
  return form.types()
      .loop("rows", product_of(*sizes, 0, *place))
      .loop("along", product_of(*sizes, *place, sizes->size()))
      .done();
}

std::optional<Description> describe_product(const Key& key) {
  const auto product = contraction_of_product(key);
  if (!product) return std::nullopt;
  // A factor costs nothing next to a product, and sizes of packed weights are among the loops.
  Form form(key, {"alpha", "K", "N"}, Form::Constants::Said);
  form.types();
  // One operand for all products of a batch is read once.
  form.loop(product->groups > 1 ? "products" : "one", product->groups)
      .loop("rows", product->out_h)
      .loop("inner", product->in_c)
      .loop("columns", product->out_c);
  return form.done();
}

}  // namespace oplat::ir::ops
