// SPDX-License-Identifier: Apache-2.0
#include "ir/operators/scratch.hpp"

#include <cmath>

#include "ir/dtype.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/convolution_description.hpp"

namespace oplat::ir::ops {
namespace {

constexpr double kSumBytes = 4;
/// Of QLinearConv's operands.
constexpr std::size_t kQuantisedWeights = 3;
constexpr std::size_t kQuantisedWeightZero = 5;
/// What channels must be multiples of: the least of all x86-64 processors.
constexpr double kChannelsAtOnce = 4;
constexpr double kLeastFilters = 16;
constexpr double kDepthwiseAtOnce = 16;

bool is_multiple(double number, double of) { return std::fmod(number, of) == 0; }

bool sums_in_registers(const Key& key, const Contraction& product) {
  const TensorEntry* weights = key.operand(kQuantisedWeights);
  const TensorEntry* zero = key.operand(kQuantisedWeightZero);
  if (weights == nullptr || weights->dtype != Dtype::I8 || !weights->constant || zero == nullptr ||
      zero->value != Value(0))
    return false;
  if (product.groups > 1)
    return product.is_depthwise() && is_multiple(product.groups, kDepthwiseAtOnce);
  return is_multiple(product.in_c, kChannelsAtOnce) && product.out_c >= kLeastFilters &&
         is_multiple(product.out_c, kChannelsAtOnce);
}

/// Of bytes, one image: windows of a volume are copied for all groups before the first is
/// multiplied; 0 where they are the image as it lies, and where depthwise convolutions look places
/// up.
double columns_of(const Key& key, const Contraction& product) {
  if (is_plain(key, product) || product.is_depthwise()) return 0;
  const bool volume = rank(key.operand(0)) == 5U;
  return product.in_c * product.kernel_h * product.kernel_w * product.out_h * product.out_w *
         (volume ? product.groups : 1);
}

}  // namespace

std::optional<double> scratch_of_qlinear(const Key& key) {
  const bool last = channels_last(key);
  const auto description = describe_convolution(key, kQuantisedWeights, last);
  if (!description || !description->contraction) return std::nullopt;
  const Contraction& product = *description->contraction;
  const double results = product.groups * product.out_c * product.out_h * product.out_w;
  double bytes = 0;
  if (!sums_in_registers(key, product))
    bytes = kSumBytes * product.batch * results + columns_of(key, product);
  const auto image = elements(key.operand(0));
  if (!last && image) bytes += *image / product.batch + results;
  return bytes;
}

std::optional<double> scratch_of_integers(const Key& key) {
  const auto description = describe_convolution(key, 1, false);
  if (!description || !description->contraction) return std::nullopt;
  return columns_of(key, *description->contraction);
}

std::optional<double> scratch_of_spread(const Key& key) {
  const auto product = contraction_of_spread(key);
  const TensorEntry* image = key.operand(0);
  const auto size = image == nullptr ? std::nullopt : bits(image->dtype);
  if (!product || !size) return std::nullopt;
  return product->out_c * product->out_h * product->out_w * *size / 8;
}

}  // namespace oplat::ir::ops
