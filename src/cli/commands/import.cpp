// SPDX-License-Identifier: Apache-2.0
/// oplat import FILE --format F --device D --table T: another system's latency table as rows.
#include "app/import_table.hpp"
#include "cli/commands/commands.hpp"
#include "compat/registry.hpp"

namespace oplat::cli {
namespace {

struct ImportFlags {
  app::ImportTableRequest request;
  Verbosity verbosity;
};

Result<int> run_import(const ImportFlags& flags) {
  TerminalEvents events(flags.verbosity);
  OPLAT_TRY(result, app::import_table(flags.request, events));
  print_text(app::import_text(flags.request, result));
  return kDone;
}

}  // namespace

void add_import(const Command& app) {
  const auto [command, flags] =
      add_command(app, "import", "read a latency table of another system into a table", run_import);
  command.add_option("FILE", flags->request.file, "file to read").required();
  command
      .add_option("--format", flags->request.format,
                  fmt::format("format of the file: {}", table::codec_list(compat::codecs())))
      .required();
  add_table(command, flags->request.table);
  command.add_option(
      "--device", flags->request.device,
      "device on which the rows were measured (default: from the file, if its rows or its head "
      "name it: lut, paddle-evaluator, paddle-lookup, paddle-lite-profile on Android; or from its "
      "name: RK3288 for paddleslim's RK3288_threads_4_power_mode_0.pkl)");
  command.add_option(
      "--precision", flags->request.precision,
      "precision of the rows. tinynas: FP32, FP16, FP16_DAMOYOLO, INT8 or INT4 (default: from the "
      "file's name; conv_data.out is FP32, conv_data.out.fp16 is FP16); paddleslim, paddle-*: "
      "fp32, fp16 or int8 (default: the one that the rows name, else fp32)");
  command.add_option("--runtime", flags->request.runtime,
                     "runtime with which the rows were measured (default: caffe2-qnnpack for lut, "
                     "paddle_lite for paddleslim and paddle-*, tensorrt for tinynas)");
  command.add_option("--runtime-version", flags->request.runtime_version,
                     "version of the runtime, if known");
  command
      .add_option("--threads", flags->request.threads,
                  "number of threads that were used (default: from the file or its name, else 1)")
      .range(1, 4096);
  command.add_flag("--skip-bad-rows", flags->request.skip_bad_rows,
                   "skip malformed rows, and report them");
  command.add_flag(
      "--replace", flags->request.replace,
      "replace the rows of an earlier import with the same file name, device and setting");
  add_verbosity(command, flags->verbosity);
  command.footer({R"(
A missing table is created. Importing the same bytes again for the same device and setting changes
nothing. Other bytes under the same file name are refused (exit 6) without --replace. Files of other
names add their rows. 'oplat export' writes the same bytes again, or, for a pickle, one that loads
to an equal dict.
Exit codes: 0 done; 2 usage; 3 the file is missing or holds malformed rows (the first ten are named,
the others counted), or a table is corrupt; 6 refused (other bytes of this name, locked, read-only);
8 could not write.
Example: oplat import V100/conv_data.out.fp16 --format tinynas --device V100 --table v100.oplat)"});
}

}  // namespace oplat::cli
