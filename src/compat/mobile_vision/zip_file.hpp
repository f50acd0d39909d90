// SPDX-License-Identifier: Apache-2.0
/// Zip archives that hold one file of interest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::compat::mobile_vision {

/// Whether the bytes begin as a zip archive does.
bool is_zip(std::string_view bytes);
/// The one entry whose name ends in `suffix`. Code::Input if there is none or several, where it
/// is larger than `max_bytes`, or damaged. `shown`: the archive, for messages.
Result<std::string> unzip(std::string_view bytes, std::string_view suffix, std::uint64_t max_bytes,
                          std::string_view shown);

}  // namespace oplat::compat::mobile_vision
