// SPDX-License-Identifier: Apache-2.0
/// Sizes and axes: values that give the result which the key states.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/axis.hpp"
#include "ir/operand_rules/fills.hpp"

namespace oplat::ir::fills {
namespace {

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
  if (is_missing(key, operand)) {
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

/// Reductions whose axes are an operand since version 13 or 18.
constexpr std::string_view kReductions[] = {
    "ReduceL1",  "ReduceL2",   "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
    "ReduceMin", "ReduceMean", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};

}  // namespace

const std::vector<OperandRule>& rules_of_sizes() {
  static const std::vector<OperandRule> kRules = [] {
    std::vector<OperandRule> rules = {
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
        {"", "Squeeze", 1, Role::Size, removed_axes},
        {"", "Unsqueeze", 1, Role::Size, removed_axes},
        {kMs, "ExpandDims", 1, Role::Choice, always<0>},
        {"", "CumSum", 1, Role::Choice, always<0>},
        {"", "DFT", 2, Role::Choice, always<-2>},
        {"", "Trilu", 1, Role::Choice, always<0>},
        {kMs, "Trilu", 1, Role::Choice, always<0>},
        {"", "Dropout", 2, Role::Choice, always<0>},
    };
    for (const std::string_view op : kReductions)
      rules.push_back({"", op, 1, Role::Choice, removed_axes});
    return rules;
  }();
  return kRules;
}

}  // namespace oplat::ir::fills
