// SPDX-License-Identifier: Apache-2.0
#include "table/memory_hierarchy.hpp"

#include <cmath>

namespace oplat::table {

double MemoryRamp::gone(double bytes) const {
  if (bytes <= lo_bytes) return 0;
  if (bytes >= hi_bytes) return 1;
  return std::log(bytes / lo_bytes) / std::log(hi_bytes / lo_bytes);
}

}  // namespace oplat::table
