// SPDX-License-Identifier: Apache-2.0
/// Who a writer is, so that another process can tell whether it still lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oplat::table {

struct ProcessIdentity {
  std::int64_t pid = 0;
  std::optional<std::int64_t>
      start;         ///< clock ticks after boot: tells a process from a later one with its pid
  std::string host;  ///< hash of host name, boot and process namespace: pids are comparable within
};

ProcessIdentity this_process();
/// Whether the process lives: std::nullopt if that cannot be told from here (another host). A
/// process that has ended but was not waited for counts as dead.
std::optional<bool> is_alive(const ProcessIdentity& process);

}  // namespace oplat::table
