// SPDX-License-Identifier: Apache-2.0
/// oplat search: search spaces as kernels and as tables of latencies.
#include "cli/commands/search.hpp"

namespace oplat::cli {
namespace {

Command add_search_group(const Command& app, const std::string& name) {
  const Command group = app.add_subcommand(name,
                                           "list the kernels of a search space, or write the "
                                           "latencies of its blocks for a latency loss");
  group.require_subcommand(1);
  group.footer(
      {"A search space is a YAML file of blocks and of layers that choose among them\n"
       "(docs/guide/searching.md; data/spaces/fbnet.yaml)."});
  for (const auto add : {add_search_expand, add_search_lut}) add(group);
  return group;
}

}  // namespace

void add_space_options(const Command& command, app::SpaceSource& to) {
  command.add_option("SPACE", to.file, "search space, a YAML file (docs/guide/searching.md)")
      .required();
  command
      .add_option("--resolution", to.resolutions,
                  "height and width of the image (repeatable; default: those of the file)")
      .range(std::int64_t{1}, search::kMaxResolution)
      .repeatable();
}

void add_search_commands(const Command& app) {
  add_search_group(app, "search");
  add_search_group(app, "space").hide();
}

}  // namespace oplat::cli
