// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas: the jobs of TinyNAS's op_profiler.
#include "cli/tinynas/commands.hpp"

namespace oplat::cli {

void add_tinynas_commands(const Command& app) {
  const Command group = app.add_subcommand(
      "tinynas", "work with structures, samples, logs and libraries of TinyNAS's op_profiler");
  group.require_subcommand(1);
  group.footer(
      {"'oplat import --format tinynas' reads libraries into tables, 'oplat export --format "
       "tinynas' writes\n"
       "them. docs/guide/from-tinynas.md shows every step of the original and of oplat."});
  for (const auto add :
       {add_tinynas_predict, add_tinynas_convs, add_tinynas_onnx, add_tinynas_sample,
        add_tinynas_collect, add_tinynas_bench, add_tinynas_keys}) {
    add(group);
  }
}

}  // namespace oplat::cli
