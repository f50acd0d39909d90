// SPDX-License-Identifier: Apache-2.0
/// The one list of foreign systems that oplat speaks with.
#pragma once

#include <span>
#include <string_view>

namespace oplat::compat {

/// Names of the systems, as their folders are called. Lives as long as the process.
std::span<const std::string_view> systems();

}  // namespace oplat::compat
