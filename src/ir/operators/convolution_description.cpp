// SPDX-License-Identifier: Apache-2.0
/// Numbers of two-dimensional convolutions.
#include "ir/operators/convolution_description.hpp"

#include <cmath>
#include <iterator>

#include "ir/operators/arguments.hpp"

namespace oplat::ir::ops {
namespace {

/// Up to so many channels an input is an image, whose kernels are of their own kind.
constexpr double kImageChannels = 4;

/// The two numbers of a list attribute, or `other` twice.
std::pair<double, double> pair_of(const Key& key, std::string_view name, double other) {
  const auto list = integers(key, name);
  if (!list || list->size() != 2) return {other, other};
  return {static_cast<double>((*list)[0]), static_cast<double>((*list)[1])};
}

/// Everything about the key that the numbers leave out.
std::string slice_of(const Key& key, std::string_view kind) {
  std::string slice = key.domain + ":" + key.op + " " + std::string(kind);
  for (const auto& [name, value] : key.tags) {
    slice.append(" @").append(name);
    if (const auto* number = value.integer()) slice.append("=").append(std::to_string(*number));
    if (const auto* text = value.text()) slice += "=" + *text;
  }
  if (const Value* activation = key.attribute("activation");
      activation != nullptr && activation->text() != nullptr) {
    slice += " " + *activation->text();
  }
  // What is convolved, and constants; a residual to be added is one of the numbers.
  bool first = true;
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr || !(first || tensor->constant)) continue;
    slice += ' ' + std::string(name(tensor->dtype)) + (tensor->constant ? "c" : "");
    first = false;
  }
  return slice;
}

}  // namespace

std::optional<double> flops_of_spread(const TensorEntry* image, const TensorEntry* weights) {
  const auto operands = elements(image);
  const auto dimensions = rank(weights);
  if (!operands || !dimensions || *dimensions < 3) return std::nullopt;
  double filter = 1;
  for (std::size_t i = 1; i < *dimensions; ++i) {
    const auto size = dim(weights, static_cast<int>(i));
    if (!size) return std::nullopt;
    filter *= static_cast<double>(*size);
  }
  return 2 * *operands * filter;
}

std::optional<Description> describe_convolution(const Key& key, std::size_t weights,
                                                bool channels_last, bool filters_last) {
  const TensorEntry* x = key.operand(0);
  const TensorEntry* w = key.operand(weights);
  const TensorEntry* y = key.result(0);
  if (rank(x) != 4U || rank(w) != 4U || rank(y) != 4U) return std::nullopt;
  const int channel = channels_last ? 3 : 1;
  const int height = channels_last ? 1 : 2;
  const int filter_channel = filters_last ? 3 : 1;
  const int filter_height = filters_last ? 1 : 2;
  double sizes[11];
  const std::optional<std::int64_t> dims[] = {dim(x, 0),
                                              dim(x, channel),
                                              dim(x, height),
                                              dim(x, height + 1),
                                              dim(y, channel),
                                              dim(y, height),
                                              dim(y, height + 1),
                                              dim(w, filter_channel),
                                              dim(w, filter_height),
                                              dim(w, filter_height + 1),
                                              integer(key, "group").value_or(1)};
  for (std::size_t i = 0; i < std::size(dims); ++i) {
    if (!dims[i] || *dims[i] < 1) return std::nullopt;
    sizes[i] = static_cast<double>(*dims[i]);
  }
  const auto& [batch, in_c, in_h, in_w, out_c, out_h, out_w, filter_c, kernel_h, kernel_w, group] =
      sizes;
  const auto [stride, stride_w] = pair_of(key, "strides", 1);
  const auto [dilation, dilation_w] = pair_of(key, "dilations", 1);
  const auto pads = integers(key, "pads");
  const bool depthwise = group > 1 && filter_c == 1 && group == in_c;
  const bool image = !depthwise && filter_c <= kImageChannels && group == 1;

  // A convolution reads its operand, its weights, and a residual to be added; biases and scales are
  // constants.
  std::size_t activations = 0;
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor != nullptr && !tensor->constant) ++activations;
  }

  Description d;
  d.slice = slice_of(key, depthwise   ? "depthwise"
                          : image     ? "image"
                          : group > 1 ? "grouped"
                                      : "dense");
  d.aligned = true;
  d.numbers.resize(kConvolutionNumbers);
  d.numbers[kConvBatch] = batch;
  d.numbers[kConvHeight] = in_h;
  d.numbers[kConvAspect] = in_w / in_h;
  d.numbers[kConvOutChannels] = out_c;
  d.numbers[kConvInChannels] = depthwise ? out_c / in_c : image ? in_c : in_c / out_c;
  d.numbers[kConvKernel] = kernel_h;
  d.numbers[kConvKernelAspect] = kernel_w / kernel_h;
  d.numbers[kConvStride] = stride;
  d.numbers[kConvDilation] = dilation;
  // std::nullopt if the padding keeps the size, so that kernels of different sizes differ in one
  // number alone.
  const double padding = pads && !pads->empty() ? static_cast<double>(pads->front()) : 0;
  const bool keeps_size = std::abs(out_h * stride - in_h) < stride;
  d.numbers[kConvPad] = keeps_size ? 0 : padding - std::floor(dilation * (kernel_h - 1) / 2);
  d.numbers[kConvGroup] = depthwise ? 1 : group;
  d.numbers[kConvResidual] = activations > 1 ? 2 : 1;
  d.contraction =
      Contraction{group, batch, filter_c, out_c / group, out_h, out_w, kernel_h, kernel_w, stride};
  return d;
}

}  // namespace oplat::ir::ops

namespace oplat::ir {

std::string_view number_name(const Description& description, std::size_t number) {
  static constexpr std::string_view kNames[] = {"batch",
                                                "height",
                                                "width over height",
                                                "channels out",
                                                "channels in over out",
                                                "kernel",
                                                "kernel width over height",
                                                "stride",
                                                "dilation",
                                                "padding",
                                                "groups",
                                                "inputs"};
  static_assert(std::size(kNames) == kConvolutionNumbers);
  if (!description.aligned || number >= std::size(kNames)) return {};
  return number == kConvInChannels && description.slice.find(" image") != std::string::npos
             ? "channels in"
             : kNames[number];
}

}  // namespace oplat::ir
