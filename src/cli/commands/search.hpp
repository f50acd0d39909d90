// SPDX-License-Identifier: Apache-2.0
/// What the subcommands of `oplat search` share.
#pragma once

#include "app/search.hpp"
#include "cli/commands/commands.hpp"

namespace oplat::cli {

/// SPACE and --resolution.
void add_space_options(const Command& command, app::SpaceSource& to);

void add_search_expand(const Command& group);
void add_search_lut(const Command& group);

}  // namespace oplat::cli
