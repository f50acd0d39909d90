// SPDX-License-Identifier: Apache-2.0
/// OperatorInfo: what the catalogue knows of one operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/description.hpp"
#include "ir/key.hpp"

namespace oplat::ir {

/// One operator; see src/ir/operators/ for oplat's own, KeyDomain::operators() for those of foreign
/// systems, HACKING.md for the recipe. Names and attributes are views of literals.
struct OperatorInfo {
  std::string_view domain;  ///< "" for ONNX's own
  std::string_view op;
  /// Result 0 may be written over one of these operands if dtype and shape agree and nobody reads
  /// it afterwards.
  std::vector<std::size_t> overwritable = {};
  /// The result is the operand's bytes under another shape: the runtime moves nothing (Reshape,
  /// Squeeze, ...).
  bool view = false;
  /// It moves few or none of the bytes of its operands and results, although it is not a view that
  /// costs nothing: its time says nothing about memory.
  bool moves_little = false;
  /// Its results are those of its bodies' kernels, which wrote them.
  bool hands_on = false;
  /// Attributes that change nothing about the time and are dropped from keys.
  std::vector<std::string_view> inert = {};
  /// Constant float operands whose value decides shape or algorithm and is therefore printed.
  std::vector<std::size_t> printed_float_operands = {};
  /// Constant integer operands whose value changes nothing about the time (zero points of
  /// activations, int32 biases) and is therefore not printed, so that layers that differ in nothing
  /// else share a key.
  std::vector<std::size_t> unprinted_operands = {};
  /// Adds attributes that are derived (auto_pad -> pads); std::nullopt if the definition's defaults
  /// are enough.
  void (*canonicalise)(Key&) = nullptr;
  /// Floating-point operations, a multiply-add counted as two; nullptr: no formula.
  std::optional<double> (*flops)(const Key&) = nullptr;
  /// Bytes of memory that the kernel takes for itself while it runs; nullptr: none that is counted.
  std::optional<double> (*scratch)(const Key&) = nullptr;
  /// The key as a point among others (ir/description.hpp); nullptr: every number of the key is one
  /// of the point's.
  std::optional<Description> (*describe)(const Key&) = nullptr;
  /// In place of `describe` where the runtime chooses its loops by its number of threads.
  std::optional<Description> (*describe_among_threads)(const Key&, std::int64_t threads) = nullptr;
  /// The products that it sums, where `describe` does not say; nullptr: none.
  std::optional<Contraction> (*contraction)(const Key&) = nullptr;
};

}  // namespace oplat::ir
