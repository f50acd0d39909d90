// SPDX-License-Identifier: Apache-2.0
/// Data: as many elements to find as the result has, and bodies that run a modest number of times.
#include <algorithm>

#include "ir/axis.hpp"
#include "ir/operand_rules/fills.hpp"

namespace oplat::ir::fills {
namespace {

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

/// Corners as shares of the image: y, x, y, x.
Fill crop_boxes(const Key& key, std::size_t operand) {
  const auto boxes = ops::dims_of(key.operand(operand));
  constexpr std::int64_t kMaxBoxes = 1 << 20;
  if (!boxes || boxes->size() != 2 || (*boxes)[1] != 4 || (*boxes)[0] > kMaxBoxes)
    return std::nullopt;
  OperandFill fill;
  for (std::int64_t i = 0; i < (*boxes)[0]; ++i) {
    const double at = 0.05 * static_cast<double>(i % 10);
    for (const double corner : {at, at, at + 0.5, at + 0.5}) fill.values.push_back(corner);
  }
  return fill;
}

/// Places inside the image, whose edges are -1 and 1.
Fill grid_places(const Key&, std::size_t) {
  OperandFill fill;
  fill.reach = 1;
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

constexpr std::int64_t kModestTrips = 10;
Fill trips(const Key&, std::size_t) { return each(static_cast<double>(kModestTrips)); }

}  // namespace

const std::vector<OperandRule>& rules_of_data() {
  static const std::vector<OperandRule> kRules = {
      {"", "NonZero", 0, Role::Data, found_nonzero},
      {"", "Compress", 1, Role::Data, compress_condition},
      {"", "Unique", 0, Role::Data, unique_elements},
      {kMs, "Unique", 0, Role::Data, unique_elements},
      {"", "RoiAlign", 1, Role::Data, region_boxes},
      {"", "MaxRoiPool", 1, Role::Data, region_boxes},
      {kMs, "CropAndResize", 1, Role::Index, crop_boxes},
      {"", "GridSample", 1, Role::Index, grid_places},
      {kMs, "GridSample", 1, Role::Index, grid_places},
      {"", "NonMaxSuppression", 0, Role::Data, suppressed_boxes},
      {"", "NonMaxSuppression", 1, Role::Data, suppressed_scores},
      {"", "NonMaxSuppression", 2, Role::Size, suppression_limit},
      {"", "NonMaxSuppression", 3, Role::Choice, half},
      {"", "Dropout", 1, Role::Choice, half},
      {kMs, "BitmaskDropout", 1, Role::Choice, half},
      {"", "NonMaxSuppression", 4, Role::Choice, always<0>},
      {"", "Loop", 0, Role::Trips, trips},
      {"", "Loop", 1, Role::Condition, always<1>},
      {"", "If", 0, Role::Condition, always<1>},
  };
  return kRules;
}

}  // namespace oplat::ir::fills
