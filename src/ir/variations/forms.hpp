// SPDX-License-Identifier: Apache-2.0
/// Operators whose results are not sized as their operands are: joins, splits, slices, pads,
/// resizes, reductions, transposes, changes of layout; and other forms of those that are.
#pragma once

#include <optional>

#include "ir/key.hpp"
#include "ir/variations/sizes.hpp"

namespace oplat::ir::variations {

/// Gives another kernel, or std::nullopt where it cannot work out what would come of it.
using Variation = std::optional<Key> (*)(const Key& key, Draw& draw);

/// The variation of an operator with roles of its own; nullptr for others.
Variation variation_of(const Key& key);

/// Another form of a kernel whose sizes were drawn by others, in some cases: another number of rows
/// of a product, another of the four arithmetic operators, another operand that is broadcast.
void vary_form(Key& key, Draw& draw);

/// Other types of quantised data, in some cases: signed activations, one scale for all filters.
void vary_types(Key& key, Draw& draw);

}  // namespace oplat::ir::variations
