// SPDX-License-Identifier: Apache-2.0
/// Types that no vectors of the processor hold, and functions that are computed number by number.
/// Nanoseconds as in slow_steps.cpp (docs/adr/0103).
#include <algorithm>

#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/slow_kinds.hpp"

namespace oplat::ir::ops {
namespace {

double elements_of(const TensorEntry* tensor) { return elements(tensor).value_or(0); }

bool is_eighth(const TensorEntry* tensor) {
  if (tensor == nullptr) return false;
  constexpr Dtype kEights[] = {Dtype::F8E4M3FN, Dtype::F8E4M3FNUZ, Dtype::F8E5M2,
                               Dtype::F8E5M2FNUZ};
  return std::find(std::begin(kEights), std::end(kEights), tensor->dtype) != std::end(kEights);
}

bool is_half(const TensorEntry* tensor) {
  return tensor != nullptr && (tensor->dtype == Dtype::F16 || tensor->dtype == Dtype::BF16);
}

bool is_double(const TensorEntry* tensor) {
  return tensor != nullptr && tensor->dtype == Dtype::F64;
}

bool is_whole(const TensorEntry* tensor) {
  if (tensor == nullptr) return false;
  const auto width = bits(tensor->dtype);
  return width && !is_half(tensor) && !is_eighth(tensor) && tensor->dtype != Dtype::F32 &&
         tensor->dtype != Dtype::F64;
}

}  // namespace

/// Halves are made floats and halves again by shifts: 3.4 to 4.8 ns an operand's element.
double of_halves(const Key& key) {
  constexpr double kStep = 4;
  if (!is_half(key.operand(0))) return 0;
  const double others = std::max<double>(1, static_cast<double>(key.operands.size()) - 1);
  return kStep * elements_of(key.result(0)) * (key.op == "Max" || key.op == "Min" ? others : 1);
}

/// Eighths 2.4 to 8.6 ns, halves 0.5 to 3.4, but to and from floats, which is an instruction.
double cast(const Key& key) {
  constexpr double kEighth = 6, kHalf = 1.5;
  const TensorEntry* from = key.operand(0);
  const TensorEntry* to = key.result(0);
  if (from == nullptr || to == nullptr) return 0;
  if (is_eighth(from) || is_eighth(to)) return kEighth * elements_of(from);
  const auto plain = [](const TensorEntry* tensor) {
    return tensor->dtype == Dtype::F32 || tensor->dtype == Dtype::F16;
  };
  const bool halves = (is_half(from) || is_half(to)) && !(plain(from) && plain(to));
  return halves ? kHalf * elements_of(from) : 0;
}

/// Elements behind the axis whose scales there are have one scale; where nothing is behind it, each
/// is a call of 19 ns. Blocks along another axis than the last 2.3 ns an element, to eighths 7.2,
/// from halves 2.9 to 11.
double quantize(const Key& key) {
  constexpr double kCall = 19, kBlock = 2.3, kEighth = 7.2, kHalf = 5;
  const double all = elements_of(key.operand(0));
  if (is_eighth(key.result(0))) return kEighth * all;
  auto loops = around(key.operand(0), integer(key, "axis").value_or(1));
  if (integer(key, "block_size").value_or(0) > 0)
    return loops && loops->behind > 1 ? kBlock * all : 0;
  if (rank(key.operand(1)) != 1) loops.reset();
  return (is_half(key.operand(0)) ? kHalf * all : 0) +
         (loops ? kCall * loops->before * loops->along : 0);
}

/// The same back: calls 1.6 ns, blocks along the last axis 1.1, eighths 2.5, to halves 1.7 an
/// element.
double dequantize(const Key& key) {
  constexpr double kCall = 1.6, kBlock = 1.1, kEighth = 2.5, kHalf = 1.7;
  const double all = elements_of(key.operand(0));
  if (is_eighth(key.operand(0))) return kEighth * all;
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(1));
  if (integer(key, "block_size").value_or(0) > 0)
    return loops && loops->behind == 1 ? kBlock * all : 0;
  if (is_half(key.result(0))) return kHalf * all;
  if (rank(key.operand(1)) != 1) return 0;
  return loops ? kCall * loops->before * loops->along : 0;
}

/// Functions of doubles are computed one by one.
template <int kPicoseconds>
double of_doubles(const Key& key) {
  return is_double(key.operand(0)) ? elements_of(key.operand(0)) * kPicoseconds / 1000.0 : 0;
}
template double of_doubles<1500>(const Key&);
template double of_doubles<3800>(const Key&);
template double of_doubles<4700>(const Key&);
template double of_doubles<6300>(const Key&);
template double of_doubles<9000>(const Key&);

/// Divisions of whole numbers: 2.1 ns of 64 bits, 0.7 to 1.2 of less.
double quotients(const Key& key) {
  constexpr double kLong = 2.1, kShort = 0.9;
  if (!is_whole(key.operand(0))) return 0;
  const bool is_long = bits(key.operand(0)->dtype) == 64;
  return (is_long ? kLong : kShort) * elements_of(key.result(0));
}

/// Of floats a branch that nothing foresees, 6.3 ns; of whole numbers 0.8.
double shrink(const Key& key) {
  constexpr double kBranch = 6.3, kWhole = 0.8;
  return (is_whole(key.operand(0)) ? kWhole : kBranch) * elements_of(key.result(0));
}

}  // namespace oplat::ir::ops
