// SPDX-License-Identifier: Apache-2.0
/// oplat export TABLE --format F --out FILE: rows as another system's latency table.
#include "app/export_table.hpp"
#include "base/text.hpp"
#include "cli/commands/commands.hpp"
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
  print_text(fmt::format("{}: {} rows\n", base::printable(flags.request.file, 400), result.rows));
  return kDone;
}

}  // namespace

void add_export(const Command& app) {
  const auto [command, flags] =
      add_command(app, "export", "write rows as a latency table of another system", run_export);
  add_table_argument(command, flags->request.table);
  command
      .add_option("--format", flags->request.format,
                  fmt::format("format to write: {}", table::codec_list(compat::codecs())))
      .required();
  command.add_option("--out", flags->request.file, "file to write; an existing file is replaced")
      .type_name("FILE")
      .required();
  add_row_filter(command, flags->request.rows);
  add_verbosity(command, flags->verbosity);
  command.footer({R"(
Imported rows are written byte for byte, in their original order, including failed rows, duplicates
and malformed lines that --skip-bad-rows left out. Rows that oplat measured or imported from other
formats follow, at their hottest cache state, if the format can represent their keys. Rows that the
format cannot distinguish are averaged. Rows left out are counted and named on stderr.
tinynas takes convolutions of ONNX Runtime in blocked layout ('oplat tinynas keys' names them), with
and without Relu. lut takes Caffe2 operators that have a time, with percentiles over blocks.
paddle-lite-profile takes only what was imported from it.
Exit codes: 0 done; 2 usage, or several imports fit; 3 no table; 6 no row that the format can
represent; 8 could not write.
Example: oplat export v100.oplat --format tinynas --precision FP16 --out conv_data.out.fp16)"});
}

}  // namespace oplat::cli
