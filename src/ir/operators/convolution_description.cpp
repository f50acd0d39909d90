// SPDX-License-Identifier: Apache-2.0
/// Numbers of convolutions of images, signals and volumes.
#include "ir/operators/convolution_description.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ir/operators/arguments.hpp"

namespace oplat::ir::ops {
namespace {

/// Up to so many channels an input is an image, whose kernels are of their own kind.
constexpr double kImageChannels = 4;

/// Along the height and the width of an image. A signal is an image of one row, as the runtimes'
/// libraries take it; a volume is an image of all its rows, with sums as long and results as many.
struct Along {
  double height = 1;
  double width = 1;
};

/// Of a list attribute, `other` where it says nothing of a dimension.
Along along(const Key& key, std::string_view name, double other) {
  const auto list = integers(key, name);
  if (list && list->size() == 1) return {other, static_cast<double>(list->front())};
  if (list && list->size() == 3)
    return {static_cast<double>((*list)[0]) * static_cast<double>((*list)[1]),
            static_cast<double>((*list)[2])};
  if (!list || list->size() != 2) return {other, other};
  return {static_cast<double>((*list)[0]), static_cast<double>((*list)[1])};
}

/// Windows of untrusted keys may be of any size; none that is larger is looked at place by place.
constexpr double kMaxWindow = 1024;
/// Operand of QLinearConv; of others it follows the weights.
constexpr std::size_t kQuantisedBias = 8;
/// At least so much of a window is counted: a result in the padding takes its time, too.
constexpr double kMinInside = 1e-3;

/// Places of a window of `kernel` that lie inside an operand of `size`, mean over results; all of
/// them for a window that no runtime has.
double places_inside(double size, double results, double kernel, double stride, double dilation,
                     double pad) {
  if (kernel > kMaxWindow || stride < 1 || dilation < 1) return kernel;
  double inside = 0;
  for (double place = 0; place < kernel; ++place) {
    // Results whose place is not before the operand, nor behind it.
    const double shift = place * dilation - pad;
    const double first = std::max(0.0, std::ceil(-shift / stride));
    const double last = std::min(results - 1, std::floor((size - 1 - shift) / stride));
    inside += std::max(0.0, last - first + 1);
  }
  return std::max(kMinInside * kernel, inside / results);
}

/// Share of the results along a side whose window reaches out of the operand.
double share_at_edges(double size, double results, double kernel, double stride, double dilation,
                      double pad) {
  if (stride < 1 || dilation < 1) return 0;
  const double reach = (kernel - 1) * dilation;
  const double first = std::max(0.0, std::ceil(pad / stride));
  const double last = std::min(results - 1, std::floor((size - 1 - reach + pad) / stride));
  return 1 - std::clamp((last - first + 1) / results, 0.0, 1.0);
}

/// Everything about the key that the numbers leave out.
std::string slice_of(const Key& key, std::string_view kind, std::size_t bias) {
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
  // What is convolved, and constants but for a bias, which costs nothing next to the products; a
  // residual to be added is one of the numbers.
  bool first = true;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const auto* tensor = std::get_if<TensorEntry>(&key.operands[i]);
    if (tensor == nullptr || !(first || tensor->constant) || i == bias) continue;
    slice += ' ' + std::string(name(tensor->dtype)) + (tensor->constant ? "c" : "");
    first = false;
  }
  return slice;
}

}  // namespace

bool channels_last(const Key& key) { return integer(key, "channels_last") == 1; }

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
  const auto dimensions = rank(x);
  if (!dimensions || *dimensions < 3U || *dimensions > 5U || rank(w) != dimensions ||
      rank(y) != dimensions)
    return std::nullopt;
  const bool signal = dimensions == 3U;
  const bool volume = dimensions == 5U;
  const int channel = channels_last ? static_cast<int>(*dimensions) - 1 : 1;
  const int height = channels_last ? 1 : 2;
  const int filter_channel = filters_last ? static_cast<int>(*dimensions) - 1 : 1;
  const int filter_height = filters_last ? 1 : 2;
  const int to_width = static_cast<int>(*dimensions) - 3;
  const auto height_of = [&](const TensorEntry* tensor, int at) -> std::optional<double> {
    if (signal) return 1;
    const auto first = dim(tensor, at);
    const auto second = volume ? dim(tensor, at + 1) : 1;
    if (!first || !second || *first < 1 || *second < 1) return std::nullopt;
    return static_cast<double>(*first) * static_cast<double>(*second);
  };
  double sizes[11];
  const std::optional<double> dims[] = {dim(x, 0),
                                        dim(x, channel),
                                        height_of(x, height),
                                        dim(x, height + to_width),
                                        dim(y, channel),
                                        height_of(y, height),
                                        dim(y, height + to_width),
                                        dim(w, filter_channel),
                                        height_of(w, filter_height),
                                        dim(w, filter_height + to_width),
                                        integer(key, "group").value_or(1)};
  for (std::size_t i = 0; i < std::size(dims); ++i) {
    if (!dims[i] || *dims[i] < 1) return std::nullopt;
    sizes[i] = *dims[i];
  }
  const auto& [batch, in_c, in_h, in_w, out_c, out_h, out_w, filter_c, kernel_h, kernel_w, group] =
      sizes;
  const Along stride = along(key, "strides", 1);
  const Along dilation = along(key, "dilations", 1);
  const auto pads = integers(key, "pads");
  // Channels that each have several filters are products of groups to the libraries.
  const bool depthwise = !volume && group > 1 && filter_c == 1 && group == in_c && out_c == in_c;
  const bool image = !volume && filter_c <= kImageChannels && group == 1;

  // A convolution reads its operand, its weights, and a residual to be added; biases and scales are
  // constants.
  std::size_t activations = 0;
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor != nullptr && !tensor->constant) ++activations;
  }

  Description d;
  d.slice = slice_of(key,
                     volume      ? "volume"
                     : depthwise ? "depthwise"
                     : image     ? "image"
                     : group > 1 ? "grouped"
                                 : "dense",
                     weights == 1 ? 2 : kQuantisedBias);
  d.aligned = true;
  d.numbers.resize(kConvolutionNumbers);
  d.numbers[kConvBatch] = batch;
  d.numbers[kConvHeight] = in_h;
  d.numbers[kConvAspect] = in_w / in_h;
  d.numbers[kConvOutChannels] = out_c;
  d.numbers[kConvInChannels] = depthwise ? 1 : image ? in_c : in_c / out_c;
  d.numbers[kConvKernel] = kernel_h;
  d.numbers[kConvKernelAspect] = kernel_w / kernel_h;
  const bool by_width = signal || volume;
  d.numbers[kConvStride] = signal ? stride.width : stride.height;
  d.numbers[kConvDilation] = signal ? dilation.width : dilation.height;
  // 0 if the padding keeps the size, so that kernels of different sizes differ in one number alone.
  const double padding =
      !pads || pads->empty() ? 0 : static_cast<double>(volume ? pads->back() : pads->front());
  const bool keeps_size = by_width ? std::abs(out_w * stride.width - in_w) < stride.width
                                   : std::abs(out_h * stride.height - in_h) < stride.height;
  const double reach =
      by_width ? dilation.width * (kernel_w - 1) : dilation.height * (kernel_h - 1);
  d.numbers[kConvPad] = keeps_size ? 0 : padding - std::floor(reach / 2);
  d.numbers[kConvGroup] = depthwise ? 1 : group;
  d.numbers[kConvResidual] = activations > 1 ? 2 : 1;
  d.contraction = Contraction{group,         batch,    filter_c,
                              out_c / group, out_h,    out_w,
                              kernel_h,      kernel_w, signal ? stride.width : stride.height};
  // MLAS computes convolutions of the plain layout so.
  d.contraction->places_are_columns =
      !channels_last && (key.op == "Conv" || key.op == "FusedConv") && key.domain != kNchwc;
  if (key.domain == kNchwc && dimensions == 4U) {
    // Blocked convolutions pass over what lies in the padding (SNCHWC kernels of MLAS).
    const Along before = pads && pads->size() == 4 ? Along{static_cast<double>((*pads)[0]),
                                                           static_cast<double>((*pads)[1])}
                                                   : Along{0, 0};
    d.contraction->share_inside =
        places_inside(in_h, out_h, kernel_h, stride.height, dilation.height, before.height) *
        places_inside(in_w, out_w, kernel_w, stride.width, dilation.width, before.width) /
        (kernel_h * kernel_w);
    d.contraction->share_at_edges =
        share_at_edges(in_w, out_w, kernel_w, stride.width, dilation.width, before.width);
  }
  return d;
}

std::optional<Contraction> contraction_of_spread(const Key& key) {
  const TensorEntry* image = key.operand(0);
  const TensorEntry* weights = key.operand(1);
  const auto dimensions = rank(image);
  const auto group = static_cast<double>(integer(key, "group").value_or(1));
  const auto all = elements(image);
  const auto all_weights = elements(weights);
  const auto batch = dim(image, 0);
  const auto channels = dim(image, 1);
  const auto width = dim(image, -1);
  if (!dimensions || *dimensions < 3 || !all || !all_weights || !batch || !channels || !width)
    return std::nullopt;
  if (!(*all >= 1) || !(*all_weights >= 1) || group < 1) return std::nullopt;
  const auto in_c = static_cast<double>(*channels);
  const auto count = static_cast<double>(*batch);
  const auto out_w = static_cast<double>(*width);
  Contraction product;
  product.groups = group;
  product.batch = count;
  product.in_c = std::max(1.0, in_c / group);
  product.out_c = *all_weights / in_c;
  product.out_h = *all / (count * in_c * out_w);
  product.out_w = out_w;
  product.places_are_columns = true;
  return product;
}

namespace {

bool all_are(const std::optional<std::vector<std::int64_t>>& list, std::int64_t value) {
  return !list || std::all_of(list->begin(), list->end(),
                              [value](std::int64_t one) { return one == value; });
}

}  // namespace

bool is_plain(const Key& key, const Contraction& product) {
  return product.kernel_h * product.kernel_w == 1 && all_are(integers(key, "strides"), 1) &&
         all_are(integers(key, "pads"), 0);
}

bool is_direct(const Key& key, const Contraction& product) {
  if (is_plain(key, product)) return true;
  const auto height = dim(key.operand(0), -2);
  const auto width = dim(key.operand(0), -1);
  const bool in_place =
      all_are(integers(key, "strides"), 1) && all_are(integers(key, "pads"), 0) && !is_dilated(key);
  constexpr std::size_t kImage = 4;
  if (!in_place || product.in_c != 1 || !height || !width || rank(key.operand(0)) != kImage)
    return false;
  return product.kernel_w == static_cast<double>(*width) ||
         (product.kernel_w == 1 && product.kernel_h == static_cast<double>(*height));
}

namespace {

/// Blocks of filters that a kernel takes at once, and channels of a pointwise convolution.
constexpr double kBlocksAtOnce = 4;
constexpr double kChannelsOfPoints = 128;

/// Rows of results one after the other, each for some blocks of filters and one block of channels,
/// or for one channel of an image; all places of a pointwise convolution at once, for many channels
/// (mlas/lib/snchwc.cpp).
Windows blocked_windows(const Key& key, const Contraction& product) {
  Windows windows;
  const Value* tag = key.tag("block");
  if (tag == nullptr || tag->integer() == nullptr || *tag->integer() < 1) return windows;
  const auto block = static_cast<double>(*tag->integer());
  const double rows = product.batch * product.out_h;
  const double places = rows * product.out_w;
  if (product.is_depthwise()) {
    windows.row_calls = std::ceil(product.groups / block) * rows;
    windows.written = product.groups * places;
    return windows;
  }
  const bool plain = is_plain(key, product);
  // Less than a block are an image's.
  double passes = product.in_c < block ? product.in_c : std::ceil(product.in_c / block);
  if (plain) passes = std::ceil(product.in_c / kChannelsOfPoints);
  const double filters = std::ceil(product.out_c / (kBlocksAtOnce * block));
  windows.row_calls = product.groups * passes * filters * (plain ? product.batch : rows);
  windows.written = product.groups * product.out_c * passes * places;
  return windows;
}

}  // namespace

/// QLinearConv (core/providers/cpu/quantization/qlinearconv.cc) copies windows place by place, or
/// finds the places by a list, depthwise always by the list; a group whose channels are not the
/// whole image is gathered even where windows are single places. MlasConv (mlas/lib/convolve.cpp)
/// and ConvInteger copy a window's elements, ConvTranspose
/// (core/providers/cpu/nn/conv_transpose.cc) adds its columns up.
Windows windows_of(const Key& key, const Contraction& product, Factors factors) {
  Windows windows;
  if (key.domain == kNchwc) return blocked_windows(key, product);
  const bool is_onnx = key.domain.empty() || key.domain == kContrib;
  if (!is_onnx) return windows;
  const bool requantises = key.op == "QLinearConv";
  const bool by_list = requantises && product.is_depthwise();
  windows.calls = by_list ? 0 : product.groups * product.batch;
  if (key.op.find("Conv") == std::string::npos) return windows;
  const double places = product.kernel_h * product.kernel_w;
  const double results = product.batch * product.out_h * product.out_w;
  if (key.op.find("Transpose") != std::string::npos) {
    windows.folded = product.groups * results * product.out_c;
    return windows;
  }
  const bool plain = factors == Factors::Wide ? is_direct(key, product) : is_plain(key, product);
  if (!requantises || factors == Factors::Wide)
    windows.unfolded = plain ? 0 : product.groups * results * product.in_c * places;
  else if (by_list)
    windows.gathered = results * places;
  else
    windows.gathered = plain && product.groups == 1 ? 0 : product.groups * results * places;
  return windows;
}

/// MlasConv (mlas/lib/convolve.cpp). A group with more filters than places has its windows copied
/// by one thread, and then a product among all. Otherwise groups and images are pieces, each that
/// of one thread, or where there is a single one, places are shared.
void share_among_threads(const Key& key, std::int64_t threads, Description& description) {
  const bool is_onnx = key.domain.empty() || key.domain == kContrib;
  const bool convolves = key.op == "Conv" || key.op == "FusedConv";
  if (threads < 2 || !is_onnx || !convolves || description.factors != Factors::Wide) return;
  const Contraction& product = *description.contraction;
  const auto among = static_cast<double>(threads);
  if (!is_direct(key, product) && product.out_c > product.out_h * product.out_w) {
    description.windows.unfolded *= among;
    return;
  }
  const double pieces = product.groups * product.batch;
  if (pieces < 2) return;
  const double longer = std::ceil(pieces / among) * among / pieces;
  description.windows.unfolded *= longer;
  if (description.work.flops) *description.work.flops *= longer;
}

}  // namespace oplat::ir::ops

namespace oplat::ir {

bool has_convolution_numbers(const Description& description) {
  return description.aligned && description.own_numbers() == kConvolutionNumbers;
}

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
  if (!has_convolution_numbers(description) || number >= std::size(kNames)) return {};
  const auto is = [&](std::string_view kind) {
    return description.slice.find(kind) != std::string::npos;
  };
  if (is(" image") && number == kConvInChannels) return "channels in";
  if (is(" volume") && number == kConvHeight) return "depth times height";
  if (is(" volume") && number == kConvKernel) return "kernel depth times height";
  return kNames[number];
}

}  // namespace oplat::ir
