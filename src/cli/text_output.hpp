// SPDX-License-Identifier: Apache-2.0
/// A text that goes to a file or to standard output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oplat::cli {

/// `file` empty: standard output. Code::Write if it cannot be written.
Status put_text(const std::string& file, std::string_view text);
/// Code::Usage if `file`, which an option --out names, is the very file that the command reads:
/// what is there would be lost. Neither need be there yet.
Status refuse_to_replace(const std::string& file, const std::string& input);

}  // namespace oplat::cli
