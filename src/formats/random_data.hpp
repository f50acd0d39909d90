// SPDX-License-Identifier: Apache-2.0
/// Seeded data for weights and inputs: no zeros, no denormals, values that stay bounded through
/// chains of kernels.
#pragma once

#include <cstdint>
#include <string>

#include "ir/dtype.hpp"
#include "ir/operand_values.hpp"

namespace oplat::formats {

struct DataRange {
  /// Floats: low + (high - low) * u; with `both_signs` each value gets a random sign, with
  /// `few_negative` three in sixteen a negative one.
  double low = 0.75;
  double high = 1.25;
  bool both_signs = true;
  /// Integers wider than a byte are drawn from [0, integer_limit); bytes from their whole range
  /// unless limited too.
  std::int64_t integer_limit = 2;
  bool limit_bytes = false;
  bool few_negative = false;
};

/// Signs of what a kernel computes with.
enum class Signs : std::uint8_t {
  Any,
  Positive,     ///< of operators that are defined for positive numbers only
  FewNegative,  ///< three in sixteen: of operators that branch by the sign (docs/adr/0089)
};

/// Of what a kernel computes with, so that it stays bounded through chains of kernels.
inline DataRange operand_range(Signs signs) {
  return {0.75, 1.25, signs != Signs::Positive, 2, false, signs == Signs::FewNegative};
}

/// `count` little-endian elements of `dtype`: 4-bit types packed two a byte, strings as integers in
/// decimal digits with a NUL behind each; empty for Any.
std::string random_data(ir::Dtype dtype, std::int64_t count, const DataRange& range,
                        std::uint64_t seed);

/// `count` elements as `fill` says; `range` is for what it leaves open (which numbers are not zero,
/// which differ). Packed 4-bit types and types without numbers are filled by `range` alone.
std::string filled_data(ir::Dtype dtype, std::int64_t count, const ir::OperandFill& fill,
                        const DataRange& range, std::uint64_t seed);

}  // namespace oplat::formats
