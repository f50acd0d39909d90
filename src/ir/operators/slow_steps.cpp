// SPDX-License-Identifier: Apache-2.0
/// Nanoseconds of ONNX Runtime 1.31.1, one core of a Zen 4, 2026-11-30 (docs/adr/0102): an order of
/// magnitude, which rows correct where there are any.
#include "ir/operators/slow_steps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "ir/operators/arguments.hpp"
#include "ir/parameters.hpp"

namespace oplat::ir::ops {
namespace {

double results(const Key& key) { return elements(key.result(0)).value_or(0); }
double operands(const Key& key, std::size_t at) { return elements(key.operand(at)).value_or(0); }

/// Dimensions `from` to `to` of a tensor multiplied; 0 where one is not known.
double product(const TensorEntry* tensor, std::size_t from, std::size_t to) {
  const auto dims = dims_of(tensor);
  if (!dims || from > to || to > dims->size()) return 0;
  double all = 1;
  for (std::size_t i = from; i < to; ++i) all *= static_cast<double>((*dims)[i]);
  return all;
}

/// The axis that an attribute or a constant operand names.
std::optional<std::size_t> axis_of(const Key& key, std::optional<std::size_t> operand,
                                   std::int64_t otherwise) {
  const auto size = rank(key.operand(0));
  if (!size) return std::nullopt;
  std::int64_t axis = integer(key, "axis").value_or(otherwise);
  if (operand && key.operand(*operand) != nullptr) {
    const auto said = numbers_of(key, *operand);
    if (!said || said->size() != 1) return std::nullopt;
    axis = said->front();
  }
  const auto count = static_cast<std::int64_t>(*size);
  if (axis < 0) axis += count;
  if (axis < 0 || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis);
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
  return kStepsOfCall * product(key.operand(key.operands.size() - 1), 0, 1);
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
  const double window = product(key.operand(2), 0, 1);
  const double length = given && given->size() == 1 ? static_cast<double>(given->front()) : window;
  return kStep * product(key.result(0), 0, 2) * transform(length);
}

/// Transforms of 1,000, 1,024, 16,000 and 16,384 took 144, 28, 5,403 and 736 us.
double transforms(const Key& key) {
  constexpr double kStep = 3.2;
  const auto axis = axis_of(key, 2, key.attribute("axis") == nullptr ? -2 : 1);
  const auto dims = dims_of(key.operand(0));
  if (!axis || !dims || dims->empty() || *axis + 1 >= dims->size()) return 0;
  const auto length = static_cast<double>((*dims)[*axis]);
  if (!(length > 0)) return 0;
  return kStep * product(key.operand(0), 0, dims->size() - 1) / length * transform(length);
}

/// Slices that indices name, whose last axis is a place.
template <int kPicoseconds>
double each_slice(const Key& key) {
  const auto size = rank(key.operand(1));
  return size && *size > 0 ? product(key.operand(1), 0, *size - 1) * kPicoseconds / 1000.0 : 0;
}

double each_update(const Key& key) {
  constexpr double kStep = 3.3;
  return kStep * operands(key, 1);
}

/// Copies of runs as long as what is repeated last, 2.7 to 3.2 ns each whatever their length.
double tile(const Key& key) {
  constexpr double kStep = 2.9;
  const auto from = dims_of(key.operand(0));
  const auto to = dims_of(key.result(0));
  if (!from || !to || from->size() != to->size()) return 0;
  std::size_t at = from->size();
  while (at > 0 && (*from)[at - 1] == (*to)[at - 1]) --at;
  const double run = product(key.operand(0), at == 0 ? 0 : at - 1, from->size());
  return run > 0 ? kStep * results(key) / run : 0;
}

/// A heap of few, else a sort: 50 and all of 100,000 took 67 and 10,059 us, all of 1,000 18.
double top(const Key& key) {
  constexpr double kScanned = 0.7, kSorted = 4, kHeap = 0.725;
  const auto axis = axis_of(key, std::nullopt, -1);
  const double length = axis ? product(key.operand(0), *axis, *axis + 1) : 0;
  const double kept = axis ? product(key.result(0), *axis, *axis + 1) : 0;
  if (!(length > 1) || !(kept > 0)) return 0;
  const bool heap = kept < 2 || std::log(kept) < kHeap * std::log(length);
  return operands(key, 0) * (heap ? kScanned : kSorted * std::log2(kept));
}

double compress(const Key& key) {
  constexpr double kStep = 1.7;
  const auto axis = axis_of(key, std::nullopt, 0);
  const bool flat = key.attribute("axis") == nullptr;
  return axis ? kStep * operands(key, 1) * (flat ? 1 : product(key.operand(0), 0, *axis)) : 0;
}

/// Each number waits for the one before; behind the axis there are others to go on with.
double cumulative(const Key& key) {
  constexpr double kStep = 3.3;
  const auto axis = axis_of(key, 1, 0);
  const auto size = rank(key.operand(0));
  const double behind = axis ? product(key.operand(0), *axis + 1, *size) : 0;
  return behind > 0 ? kStep * operands(key, 0) / behind : 0;
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
  return kStep * operands(key, 0) * product(key.operand(1), 0, 1);
}

/// 5.7 to 6.7 ns a node where the ways of rows differ.
double forest(const Key& key) {
  constexpr double kStep = 6;
  return kStep * visits_of_forest(key).value_or(0);
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
  const auto rows = rank(key.operand(0)) == 2 ? product(key.operand(0), 0, 1) : 1;
  return rows * static_cast<double>(forest->trees) * static_cast<double>(forest->depth);
}

}  // namespace oplat::ir::ops
