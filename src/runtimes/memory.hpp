// SPDX-License-Identifier: Apache-2.0
/// How much memory a worker may take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace oplat::runtimes {

/// Memory that this process may still take, page cache that can be given up included: what the
/// system and the control groups that it is in leave. std::nullopt if neither says. `root` stands
/// for / in tests.
std::optional<std::int64_t> available_memory(const std::filesystem::path& root = "/");
/// What this process holds in memory; std::nullopt where the system does not say.
std::optional<std::int64_t> resident_memory();

}  // namespace oplat::runtimes
