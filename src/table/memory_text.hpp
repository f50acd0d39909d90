// SPDX-License-Identifier: Apache-2.0
/// A measured hierarchy as text: the fact `memory` of a campaign's environment
/// (docs/reference/table-format.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "table/memory_hierarchy.hpp"
#include "table/table.hpp"

namespace oplat::table {

/// Facts of a campaign (docs/reference/table-format.md): what it measured of memory before its rows
/// and after them, and what the cache states of its rows were made from.
inline constexpr const char* kMemoryFact = "memory";
inline constexpr const char* kMemoryAfterFact = "memory_after";
inline constexpr const char* kStatesFact = "states";
/// Of kStatesFact: the sizes of caches that the device reports. Else it is a hierarchy's text.
inline constexpr std::string_view kReportedSizes = "reported";
inline constexpr std::string_view kMemoryFormat = "oplat.memory/1";

/// One line of JSON.
std::string encode(const MemoryHierarchy& hierarchy);
/// Code::Input naming what is wrong: an untrusted table may hold anything.
Result<MemoryHierarchy> decode_memory(std::string_view text);

/// What campaigns measured of a device's memory, from the first to the last together(): a curve is
/// in doubt as far as it moved. std::nullopt if none did, or their texts cannot be read, such as
/// those of a later version.
Result<std::optional<MemoryHierarchy>> find_memory(const Table& table, DeviceId device);

/// `later`, with the curve out of the last level of both: its ramp lies in the middle of theirs, on
/// the logarithm, the ramp of loads is that at smaller pools and that of reads in order the one at
/// larger ones. It has the waits of both, of many the last 64. One of the two alone where the other
/// found no such curve.
MemoryHierarchy together(const MemoryHierarchy& earlier, MemoryHierarchy later);

/// What the cache states of rows are made from.
struct StateSizes {
  bool begun = false;  ///< rows exist already, and go on in the states in which they were begun
  std::optional<MemoryHierarchy> memory;  ///< nothing: reported sizes, or rows are not begun
};
/// As the first campaign that made rows of this device and setting says. Rows of campaigns that do
/// not say it, those of an earlier oplat, were begun by reported sizes.
Result<StateSizes> sizes_of_states(const Table& table, DeviceId device, SettingId setting);

}  // namespace oplat::table
