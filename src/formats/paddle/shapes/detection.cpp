// SPDX-License-Identifier: Apache-2.0
/// Operators of detection networks. How many boxes survive is known only when the model runs: the
/// most is assumed.
#include <algorithm>
#include <array>
#include <cmath>

#include "formats/paddle/shapes/call.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

Result<Numbers> image(const Call& call, std::string_view slot) {
  OPLAT_TRY(x, call.operand(slot));
  if (x->dims.size() == 4) return x->dims;
  return fail(Code::Input, "{}: operand {} has the shape {}; expected four dimensions", call.op(),
              slot, text(x->dims));
}

Status yolo_box(Call& call) {
  OPLAT_TRY(x, image(call, "X"));
  OPLAT_TRY(anchors, call.integers("anchors"));
  OPLAT_TRY(classes, call.integer("class_num", 0, 0));
  const auto boxes = static_cast<std::int64_t>(anchors ? anchors->size() / 2 : 0) *
                     std::min(x[2] * x[3], kMaxSize);
  call.give("Boxes", {x[0], boxes, 4});
  call.give("Scores", {x[0], boxes, classes});
  return {};
}

/// Aspect ratios that differ, 1 among them, each also turned round where `flip` says so.
std::int64_t ratios(const Call& call) {
  std::vector<double> all = {1};
  const auto add = [&](double ratio) {
    const bool there =
        std::any_of(all.begin(), all.end(), [&](double r) { return std::abs(r - ratio) < 1e-6; });
    if (!there) all.push_back(ratio);
    return !there;
  };
  for (const double ratio : call.reals("aspect_ratios")) {
    if (ratio > 0 && add(ratio) && call.flag("flip", false)) add(1 / ratio);
  }
  return static_cast<std::int64_t>(all.size());
}

Status prior_box(Call& call) {
  OPLAT_TRY(x, image(call, "Input"));
  const auto smallest = static_cast<std::int64_t>(call.reals("min_sizes").size());
  const auto largest = static_cast<std::int64_t>(call.reals("max_sizes").size());
  const Numbers dims = {x[2], x[3], smallest * ratios(call) + largest, 4};
  call.give("Boxes", dims);
  call.give("Variances", dims);
  return {};
}

Status anchors(Call& call) {
  OPLAT_TRY(x, image(call, "Input"));
  const auto sizes = static_cast<std::int64_t>(call.reals("anchor_sizes").size());
  const auto shapes = static_cast<std::int64_t>(call.reals("aspect_ratios").size());
  const Numbers dims = {x[2], x[3], sizes * shapes, 4};
  call.give("Anchors", dims);
  call.give("Variances", dims);
  return {};
}

Status box_coder(Call& call) {
  OPLAT_TRY(target, call.operand("TargetBox"));
  OPLAT_TRY(prior, call.operand("PriorBox"));
  if (call.word("code_type", "encode_center_size") == "decode_center_size") {
    call.give("OutputBox", target->dims);
  } else if (!target->dims.empty() && !prior->dims.empty()) {
    call.give("OutputBox", {target->dims[0], prior->dims[0], 4});
  }
  return {};
}

/// Scores are [batch, classes, boxes]; at most keep_top_k boxes of an image survive.
Status suppress(Call& call) {
  OPLAT_TRY(boxes, call.operand("BBoxes"));
  OPLAT_TRY(scores, call.operand("Scores"));
  if (boxes->dims.size() != 3 || scores->dims.size() < 2) {
    return fail(Code::Input, "{}: boxes {} do not fit scores {}", call.op(), text(boxes->dims),
                text(scores->dims));
  }
  OPLAT_TRY(keep, call.integer("keep_top_k", -1));
  const std::int64_t most = boxes->dims[1];
  const std::int64_t rows = boxes->dims[0] * (keep > 0 ? std::min(keep, most) : most);
  call.give("Out", {rows, boxes->dims[2] + 2});
  if (call.results("Index") > 0) call.give("Index", {rows, 1});
  if (call.results("NmsRoisNum") > 0) call.give("NmsRoisNum", {boxes->dims[0]});
  if (call.results("RoisNum") > 0) call.give("RoisNum", {boxes->dims[0]});
  return {};
}

Status align(Call& call) {
  OPLAT_TRY(x, image(call, "X"));
  OPLAT_TRY(rois, call.operand("ROIs"));
  OPLAT_TRY(height, call.integer("pooled_height", 1, 1));
  OPLAT_TRY(width, call.integer("pooled_width", 1, 1));
  call.give("Out", {rois->dims.empty() ? 0 : rois->dims[0], x[1], height, width});
  return {};
}

Status box_clip(Call& call) {
  OPLAT_TRY(x, call.operand("Input"));
  call.give("Output", x->dims);
  return {};
}

constexpr std::array kDetectionOperators = {
    Operator{"yolo_box", yolo_box},        Operator{"prior_box", prior_box},
    Operator{"anchor_generator", anchors}, Operator{"box_coder", box_coder},
    Operator{"multiclass_nms", suppress},  Operator{"multiclass_nms2", suppress},
    Operator{"multiclass_nms3", suppress}, Operator{"matrix_nms", suppress},
    Operator{"roi_align", align},          Operator{"box_clip", box_clip},
};

}  // namespace

std::span<const Operator> detection_operators() { return kDetectionOperators; }

}  // namespace oplat::formats::paddle::shapes
