// SPDX-License-Identifier: Apache-2.0
/// oplat export T --format F --out FILE: rows as another system's latency table.
#include <memory>

#include "app/export_table.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/prediction_options.hpp"
#include "cli/text_output.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {
namespace {

struct ExportFlags {
  app::ExportTableRequest request;
  Verbosity verbosity;
};

Result<int> run_export(const ExportFlags& flags) {
  OPLAT_CHECK(refuse_to_replace(flags.request.file, flags.request.table));
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::export_table(flags.request, events));
  fmt::print("{}: {} rows\n", flags.request.file, result.rows);
  return kDone;
}

}  // namespace

void add_export(const Command& app) {
  const Command command =
      app.add_subcommand("export", "write rows as another system's latency table");
  const auto flags = std::make_shared<ExportFlags>();
  command.add_option("T,--table", flags->request.table, "the table")
      .envname("OPLAT_TABLE")
      .required();
  command
      .add_option("--format", flags->request.format,
                  fmt::format("what to write: {}", table::codec_list(compat::codecs())))
      .required();
  command
      .add_option("--out", flags->request.file, "the file to write; one that is there is replaced")
      .type_name("FILE")
      .required();
  add_row_filter(command, flags->request.rows);
  add_verbosity(command, flags->verbosity);
  command.footer(
      "What was imported comes out byte for byte, in the order in which it was imported: failed "
      "rows, duplicates, malformed lines\n"
      "that --skip-bad-rows left out. Rows that oplat measured, and those imported from other "
      "formats, follow where the format\n"
      "can say their keys, at their hottest cache state; those that it cannot tell apart come as "
      "one, their mean; others are\n"
      "counted and named on stderr. A library of TinyNAS takes ONNX Runtime's convolutions in "
      "blocked layout ('oplat tinynas\n"
      "keys' names such), with and without Relu alike; a look-up table takes operators of Caffe2 "
      "that have a time, with\n"
      "percentiles over blocks; a log of Paddle-Lite's profiler takes nothing but what was "
      "imported.\n"
      "Exit codes: 0 done; 2 usage, or several imports fit; 3 no table; 6 no row that the format "
      "can say; 8 could not write.\n"
      "Example: oplat export v100.oplat --format tinynas --precision FP16 --out "
      "conv_data.out.fp16");
  command.runs([flags] { return run_export(*flags); });
}

}  // namespace oplat::cli
