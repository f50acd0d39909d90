// SPDX-License-Identifier: Apache-2.0
/// The subcommands of `oplat lut`, one file each.
#pragma once

#include "cli/commands/commands.hpp"

namespace oplat::cli {

void add_lut_find(const Command& group);
void add_lut_add(const Command& group);
void add_lut_merge(const Command& group);
void add_lut_build(const Command& group);
void add_lut_ops(const Command& group);

}  // namespace oplat::cli
