// SPDX-License-Identifier: Apache-2.0
/// Loops of operators that move data.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "ir/axis.hpp"
#include "ir/dtype.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/forms.hpp"

namespace oplat::ir::ops {
namespace {

std::optional<Description> describe_joined(const Key& key, const TensorEntry* joined,
                                           std::size_t parts) {
  const auto loops = around(joined, integer(key, "axis").value_or(0));
  if (!loops) return std::nullopt;
  // The parts have one type, and how many there are is a number.
  const auto dtype = std::string(name(joined->dtype));
  return Form(key, {"axis", "num_outputs"})
      .loop(dtype + " before", loops->before)
      .loop("parts", static_cast<double>(parts))
      .loop("from", loops->along * loops->behind)
      .done();
}

}  // namespace

std::optional<Description> describe_transpose(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto perm = integers(key, "perm");
  if (!sizes || !perm || perm->size() != sizes->size()) return std::nullopt;
  std::vector<std::size_t> order;  // of dimensions that are loops, as the result has them
  std::vector<bool> seen(sizes->size(), false);
  for (const std::int64_t axis : *perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(sizes->size())) return std::nullopt;
    const auto place = static_cast<std::size_t>(axis);
    if (seen[place]) return std::nullopt;
    seen[place] = true;
    if ((*sizes)[place] > 1) order.push_back(place);
  }
  // Ranks of the loops in the operand, so that neighbours differ by one.
  std::vector<std::size_t> loops = order;
  std::sort(loops.begin(), loops.end());
  const auto rank_of = [&](std::size_t place) {
    return static_cast<std::size_t>(std::lower_bound(loops.begin(), loops.end(), place) -
                                    loops.begin());
  };
  struct Run {
    std::size_t first;
    double length;
  };
  std::vector<Run> runs;
  std::size_t last = 0;
  for (const std::size_t place : order) {
    const std::size_t rank = rank_of(place);
    if (!runs.empty() && rank == last + 1) {
      runs.back().length *= (*sizes)[place];
    } else {
      runs.push_back({rank, (*sizes)[place]});
    }
    last = rank;
  }
  std::vector<Run> in_operand = runs;
  std::sort(in_operand.begin(), in_operand.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  Form form(key, {"perm"});
  form.types(1);
  for (const Run& run : runs) {
    const auto at = std::find_if(in_operand.begin(), in_operand.end(),
                                 [&](const Run& each) { return each.first == run.first; });
    form.loop(std::to_string(at - in_operand.begin()), run.length);
  }
  if (runs.empty()) form.loop("one", 1);
  // Neighbours in the result are as far apart as all that lies behind them in the operand.
  if (!order.empty()) form.stride(product_of(*sizes, order.back() + 1, sizes->size()));
  return form.done();
}

std::optional<Description> describe_concat(const Key& key) {
  return describe_joined(key, key.result(0), key.operands.size());
}

std::optional<Description> describe_split(const Key& key) {
  return describe_joined(key, key.operand(0), key.results.size());
}

std::optional<Description> describe_qlinear_concat(const Key& key) {
  constexpr std::size_t kTriple = 3;
  if (key.operands.size() < 2) return std::nullopt;
  auto joined = describe_joined(key, key.result(0), (key.operands.size() - 2) / kTriple);
  if (!joined) return std::nullopt;
  // Parts of the result's scale are copied, each byte of the others is looked up.
  double looked_up = 0;
  for (std::size_t i = kTriple; i < key.operands.size(); i += kTriple) {
    const TensorEntry* scale = key.operand(i);
    if (scale == nullptr || !scale->value || scale->value->real() == nullptr) return std::nullopt;
    looked_up += *scale->value->real() != 1 ? 1 : 0;
  }
  joined->slice += " looked up";
  joined->numbers.push_back(looked_up);
  return joined;
}

std::optional<Description> describe_slice(const Key& key) {
  const auto whole = sizes_of(key.operand(0));
  const auto part = sizes_of(key.result(0));
  if (!whole || !part || whole->size() != part->size()) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < whole->size(); ++d) {
    if ((*whole)[d] == (*part)[d]) continue;
    if (axis) return std::nullopt;
    axis = d;
  }
  const std::size_t at = axis.value_or(0);
  const double step = std::floor((*whole)[at] / (*part)[at]);
  const TensorEntry* steps = key.operand(4);
  Form form(key);
  return form.types(1)
      .loop("before", product_of(*whole, 0, at))
      .loop("along", (*part)[at])
      .loop("behind", product_of(*whole, at + 1, whole->size()))
      .loop("of", (*whole)[at])
      .loop("step", steps == nullptr ? 1 : step)
      .done();
}

std::optional<Description> describe_expand(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() > to->size()) return std::nullopt;
  const std::size_t lead = to->size() - from->size();
  Form form(key);
  form.types(1);
  add_loops(form, *to, [&](std::size_t i) {
    return i >= lead && (*from)[i - lead] == (*to)[i] ? "own" : "repeated";
  });
  return form.done();
}

std::optional<Description> describe_copy(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  if (!sizes || key.tag("copied") == nullptr) return std::nullopt;
  Form form(key, {"axis", "axes", "allowzero"});
  return form.types(1).loop("elements", product_of(*sizes, 0, sizes->size())).done();
}

std::optional<Description> describe_gather(const Key& key) {
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(0));
  const auto indices = sizes_of(key.operand(1));
  if (!loops || !indices) return std::nullopt;
  Form form(key, {"axis"}, Form::Constants::Said);
  return form.types()
      .loop("before", loops->before)
      .loop("indices", product_of(*indices, 0, indices->size()))
      .loop("behind", loops->behind)
      .loop("axis", loops->along)
      .done();
}

std::optional<Description> describe_resize(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != to->size() || from->size() < 2) return std::nullopt;
  const std::size_t rows = from->size() - 2;
  if (!std::equal(from->begin(), from->begin() + static_cast<std::ptrdiff_t>(rows), to->begin()))
    return std::nullopt;
  const bool nearest = key.attribute("mode") == nullptr || is_word(key, "mode", "nearest");
  // Nearest places are copied in a loop of its own where they are twice as many (upsample.cc).
  Form form(key, nearest ? Names{"scales", "exclude_outside"}
                         : Names{"scales", "exclude_outside", "coordinate_transformation_mode",
                                 "nearest_mode"});
  if (is_word(key, "coordinate_transformation_mode", "tf_crop_and_resize")) form.word("cropped");
  return form.types(1)
      .loop("images", product_of(*from, 0, rows))
      .loop("height", (*from)[rows])
      .loop("width", (*from)[rows + 1])
      .loop("to", (*to)[rows])
      .loop("to", (*to)[rows + 1])
      .done();
}

std::optional<Description> describe_reorder(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != 4 || to->size() != 4) return std::nullopt;
  // Only the plain side may have its channels last.
  const bool last = integer(key, "channels_last").value_or(0) != 0;
  const bool into = key.op == "ReorderInput";
  const auto channels = [&](const DimSizes& sizes, bool plain) {
    return sizes[plain && last ? 3 : 1];
  };
  const double before = channels(*from, into);
  const double after = channels(*to, !into);
  Form form(key, {"channels"});
  return form.types(1)
      .loop("batch", from->front())
      .loop("from", before)
      .loop("to", after)
      .loop("places", product_of(*from, 1, 4) / before)
      .stride(last ? 0 : product_of(*from, 1, 4) / before)
      .done();
}

}  // namespace oplat::ir::ops
