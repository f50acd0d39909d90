// SPDX-License-Identifier: Apache-2.0
/// Loops of operators that move data.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "ir/axis.hpp"
#include "ir/dtype.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/permuted.hpp"

namespace oplat::ir::ops {
namespace {

/// ir::Work::steps of a byte that is looked up in a table: 0.17 to 0.2 ns there.
constexpr double kStepsOfLookup = 0.2;
/// Of a result that is made, however small: 140 to 155 ns there.
constexpr double kStepsOfResult = 140;
/// Channels that are brought together.
constexpr double kReordered = 16;
/// Of an element that is taken out with a step: 0.75 ns there.
constexpr double kStepsOfPick = 0.75;

std::optional<Description> describe_joined(const Key& key, const TensorEntry* joined,
                                           std::size_t parts) {
  const auto loops = around(joined, integer(key, "axis").value_or(0));
  const auto bits_of = loops ? bits(joined->dtype) : std::nullopt;
  if (!bits_of) return std::nullopt;
  // The parts have one type, of which only its size matters, and how many there are is a number.
  return Form(key, {"axis", "num_outputs"})
      .loop("before", loops->before)
      .loop("parts", static_cast<double>(parts))
      .loop("bytes from", loops->along * loops->behind * *bits_of / 8)
      .done();
}

/// Blocks of so many bytes are moved by a load and a store, others by a call.
bool is_number(double bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

}  // namespace

std::optional<Description> describe_transpose(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto perm = integers(key, "perm");
  const auto moved = sizes && perm ? permuted(*sizes, *perm) : std::nullopt;
  const auto bits_of = moved ? bits(key.operand(0)->dtype) : std::nullopt;
  if (!bits_of) return std::nullopt;
  const double bytes = std::ceil(moved->behind * *bits_of / 8);
  // What an element means does not matter, how many bytes move together does.
  Form form(key, {"perm"});
  form.stride(moved->stride, moved->rows);
  switch (moved->way) {
    case Permuted::Way::Copied:
      return form.loop("copied", bytes).done();
    case Permuted::Way::AxisMoved:
      return form.word(is_number(bytes) ? fmt::format("axis of {:g}", bytes) : "axis of blocks")
          .steps(is_number(bytes) ? 0
                                  : kStepsOfBlock * moved->before * moved->first * moved->second)
          .number(moved->before)
          .number(moved->first)
          .number(moved->second)
          .number(bytes)
          .done();
    case Permuted::Way::EachBlock:
      return form.word(is_number(bytes) ? "each number" : "each block")
          .steps(kStepsOfBlock * moved->blocks)
          .number(moved->blocks)
          .number(moved->axes)
          .number(bytes)
          .done();
  }
  return std::nullopt;
}

std::optional<Description> describe_concat(const Key& key) {
  return describe_joined(key, key.result(0), key.operands.size());
}

std::optional<Description> describe_split(const Key& key) {
  auto split = describe_joined(key, key.operand(0), key.results.size());
  if (split) split->work.steps = kStepsOfResult * static_cast<double>(key.results.size());
  return split;
}

std::optional<Description> describe_qlinear_concat(const Key& key) {
  constexpr std::size_t kTriple = 3;
  if (key.operands.size() < 2) return std::nullopt;
  auto joined = describe_joined(key, key.result(0), (key.operands.size() - 2) / kTriple);
  if (!joined) return std::nullopt;
  // Parts of the result's scale are copied, each byte of the others is looked up.
  double looked_up = 0;  // elements from the axis on
  for (std::size_t i = kTriple; i < key.operands.size(); i += kTriple) {
    const TensorEntry* scale = key.operand(i);
    if (scale == nullptr || !scale->value || scale->value->real() == nullptr) return std::nullopt;
    if (*scale->value->real() == 1) continue;
    const auto part = around(key.operand(i - 1), integer(key, "axis").value_or(0));
    if (!part) return std::nullopt;
    looked_up += part->along * part->behind;
  }
  joined->slice += looked_up > 0 ? " looked up" : " copied";
  joined->numbers.push_back(std::max(1.0, looked_up));
  joined->work.steps += kStepsOfLookup * joined->numbers.front() * looked_up;
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
  const bool stepped = key.operand(4) != nullptr && step > 1;
  const double before = product_of(*whole, 0, at);
  const double behind = product_of(*whole, at + 1, whole->size());
  const double blocks = before * (stepped ? (*part)[at] : 1);
  Form form(key);
  return form.types(1)
      .steps((stepped && behind == 1 ? kStepsOfPick : kStepsOfBlock) * blocks)
      .loop("before", before)
      .loop("along", (*part)[at])
      .loop("behind", behind)
      .loop("of", (*whole)[at])
      .loop("step", key.operand(4) == nullptr ? 1 : step)
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
  const double count = product_of(*indices, 0, indices->size());
  Form form(key, {"axis"}, Form::Constants::Said);
  return form.types()
      .steps(kStepsOfBlock * loops->before * count)
      .loop("before", loops->before)
      .loop("indices", count)
      .loop("behind", loops->behind)
      .loop("axis", loops->along)
      .done();
}

std::optional<Description> describe_resize(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != to->size() || from->size() < 2) return std::nullopt;
  // Images behind each other, or [N, height, width, C].
  std::size_t rows = from->size() - 2;
  const auto same_until = static_cast<std::size_t>(
      std::mismatch(from->begin(), from->end(), to->begin()).first - from->begin());
  const bool channels_last =
      same_until < rows && from->size() == 4 && same_until >= 1 && from->back() == to->back();
  if (channels_last) {
    rows = 1;
  } else if (same_until < rows) {
    return std::nullopt;
  }
  const bool nearest = key.attribute("mode") == nullptr || is_word(key, "mode", "nearest");
  // Nearest places are copied in a loop of its own where they are twice as many (upsample.cc).
  Form form(key, nearest ? Names{"scales", "exclude_outside", "cubic_coeff_a"}
                         : Names{"scales", "exclude_outside", "coordinate_transformation_mode",
                                 "nearest_mode"});
  if (is_word(key, "coordinate_transformation_mode", "tf_crop_and_resize")) form.word("cropped");
  if (channels_last) form.word("last");
  const double height = (*from)[rows];
  const double width = (*from)[rows + 1];
  if (nearest && (*to)[rows] == 2 * height && (*to)[rows + 1] == 2 * width) form.word("twice");
  return form.types(1)
      .loop("images", product_of(*from, 0, rows) * (channels_last ? from->back() : 1))
      .loop("height", height)
      .loop("width", width)
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
      .stride(last ? 0 : product_of(*from, 1, 4) / before, std::min({before, after, kReordered}))
      .done();
}

}  // namespace oplat::ir::ops
