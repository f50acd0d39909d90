// SPDX-License-Identifier: Apache-2.0
/// oplat space: search spaces as kernels and as tables of latencies.
#include "cli/space.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {

void add_space_options(const Command& command, SpaceOptions& to) {
  command.add_option("SPACE", to.file, "the search space, a YAML file (docs/guide/searching.md)")
      .required();
  command
      .add_option("--resolution", to.resolutions,
                  "height and width of the image, instead of the file's (repeatable)")
      .range(std::int64_t{1}, search::kMaxResolution)
      .repeatable();
}

Result<search::SearchSpace> read_space(const SpaceOptions& options) {
  OPLAT_TRY(source, base::Source::open(options.file));
  OPLAT_TRY(read, search::read_space(source, compat::block_families()));
  if (options.resolutions.empty()) return std::move(read);
  read.resolutions.clear();
  for (const std::int64_t one : options.resolutions) {
    if (std::find(read.resolutions.begin(), read.resolutions.end(), one) == read.resolutions.end())
      read.resolutions.push_back(one);
  }
  return std::move(read);
}

void add_space_commands(const Command& app) {
  const Command group = app.add_subcommand(
      "space", "search spaces: their kernels, and latencies of their blocks for a latency loss");
  group.require_subcommand(1);
  group.footer(
      "A space is a YAML file: blocks, and layers that choose among them (docs/guide/searching.md; "
      "data/spaces/fbnet.yaml).");
  for (const auto add : {add_space_expand, add_space_lut}) add(group);
}

}  // namespace oplat::cli
