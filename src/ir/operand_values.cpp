// SPDX-License-Identifier: Apache-2.0
/// Values that suit a key.
///
/// The problem: a kernel is built again from its key, which holds shapes but no values of operands
/// that are not constants. Where these are sizes, lengths or masks, arbitrary ones make another
/// kernel: an LSTM over sequences of length 1, a Slice of nothing. So each such operand has a rule.
/// Sizes follow from the result that the key states, indices and divisors from what is legal. What
/// no shape shows (lengths) is recorded by the planner, as a tag of the key; without the tag it is
/// the greatest legal length, and value_caveat() says so. Whether the rule was right is checked
/// after the kernel's run: its results have the key's shapes, or the row fails (docs/adr/0042).
#include "ir/operand_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/text.hpp"
#include "ir/axis.hpp"
#include "ir/key_head.hpp"
#include "ir/operators/arguments.hpp"

namespace oplat::ir {
namespace {

using Dims = std::vector<std::int64_t>;
using Fill = std::optional<OperandFill>;

constexpr std::size_t kMaxListed = 64;  // as many values as a key prints of a constant
constexpr std::size_t kMaxSteps = 16;
constexpr std::int64_t kModestTrips = 10;
constexpr std::int64_t kModestSize = 16;
constexpr std::int64_t kMaxListedElements = 4096;  // a list of sizes or axes is short

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
template <int kValue>
Fill always(const Key&, std::size_t) {
  return each(kValue);
}

/// Numbers of a value: "5" and "[5]" stand for `count` of them, "[1,2]" for each.
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

/// Values of an operand that the key says: of a constant, or recorded.
std::optional<std::vector<double>> said(const Key& key, std::size_t operand) {
  const TensorEntry* entry = key.operand(operand);
  const auto count = count_of(key, operand);
  if (entry == nullptr || !count) return std::nullopt;
  if (entry->value) return expanded(*entry->value, *count);
  const Value* recorded = key.tag(values_tag(operand));
  return recorded == nullptr ? std::nullopt : expanded(*recorded, *count);
}

bool is_absent(const Key& key, std::size_t operand) { return key.operand(operand) == nullptr; }

std::int64_t attribute(const Key& key, std::string_view name, std::int64_t otherwise) {
  return ops::integer(key, name).value_or(otherwise);
}

std::optional<std::int64_t> size_along(const TensorEntry* tensor, std::int64_t axis) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  const auto at = axis_index(axis, tensor->shape.dims.size());
  return at ? tensor->shape.dims[*at] : std::nullopt;
}

// ---- indices

template <std::size_t kTable, int kAxis>
Fill index_into(const Key& key, std::size_t) {
  return below(size_along(key.operand(kTable), kAxis));
}

/// Of Gather and its kin, along the attribute "axis" of operand 0.
Fill index_along_axis(const Key& key, std::size_t) {
  return below(size_along(key.operand(0), attribute(key, "axis", 0)));
}

/// Tuples of indices: all are below the smallest dimension that they index.
Fill index_tuples(const Key& key, std::size_t operand) {
  const TensorEntry* data = key.operand(0);
  const TensorEntry* tuples = key.operand(operand);
  if (data == nullptr || tuples == nullptr || tuples->shape.dims.empty()) return below(1);
  const auto first =
      static_cast<std::size_t>(std::max<std::int64_t>(0, attribute(key, "batch_dims", 0)));
  const std::int64_t width =
      tuples->shape.dims.back().value_or(static_cast<std::int64_t>(data->shape.dims.size()));
  std::int64_t smallest = std::int64_t{1} << 30;
  for (std::size_t i = first; i < data->shape.dims.size(); ++i) {
    if (static_cast<std::int64_t>(i - first) >= width) break;
    smallest = std::min(smallest, data->shape.dims[i].value_or(1));
  }
  return below(smallest);
}

Fill index_of_unpooled(const Key& key, std::size_t) {
  const TensorEntry* result = key.result(0);
  const auto inside = result != nullptr ? result->shape.elements() : std::nullopt;
  if (inside) return below(inside);
  const auto pooled = count_of(key, 0);
  return below(pooled);
}

Fill index_of_one_hot(const Key& key, std::size_t) {
  if (const auto depth = said(key, 1); depth && depth->size() == 1)
    return below(static_cast<std::int64_t>((*depth)[0]));
  return below(size_along(key.result(0), attribute(key, "axis", -1)));
}

/// Positions of com.microsoft's RotaryEmbedding: one offset for all, or one each.
Fill rotary_positions(const Key& key, std::size_t operand) {
  const auto cache = size_along(key.operand(2), 0);
  const auto x = ops::dims_of(key.operand(0));
  if (!cache || !x) return below(1);
  if (count_of(key, operand) != std::int64_t{1}) return below(cache);
  const std::int64_t length = x->size() == 4 ? (*x)[2] : x->size() > 1 ? (*x)[1] : 1;
  return below(std::max<std::int64_t>(1, *cache - length + 1));
}

/// Where TensorScatter writes its update: it must fit in.
Fill write_position(const Key& key, std::size_t) {
  const std::int64_t axis = attribute(key, "axis", -2);
  const auto cache = size_along(key.operand(0), axis);
  const auto update = size_along(key.operand(1), axis);
  return below(cache.value_or(1) - update.value_or(0) + 1);
}

/// Of classes, along dimension 1.
Fill class_index(const Key& key, std::size_t) { return below(size_along(key.operand(0), 1)); }

/// Of tables that are quantised by blocks along "quantize_axis".
Fill index_of_blocks(const Key& key, std::size_t) {
  return below(size_along(key.operand(0), attribute(key, "gather_axis", 0)));
}

/// Groups of MatMulNBits: K columns, in blocks.
Fill index_of_groups(const Key& key, std::size_t operand) {
  const auto columns = size_along(key.operand(operand), 0);
  const std::int64_t block = std::max<std::int64_t>(1, attribute(key, "block_size", 32));
  return below((columns.value_or(1) + block - 1) / block);
}

Fill divisor(const Key& key, std::size_t operand) {
  const TensorEntry* entry = key.operand(operand);
  if (entry == nullptr || is_float(entry->dtype)) return std::nullopt;
  return each(1);
}

/// Where copies write over the divisor, their result divides the next one: it must not be 0.
Fill dividend(const Key& key, std::size_t) {
  const TensorEntry* entry = key.operand(0);
  const auto* alias = key.results.empty() ? nullptr : std::get_if<AliasEntry>(&key.results[0]);
  if (entry == nullptr || is_float(entry->dtype) || alias == nullptr || alias->index != 1)
    return std::nullopt;
  return each(1);
}

// ---- sizes

Fill result_dims(const Key& key, std::size_t operand) {
  const auto result = ops::dims_of(key.result(0));
  const auto count = count_of(key, operand);
  if (result && count && static_cast<std::int64_t>(result->size()) == *count)
    return listed(*result);
  return std::nullopt;
}

/// Without a result: dimensions of operand 0, else small ones.
Fill modest_dims(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  if (!count || *count > kMaxListedElements) return std::nullopt;
  if (const auto data = ops::dims_of(key.operand(0));
      operand != 0 && data && static_cast<std::int64_t>(data->size()) == *count)
    return listed(*data);
  Dims dims(static_cast<std::size_t>(*count), *count == 1 ? 64 : 8);
  return listed(dims);
}

Fill made_shape(const Key& key, std::size_t operand) {
  if (auto fill = result_dims(key, operand)) return fill;
  return ops::dims_of(key.result(0)) ? std::nullopt : modest_dims(key, operand);
}

Fill reshape_shape(const Key& key, std::size_t operand) {
  if (auto fill = result_dims(key, operand)) return fill;
  const auto count = count_of(key, operand);
  if (ops::dims_of(key.result(0)) || !count || *count > kMaxListedElements) return std::nullopt;
  const auto data = ops::dims_of(key.operand(0));
  if (data && static_cast<std::int64_t>(data->size()) == *count) return listed(*data);
  Dims dims(static_cast<std::size_t>(*count), 1);
  if (!dims.empty()) dims.front() = -1;
  return listed(dims);
}

/// Right-aligned: the result has the longer of both ranks.
Fill expand_shape(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  if (!count || *count > kMaxListedElements) return std::nullopt;
  const auto result = ops::dims_of(key.result(0));
  if (!result) {
    const auto data = ops::dims_of(key.operand(0));
    Dims dims(static_cast<std::size_t>(*count), 1);
    for (std::size_t i = 0; data && i < dims.size() && i < data->size(); ++i)
      dims[dims.size() - 1 - i] = (*data)[data->size() - 1 - i];
    return listed(dims);
  }
  if (*count > static_cast<std::int64_t>(result->size())) return std::nullopt;
  return listed(Dims(result->end() - *count, result->end()));
}

Fill tile_repeats(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  if (!count || *count > kMaxListedElements) return std::nullopt;
  Dims repeats(static_cast<std::size_t>(*count), 1);
  const auto data = ops::dims_of(key.operand(0));
  const auto result = ops::dims_of(key.result(0));
  if (!data || !result || data->size() != result->size() || data->size() != repeats.size())
    return listed(repeats);
  for (std::size_t i = 0; i < repeats.size(); ++i)
    repeats[i] = (*data)[i] == 0 ? 1 : (*result)[i] / (*data)[i];
  return listed(repeats);
}

/// Of start, limit and delta (operands 0 to 2) those that are open.
Fill range_part(const Key& key, std::size_t operand) {
  const auto scalar = [&](std::size_t i) -> std::optional<double> {
    const auto values = said(key, i);
    return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
  };
  const auto start = scalar(0);
  const auto limit = scalar(1);
  const auto delta = scalar(2);
  const auto n = static_cast<double>(size_along(key.result(0), 0).value_or(kModestSize));
  const TensorEntry* entry = key.operand(operand);
  const bool whole = entry == nullptr || !is_float(entry->dtype);
  double step = delta && *delta != 0 ? *delta : 1;
  if (!delta && limit && start && n > 0) {
    step = (*limit - *start) / n;
    if (whole) step = step > 0 ? std::ceil(step) : std::floor(step);
  }
  if (operand == 2) return each(step == 0 ? 1 : step);
  // Half a step less than the whole, so that rounding of floats adds none.
  const double span = whole ? n * step : (n - 0.5) * step;
  if (operand == 1) return each(start.value_or(0) + (n > 0 ? span : 0));
  return each(limit ? *limit - (n > 0 ? span : 0) : 0);
}

/// Axes that operand `operand` of Slice or Pad would name, if its result is to be another than
/// operand 0: what differs, then what is left.
std::optional<Dims> axes_of(const Key& key, std::size_t operand, std::size_t count) {
  const auto data = ops::dims_of(key.operand(0));
  if (is_absent(key, operand)) {
    Dims axes(count);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }
  if (const auto given = said(key, operand)) {
    Dims axes;
    for (const double value : *given) {
      const auto rank = data ? data->size() : std::size_t{64};
      const auto axis = axis_index(static_cast<std::int64_t>(value), rank);
      if (!axis) return std::nullopt;
      axes.push_back(static_cast<std::int64_t>(*axis));
    }
    return axes;
  }
  const auto result = ops::dims_of(key.result(0));
  if (!data || count > data->size()) return std::nullopt;
  Dims axes;
  for (const bool differs : {true, false}) {
    for (std::size_t i = 0; i < data->size(); ++i) {
      const bool other = result && i < result->size() && (*result)[i] != (*data)[i];
      if (other == differs) axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  axes.resize(count);
  return axes;
}

/// Starts (1), ends (2), axes (3) or steps (4) of Slice.
Fill slice_part(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  const auto data = ops::dims_of(key.operand(0));
  if (!count || *count > kMaxListedElements) return std::nullopt;
  const auto n = static_cast<std::size_t>(*count);
  const auto axes = axes_of(key, 3, n);
  if (operand == 3) return axes ? listed(*axes) : std::nullopt;
  const auto given_steps = said(key, 4);
  if (operand == 4) return each(1);
  constexpr double kAll = std::numeric_limits<std::int32_t>::max();
  if (!axes || axes->size() != n || !data) return each(operand == 1 ? 0 : kAll);
  const auto result = ops::dims_of(key.result(0));
  const auto other = said(key, operand == 1 ? 2 : 1);
  OperandFill fill;
  for (std::size_t i = 0; i < n; ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    if (axis >= data->size()) return std::nullopt;
    const auto size = static_cast<double>((*data)[axis]);
    const double out =
        result && axis < result->size() ? static_cast<double>((*result)[axis]) : size;
    const double step = given_steps && i < given_steps->size() ? (*given_steps)[i] : 1;
    const auto inside = [&](double at) { return std::clamp(at < 0 ? at + size : at, 0.0, size); };
    if (operand == 1) {
      if (other && i < other->size()) {
        fill.values.push_back(std::max(0.0, inside((*other)[i]) - out * step));
      } else {
        fill.values.push_back(step < 0 ? size - 1 : 0);
      }
      continue;
    }
    const double start = other && i < other->size() ? inside((*other)[i]) : step < 0 ? size - 1 : 0;
    const double end = std::min(start, step < 0 ? size - 1 : size) + out * step;
    fill.values.push_back(end < 0 ? -size - 1 : end);
  }
  return fill;
}

/// Pads (1): half before, half behind; or axes (3).
Fill pad_part(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  const auto data = ops::dims_of(key.operand(0));
  if (!count || *count > kMaxListedElements) return std::nullopt;
  const std::size_t n = static_cast<std::size_t>(operand == 1 ? *count / 2 : *count);
  const auto axes = axes_of(key, 3, n);
  if (!axes) return std::nullopt;
  if (operand == 3) return listed(*axes);
  const auto result = ops::dims_of(key.result(0));
  Dims pads(2 * n, 0);
  for (std::size_t i = 0; result && data && i < n && i < axes->size(); ++i) {
    const auto axis = static_cast<std::size_t>((*axes)[i]);
    if (axis >= data->size() || axis >= result->size()) return std::nullopt;
    const std::int64_t more = (*result)[axis] - (*data)[axis];
    pads[i] = more / 2;
    pads[n + i] = more - more / 2;
  }
  return listed(pads);
}

/// k of TopK: what the result has along the axis, at most what there is.
Fill top_k(const Key& key, std::size_t) {
  const std::int64_t axis = attribute(key, "axis", -1);
  auto k = size_along(key.result(0), axis);
  if (!k) k = size_along(key.result(1), axis);
  if (!k) k = size_along(key.operand(0), axis);
  return each(static_cast<double>(k.value_or(1)));
}

/// Axes of Resize's sizes and scales: all, or the attribute's.
std::vector<std::size_t> resized_axes(const Key& key, std::size_t rank) {
  std::vector<std::size_t> axes;
  if (const auto listed_axes = ops::integers(key, "axes"); listed_axes && !listed_axes->empty()) {
    for (const std::int64_t axis : *listed_axes)
      if (const auto at = axis_index(axis, rank)) axes.push_back(*at);
  } else {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
  }
  return axes;
}

Fill resized_sizes(const Key& key, std::size_t) {
  const auto data = ops::dims_of(key.operand(0));
  if (!data) return std::nullopt;
  const auto result = ops::dims_of(key.result(0));
  const Dims& from = result && result->size() == data->size() ? *result : *data;
  Dims sizes;
  for (const std::size_t axis : resized_axes(key, data->size())) sizes.push_back(from[axis]);
  return listed(sizes);
}

/// Floats whose product with a size, rounded down, is the result's.
Fill resized_scales(const Key& key, std::size_t) {
  const auto data = ops::dims_of(key.operand(0));
  if (!data) return std::nullopt;
  const auto result = ops::dims_of(key.result(0));
  OperandFill fill;
  for (const std::size_t axis : resized_axes(key, data->size())) {
    const auto from = static_cast<float>((*data)[axis]);
    const bool same = !result || result->size() != data->size() || from <= 0;
    const float to = same ? from : static_cast<float>((*result)[axis]);
    float scale = same ? 1 : to / from;
    while (std::floor(scale * from) < to && std::isfinite(scale))
      scale = std::nextafter(scale, std::numeric_limits<float>::infinity());
    fill.values.push_back(static_cast<double>(scale));
  }
  return fill;
}

/// Starts of the region of interest, then ends: the whole.
Fill resized_region(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  if (!count || *count > kMaxListedElements) return std::nullopt;
  Dims region(static_cast<std::size_t>(*count), 0);
  std::fill(region.begin() + *count / 2, region.end(), 1);
  return listed(region);
}

Fill split_sizes(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  const std::int64_t axis = attribute(key, "axis", 0);
  const auto whole = size_along(key.operand(0), axis);
  if (!count || *count < 1 || *count > kMaxListedElements || !whole) return std::nullopt;
  Dims sizes(static_cast<std::size_t>(*count), -1);
  std::int64_t left = *whole;
  std::int64_t open = *count;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = size_along(key.result(i), axis);
    if (!size) continue;
    sizes[i] = *size;
    left -= *size;
    --open;
  }
  if (left < 0) return std::nullopt;
  for (std::int64_t& size : sizes) {
    if (size >= 0) continue;
    size = left / open;
    left -= size;
    --open;
  }
  return listed(sizes);
}

Fill one_hot_depth(const Key& key, std::size_t) {
  return each(static_cast<double>(
      size_along(key.result(0), attribute(key, "axis", -1)).value_or(kModestSize)));
}

Fill center_shape(const Key& key, std::size_t) {
  const auto data = ops::dims_of(key.operand(0));
  const auto result = ops::dims_of(key.result(0));
  if (!data) return std::nullopt;
  const Dims& from = result && result->size() == data->size() ? *result : *data;
  Dims sizes;
  for (const std::size_t axis : resized_axes(key, data->size())) sizes.push_back(from[axis]);
  return listed(sizes);
}

/// The result of AffineGrid is [N, H, W, 2] or [N, D, H, W, 3]; the size has a channel more.
Fill affine_size(const Key& key, std::size_t operand) {
  const auto result = ops::dims_of(key.result(0));
  const auto count = count_of(key, operand);
  if (!result || result->size() < 2 || !count ||
      *count != static_cast<std::int64_t>(result->size()))
    return ops::dims_of(key.result(0)) ? std::nullopt : modest_dims(key, operand);
  Dims size = {(*result)[0], 1};
  size.insert(size.end(), result->begin() + 1, result->end() - 1);
  return listed(size);
}

Fill spatial_dims(const Key& key, std::size_t operand) {
  const auto result = ops::dims_of(key.result(0));
  const auto count = count_of(key, operand);
  if (!result || !count || *count + 2 != static_cast<std::int64_t>(result->size()))
    return std::nullopt;
  return listed(Dims(result->begin() + 2, result->end()));
}

Fill window_size(const Key& key, std::size_t) {
  return each(static_cast<double>(size_along(key.result(0), 0).value_or(64)));
}

/// Length of DFT along its axis (attribute below version 20, else operand 2).
Fill dft_length(const Key& key, std::size_t) {
  const auto axis_said = said(key, 2);
  const std::int64_t axis = axis_said && axis_said->size() == 1
                                ? static_cast<std::int64_t>((*axis_said)[0])
                                : attribute(key, "axis", -2);
  const auto out = size_along(key.result(0), axis);
  const bool half = attribute(key, "onesided", 0) != 0;
  if (out) return each(static_cast<double>(half ? 2 * (*out - 1) : *out));
  return each(static_cast<double>(size_along(key.operand(0), axis).value_or(kModestSize)));
}

/// frame_step (1) or frame_length (3) of STFT: [batch, frames, bins, 2] of [batch, length, 1].
Fill stft_part(const Key& key, std::size_t operand) {
  const auto length = size_along(key.operand(0), 1);
  const auto window = size_along(key.operand(2), 0);
  const auto bins = size_along(key.result(0), 2);
  const bool half = attribute(key, "onesided", 1) != 0;
  std::int64_t frame = window.value_or(bins ? (half ? 2 * (*bins - 1) : *bins)
                                            : std::min<std::int64_t>(64, length.value_or(64)));
  if (const auto given = said(key, 3); given && given->size() == 1)
    frame = static_cast<std::int64_t>((*given)[0]);
  if (operand == 3) return each(static_cast<double>(frame));
  const auto frames = size_along(key.result(0), 1);
  if (!length) return each(1);
  if (!frames) return each(static_cast<double>(std::max<std::int64_t>(1, frame / 2)));
  return each(static_cast<double>(
      std::max<std::int64_t>(1, *frames > 1 ? (*length - frame) / (*frames - 1) : *length)));
}

Fill mel_part(const Key& key, std::size_t operand) {
  switch (operand) {
    case 0:
      return each(static_cast<double>(size_along(key.result(0), 1).value_or(kModestSize)));
    case 1:
      return each(static_cast<double>(2 * (size_along(key.result(0), 0).value_or(129) - 1)));
    case 2:
      return each(16000);
    case 3:
      return each(0);
    default:  // the highest frequency that the rate samples
      if (const auto rate = said(key, 2); rate && rate->size() == 1) return each((*rate)[0] / 2);
      return each(8000);
  }
}

// ---- choices

/// Axes that Squeeze takes out, Unsqueeze puts in, or a reduction works along.
Fill removed_axes(const Key& key, std::size_t operand) {
  const auto count = count_of(key, operand);
  if (!count || *count > kMaxListedElements) return std::nullopt;
  const bool puts_in = key.op == "Unsqueeze";
  const auto longer = ops::dims_of(puts_in ? key.result(0) : key.operand(0));
  const auto shorter = ops::dims_of(puts_in ? key.operand(0) : key.result(0));
  const bool ones = puts_in || key.op == "Squeeze";
  Dims axes;
  const auto full = [&] { return static_cast<std::int64_t>(axes.size()) == *count; };
  if (longer && shorter && longer->size() == shorter->size() && !ones) {
    // Reduced dimensions are kept as 1.
    for (const bool differs : {true, false}) {
      for (std::size_t i = 0; i < longer->size() && !full(); ++i) {
        const bool other = (*longer)[i] != (*shorter)[i];
        if (other == differs && (other || (*shorter)[i] == 1))
          axes.push_back(static_cast<std::int64_t>(i));
      }
    }
  } else if (longer && shorter) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < longer->size() && !full(); ++i) {
      const bool match = kept < shorter->size() && (*longer)[i] == (*shorter)[kept];
      const bool enough = longer->size() - i > shorter->size() - kept;
      const bool take =
          enough &&
          (ones ? (*longer)[i] == 1 && (!match || (*shorter)[kept] != 1 || puts_in) : !match);
      if (take) {
        axes.push_back(static_cast<std::int64_t>(i));
      } else {
        ++kept;
      }
    }
    for (std::size_t i = longer->size(); i-- > 0 && !full();) {
      const auto axis = static_cast<std::int64_t>(i);
      const bool free = std::find(axes.begin(), axes.end(), axis) == axes.end();
      if (free && (!ones || (*longer)[i] == 1)) axes.push_back(axis);
    }
  } else {
    for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
      if (ones && !puts_in && longer && (i >= longer->size())) break;
      axes.push_back(static_cast<std::int64_t>(i));
    }
    if (ones && !puts_in && longer) {
      axes.clear();
      for (std::size_t i = 0; i < longer->size() && !full(); ++i)
        if ((*longer)[i] == 1) axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (!full()) return std::nullopt;
  std::sort(axes.begin(), axes.end());
  return listed(axes);
}

// ---- lengths

Fill recurrent_lengths(const Key& key, std::size_t) {
  const int time = attribute(key, "layout", 0) == 1 ? 1 : 0;
  return each(static_cast<double>(size_along(key.operand(0), time).value_or(1)));
}

Fill reversed_lengths(const Key& key, std::size_t) {
  return each(
      static_cast<double>(size_along(key.operand(0), attribute(key, "time_axis", 0)).value_or(1)));
}

/// All positions that GroupQueryAttention attends to, those of the cache included. Where nothing
/// tells, those that are computed now are the last of the cache: ONNX Runtime infers that its size
/// stays, and refuses a second run with a cache that grew.
std::int64_t attended(const Key& key) {
  if (const auto present = size_along(key.result(1), 2)) return *present;
  const std::int64_t now = size_along(key.operand(0), 1).value_or(1);
  return std::max(now, size_along(key.operand(3), 2).value_or(0));
}
Fill group_query_lengths(const Key& key, std::size_t operand) {
  // Operand 5 holds the last position of each sequence, operand 6 the number of positions.
  const std::int64_t total = attended(key);
  return each(static_cast<double>(operand == 5 ? std::max<std::int64_t>(0, total - 1) : total));
}

Fill valid_keys(const Key& key, std::size_t) {
  const auto present = size_along(key.result(1), 2);
  return each(static_cast<double>(present.value_or(size_along(key.operand(1), -2).value_or(1))));
}

/// A mask of com.microsoft's attention: ones of two and more dimensions, else a length for each
/// sequence.
template <std::size_t kKeys>
Fill mask_or_lengths(const Key& key, std::size_t operand) {
  const TensorEntry* mask = key.operand(operand);
  if (mask == nullptr || mask->shape.dims.size() != 1) return each(1);
  const auto batch = size_along(key.operand(0), 0);
  const auto count = count_of(key, operand);
  const auto length = size_along(key.operand(kKeys), 1);
  if (!batch || !count || *count != *batch || !length) {
    // Ends and starts, or cumulated lengths: zeros are legal in any.
    return each(0);
  }
  return each(static_cast<double>(*length));
}

/// Positions of the cache that are filled: all but those that are computed now.
template <std::size_t kPast>
Fill past_length(const Key& key, std::size_t) {
  const auto past = size_along(key.operand(kPast), -2);
  const std::int64_t now = size_along(key.operand(0), 1).value_or(1);
  return each(static_cast<double>(std::max<std::int64_t>(0, past.value_or(now) - now)));
}

// ---- data

Fill found_nonzero(const Key& key, std::size_t) {
  OperandFill fill;
  const auto all = count_of(key, 0);
  fill.nonzero = size_along(key.result(0), 1);
  if (!fill.nonzero) fill.nonzero = all;
  return fill.nonzero ? Fill(fill) : std::nullopt;
}

Fill compress_condition(const Key& key, std::size_t operand) {
  const auto data = ops::dims_of(key.operand(0));
  const auto result = ops::dims_of(key.result(0));
  const Value* axis = key.attribute("axis");
  const auto count = count_of(key, operand);
  OperandFill fill;
  if (result && !result->empty()) {
    const auto at = axis != nullptr && axis->integer() != nullptr && data
                        ? axis_index(*axis->integer(), result->size())
                        : std::optional<std::size_t>(0);
    if (!at) return std::nullopt;
    fill.nonzero = (*result)[*at];
  } else {
    fill.nonzero = count;
  }
  if (!fill.nonzero || !count || *fill.nonzero > *count) return std::nullopt;
  return fill;
}

Fill unique_elements(const Key& key, std::size_t) {
  const auto count = count_of(key, 0);
  // Along an axis whole slices are compared, which elements do not say.
  if (const Value* axis = key.attribute("axis"); axis != nullptr && axis->integer() != nullptr) {
    if (*axis->integer() != 0 && ops::dims_of(key.operand(0)).value_or(Dims{}).size() != 1)
      return std::nullopt;
  }
  OperandFill fill;
  for (std::size_t r = 0; r < key.results.size() && !fill.distinct; ++r)
    if (r != 2) fill.distinct = size_along(key.result(r), 0);
  if (!fill.distinct) fill.distinct = count;
  return fill.distinct ? Fill(fill) : std::nullopt;
}

/// Regions that cover half of the image in each direction, in coordinates of the unscaled image.
Fill region_boxes(const Key& key, std::size_t operand) {
  const auto image = ops::dims_of(key.operand(0));
  const auto boxes = ops::dims_of(key.operand(operand));
  const Value* scale_value = key.attribute("spatial_scale");
  if (!image || image->size() != 4 || !boxes || boxes->size() != 2) return std::nullopt;
  const std::int64_t width = (*boxes)[1];
  constexpr std::int64_t kMaxBoxes = 1 << 20;
  if (width < 4 || width > 5 || (*boxes)[0] > kMaxBoxes) return std::nullopt;
  double scale = 1;
  if (scale_value != nullptr && scale_value->real() != nullptr) scale = *scale_value->real();
  if (scale_value != nullptr && scale_value->integer() != nullptr)
    scale = static_cast<double>(*scale_value->integer());
  if (!(scale > 0)) scale = 1;
  const double y = static_cast<double>((*image)[2]) / scale;
  const double x = static_cast<double>((*image)[3]) / scale;
  OperandFill fill;
  for (std::int64_t i = 0; i < (*boxes)[0]; ++i) {
    const double at = 0.05 * static_cast<double>(i % 10);  // 0 to 0.45 of the image
    if (width == 5) fill.values.push_back(0);              // the first image
    for (const double corner : {at * x, at * y, (at + 0.5) * x, (at + 0.5) * y})
      fill.values.push_back(corner);
  }
  return fill;
}

struct Suppression {
  std::int64_t batches = 0, boxes = 0, classes = 0, selected = 0;
};
std::optional<Suppression> suppression(const Key& key) {
  const auto boxes = ops::dims_of(key.operand(0));
  const auto scores = ops::dims_of(key.operand(1));
  constexpr std::int64_t kMaxScores = 1 << 24;
  if (!boxes || boxes->size() != 3 || !scores || scores->size() != 3) return std::nullopt;
  Suppression s{(*boxes)[0], (*boxes)[1], (*scores)[1], 0};
  if (s.batches < 1 || s.boxes < 1 || s.classes < 1 || s.boxes > kMaxScores / s.batches / s.classes)
    return std::nullopt;
  const std::int64_t pairs = s.batches * s.classes;
  s.selected = size_along(key.result(0), 0).value_or(std::min<std::int64_t>(s.boxes, 100) * pairs);
  return s;
}
/// Places at which boxes lie on top of each other: one is selected of each, by each class.
std::int64_t places(const Suppression& s) {
  const std::int64_t pairs = s.batches * s.classes;
  return std::clamp<std::int64_t>((s.selected + pairs - 1) / pairs, 1, s.boxes);
}
Fill suppressed_boxes(const Key& key, std::size_t) {
  const auto s = suppression(key);
  if (!s) return std::nullopt;
  const bool centers = attribute(key, "center_point_box", 0) == 1;
  OperandFill fill;
  fill.values.reserve(static_cast<std::size_t>(4 * s->batches * s->boxes));
  for (std::int64_t b = 0; b < s->batches; ++b) {
    for (std::int64_t i = 0; i < s->boxes; ++i) {
      const auto at = static_cast<double>(4 * (i % places(*s)));
      const double size = centers ? 1 : at + 1;
      for (const double corner : {at, 0.0, size, 1.0}) fill.values.push_back(corner);
    }
  }
  return fill;
}
/// Scores above the threshold, of the last pair of batch and class only at as many places as are
/// left to select.
Fill suppressed_scores(const Key& key, std::size_t) {
  const auto s = suppression(key);
  if (!s) return std::nullopt;
  double threshold = 0;
  if (const auto given = said(key, 4); given && given->size() == 1) threshold = (*given)[0];
  std::int64_t left = s->selected;
  OperandFill fill;
  fill.values.reserve(static_cast<std::size_t>(s->batches * s->classes * s->boxes));
  for (std::int64_t pair = 0; pair < s->batches * s->classes; ++pair) {
    const std::int64_t here = std::min(left, places(*s));
    left -= here;
    for (std::int64_t i = 0; i < s->boxes; ++i) {
      const double above = threshold + 0.25 + 0.5 * static_cast<double>(i % 97) / 97;
      fill.values.push_back(i % places(*s) < here ? above : threshold - 1);
    }
  }
  return fill;
}
Fill suppression_limit(const Key& key, std::size_t) {
  const auto s = suppression(key);
  return each(static_cast<double>(s ? places(*s) : 100));
}

/// Thresholds and ratios, which lie between 0 and 1.
Fill half(const Key&, std::size_t) { return each(0.5); }

// ---- control flow

Fill trips(const Key&, std::size_t) { return each(static_cast<double>(kModestTrips)); }

constexpr std::string_view kMs = ops::kContrib;
using Role = ValueRole;

/// Reductions whose axes are an operand since version 13 or 18.
constexpr std::string_view kReductions[] = {
    "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
    "ReduceMin", "ReduceMean", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};

std::vector<OperandRule> all_rules() {
  std::vector<OperandRule> rules = {
      // Indices.
      {"", "Gather", 1, Role::Index, index_along_axis},
      {"", "GatherElements", 1, Role::Index, index_along_axis},
      {"", "GatherND", 1, Role::Index, index_tuples},
      {kMs, "GatherND", 1, Role::Index, index_tuples},
      {kMs, "GatherBlockQuantized", 1, Role::Index, index_of_blocks},
      {"", "Scatter", 1, Role::Index, index_along_axis},
      {"", "ScatterElements", 1, Role::Index, index_along_axis},
      {"", "ScatterND", 1, Role::Index, index_tuples},
      {"", "TensorScatter", 2, Role::Index, write_position},
      {"", "RoiAlign", 2, Role::Index, index_into<0, 0>},
      {kMs, "CropAndResize", 2, Role::Index, index_into<0, 0>},
      {"", "MaxUnpool", 1, Role::Index, index_of_unpooled},
      {"", "OneHot", 0, Role::Index, index_of_one_hot},
      {"", "RotaryEmbedding", 3, Role::Index, index_into<1, 0>},
      {kMs, "RotaryEmbedding", 1, Role::Index, rotary_positions},
      {kMs, "GroupQueryAttention", 9, Role::Index, index_into<7, 0>},
      {kMs, "EmbedLayerNormalization", 0, Role::Index, index_into<2, 0>},
      {kMs, "EmbedLayerNormalization", 1, Role::Index, index_into<4, 0>},
      {kMs, "EmbedLayerNormalization", 8, Role::Index, index_into<3, 0>},
      {kMs, "QEmbedLayerNormalization", 0, Role::Index, index_into<2, 0>},
      {kMs, "QEmbedLayerNormalization", 1, Role::Index, index_into<4, 0>},
      {kMs, "WordConvEmbedding", 0, Role::Index, index_into<3, 0>},
      {kMs, "MatMulNBits", 4, Role::Index, index_of_groups},
      {"ai.onnx.ml", "ArrayFeatureExtractor", 1, Role::Index, index_into<0, -1>},
      {"", "NegativeLogLikelihoodLoss", 1, Role::Index, class_index},
      {"", "SoftmaxCrossEntropyLoss", 1, Role::Index, class_index},
      // Divisors.
      {"", "Div", 1, Role::Divisor, divisor},
      {"", "Mod", 1, Role::Divisor, divisor},
      {"", "Div", 0, Role::Divisor, dividend},
      // Sizes.
      {"", "Expand", 1, Role::Size, expand_shape},
      {"", "Tile", 1, Role::Size, tile_repeats},
      {"", "Range", 0, Role::Size, range_part},
      {"", "Range", 1, Role::Size, range_part},
      {"", "Range", 2, Role::Size, range_part},
      {kMs, "Range", 0, Role::Size, range_part},
      {kMs, "Range", 1, Role::Size, range_part},
      {kMs, "Range", 2, Role::Size, range_part},
      {"", "ConstantOfShape", 0, Role::Size, made_shape},
      {"", "Slice", 1, Role::Size, slice_part},
      {"", "Slice", 2, Role::Size, slice_part},
      {"", "Slice", 3, Role::Choice, slice_part},
      {"", "Slice", 4, Role::Size, slice_part},
      {"", "Pad", 1, Role::Size, pad_part},
      {"", "Pad", 3, Role::Choice, pad_part},
      {kMs, "Pad", 1, Role::Size, pad_part},
      {"", "TopK", 1, Role::Size, top_k},
      {"", "Resize", 1, Role::Choice, resized_region},
      {"", "Resize", 2, Role::Size, resized_scales},
      {"", "Resize", 3, Role::Size, resized_sizes},
      {"", "Upsample", 1, Role::Size, resized_scales},
      {"", "Split", 1, Role::Size, split_sizes},
      {"", "OneHot", 1, Role::Size, one_hot_depth},
      {"", "Reshape", 1, Role::Size, reshape_shape},
      {"", "CenterCropPad", 1, Role::Size, center_shape},
      {"", "MaxUnpool", 2, Role::Size, made_shape},
      {"", "AffineGrid", 1, Role::Size, affine_size},
      {"", "Col2Im", 1, Role::Size, spatial_dims},
      {kMs, "CropAndResize", 3, Role::Size, spatial_dims},
      {"", "HannWindow", 0, Role::Size, window_size},
      {"", "HammingWindow", 0, Role::Size, window_size},
      {"", "BlackmanWindow", 0, Role::Size, window_size},
      {"", "DFT", 1, Role::Size, dft_length},
      {"", "STFT", 1, Role::Size, stft_part},
      {"", "STFT", 3, Role::Size, stft_part},
      {"", "MelWeightMatrix", 0, Role::Size, mel_part},
      {"", "MelWeightMatrix", 1, Role::Size, mel_part},
      {"", "MelWeightMatrix", 2, Role::Size, mel_part},
      {"", "MelWeightMatrix", 3, Role::Size, mel_part},
      {"", "MelWeightMatrix", 4, Role::Size, mel_part},
      // Axes and modes.
      {"", "Squeeze", 1, Role::Size, removed_axes},
      {"", "Unsqueeze", 1, Role::Size, removed_axes},
      {kMs, "ExpandDims", 1, Role::Choice, always<0>},
      {"", "CumSum", 1, Role::Choice, always<0>},
      {"", "DFT", 2, Role::Choice, always<-2>},
      {"", "Trilu", 1, Role::Choice, always<0>},
      {kMs, "Trilu", 1, Role::Choice, always<0>},
      {"", "Dropout", 2, Role::Choice, always<0>},
      // Lengths.
      {"", "LSTM", 4, Role::Length, recurrent_lengths},
      {"", "GRU", 4, Role::Length, recurrent_lengths},
      {"", "RNN", 4, Role::Length, recurrent_lengths},
      {kMs, "DynamicQuantizeLSTM", 4, Role::Length, recurrent_lengths},
      {"", "ReverseSequence", 1, Role::Length, reversed_lengths},
      {kMs, "GroupQueryAttention", 5, Role::Length, group_query_lengths},
      {kMs, "GroupQueryAttention", 6, Role::Length, group_query_lengths},
      {"", "Attention", 6, Role::Length, valid_keys},
      {kMs, "Attention", 3, Role::Length, mask_or_lengths<0>},
      {kMs, "Attention", 6, Role::Length, past_length<4>},
      {kMs, "QAttention", 5, Role::Length, mask_or_lengths<0>},
      {kMs, "MultiHeadAttention", 4, Role::Length, mask_or_lengths<1>},
      {kMs, "MultiHeadAttention", 8, Role::Length, past_length<6>},
      {kMs, "MultiHeadAttention", 9, Role::Index, always<0>},
      {kMs, "DecoderMaskedMultiHeadAttention", 7, Role::Length, past_length<5>},
      {kMs, "DecoderMaskedMultiHeadAttention", 9, Role::Index, always<0>},
      {kMs, "EmbedLayerNormalization", 7, Role::Length, always<1>},
      {kMs, "QEmbedLayerNormalization", 7, Role::Length, always<1>},
      // Data.
      {"", "NonZero", 0, Role::Data, found_nonzero},
      {"", "Compress", 1, Role::Data, compress_condition},
      {"", "Unique", 0, Role::Data, unique_elements},
      {kMs, "Unique", 0, Role::Data, unique_elements},
      {"", "RoiAlign", 1, Role::Data, region_boxes},
      {"", "MaxRoiPool", 1, Role::Data, region_boxes},
      {"", "NonMaxSuppression", 0, Role::Data, suppressed_boxes},
      {"", "NonMaxSuppression", 1, Role::Data, suppressed_scores},
      {"", "NonMaxSuppression", 2, Role::Size, suppression_limit},
      {"", "NonMaxSuppression", 3, Role::Choice, half},
      {"", "Dropout", 1, Role::Choice, half},
      {kMs, "BitmaskDropout", 1, Role::Choice, half},
      {"", "NonMaxSuppression", 4, Role::Choice, always<0>},
      // Control flow.
      {"", "Loop", 0, Role::Trips, trips},
      {"", "Loop", 1, Role::Condition, always<1>},
      {"", "If", 0, Role::Condition, always<1>},
  };
  for (const std::string_view op : kReductions)
    rules.push_back({"", op, 1, Role::Choice, removed_axes});
  return rules;
}

const std::vector<OperandRule>& rules_once() {
  static const std::vector<OperandRule> kRules = all_rules();
  return kRules;
}

using RuleIndex =
    std::map<std::pair<std::string_view, std::string_view>, std::vector<const OperandRule*>>;
const RuleIndex& rule_index() {
  static const RuleIndex kIndex = [] {
    RuleIndex index;
    for (const OperandRule& rule : rules_once()) index[{rule.domain, rule.op}].push_back(&rule);
    return index;
  }();
  return kIndex;
}

std::span<const OperandRule* const> rules_of(std::string_view domain, std::string_view op) {
  const auto at = rule_index().find({domain, op});
  if (at == rule_index().end()) return {};
  return at->second;
}

/// Steps of [value,count] as values.
Fill from_histogram(const List& steps, std::int64_t count) {
  constexpr std::int64_t kMaxRecorded = std::int64_t{1} << 26;
  if (count > kMaxRecorded) return std::nullopt;
  OperandFill fill;
  for (const Value& step : steps) {
    const List* pair = step.list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].integer() == nullptr ||
        (*pair)[1].integer() == nullptr)
      return std::nullopt;
    const std::int64_t repeats = *(*pair)[1].integer();
    if (repeats < 0 || repeats > count - static_cast<std::int64_t>(fill.values.size()))
      return std::nullopt;
    fill.values.insert(fill.values.end(), static_cast<std::size_t>(repeats),
                       static_cast<double>(*(*pair)[0].integer()));
  }
  return static_cast<std::int64_t>(fill.values.size()) == count ? Fill(std::move(fill))
                                                                : std::nullopt;
}

Fill recorded_fill(const Key& key, std::size_t operand) {
  const Value* tag = key.tag(values_tag(operand));
  const auto count = count_of(key, operand);
  if (tag == nullptr || !count) return std::nullopt;
  if (const List* list = tag->list();
      list != nullptr && !list->empty() && list->front().list() != nullptr)
    return from_histogram(*list, *count);
  if (tag->integer() != nullptr) return each(static_cast<double>(*tag->integer()));
  OperandFill fill;
  const auto values = expanded(*tag, *count);
  if (!values) return std::nullopt;
  fill.values = *values;
  return fill;
}

/// How far times of kernels that find `kept` of `all` elements may lie apart, by where they lie: a
/// processor foresees runs, and mistakes random places.
double pattern_sd(std::int64_t kept, std::int64_t all) {
  if (all <= 0 || kept < 0 || kept > all) return 0;
  const double share = static_cast<double>(kept) / static_cast<double>(all);
  constexpr double kMaxPatternSd = 0.5;
  return kMaxPatternSd * 4 * share * (1 - share);
}

constexpr double kLengthSd = 0.7;  // half to twice the work
constexpr double kWalkSd = 0.9;    // boxes and regions of any size, order of values
constexpr double kTreeSd = 0.7;    // paths through trees, and whether a processor foresees them

/// Kernels that walk decision trees, whose operands need no values of a special kind.
bool walks_trees(std::string_view domain, std::string_view op) {
  return domain == "ai.onnx.ml" && op.starts_with("TreeEnsemble");
}

std::optional<ValueCaveat> caveat_of(const Key& key, const OperandRule& rule) {
  const TensorEntry* entry = key.operand(rule.operand);
  if (entry == nullptr || key.tag(values_tag(rule.operand)) != nullptr) return std::nullopt;
  if (entry->constant && entry->value) return std::nullopt;
  if (rule.role == Role::Length) {
    if (!is_recorded(rule)) return std::nullopt;
    return ValueCaveat{kLengthSd, fmt::format("the lengths in operand {} are not known and were "
                                              "taken as the greatest possible",
                                              rule.operand)};
  }
  if (rule.role != Role::Data) return std::nullopt;
  const auto decided = [&](double sd) {
    return ValueCaveat{sd,
                       fmt::format("its time depends on the values of operand {}", rule.operand)};
  };
  if (key.op == "RoiAlign")
    return attribute(key, "sampling_ratio", 0) > 0 ? std::nullopt : std::optional(decided(kWalkSd));
  if (key.op == "NonZero" || key.op == "Compress") {
    const auto all = count_of(key, rule.operand);
    const auto fill = rule.fill(key, rule.operand);
    const double sd = fill && fill->nonzero && all ? pattern_sd(*fill->nonzero, *all) : 0;
    constexpr double kNegligible = 0.05;
    return sd > kNegligible ? std::optional(decided(sd)) : std::nullopt;
  }
  if (key.op == "NonMaxSuppression" && rule.operand != 0) return std::nullopt;
  return decided(kWalkSd);
}

}  // namespace

std::span<const OperandRule> operand_rules() { return rules_once(); }

const OperandRule* operand_rule(std::string_view domain, std::string_view op, std::size_t operand) {
  for (const OperandRule* rule : rules_of(domain, op))
    if (rule->operand == operand) return rule;
  return nullptr;
}

std::optional<OperandFill> operand_fill(const Key& key, std::size_t operand) {
  if (auto recorded = recorded_fill(key, operand)) return recorded;
  const OperandRule* rule = operand_rule(key.domain, key.op, operand);
  return rule == nullptr ? std::nullopt : rule->fill(key, operand);
}

bool is_recorded(const OperandRule& rule) {
  // Masks of com.microsoft's attention are added to all scores, whatever they hold.
  const bool mask = rule.op == "QAttention" || rule.op == "EmbedLayerNormalization" ||
                    rule.op == "QEmbedLayerNormalization" ||
                    (rule.domain == kMs && rule.op == "Attention" && rule.operand == 3) ||
                    (rule.op == "MultiHeadAttention" && rule.operand == 4);
  return (rule.role == Role::Length && !mask) ||
         (rule.role == Role::Choice && rule.op != "Resize" && rule.op != "NonMaxSuppression") ||
         (rule.op == "Slice" && rule.operand == 4);
}

std::string values_tag(std::size_t operand) { return fmt::format("values{}", operand); }

Value values_summary(std::span<const std::int64_t> values) {
  if (values.empty()) return Value(List{});
  if (std::all_of(values.begin(), values.end(), [&](auto v) { return v == values.front(); }))
    return Value(values.front());
  if (values.size() <= kMaxListed) {
    List list;
    for (const std::int64_t value : values) list.emplace_back(value);
    return Value(std::move(list));
  }
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (const std::int64_t value : sorted) {
    if (steps.empty() || steps.back().first != value) steps.emplace_back(value, 0);
    ++steps.back().second;
  }
  if (steps.size() > kMaxSteps) {
    // Minimum and maximum by themselves, between them steps of as many elements each.
    steps.clear();
    steps.emplace_back(sorted.front(), 1);
    const std::size_t inner = sorted.size() - 2;
    for (std::size_t s = 0; s < kMaxSteps - 2; ++s) {
      const std::size_t from = 1 + inner * s / (kMaxSteps - 2);
      const std::size_t to = 1 + inner * (s + 1) / (kMaxSteps - 2);
      if (from == to) continue;
      double sum = 0;
      for (std::size_t i = from; i < to; ++i) sum += static_cast<double>(sorted[i]);
      const auto n = static_cast<std::int64_t>(to - from);
      steps.emplace_back(std::llround(sum / static_cast<double>(n)), n);
    }
    steps.emplace_back(sorted.back(), 1);
  }
  List list;
  for (const auto& [value, count] : steps) list.emplace_back(List{Value(value), Value(count)});
  return Value(std::move(list));
}

std::optional<ValueCaveat> value_caveat(const Key& key) {
  std::optional<ValueCaveat> worst;
  for (const OperandRule* rule : rules_of(key.domain, key.op)) {
    auto found = caveat_of(key, *rule);
    if (found && (!worst || found->sd_log > worst->sd_log)) worst = std::move(found);
  }
  if (!worst && walks_trees(key.domain, key.op))
    return ValueCaveat{kTreeSd, "its time depends on the values of operand 0"};
  return worst;
}

std::optional<ValueCaveat> value_caveat(std::string_view text) {
  const auto [domain, op] = head_of(text);
  const auto rules = rules_of(domain, op);
  const bool any = std::any_of(rules.begin(), rules.end(), [](const OperandRule* rule) {
    return rule->role == Role::Data || rule->role == Role::Length;
  });
  if (!any && !walks_trees(domain, op)) return std::nullopt;
  const auto key = parse(text);
  return key ? value_caveat(*key) : std::nullopt;
}

}  // namespace oplat::ir
