// SPDX-License-Identifier: Apache-2.0
/// Operators whose arithmetic is quicker for some values than for others.
#pragma once

#include <string_view>

#include "ir/key.hpp"

namespace oplat::ir {

/// Standard deviation of the logarithm of a kernel's time over the values that it may be given; 0
/// where every value costs the same. A key says nothing of them, and rows are measured on random
/// numbers. Numbers that underflow, which slow down nearly everything, are not counted on.
/// `text` is a printed key; operators that are not listed cost no parsing. Thread-safe.
double value_cost_sd(std::string_view text);
double value_cost_sd(const Key& key);

}  // namespace oplat::ir
