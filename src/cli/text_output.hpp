// SPDX-License-Identifier: Apache-2.0
/// A text that goes to a file or to standard output.
#pragma once

#include <string>
#include <string_view>

#include "oplat/base/result.hpp"

namespace oplat::cli {

/// `file` empty: standard output. Code::Write where it cannot be written.
Status put_text(const std::string& file, std::string_view text);
/// Makes the folder and those above it.
Status make_folder(const std::string& folder);

}  // namespace oplat::cli
