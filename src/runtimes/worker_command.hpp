// SPDX-License-Identifier: Apache-2.0
/// The command of a worker as a user writes it: `--worker 'ssh HOST oplat worker onnxruntime'`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oplat::runtimes {

/// The words of a command, split as a shell does: at spaces, with '...', "..." and \ to quote.
/// Nothing else has a meaning ($, *, | are ordinary characters). Code::Usage if it is empty or a
/// quote is not closed.
Result<std::vector<std::string>> split_command(std::string_view text);

}  // namespace oplat::runtimes
