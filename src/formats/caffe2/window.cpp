// SPDX-License-Identifier: Apache-2.0
/// Windows of Caffe2's convolutions and pools: `kernel`, `kernel_h` and `kernel_w`, or `kernels`,
/// and so on; padding as numbers, by one of Caffe's older rules, or none.
#include <algorithm>

#include "formats/caffe2/call.hpp"

namespace oplat::formats::caffe2::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

/// Values of the argument legacy_pad.
enum LegacyPad : std::int64_t { kNotSet = 0, kValid = 1, kSame = 2, kCaffePooling = 3 };

/// One property of a window under its three names; std::nullopt if none is given.
Result<std::optional<Numbers>> take_spellings(Call& call, const std::string& name,
                                              std::int64_t least, std::size_t spatial) {
  OPLAT_TRY(list, call.take_integers(name + "s", least, kMaxSize));
  OPLAT_TRY(scalar, call.take_integer(name, least, kMaxSize));
  OPLAT_TRY(height, call.take_integer(name + "_h", least, kMaxSize));
  OPLAT_TRY(width, call.take_integer(name + "_w", least, kMaxSize));
  if (height.has_value() != width.has_value() || (height && spatial != 2)) {
    return fail(Code::Input,
                "{}: arguments {}_h and {}_w belong together, over an image of two dimensions",
                call.op(), name, name);
  }
  std::optional<Numbers> found;
  for (const auto& spelling :
       {list, scalar ? std::optional(Numbers(spatial, *scalar)) : std::nullopt,
        height ? std::optional(Numbers{*height, *width}) : std::nullopt}) {
    if (!spelling) continue;
    if (found && *found != *spelling)
      return fail(Code::Input, "{}: two arguments for the {} contradict each other", call.op(),
                  name);
    found = spelling;
  }
  if (found && found->size() != spatial) {
    return fail(Code::Input, "{}: has {} {} for an image of {} dimensions", call.op(),
                found->size(), name + "s", spatial);
  }
  return found;
}

Result<std::optional<Numbers>> take_pads(Call& call, std::size_t spatial) {
  OPLAT_TRY(list, call.take_integers("pads", 0, kMaxSize));
  OPLAT_TRY(scalar, call.take_integer("pad", 0, kMaxSize));
  Numbers sides;
  for (const std::string_view name : {"pad_t", "pad_l", "pad_b", "pad_r"}) {
    OPLAT_TRY(side, call.take_integer(name, 0, kMaxSize));
    if (side) sides.push_back(*side);
  }
  if (!sides.empty() && (sides.size() != 4 || spatial != 2)) {
    return fail(Code::Input,
                "{}: arguments pad_t, pad_l, pad_b and pad_r belong together, over an image of two "
                "dimensions",
                call.op());
  }
  std::optional<Numbers> found;
  for (const auto& spelling :
       {list, scalar ? std::optional(Numbers(2 * spatial, *scalar)) : std::nullopt,
        sides.empty() ? std::nullopt : std::optional(sides)}) {
    if (!spelling) continue;
    if (found && *found != *spelling)
      return fail(Code::Input, "{}: two arguments for the padding contradict each other",
                  call.op());
    found = spelling;
  }
  if (found && found->size() != 2 * spatial) {
    return fail(Code::Input, "{}: has {} pads for an image of {} dimensions; expected two each",
                call.op(), found->size(), spatial);
  }
  return found;
}

/// Padding as numbers, by the rule that legacy_pad names.
Status pad_by_rule(const Call& call, std::int64_t rule, const Numbers& image, Window& window) {
  const std::size_t spatial = image.size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t stride = window.strides[i];
    const std::int64_t kernel = window.kernels[i];
    std::int64_t& before = window.pads[i];
    std::int64_t& after = window.pads[spatial + i];
    if (rule == kSame) {
      if (window.dilations[i] != 1)
        return fail(Code::Input, "{}: legacy_pad SAME does not support a dilation", call.op());
      const std::int64_t target = (image[i] + stride - 1) / stride;
      const std::int64_t needed =
          std::max<std::int64_t>(0, (target - 1) * stride + kernel - image[i]);
      before = needed / 2;
      after = needed - before;
    } else {
      // Caffe rounds the size up where Caffe2 rounds down; the padding behind makes up for it.
      if (window.dilations[i] != 1)
        return fail(Code::Input, "{}: legacy_pad of Caffe's pooling does not support a dilation",
                    call.op());
      const std::int64_t room = image[i] + 2 * before - kernel;
      if (room < 0)
        return fail(Code::Input, "{}: a window of {} does not fit {} padded by {}", call.op(),
                    kernel, image[i], before);
      const std::int64_t standard = room / stride + 1;
      std::int64_t size = (room + stride - 1) / stride + 1;
      if (before > 0 && (size - 1) * stride >= image[i] + before) --size;
      if (size < standard) {
        return fail(Code::Input,
                    "{}: a window of {} begins after the end of an image of {} padded by {}",
                    call.op(), kernel, image[i], before);
      }
      after = before + stride * (size - standard);
    }
  }
  return {};
}

}  // namespace

Result<Window> take_window(Call& call, const Numbers& image) {
  const std::size_t spatial = image.size();
  OPLAT_TRY(kernels, take_spellings(call, "kernel", 1, spatial));
  OPLAT_TRY(strides, take_spellings(call, "stride", 1, spatial));
  OPLAT_TRY(dilations, take_spellings(call, "dilation", 1, spatial));
  OPLAT_TRY(pads, take_pads(call, spatial));
  OPLAT_TRY(legacy, call.take_integer("legacy_pad", kNotSet, kCaffePooling));
  OPLAT_TRY(global, call.take_integer("global_pooling", 0, 1));

  Window window;
  window.kernels = kernels.value_or(Numbers{});
  window.strides = strides.value_or(Numbers(spatial, 1));
  window.dilations = dilations.value_or(Numbers(spatial, 1));
  window.pads = pads.value_or(Numbers(2 * spatial, 0));
  const std::int64_t rule = legacy.value_or(kNotSet);
  if (pads && (rule == kValid || rule == kSame)) {
    return fail(Code::Input, "{}: has both explicit padding and legacy_pad {}", call.op(), rule);
  }
  if (global.value_or(0) == 1) {
    const Numbers ones(spatial, 1);
    if (window.strides != ones || window.dilations != ones ||
        window.pads != Numbers(2 * spatial, 0)) {
      return fail(Code::Input, "{}: global_pooling does not support a stride, dilation or padding",
                  call.op());
    }
    window.kernels = image;
  } else if (window.kernels.empty()) {
    return fail(Code::Input, "{}: no argument states the size of the kernel", call.op());
  } else if (rule == kSame || rule == kCaffePooling) {
    OPLAT_CHECK(pad_by_rule(call, rule, image, window));
  }
  call.set("kernels", Value::ints(window.kernels));
  call.set("strides", Value::ints(window.strides));
  call.set("dilations", Value::ints(window.dilations));
  call.set("pads", Value::ints(window.pads));
  return window;
}

Result<Numbers> slide(const Call& call, const Window& window, const Numbers& image) {
  Numbers sizes;
  for (std::size_t i = 0; i < image.size(); ++i) {
    // Factors are at most 2^30.
    const std::int64_t reach = window.dilations[i] * (window.kernels[i] - 1) + 1;
    const std::int64_t room = image[i] + window.pads[i] + window.pads[image.size() + i] - reach;
    if (room < 0) {
      return fail(Code::Input, "{}: a window of {} does not fit an image of {} padded by {} and {}",
                  call.op(), reach, image[i], window.pads[i], window.pads[image.size() + i]);
    }
    sizes.push_back(room / window.strides[i] + 1);
  }
  return sizes;
}

}  // namespace oplat::formats::caffe2::shapes
