// SPDX-License-Identifier: Apache-2.0
/// Folders to write into.
#pragma once

#include <string>

#include "base/result.hpp"

namespace oplat::base {

/// Makes the folder and those above it, as far as they are missing. Code::Write if that fails.
Status make_folder(const std::string& folder);

}  // namespace oplat::base
