// SPDX-License-Identifier: Apache-2.0
/// Operators that take one element, slice or tree after the other.
#pragma once

#include <optional>

#include "ir/key.hpp"

namespace oplat::ir::ops {

/// ir::Work::steps of an operator of which no form counts them; 0: nothing says that it is slow.
double slow_steps(const Key& key);

/// Nodes that a forest of decision trees looks at, all rows of the batch together; std::nullopt:
/// the key says no forest.
std::optional<double> visits_of_forest(const Key& key);

}  // namespace oplat::ir::ops
