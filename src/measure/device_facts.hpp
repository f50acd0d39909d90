// SPDX-License-Identifier: Apache-2.0
/// Whether two descriptions of a device can be of one machine.
#pragma once

#include <string>
#include <vector>

#include "table/records.hpp"

namespace oplat::measure {

/// A fact in which two descriptions differ, as people read it.
struct FactDifference {
  std::string fact;  ///< "cpu", "architecture", "isa", "l1d", "l2", "llc", "cores", "memory"
  std::string recorded;
  std::string here;
  bool decides =
      false;  ///< another value means other kernels or other caches; cores and memory alone do not
  friend bool operator==(const FactDifference&, const FactDifference&) = default;
};

/// Memory that a kernel reserves for itself differs a little from boot to boot; up to this share it
/// is the same.
inline constexpr double kMemoryTolerance = 0.05;

/// Facts that either side does not know do not differ. The name is not a fact: it is what a person
/// calls the machine.
std::vector<FactDifference> differing_facts(const table::Device& recorded,
                                            const table::Device& here);

}  // namespace oplat::measure
