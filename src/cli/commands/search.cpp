// SPDX-License-Identifier: Apache-2.0
/// oplat search: search spaces as kernels and as tables of latencies.
#include "cli/commands/search.hpp"

namespace oplat::cli {
namespace {

Command add_search_group(const Command& app, const std::string& name) {
  const Command group = app.add_subcommand(
      name, "search spaces: their kernels, and latencies of their blocks for a latency loss");
  group.require_subcommand(1);
  group.footer(
      "A space is a YAML file: blocks, and layers that choose among them (docs/guide/searching.md; "
      "data/spaces/fbnet.yaml).");
  for (const auto add : {add_search_expand, add_search_lut}) add(group);
  return group;
}

}  // namespace

void add_space_options(const Command& command, app::SpaceSource& to) {
  command.add_option("SPACE", to.file, "the search space, a YAML file (docs/guide/searching.md)")
      .required();
  command
      .add_option("--resolution", to.resolutions,
                  "height and width of the image, instead of the file's (repeatable)")
      .range(std::int64_t{1}, search::kMaxResolution)
      .repeatable();
}

void add_search_commands(const Command& app) {
  add_search_group(app, "search");
  add_search_group(app, "space").hide();
}

}  // namespace oplat::cli
