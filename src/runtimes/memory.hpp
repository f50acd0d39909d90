// SPDX-License-Identifier: Apache-2.0
/// How much memory a worker may take.
#pragma once

#include <cstdint>
#include <optional>

namespace oplat::runtimes {

/// Memory that processes may still take, page cache that can be given up included;
/// std::nullopt if the system does not say.
std::optional<std::int64_t> available_memory();
/// What this process holds in memory; std::nullopt where the system does not say.
std::optional<std::int64_t> resident_memory();

}  // namespace oplat::runtimes
