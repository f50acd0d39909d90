// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `oplat paddleslim`: each file cmd_paddleslim_NAME.cpp adds one to the group.
#pragma once

#include "cli/commands/commands.hpp"

namespace oplat::cli {

void add_paddleslim_predict(const Command& group);
void add_paddleslim_evaluate(const Command& group);

}  // namespace oplat::cli
