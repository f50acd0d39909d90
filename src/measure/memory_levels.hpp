// SPDX-License-Identifier: Apache-2.0
/// From a curve of costs to levels of a memory hierarchy: no I/O, any thread.
#pragma once

#include <span>

#include "table/memory_hierarchy.hpp"

namespace oplat::measure {

/// `points` by rising pools with costs above 0; from half the core's own cache on. With fewer than
/// five of them, or where the curve is flat, one level at most and no ramps.
table::MemoryHierarchy find_levels(std::span<const table::MemoryPoint> points);

}  // namespace oplat::measure
