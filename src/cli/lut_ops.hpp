// SPDX-License-Identifier: Apache-2.0
/// oplat lut ops.
#pragma once

#include "cli/command.hpp"

namespace oplat::cli {

void add_lut_ops(CLI::App& group, Action& action);

}  // namespace oplat::cli
