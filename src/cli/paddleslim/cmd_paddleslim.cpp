// SPDX-License-Identifier: Apache-2.0
/// oplat paddleslim: the jobs of PaddleSlim's latency predictors.
#include "cli/paddleslim/commands.hpp"

namespace oplat::cli {

void add_paddleslim_commands(const Command& app) {
  const Command group = app.add_subcommand(
      "paddleslim",
      "predict a Paddle model's latency from a table, as PaddleSlim's latency predictors do");
  group.require_subcommand(1);
  group.footer(
      {"'oplat import --format paddleslim' reads tables, 'oplat export --format paddleslim' writes "
       "them.\n"
       "docs/guide/from-paddleslim.md shows every step of the original and of oplat."});
  for (const auto add : {add_paddleslim_predict, add_paddleslim_evaluate}) add(group);
}

}  // namespace oplat::cli
