// SPDX-License-Identifier: Apache-2.0
/// What a kernel has to do, counted from its key alone.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/key.hpp"

namespace oplat::ir {

class Catalogue;
struct OperatorInfo;

/// Bytes are those of operands and results as stored, each tensor once. `flops` counts a
/// multiply-add as two operations; it is std::nullopt if the catalogue holds no formula for the
/// operator (bytes are always counted if shapes are known).
struct Work {
  std::optional<double> flops;
  double bytes_in = 0;       ///< non-constant operands
  double bytes_weights = 0;  ///< constant operands
  double bytes_out = 0;
  /// Memory that the kernel takes for itself while it runs: fills, and reads once. Not in bytes().
  double bytes_scratch = 0;
  /// Of loops that take one element, or one block, after the other: how many times a step of about
  /// a nanosecond. An order of magnitude, to compare kernels of which some are such; 0 where
  /// nothing says that a kernel is.
  double steps = 0;
  bool complete = true;  ///< false where some dimension or element size is unknown, so that bytes
                         ///< are a lower bound
  [[nodiscard]] double bytes() const { return bytes_in + bytes_weights + bytes_out; }
};

Work work(const Key& key, const Catalogue& catalogue);
/// The same with the catalogue's entry for its operator; nullptr: it has none.
Work work(const Key& key, const OperatorInfo* info);

/// Of one tensor, elements below a byte packed; std::nullopt if the key does not say.
std::optional<double> stored_bytes(const TensorEntry& tensor);

}  // namespace oplat::ir
