// SPDX-License-Identifier: Apache-2.0
/// Types that no vectors of the processor hold, and functions that are computed number by number.
/// Nanoseconds as in slow_steps.cpp (docs/adr/0103).
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "ir/operators/arguments.hpp"
#include "ir/operators/form.hpp"
#include "ir/operators/slow_kinds.hpp"

namespace oplat::ir::ops {
namespace {

double elements_of(const TensorEntry* tensor) { return elements(tensor).value_or(0); }

bool is_float8(const TensorEntry* tensor) {
  if (tensor == nullptr) return false;
  constexpr Dtype kFloat8[] = {Dtype::F8E4M3FN, Dtype::F8E4M3FNUZ, Dtype::F8E5M2,
                               Dtype::F8E5M2FNUZ};
  return std::find(std::begin(kFloat8), std::end(kFloat8), tensor->dtype) != std::end(kFloat8);
}

bool is(const TensorEntry* tensor, Dtype type) {
  return tensor != nullptr && tensor->dtype == type;
}

bool is_integer(const TensorEntry* tensor) {
  if (tensor == nullptr || !bits(tensor->dtype)) return false;
  constexpr Dtype kFloats[] = {Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64};
  return !is_float8(tensor) &&
         std::find(std::begin(kFloats), std::end(kFloats), tensor->dtype) == std::end(kFloats);
}

/// Slices that have a scale of their own; 0: one scale is for all, as where there is one alone.
double scaled_slices(const Key& key) {
  const TensorEntry* scale = key.operand(1);
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(1));
  if (rank(scale) != 1 || !(elements_of(scale) > 1) || !loops) return 0;
  return loops->before * loops->along;
}

/// Whether blocks have scales, and whether they lie along the last axis.
enum class Blocks : std::uint8_t { None, AlongLast, Across };
Blocks blocks_of(const Key& key) {
  if (integer(key, "block_size").value_or(0) <= 0) return Blocks::None;
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(1));
  return loops && loops->behind > 1 ? Blocks::Across : Blocks::AlongLast;
}

}  // namespace

/// Numbers of float16 become float32 and float16 again by shifts: 3.4 to 4.8 ns.
double of_float16(const Key& key) {
  constexpr double kStep = 4;
  if (!is(key.operand(0), Dtype::F16)) return 0;
  const double others = std::max<double>(1, static_cast<double>(key.operands.size()) - 1);
  return kStep * elements_of(key.result(0)) * (key.op == "Max" || key.op == "Min" ? others : 1);
}

/// Of float8 2.4 to 8.6 ns. Of float16 1.2 to 3.3, but from and to float32, which is an
/// instruction. Of bfloat16 0.1 to 0.9, but for bool 3.3.
double cast(const Key& key) {
  constexpr double kFloat8 = 6, kFloat16 = 1.5, kBfloat16 = 0.3, kFromBool = 3.3;
  const TensorEntry* from = key.operand(0);
  const TensorEntry* to = key.result(0);
  if (from == nullptr || to == nullptr) return 0;
  const double all = elements_of(from);
  if (is_float8(from) || is_float8(to)) return kFloat8 * all;
  const auto either = [&](Dtype type) { return is(from, type) || is(to, type); };
  const bool narrow = either(Dtype::F16) || either(Dtype::BF16);
  if (is(from, Dtype::Bool) && narrow) return kFromBool * all;
  if (either(Dtype::F16)) return either(Dtype::F32) ? 0 : kFloat16 * all;
  return either(Dtype::BF16) ? kBfloat16 * all : 0;
}

/// Slices with a scale of their own are a call of 19 ns each. Blocks along another axis than the
/// last take 2.3 ns an element, to float8 7.2; from float16 unsigned numbers 9.5, signed ones 2.6.
double quantize(const Key& key) {
  constexpr double kCall = 19, kBlock = 2.3, kFloat8 = 7.2, kUnsigned = 9.5, kSigned = 2.6;
  const double all = elements_of(key.operand(0));
  if (is_float8(key.result(0))) return kFloat8 * all;
  const Blocks blocks = blocks_of(key);
  if (blocks != Blocks::None) return blocks == Blocks::Across ? kBlock * all : 0;
  double conversion = 0;
  if (is(key.operand(0), Dtype::F16)) {
    const bool is_signed = is(key.result(0), Dtype::I8) || is(key.result(0), Dtype::I16);
    conversion = (is_signed ? kSigned : kUnsigned) * all;
  }
  return conversion + kCall * scaled_slices(key);
}

/// The same back: calls 1.6 ns, blocks along the last axis 1.1 an element, from float8 2.5, to
/// float16 1.7.
double dequantize(const Key& key) {
  constexpr double kCall = 1.6, kBlock = 1.1, kFloat8 = 2.5, kFloat16 = 1.7;
  const double all = elements_of(key.operand(0));
  if (is_float8(key.operand(0))) return kFloat8 * all;
  const Blocks blocks = blocks_of(key);
  if (blocks != Blocks::None) return blocks == Blocks::AlongLast ? kBlock * all : 0;
  if (is(key.result(0), Dtype::F16)) return kFloat16 * all;
  return kCall * scaled_slices(key);
}

/// Functions of doubles are computed one by one.
template <int kPicoseconds>
double of_doubles(const Key& key) {
  return is(key.operand(0), Dtype::F64) ? elements_of(key.operand(0)) * kPicoseconds / 1000.0 : 0;
}
template double of_doubles<1500>(const Key&);
template double of_doubles<3800>(const Key&);
template double of_doubles<4700>(const Key&);
template double of_doubles<6300>(const Key&);
template double of_doubles<9000>(const Key&);

/// Divisions of integers: 2.1 ns of 64 bits, 0.7 to 1.2 of less.
double quotients(const Key& key) {
  constexpr double kLong = 2.1, kShort = 0.9;
  if (!is_integer(key.operand(0))) return 0;
  const bool is_long = bits(key.operand(0)->dtype) == 64;
  return (is_long ? kLong : kShort) * elements_of(key.result(0));
}

/// Of floats a branch that nothing foresees, 6.3 ns; of integers 0.8.
double shrink(const Key& key) {
  constexpr double kBranch = 6.3, kInteger = 0.8;
  return (is_integer(key.operand(0)) ? kInteger : kBranch) * elements_of(key.result(0));
}

/// The branch of a sign: 1.1 ns of float32, 0.4 of float64, 0.6 and 0.2 of integers of 64 and 32
/// bits.
double signs(const Key& key) {
  constexpr double kFloat = 1.1, kDouble = 0.4, kLong = 0.6, kShort = 0.2;
  const TensorEntry* operand = key.operand(0);
  if (operand == nullptr || bits(operand->dtype).value_or(0) < 32) return 0;
  const bool wide = bits(operand->dtype) == 64;
  const double each = is_integer(operand) ? (wide ? kLong : kShort) : wide ? kDouble : kFloat;
  return each * elements_of(key.result(0));
}

namespace {

/// Results, by the share of their operands' elements that is not read because operands are
/// broadcast: what bytes say nothing of, while each result is computed all the same. 0 where all
/// operands have the result's shape.
double spread_results(const Key& key) {
  const double all = elements_of(key.result(0));
  double read = 0;
  double whole = 0;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const TensorEntry* operand = key.operand(i);
    if (operand == nullptr) continue;
    read += elements_of(operand);
    whole += all;
  }
  return whole > 0 ? all * std::max(0.0, 1 - read / whole) : 0;
}

/// By the type that is computed in: bytes, what has 32 bits or less, float64, integers of 64 bits.
struct OfTypes {
  double bytes;
  double words;
  double doubles;
  double longs;
};
double each_of(const TensorEntry* operand, const OfTypes& of) {
  if (operand == nullptr) return 0;
  const auto width = bits(operand->dtype).value_or(0);
  if (width <= 8) return of.bytes;
  if (width < 64) return of.words;
  return is_integer(operand) ? of.longs : of.doubles;
}

/// Of operands one after the other.
double pairs_of(const Key& key) {
  return std::max(1.0, static_cast<double>(key.operands.size()) - 1);
}

}  // namespace

/// A comparison of what is broadcast.
double compared(const Key& key) {
  return each_of(key.operand(0), {0.06, 0.16, 0.24, 0.35}) * spread_results(key);
}

double connected(const Key& key) { return 0.06 * spread_results(key); }

/// Sum and Mean of several operands.
double added_up(const Key& key) {
  return each_of(key.operand(0), {0.05, 0.14, 0.22, 0.22}) * pairs_of(key) * spread_results(key);
}

/// Max and Min.
double extremes_of_operands(const Key& key) {
  const double halves = of_float16(key);
  if (halves > 0) return halves;
  return each_of(key.operand(0), {0.05, 0.19, 0.34, 0.48}) * pairs_of(key) * spread_results(key);
}

double range(const Key& key) {
  constexpr double kStep = 0.8;
  return is_integer(key.result(0)) ? 0 : kStep * elements_of(key.result(0));
}

}  // namespace oplat::ir::ops
