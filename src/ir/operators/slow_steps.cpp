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

/// Copies of runs as long as what is repeated last, 2.7 to 3.2 ns each whatever their length.
double tile(const Key& key) {
  constexpr double kStep = 2.9;
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != to->size()) return 0;
  std::size_t at = from->size();
  while (at > 0 && (*from)[at - 1] == (*to)[at - 1]) --at;
  return kStep * results(key) / ops::product_of(*from, at == 0 ? 0 : at - 1, from->size());
}

/// A heap of few, else a sort: 50 and all of 100,000 took 67 and 10,059 us, all of 1,000 18.
double top(const Key& key) {
  constexpr double kScanned = 0.7, kSorted = 4, kHeap = 0.725;
  const std::int64_t axis = integer(key, "axis").value_or(-1);
  const double length = length_of(key.operand(0), axis);
  const double kept = length_of(key.result(0), axis);
  if (!(length > 1) || !(kept > 0)) return 0;
  const bool heap = kept < 2 || std::log(kept) < kHeap * std::log(length);
  return operands(key, 0) * (heap ? kScanned : kSorted * std::log2(kept));
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

/// std::pow for each place of each window.
double power_pool(const Key& key) {
  constexpr double kStep = 13;
  const auto window = integers(key, "kernel_shape");
  if (!window) return 0;
  double places = 1;
  for (const std::int64_t side : *window) places *= static_cast<double>(side);
  return kStep * results(key) * places;
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

/// An error function for each channel between an expert's layers; quantised weights are made floats
/// whenever a token comes.
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
  const double rows = rank(key.operand(0)) == 2 ? length_of(key.operand(0), 0) : 1;
  return rows * count * (is_word(key, "kernel_type", "RBF") ? kRadial : kProduct);
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
                          {"", "Compress", compress},
                          {"", "CumSum", cumulative},
                          {"", "CumProd", cumulative},
                          {"", "Unique", each_element<156'000>},
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
  const double rows = rank(key.operand(0)) == 2 ? length_of(key.operand(0), 0) : 1;
  return rows * static_cast<double>(forest->trees) * static_cast<double>(forest->depth);
}

}  // namespace oplat::ir::ops
