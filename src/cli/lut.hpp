// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `oplat lut`, one file each.
#pragma once

#include "cli/command.hpp"

namespace oplat::cli {

void add_lut_find(CLI::App& group, Action& action);
void add_lut_add(CLI::App& group, Action& action);
void add_lut_merge(CLI::App& group, Action& action);
void add_lut_build(CLI::App& group, Action& action);
void add_lut_ops(CLI::App& group, Action& action);

}  // namespace oplat::cli
