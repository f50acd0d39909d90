// SPDX-License-Identifier: Apache-2.0
/// How a transpose is computed.
///
/// The problem: two orders of axes that look alike can cost thirty times as much for each element.
/// ONNX Runtime (core/providers/cpu/tensor/transpose.cc) copies a tensor of which only dimensions
/// of one element move; where one axis passes over others it moves blocks, as MLAS transposes a
/// matrix where a block is one element of 1 or 4 bytes; in any other case it computes the place of
/// each block by itself (2 to 3 ns on a Zen 5, whatever its size). Axes that stay neighbours are
/// one axis to it, and so are those of one element among them; but an axis of one element that does
/// not stay where it was is an axis, so that the order of the others may be "any other case" by it.
///
/// Example: [1,56,56,3,20] in the order 0,4,3,1,2 has the axes 56*56, 3 and 20 in reverse order:
/// 188,160 blocks of one element, each for itself.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/operators/form.hpp"

namespace oplat::ir::ops {

/// ir::Work::steps of a block whose place is computed and that is moved by itself: 2.1 to 3.0 ns on
/// a Zen 5, for numbers and for short blocks.
inline constexpr double kStepsOfBlock = 2;

struct Permuted {
  enum class Way { Copied, AxisMoved, EachBlock };

  Way way = Way::Copied;
  /// AxisMoved: the operand is [before, first, second, behind], the result [before, second, first,
  /// behind]. Others: 1.
  double before = 1;
  double first = 1;
  double second = 1;
  /// Whether it is one axis that passes over others towards the front: ONNX Runtime reads in order
  /// then and writes apart, else it reads apart and writes in order
  /// (core/providers/cpu/tensor/transpose_helper.cc).
  bool outwards = true;
  /// Elements of a block: what stays together at the end; all of a tensor that is copied.
  double behind = 1;
  /// EachBlock: how many blocks there are, and in how many axes.
  double blocks = 1;
  double axes = 1;
  /// Elements of the operand between neighbours in the result.
  double stride = 1;
  double rows = 1;  ///< that far apart, which the result has one behind the other
};

/// `perm[i]` is the operand's axis that is axis i of the result. std::nullopt if it does
/// not name each axis once.
std::optional<Permuted> permuted(const DimSizes& sizes, const std::vector<std::int64_t>& perm);

}  // namespace oplat::ir::ops
