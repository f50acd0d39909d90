// SPDX-License-Identifier: Apache-2.0
/// Windows, regions and samples, whose places are taken one by one. Nanoseconds as in
/// slow_steps.cpp (docs/adr/0103).
#include "ir/operators/arguments.hpp"
#include "ir/operators/slow_kinds.hpp"

namespace oplat::ir::ops {
namespace {

bool is_float(const TensorEntry* tensor) {
  return tensor != nullptr && tensor->dtype == Dtype::F32;
}

/// Places of all windows, those in the padding included; 0: not known.
double places(const Key& key) {
  const auto window = integers(key, "kernel_shape");
  if (!window) return 0;
  double out = elements(key.result(0)).value_or(0);
  for (const std::int64_t side : *window) out *= static_cast<double>(side);
  return out;
}

}  // namespace

/// std::pow for each place of each window.
double power_pool(const Key& key) {
  constexpr double kStep = 13;
  return kStep * places(key);
}

/// Of floats without dilations or indices there are vectors of them, and of bytes the form says how
/// many there are; else 2x2, 3x3, 7x7 and 13x13 took 4.3, 2.4, 1.7 and 1.0 ns a place.
double largest_of_window(const Key& key) {
  constexpr double kResult = 6, kPlace = 1.5;
  const TensorEntry* image = key.operand(0);
  const bool vectors = is_float(image) && key.results.size() < 2 && !is_dilated(key);
  const bool bytes = image != nullptr && bits(image->dtype) == 8;
  return vectors || bytes ? 0
                          : kResult * elements(key.result(0)).value_or(0) + kPlace * places(key);
}

/// Since version 19, which may be dilated, and of other types: 1.5 to 2.5 ns a place.
double mean_of_window(const Key& key) {
  constexpr std::int64_t kMayBeDilated = 19;
  constexpr double kPlace = 1.9;
  const bool vectors = is_float(key.operand(0)) && key.since.value_or(0) < kMayBeDilated;
  return vectors ? 0 : kPlace * places(key);
}

/// Channels' places as columns, each between four neighbours: 1.6 ns.
double deformed_columns(const Key& key) {
  constexpr double kColumn = 1.6;
  const auto in = dim(key.operand(0), 1);
  const auto out = dim(key.result(0), 1);
  const auto weights = dims_of(key.operand(1));
  if (!in || !out || *out < 1 || !weights || weights->size() < 3) return 0;
  double columns =
      elements(key.result(0)).value_or(0) / static_cast<double>(*out) * static_cast<double>(*in);
  for (std::size_t i = 2; i < weights->size(); ++i) columns *= static_cast<double>((*weights)[i]);
  return kColumn * columns;
}

/// Of samples between neighbours, with three dimensions twice as many: nearest 6.5 ns a result,
/// linear 17, cubic 30 to 34; with reflections 10, 31 and 72 to 133. Linear ones with zeros
/// around find their place once for all channels: 14 ns, and 0.5 a channel.
double samples(const Key& key) {
  constexpr double kNearest = 6.5, kLinear = 15, kPlace = 14, kChannel = 0.5, kCubic = 32,
                   kNearestReflected = 4, kReflected = 20, kCubicReflected = 70;
  constexpr std::size_t kImage = 4;
  const bool nearest = is_word(key, "mode", "nearest");
  const bool cubic = is_word(key, "mode", "cubic") || is_word(key, "mode", "bicubic");
  const bool volume = rank(key.operand(0)).value_or(0) > kImage;
  const double all = (volume ? 2 : 1) * elements(key.result(0)).value_or(0);
  if (is_word(key, "padding_mode", "reflection"))
    return (nearest ? kNearest + kNearestReflected
            : cubic ? kCubic + kCubicReflected
                    : kLinear + kReflected) *
           all;
  if (nearest || cubic) return (nearest ? kNearest : kCubic) * all;
  const double channels = static_cast<double>(dim(key.result(0), 1).value_or(1));
  const bool once = !volume && channels > 0 && is_word(key, "padding_mode", "zeros") &&
                    integer(key, "align_corners").value_or(0) == 0;
  return (once ? kPlace / channels + kChannel : kLinear) * all;
}

}  // namespace oplat::ir::ops
