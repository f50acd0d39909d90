// SPDX-License-Identifier: Apache-2.0
/// What the subcommands of `oplat space` share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "search/search_space.hpp"

namespace oplat::cli {

struct SpaceOptions {
  std::string file;
  std::vector<std::int64_t> resolutions;
};
/// SPACE and --resolution.
void add_space_options(const Command& command, SpaceOptions& to);
/// The space, its resolutions replaced by those asked for.
Result<search::SearchSpace> read_space(const SpaceOptions& options);

void add_space_expand(const Command& group);
void add_space_lut(const Command& group);

}  // namespace oplat::cli
