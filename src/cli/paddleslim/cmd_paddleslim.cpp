// SPDX-License-Identifier: Apache-2.0
/// oplat paddleslim: the jobs of PaddleSlim's latency predictors.
#include "cli/paddleslim/commands.hpp"

namespace oplat::cli {

void add_paddleslim_commands(const Command& app) {
  const Command group = app.add_subcommand(
      "paddleslim",
      "the jobs of PaddleSlim's latency predictors: a Paddle model's latency from a table");
  group.require_subcommand(1);
  group.footer(
      "Tables come into oplat's with 'oplat import --format paddleslim' and out with 'oplat export "
      "--format paddleslim'.\n"
      "docs/guide/from-paddleslim.md shows every step of the original beside ours.");
  for (const auto add : {add_paddleslim_predict, add_paddleslim_evaluate}) add(group);
}

}  // namespace oplat::cli
