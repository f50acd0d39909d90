// SPDX-License-Identifier: Apache-2.0
/// Nanoseconds of ONNX Runtime 1.31.1, one core of a Zen 4, 2026-11-30 (docs/adr/0102): an order of
/// magnitude, which rows correct where there are any.
#include "ir/operators/slow_steps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "ir/axis.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/einsum.hpp"
#include "ir/operators/experts.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/slow_kinds.hpp"
#include "ir/parameters.hpp"

namespace oplat::ir::ops {
namespace {

double results(const Key& key) { return elements(key.result(0)).value_or(0); }
double operands(const Key& key, std::size_t at) { return elements(key.operand(at)).value_or(0); }

/// The length of an axis; 0: it is not known.
double length_of(const TensorEntry* tensor, std::int64_t axis) {
  const auto loops = around(tensor, axis);
  return loops ? loops->along : 0;
}

/// Rows of a batch; a vector is one.
double batch_rows(const Key& key) {
  return rank(key.operand(0)) == 2 ? length_of(key.operand(0), 0) : 1;
}

/// The axis that an attribute or a constant operand names.
std::optional<std::int64_t> said_axis(const Key& key, std::size_t operand, std::int64_t otherwise) {
  if (key.operand(operand) == nullptr) return integer(key, "axis").value_or(otherwise);
  const auto said = numbers_of(key, operand);
  return said && said->size() == 1 ? std::optional(said->front()) : std::nullopt;
}

template <int kPicoseconds>
double each_result(const Key& key) {
  return results(key) * kPicoseconds / 1000.0;
}

template <int kPicoseconds>
double each_element(const Key& key) {
  return operands(key, 0) * kPicoseconds / 1000.0;
}

/// A call of the body a step, whatever the body's kernels take.
constexpr double kStepsOfCall = 400;

double loop(const Key& key) {
  const Value* steps = key.tag("steps");
  const std::int64_t* count = steps == nullptr ? nullptr : steps->integer();
  return count == nullptr ? 0 : kStepsOfCall * static_cast<double>(*count);
}

/// Its last operand is scanned, along the first axis unless an attribute says another.
double scan(const Key& key) {
  if (key.operands.empty() || key.attribute("scan_input_axes") != nullptr) return 0;
  return kStepsOfCall * length_of(key.operand(key.operands.size() - 1), 0);
}

/// Of a power of two n log2 n; else of the convolution with which it is computed, two or more
/// transforms of a power of two of 2 n - 1 at least.
double transform(double length) {
  if (!(length > 1)) return length;
  const double power = std::exp2(std::ceil(std::log2(length)));
  if (power == length) return length * std::log2(length);
  const double longer = std::exp2(std::ceil(std::log2(2 * length - 1)));
  return 2 * longer * std::log2(longer);
}

/// Frames of 400, 512 and 1,024 took 38, 8.0 and 17 us.
double short_transforms(const Key& key) {
  constexpr double kStep = 1.75;
  const auto given = numbers_of(key, 3);
  const double window = length_of(key.operand(2), 0);
  const double length = given && given->size() == 1 ? static_cast<double>(given->front()) : window;
  const auto frames = around(key.result(0), 1);
  return frames ? kStep * frames->before * frames->along * transform(length) : 0;
}

/// Transforms of 1,000, 1,024, 16,000 and 16,384 took 144, 28, 5,403 and 736 us.
double transforms(const Key& key) {
  constexpr double kStep = 3.2;
  const auto axis = said_axis(key, 2, -2);
  const auto sizes = sizes_of(key.operand(0));
  const auto loops = axis ? around(key.operand(0), *axis) : std::nullopt;
  if (!loops || axis_index(*axis, sizes->size()) == sizes->size() - 1) return 0;
  // The last axis is that of real and imaginary parts.
  return kStep * loops->before * loops->behind / sizes->back() * transform(loops->along);
}

/// Slices that indices name, whose last axis is a place.
template <int kPicoseconds>
double each_slice(const Key& key) {
  const auto places = around(key.operand(1), -1);
  return places ? places->before * kPicoseconds / 1000.0 : 0;
}

double each_update(const Key& key) {
  constexpr double kStep = 3.3;
  return kStep * operands(key, 1);
}

/// Copies of runs, 2.7 to 3.2 ns each whatever their length: along each axis that is repeated as
/// many times as places lie before it, the last axis first, so that others copy what it made.
double tile(const Key& key) {
  constexpr double kStep = 2.9;
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != to->size()) return 0;
  double copies = 0;
  for (std::size_t i = 0; i < from->size(); ++i) {
    const double times = (*to)[i] / (*from)[i];
    if (times > 1) copies += times * ops::product_of(*from, 0, i);
  }
  return kStep * copies;
}

/// Each row has a heap of few, else a sort (core/providers/cpu/math/top_k.cc). In random order k of
/// n enter a heap k (1 + ln(n / k)) times, each 7.5 ns for a level of it, and a sort as many for a
/// level and element that is kept: rows of 16, 64, 256 and 1,000 whose largest 3, 20, 18 and 100
/// are looked for took 0.15, 1.4, 2.3 and 19 us, 62 of 128 3.8, all of 1,000 61. Of those in no
/// order 12 to 16 ns an element.
double top(const Key& key) {
  constexpr double kScanned = 0.7, kLevel = 7.5, kHeap = 0.725, kFew = 4, kUnsorted = 14;
  const std::int64_t axis = integer(key, "axis").value_or(-1);
  const double length = length_of(key.operand(0), axis);
  // Values or places may be all that is asked for.
  const double kept = std::max(length_of(key.result(0), axis), length_of(key.result(1), axis));
  if (!(length > 1) || !(kept > 0)) return 0;
  const double all = operands(key, 0);
  const double rows = all / length;
  const bool heap = kept < kFew || std::log(kept) < kHeap * std::log(length);
  if (!heap && integer(key, "sorted").value_or(1) == 0) return kUnsorted * all;
  const double moved = heap ? kept * (1 + std::log(std::max(1.0, length / kept))) : kept;
  return kScanned * all + kLevel * rows * moved * std::log2(kept + 1);
}

double compress(const Key& key) {
  constexpr double kStep = 1.7;
  const auto axis = integer(key, "axis");
  const auto loops = axis ? around(key.operand(0), *axis) : std::nullopt;
  // Without an axis all elements are in one row.
  if (axis && !loops) return 0;
  return kStep * operands(key, 1) * (loops ? loops->before : 1);
}

/// Each number waits for the one before; behind the axis there are others to go on with.
double cumulative(const Key& key) {
  constexpr double kStep = 3.3;
  const auto axis = said_axis(key, 1, 0);
  const auto loops = axis ? around(key.operand(0), *axis) : std::nullopt;
  return loops ? kStep * loops->before * loops->along : 0;
}

double distances(const Key& key) {
  constexpr double kStep = 0.02;
  return kStep * operands(key, 0) * length_of(key.operand(1), 0);
}

/// 5.7 to 6.7 ns a node where the ways of rows differ.
double forest(const Key& key) {
  constexpr double kStep = 6;
  return kStep * visits_of_forest(key).value_or(0);
}

/// A product of 1 x 1 took 130 ns, one of 1 x 64 175.
double einsum_calls(const Key& key) {
  constexpr double kStep = 120;
  const auto products = products_of_einsum(key);
  return products ? kStep * products->calls : 0;
}

/// Weights of a few bits are made floats before each product, one after the other, unless there is
/// a kernel for them as they are: of 4 bits, and of others for activations of 8 bits (accuracy
/// level 4); none where zero points are floats or columns are in another order.
double unpacked_weights(const Key& key) {
  constexpr double kEight = 1.3, kFour = 1.5, kTwo = 1.8, kTwoFromZero = 3.0, kAsTheyAre = 0.055;
  const auto inner = integer(key, "K"), columns = integer(key, "N");
  if (!inner || !columns) return 0;
  const std::int64_t bits = integer(key, "bits").value_or(4);
  const TensorEntry* zero = key.operand(3);
  const bool packed_zeros = zero == nullptr || zero->dtype == Dtype::U8;
  const bool ordered = key.operand(4) == nullptr;
  const bool of_bytes = integer(key, "accuracy_level").value_or(0) == 4;
  const bool has_kernel = packed_zeros && ordered && (bits == 4 || of_bytes);
  if (has_kernel && of_bytes) return 0;
  const double each = has_kernel        ? kAsTheyAre
                      : bits == 8       ? kEight
                      : bits == 4       ? kFour
                      : zero == nullptr ? kTwo
                                        : kTwoFromZero;
  return each * static_cast<double>(*inner) * static_cast<double>(*columns);
}

/// An error function for each channel between an expert's layers; quantised weights of an expert
/// that any token goes to are made floats once.
double experts_steps(const Key& key) {
  constexpr double kUnpacked = 0.2, kGelu = 18, kOther = 2;
  const auto experts = experts_of(key);
  if (!experts) return 0;
  const double activated = experts->tokens * experts->channels;
  return (is_word(key, "activation_type", "gelu") ? kGelu : kOther) * activated +
         (key.op == "QMoE" ? kUnpacked * experts->weights * experts->touched : 0);
}

/// Of a kernel of radial functions a row's distance to each vector, feature by feature; others are
/// matrix products. 100 rows, 500 vectors: 30 features 794 us, 300 11,188; 50 to 63 as products.
double support_vectors(const Key& key) {
  constexpr double kRadial = 0.65, kProduct = 0.035;
  const Value* vectors = key.attribute("support_vectors");
  if (vectors == nullptr) return 0;
  double count = vectors->list() == nullptr ? 0 : static_cast<double>(vectors->list()->size());
  if (vectors->text() != nullptr) {
    const auto counted = counted_values(*vectors->text());
    count = counted ? static_cast<double>(counted->count) : 0;
  }
  return batch_rows(key) * count * (is_word(key, "kernel_type", "RBF") ? kRadial : kProduct);
}

/// Elements that are looked at, and those that are found, whose places are counted up: of 131,072 a
/// twentieth 226 us, half 1,097, nearly all 1,690.
double found(const Key& key) {
  constexpr double kElement = 1.2, kFound = 12.5;
  return kElement * operands(key, 0) + kFound * length_of(key.result(0), -1);
}

/// A tree of what was found, whose nodes lie the farther apart the more there are: with 100 values
/// 17 ns an element, with 4,000 156. Of whole slices 280 ns each, 3.3 an element.
double different(const Key& key) {
  constexpr double kStep = 17, kNear = 100, kPower = 0.6, kSlice = 280, kOfSlice = 3.3;
  if (const auto axis = integer(key, "axis"))
    return kSlice * length_of(key.operand(0), *axis) + kOfSlice * operands(key, 0);
  const double values = std::max(1.0, results(key) / kNear);
  return kStep * std::pow(values, kPower) * operands(key, 0);
}

double extremes(const Key& key) {
  constexpr double kElement = 0.8, kRow = 2;
  return kElement * operands(key, 0) + kRow * results(key);
}

/// Along the last axis 0.45 ns an element and 5 a row; another changes places with it and back.
double hardmax(const Key& key) {
  constexpr double kElement = 0.45, kRow = 5, kMoved = 1;
  constexpr std::int64_t kAlongOneAxis = 13;
  if (key.since.value_or(kAlongOneAxis) < kAlongOneAxis) return kElement * operands(key, 0);
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(-1));
  if (!loops) return 0;
  return (kElement + (loops->behind > 1 ? kMoved : 0)) * operands(key, 0) +
         kRow * loops->before * loops->behind;
}

/// A product for each row of the first factor where the second is a vector: rows of 64 took 276 ns,
/// of 256 685. Integers are multiplied without vectors: 0.12 to 0.19 ns a product, of 64 bits
/// 0.39 to 0.48.
double plain_products(const Key& key) {
  constexpr double kRow = 140, kElement = 2.1, kShort = 0.13, kLong = 0.4;
  const TensorEntry* left = key.operand(0);
  if (left == nullptr) return 0;
  const bool is_long = left->dtype == Dtype::I64 || left->dtype == Dtype::U64;
  if (is_long || left->dtype == Dtype::I32 || left->dtype == Dtype::U32)
    return (is_long ? kLong : kShort) * results(key) * length_of(left, -1);
  if (rank(key.operand(1)) != 1 || rank(left).value_or(0) < 2) return 0;
  return kRow * results(key) + kElement * operands(key, 0);
}

/// L2 2.4 to 6.4 ns, L1 0.7 to 1.1, MAX 0.6 to 0.8.
double normalised(const Key& key) {
  constexpr double kRoot = 4.5, kSum = 0.9, kLargest = 0.8;
  const double each = is_word(key, "norm", "L2")   ? kRoot
                      : is_word(key, "norm", "L1") ? kSum
                                                   : kLargest;
  return each * operands(key, 0);
}

/// Signed weights of one channel to one have products of one row: 0.9 to 1.3 ns a place.
double single_products(const Key& key) {
  constexpr double kStep = 1.3;
  const TensorEntry* weights = key.operand(1);
  if (weights == nullptr || weights->dtype != Dtype::I8 || dim(weights, 1) != 1) return 0;
  const auto filters = dim(weights, 0);
  if (!filters || *filters < 1 || integer(key, "group").value_or(1) != *filters) return 0;
  return kStep * results(key) * operands(key, 1) / static_cast<double>(*filters);
}

/// Along another axis than the last: 9 ns. Before version 13 all axes from there on are one.
double looked_up_softmax(const Key& key) {
  constexpr double kStep = 9;
  constexpr std::int64_t kAlongOneAxis = 13;
  if (integer(key, "opset").value_or(0) < kAlongOneAxis) return 0;
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(-1));
  return loops && loops->behind > 1 ? kStep * operands(key, 0) : 0;
}

/// Signed bytes on the left have no kernel that takes packed weights: 0.57 ns a weight, 0.06 a
/// product.
double packed_anew(const Key& key) {
  constexpr double kWeight = 0.57, kProduct = 0.06;
  const TensorEntry* left = key.operand(0);
  if (left == nullptr || left->dtype != Dtype::I8) return 0;
  return kWeight * operands(key, 1) + kProduct * operands(key, 0) * length_of(key.result(0), -1);
}

/// What leaves it as it is, is copied by another loop than other copies: 0.55 ns of float32.
double dropped(const Key& key) {
  constexpr double kStep = 0.55;
  const TensorEntry* operand = key.operand(0);
  return operand != nullptr && operand->dtype == Dtype::F32 ? kStep * results(key) : 0;
}

/// Results are compared with their place one by one: 1.4 to 2.4 ns along the last axis, else whole
/// rows, 0.3 to 0.5.
double one_hot(const Key& key) {
  constexpr double kLast = 2, kRows = 0.4;
  const auto loops = around(key.result(0), integer(key, "axis").value_or(-1));
  return loops ? (loops->behind > 1 ? kRows : kLast) * results(key) : 0;
}

/// Sums of integers: 0.8 to 3.4 ns of 64 bits, 0.8 to 2 of less. The lower end, since what is
/// learned of sums of floats comes on top.
double reduced_integers(const Key& key) {
  constexpr double kLong = 1.2, kShort = 0.4;
  const TensorEntry* operand = key.operand(0);
  if (operand == nullptr) return 0;
  const bool is_long = operand->dtype == Dtype::I64 || operand->dtype == Dtype::U64;
  const bool is_short = operand->dtype == Dtype::I32 || operand->dtype == Dtype::U32;
  return (is_long ? kLong : is_short ? kShort : 0) * operands(key, 0);
}

/// Not in vectors where shapes differ.
double spread_bits(const Key& key) {
  constexpr double kStep = 0.55;
  const auto first = sizes_of(key.operand(0)), second = sizes_of(key.operand(1));
  return first && second && *first != *second ? kStep * results(key) : 0;
}

double padded(const Key& key) {
  constexpr double kRow = 11;
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->empty() || from->size() != to->size() || from->back() == to->back())
    return 0;
  return kRow * results(key) / to->back();
}

struct Slow {
  std::string_view domain;
  std::string_view op;
  double (*steps)(const Key&);
};
constexpr std::string_view kMl = "ai.onnx.ml";
constexpr std::string_view kMs = "com.microsoft";
constexpr Slow kSlow[] = {{"", "RandomNormal", each_result<9400>},
                          {"", "RandomNormalLike", each_result<9400>},
                          {"", "RandomUniform", each_result<3900>},
                          {"", "RandomUniformLike", each_result<3900>},
                          {"", "Bernoulli", each_result<4200>},
                          {"", "Multinomial", each_result<48'000>},
                          {"", "Loop", loop},
                          {"", "Scan", scan},
                          {"", "STFT", short_transforms},
                          {"", "DFT", transforms},
                          {"", "Scatter", each_update},
                          {"", "ScatterElements", each_update},
                          {"", "ScatterND", each_slice<6700>},
                          {"", "GatherND", each_slice<11'000>},
                          {"", "GatherElements", each_result<700>},
                          {kMs, "GatherBlockQuantized", each_result<900>},
                          {"", "Tile", tile},
                          {"", "TopK", top},
                          {"", "Dropout", dropped},
                          {"", "Compress", compress},
                          {"", "CumSum", cumulative},
                          {"", "CumProd", cumulative},
                          {"", "Unique", different},
                          {"", "NonZero", found},
                          {"", "ArgMax", extremes},
                          {"", "ArgMin", extremes},
                          {"", "Hardmax", hardmax},
                          {"", "MatMul", plain_products},
                          {"", "BitwiseAnd", spread_bits},
                          {"", "BitwiseOr", spread_bits},
                          {"", "BitwiseXor", spread_bits},
                          {"", "BitShift", spread_bits},
                          {"", "Pad", padded},
                          {"", "DepthToSpace", each_result<1100>},
                          {"", "SpaceToDepth", each_result<400>},
                          {"", "MaxRoiPool", each_result<10'000>},
                          {kMs, "CropAndResize", each_result<3500>},
                          {"", "DeformConv", deformed_columns},
                          {"", "GridSample", samples},
                          {kMs, "GridSample", samples},
                          {"", "MaxPool", largest_of_window},
                          {"", "AveragePool", mean_of_window},
                          {"", "Max", extremes_of_operands},
                          {"", "Min", extremes_of_operands},
                          {"", "Sum", added_up},
                          {"", "Mean", added_up},
                          {"", "Equal", compared},
                          {"", "Less", compared},
                          {"", "LessOrEqual", compared},
                          {"", "Greater", compared},
                          {"", "GreaterOrEqual", compared},
                          {"", "And", connected},
                          {"", "Or", connected},
                          {"", "Xor", connected},
                          {"", "Sign", signs},
                          {"", "OneHot", one_hot},
                          {"", "ReduceSum", reduced_integers},
                          {"", "ReduceMean", reduced_integers},
                          {"", "Clip", of_float16},
                          {"", "Round", of_float16},
                          {"", "Cast", cast},
                          {"", "QuantizeLinear", quantize},
                          {"", "DequantizeLinear", dequantize},
                          {kMs, "QuantizeLinear", quantize},
                          {kMs, "DequantizeLinear", dequantize},
                          {"", "Div", quotients},
                          {"", "Mod", quotients},
                          {"", "Shrink", shrink},
                          {"", "Exp", of_doubles<3800>},
                          {"", "Tanh", of_doubles<3800>},
                          {"", "Log", of_doubles<4700>},
                          {"", "Softmax", of_doubles<4700>},
                          {"", "LogSoftmax", of_doubles<4700>},
                          {"", "LayerNormalization", of_doubles<6300>},
                          {"", "Sigmoid", of_doubles<9000>},
                          {"", "HannWindow", each_result<9400>},
                          {"", "HammingWindow", each_result<9400>},
                          {"", "BlackmanWindow", each_result<18'700>},
                          {"", "Range", range},
                          {kMs, "Range", range},
                          {kMl, "Normalizer", normalised},
                          {kMl, "Binarizer", each_element<3000>},
                          {kMl, "LabelEncoder", each_element<2700>},
                          {kMs, "MatMulIntegerToFloat", packed_anew},
                          {"", "ConvInteger", single_products},
                          {"", "Attention", capped_scores},
                          {kMs, "QLinearSoftmax", looked_up_softmax},
                          {"", "SimplifiedLayerNormalization", of_doubles<1500>},
                          {"", "LpPool", power_pool},
                          {"", "GlobalLpPool", each_element<11'500>},
                          {kMs, "CDist", distances},
                          {"", "Einsum", einsum_calls},
                          {kMs, "MatMulNBits", unpacked_weights},
                          {kMs, "MoE", experts_steps},
                          {kMs, "QMoE", experts_steps},
                          {kMl, "SVMClassifier", support_vectors},
                          {kMl, "SVMRegressor", support_vectors},
                          {kMl, "TreeEnsemble", forest},
                          {kMl, "TreeEnsembleClassifier", forest},
                          {kMl, "TreeEnsembleRegressor", forest}};

}  // namespace

double slow_steps(const Key& key) {
  const auto* const found = std::find_if(std::begin(kSlow), std::end(kSlow), [&](const Slow& one) {
    return one.op == key.op && one.domain == key.domain;
  });
  return found == std::end(kSlow) ? 0 : found->steps(key);
}

std::optional<double> visits_of_forest(const Key& key) {
  const auto forest = forest_of(key);
  const auto batch = elements(key.operand(0));
  if (!forest || !batch) return std::nullopt;
  return batch_rows(key) * static_cast<double>(forest->trees) * static_cast<double>(forest->depth);
}

}  // namespace oplat::ir::ops
