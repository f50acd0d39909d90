// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas: the jobs of TinyNAS's op_profiler.
#include "cli/tinynas/commands.hpp"

namespace oplat::cli {

void add_tinynas_commands(const Command& app) {
  const Command group = app.add_subcommand(
      "tinynas", "the jobs of TinyNAS's op_profiler: structures, samples, logs, predictions");
  group.require_subcommand(1);
  group.footer(
      "Libraries come into tables with 'oplat import --format tinynas' and out with 'oplat export "
      "--format tinynas'.\n"
      "docs/guide/from-tinynas.md shows every step of the original beside ours.");
  for (const auto add :
       {add_tinynas_predict, add_tinynas_convs, add_tinynas_onnx, add_tinynas_sample,
        add_tinynas_collect, add_tinynas_bench, add_tinynas_keys}) {
    add(group);
  }
}

}  // namespace oplat::cli
