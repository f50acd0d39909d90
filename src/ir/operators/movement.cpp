// SPDX-License-Identifier: Apache-2.0
/// Operators that move data: no arithmetic, but for interpolation in Resize.
#include <cmath>

#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"
#include "ir/operators/list.hpp"

namespace oplat::ir::ops {
namespace {

/// More than any DenseNet block concatenates.
constexpr std::size_t kMaxConcatOperands = 256;

/// ONNX: without perm, the dimensions are reversed.
void canonicalise_transpose(Key& key) {
  const auto size = rank(key.operand(0));
  if (!size) return;
  List reversed;
  for (std::size_t i = *size; i-- > 0;) reversed.emplace_back(static_cast<std::int64_t>(i));
  fill_attribute(key, "perm", std::move(reversed));
}

/// Attributes of other modes than the one chosen are read by nobody.
void canonicalise_resize(Key& key) {
  if (!is_word(key, "mode", "cubic")) drop_attribute(key, "cubic_coeff_a");
  if (!is_word(key, "mode", "nearest")) drop_attribute(key, "nearest_mode");
  if (!is_word(key, "coordinate_transformation_mode", "tf_crop_and_resize"))
    drop_attribute(key, "extrapolation_value");
}

/// QLinearConcat: scale and zero point of the result, then tensor, scale and zero point for each
/// operand.
constexpr std::size_t kConcatTriple = 3;

/// The runtime copies operands whose scale and zero point are the result's and looks up each byte
/// of the others in a table (LOOKUP_TABLE_IS_COPY in ONNX Runtime's qlinear_concat.cc). So which
/// are alike is all that the values decide: the result is printed with a scale of 1, operands like
/// it too, others with 1/2, all with zero points of 0, and layers that differ in nothing else share
/// a key (docs/adr/0026).
void canonicalise_qlinear_concat(Key& key) {
  // Entries and their values, std::nullopt if one of them is not said: then all stay as they are.
  std::vector<TensorEntry*> scales, zero_points;
  for (std::size_t i = 0; i + 1 < key.operands.size(); i += kConcatTriple) {
    auto* scale = std::get_if<TensorEntry>(&key.operands[i]);
    auto* zero_point = std::get_if<TensorEntry>(&key.operands[i + 1]);
    if (scale == nullptr || zero_point == nullptr || !scale->value || !zero_point->value) return;
    scales.push_back(scale);
    zero_points.push_back(zero_point);
  }
  if (scales.empty()) return;
  const Value result_scale = *scales.front()->value;
  const Value result_zero_point = *zero_points.front()->value;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const bool alike =
        *scales[i]->value == result_scale && *zero_points[i]->value == result_zero_point;
    scales[i]->value = alike ? 1.0 : 0.5;
    zero_points[i]->value = 0;
  }
}

/// A multiply-add for each neighbour.
std::optional<double> flops_resize(const Key& key) {
  if (is_nearest(key)) return 0.0;
  const auto count = elements(key.result(0));
  const auto neighbours = neighbours_of_resize(key);
  if (!count || !neighbours) return std::nullopt;
  return 2 * *count * *neighbours;
}

/// A multiply-add for each neighbour of a place between pixels, two (linear) or four (cubic) an
/// axis of the image.
std::optional<double> flops_grid_sample(const Key& key) {
  if (is_word(key, "mode", "nearest")) return 0.0;
  const double taps = is_word(key, "mode", "cubic") || is_word(key, "mode", "bicubic") ? 4 : 2;
  const auto count = elements(key.result(0));
  const auto size = rank(key.operand(0));
  if (!count || !size || *size < 3) return std::nullopt;
  return 2 * *count * std::pow(taps, static_cast<double>(*size - 2));
}

/// Each result is the mean or maximum of sampling_ratio^2 places, each between four pixels. Without
/// a ratio their number depends on the regions.
std::optional<double> flops_roi_align(const Key& key) {
  constexpr double kPlace = 8;
  const auto count = elements(key.result(0));
  const auto ratio = integer(key, "sampling_ratio");
  if (!count || !ratio || *ratio < 1) return std::nullopt;
  return *count * static_cast<double>(*ratio) * static_cast<double>(*ratio) * kPlace;
}

OperatorInfo moving(std::string_view domain, std::string_view op,
                    std::optional<Description> (*describe)(const Key&) = nullptr) {
  return {.domain = domain, .op = op, .flops = no_flops, .describe = describe};
}

}  // namespace

std::vector<OperatorInfo> movement() {
  std::vector<OperatorInfo> list;
  for (const std::string_view op :
       {"GatherElements", "GatherND", "Pad", "Tile", "DepthToSpace", "SpaceToDepth",
        "ReverseSequence", "Compress", "ConstantOfShape", "EyeLike", "NonZero"}) {
    list.push_back(moving("", op));
  }
  // MayInplace(0, 0) in core/providers/cpu/tensor/trilu.cc, which serves both domains: in place it
  // writes zeros and moves nothing else.
  for (const std::string_view domain : {std::string_view(), kContrib})
    list.push_back({.domain = domain, .op = "Trilu", .overwritable = {0}, .flops = no_flops});
  for (const std::string_view op : {"Shape", "Size"}) {
    list.push_back({.domain = "", .op = op, .moves_little = true, .flops = no_flops});
  }
  list.push_back(moving("", "Concat", describe_concat));
  list.push_back(moving("", "Split", describe_split));
  list.push_back(moving("", "Slice", describe_slice));
  list.push_back(moving("", "Expand", describe_expand));
  list.push_back(moving("", "Gather", describe_gather));
  list.push_back({.domain = "",
                  .op = "Transpose",
                  .canonicalise = canonicalise_transpose,
                  .flops = no_flops,
                  .describe = describe_transpose});
  // MayInplace(0, 0) in core/providers/cpu/tensor/scatter.cc, and found so of TensorScatter by
  // bench/in_place.py. Not in scatter_nd.cc: ScatterND copies what it does not replace.
  for (const std::string_view op : {"Scatter", "ScatterElements", "TensorScatter"}) {
    list.push_back({.domain = "", .op = op, .overwritable = {0}, .flops = no_flops});
  }
  list.push_back(moving("", "ScatterND"));
  // Operands 1 and 2 are roi and scales; of version 10, scales alone.
  list.push_back({.domain = "",
                  .op = "Resize",
                  .printed_float_operands = {1, 2},
                  .canonicalise = canonicalise_resize,
                  .flops = flops_resize,
                  .describe = describe_resize});
  list.push_back({.domain = "",
                  .op = "Upsample",
                  .printed_float_operands = {1},
                  .flops = flops_resize,
                  .describe = describe_resize});
  // Their operands decide how much there is to do; what they compute with them has no formula.
  list.push_back(
      {.domain = "", .op = "Range", .printed_float_operands = {0, 1, 2}, .flops = no_flops});
  list.push_back({.domain = "", .op = "OneHot", .printed_float_operands = {1}, .flops = no_flops});
  list.push_back({.domain = "", .op = "NonMaxSuppression", .printed_float_operands = {3, 4}});
  for (const std::string_view op : {"ReorderInput", "ReorderOutput"})
    list.push_back(moving(kNchwc, op, describe_reorder));
  list.push_back(
      {.domain = kNchwc, .op = "Upsample", .flops = flops_resize, .describe = describe_resize});
  for (const std::string_view domain : {std::string_view(), kContrib}) {
    list.push_back({.domain = domain, .op = "GridSample", .flops = flops_grid_sample});
  }
  list.push_back({.domain = "", .op = "RoiAlign", .flops = flops_roi_align});
  list.push_back({.domain = "", .op = "Col2Im", .flops = flops_per_operand<1>});
  std::vector<std::size_t> scales;
  for (std::size_t i = 0; i < kConcatTriple * kMaxConcatOperands; i += kConcatTriple)
    scales.push_back(i);
  list.push_back({.domain = kContrib,
                  .op = "QLinearConcat",
                  .printed_float_operands = scales,
                  .canonicalise = canonicalise_qlinear_concat,
                  .flops = no_flops,
                  .describe = describe_qlinear_concat});
  for (const std::string_view op : {"GatherND", "Pad", "ExpandDims", "UnfoldTensor"}) {
    list.push_back(moving(kContrib, op));
  }
  return list;
}

}  // namespace oplat::ir::ops
