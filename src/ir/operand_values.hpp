// SPDX-License-Identifier: Apache-2.0
/// Operands whose values decide which work a kernel does, or whether it can be done at all: sizes,
/// lengths, indices, divisors, masks. One table says for each operator which operands these are and
/// which values suit a key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/key.hpp"

namespace oplat::ir {

/// What the values of an operand decide.
enum class ValueRole {
  Index,      ///< a place in another operand: out of range it fails, in range it hardly matters
  Divisor,    ///< of integers: 0 fails
  Size,       ///< the shape of a result, from which it can be told
  Choice,     ///< which axes, or a mode
  Length,     ///< how far the kernel works into an operand, which no shape shows
  Data,       ///< how many elements it finds or how it walks over them
  Trips,      ///< how often a body runs
  Condition,  ///< which body runs
};

/// Values of one operand. Either each (one for all if there is one only), or a rule by which an
/// operand of any size is filled.
struct OperandFill {
  std::vector<double> values;
  /// Integers are drawn from [low, high], if `values` is empty.
  std::int64_t low = 0;
  std::int64_t high = 1;
  /// Likewise from [0, highs[i]] at place i of each tuple; empty: all are alike.
  std::vector<std::int64_t> highs = {};
  /// Floats are drawn from [-reach, reach], if `values` is empty.
  std::optional<double> reach = std::nullopt;
  /// Elements that are not zero, spread over the operand; the others are zero.
  std::optional<std::int64_t> nonzero = std::nullopt;
  /// Number of different elements.
  std::optional<std::int64_t> distinct = std::nullopt;
};

struct OperandRule {
  std::string_view domain;
  std::string_view op;
  std::size_t operand = 0;
  ValueRole role = ValueRole::Index;
  /// Values for the operand of a key; nullopt if its shapes do not tell. Results that are unknown
  /// give the greatest legal values, or modest ones if nothing bounds them.
  std::optional<OperandFill> (*fill)(const Key& key, std::size_t operand) = nullptr;
};

/// All rules, in no order that means anything.
std::span<const OperandRule> operand_rules();
/// nullptr: the values of the operand decide nothing that is known.
const OperandRule* operand_rule(std::string_view domain, std::string_view op, std::size_t operand);

/// Values for operand `operand` of `key`: those that the tag @values<operand> records, else those
/// of its rule. std::nullopt: any value does.
std::optional<OperandFill> operand_fill(const Key& key, std::size_t operand);

/// Whether a plan records the values that a run saw: nothing else says how much work they ask for.
bool is_recorded(const OperandRule& rule);
/// The tag of a key that holds the values of operand `operand`: "values4".
std::string values_tag(std::size_t operand);
/// `values` as the tag's value: one if all are equal, each if there are at most 64, else a
/// histogram of [value,count] in ascending order, of at most 16 steps that keep minimum, maximum
/// and, within rounding, the sum.
Value values_summary(std::span<const std::int64_t> values);

/// A kernel whose time depends on values that its key does not say.
struct ValueCaveat {
  double sd_log = 0;   ///< how far the logarithms of its times lie apart
  std::string reason;  ///< "the lengths in operand 4 are taken to be the greatest"
};
/// std::nullopt: shapes and attributes decide. `text` is a printed key; operators without such
/// operands cost no parsing.
std::optional<ValueCaveat> value_caveat(std::string_view text);
std::optional<ValueCaveat> value_caveat(const Key& key);

}  // namespace oplat::ir
