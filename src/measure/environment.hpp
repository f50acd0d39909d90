// SPDX-License-Identifier: Apache-2.0
/// How this machine is, for the record of a campaign.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "table/records.hpp"

namespace oplat::measure {

/// Kernel release, load, clock source, governor, huge pages, hash of the host name, harness version
/// and commit, time. What the system does not say is missing from `facts`. The device's own facts
/// come from the worker.
table::Environment probe_environment();
/// The same with /proc and /sys under another root, for tests.
table::Environment probe_environment(const std::filesystem::path& root);

/// What is known where the worker runs on another machine, whose state this one does not see: the
/// time, and version and commit of the harness.
table::Environment harness_environment();

/// "2025-03-01T12:34:56Z" of seconds since 1970.
std::string utc_text(std::int64_t seconds);

}  // namespace oplat::measure
