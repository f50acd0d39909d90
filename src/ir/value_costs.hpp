// SPDX-License-Identifier: Apache-2.0
/// Operators whose arithmetic is quicker for some values than for others, or for values that they
/// have just seen.
#pragma once

#include <string_view>

#include "ir/graph.hpp"
#include "ir/key.hpp"

namespace oplat::ir {

/// Standard deviation of the logarithm of a kernel's time over the values that it may be given; 0
/// where every value costs the same. A key says nothing of them, and rows are measured on random
/// numbers. Numbers that underflow, which slow down nearly everything, are not counted on.
/// `text` is a printed key; operators that are not listed cost no parsing. Thread-safe.
double value_cost_sd(std::string_view text);
double value_cost_sd(const Key& key);

/// Of a Pow whether its exponent is a constant 2 or 3, where runtimes multiply. Of 1 ONNX Runtime
/// computes a power.
bool is_power_by_products(const Key& key);

/// Whether the operator of this name, in whatever domain, reads only those elements of a table that
/// another operand names: what it moves is bounded by its result, not by the table.
bool is_look_up(std::string_view op);

/// Whether an operator is quicker on data that it was given just before than on other data of the
/// same shape: a processor learns the way of its branches, and its caches keep the rows of a table
/// that it read. Such kernels, and models that hold one (bodies included), are measured on data
/// that change from run to run, as an application's do.
bool is_quicker_on_repeated_data(const Key& key);
bool is_quicker_on_repeated_data(const Graph& graph);

}  // namespace oplat::ir
