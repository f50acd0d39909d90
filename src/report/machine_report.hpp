// SPDX-License-Identifier: Apache-2.0
/// What `oplat machine` found: the sizes of memory that were reported and measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/memory_probe.hpp"
#include "table/records.hpp"

namespace oplat::report {

struct MachineReport {
  table::Device device;
  std::string worker;  ///< name of the worker that looked
  /// nothing: the machine could not be measured, and `why` says so
  std::optional<measure::MeasuredMemory> memory;
  std::string why;
};

/// A level of the hierarchy as people name it, with both of its sizes.
struct NamedLevel {
  std::string name;                            ///< "own cache", "last level", "memory"
  std::optional<std::int64_t> reported_bytes;  ///< nothing: not reported
  std::optional<table::MemoryLevel> measured;  ///< nothing: not found
};
/// The core's own cache, the last level behind it, memory; a level that was neither reported nor
/// found is left out.
std::vector<NamedLevel> named_levels(const MachineReport& machine);

/// What others bring into the last level, for people: "others bring 3.6 GB/s into the last level:
/// ..."; empty: nobody looked, or there is no such level.
std::string others_text(const table::MemoryHierarchy& found);

/// What is assumed in place of what could not be measured, for people; empty: nothing.
std::vector<std::string> assumptions(const MachineReport& machine);

}  // namespace oplat::report
