// SPDX-License-Identifier: Apache-2.0
/// What the rules of operand values share (ir/operand_values.hpp): fills, and what a key says. Each
/// file of this folder holds the rules of some roles, and one of these lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/key.hpp"
#include "ir/operand_values.hpp"
#include "ir/operators/arguments.hpp"

namespace oplat::ir::fills {

using Dims = std::vector<std::int64_t>;
using Fill = std::optional<OperandFill>;
using Role = ValueRole;

/// Places in other operands, and divisors.
const std::vector<OperandRule>& rules_of_indices();
/// Shapes of results, and axes.
const std::vector<OperandRule>& rules_of_sizes();
/// How far a kernel works into an operand.
const std::vector<OperandRule>& rules_of_lengths();
/// What a kernel finds in its operands, and control flow.
const std::vector<OperandRule>& rules_of_data();

inline constexpr std::string_view kMs = ops::kContrib;
inline constexpr std::int64_t kMaxListedElements = 4096;  ///< a list of sizes or axes is short
inline constexpr std::int64_t kModestSize = 16;

Fill listed(const Dims& values);
Fill each(double value);
/// From 0 to limit - 1; 0 alone if there is no limit.
Fill below(std::optional<std::int64_t> limit);
template <int kValue>
Fill always(const Key&, std::size_t) {
  return each(kValue);
}

/// Numbers of a value: "5" and "[5]" mean `count` of them, "[1,2]" one each.
std::optional<std::vector<double>> expanded(const Value& value, std::int64_t count);
/// Values of an operand that the key says: of a constant, or recorded.
std::optional<std::vector<double>> said(const Key& key, std::size_t operand);

std::optional<std::int64_t> count_of(const Key& key, std::size_t operand);
bool is_missing(const Key& key, std::size_t operand);
std::int64_t attribute(const Key& key, std::string_view name, std::int64_t otherwise);
std::optional<std::int64_t> size_along(const TensorEntry* tensor, std::int64_t axis);

}  // namespace oplat::ir::fills
