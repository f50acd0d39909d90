// SPDX-License-Identifier: Apache-2.0
/// oplat import FILE --format F --device D --table T: another system's latency table as rows.
#include <memory>

#include "app/import_table.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/events_terminal.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
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
  const std::string where = fmt::format("{} on device {}", table::describe(result.setting),
                                        base::printable(base::join(result.devices, ", "), 400));
  const std::string& table = flags.request.table;
  if (result.outcome == table::ImportOutcome::Unchanged) {
    fmt::print("{}: holds these very rows of {} already; nothing was changed\n", table, where);
    return kDone;
  }
  fmt::print("{}: {} rows, {} with a time and {} failed, of {}{}\n", table, result.rows,
             result.timed, result.rows - result.timed, where,
             result.outcome == table::ImportOutcome::Replaced
                 ? "; earlier rows of this file gave way"
                 : "");
  return kDone;
}

}  // namespace

void add_import(const Command& app) {
  const Command command =
      app.add_subcommand("import", "read another system's latency table into a table");
  const auto flags = std::make_shared<ImportFlags>();
  command.add_option("FILE", flags->request.file, "what to read").required();
  command
      .add_option("--format", flags->request.format,
                  fmt::format("its format: {}", table::codec_list(compat::codecs())))
      .required();
  add_table(command, flags->request.table);
  command.add_option("--device", flags->request.device,
                     "the device that it was measured on (lut: its rows say; paddle-evaluator, "
                     "paddle-lookup: their heads; "
                     "paddle-lite-profile: the log, where benchmark_bin ran on Android; "
                     "paddleslim: told from the file's name, RK3288 for "
                     "RK3288_threads_4_power_mode_0.pkl)");
  command.add_option(
      "--precision", flags->request.precision,
      "what it was computed in; tinynas: FP32, FP16, FP16_DAMOYOLO, INT8, INT4 (default: told from "
      "the file's name, "
      "conv_data.out for FP32, conv_data.out.fp16 for FP16, ...); paddleslim, paddle-*: fp32, "
      "fp16, int8 (default: what all rows say that say one, else fp32)");
  command.add_option("--runtime", flags->request.runtime,
                     "the runtime that it was measured with (default: the format's own, "
                     "caffe2-qnnpack for lut, paddle_lite for "
                     "paddleslim and paddle-*, tensorrt for tinynas)");
  command.add_option("--runtime-version", flags->request.runtime_version, "its version, if known");
  command
      .add_option("--threads", flags->request.threads,
                  "threads that it ran with (default: told from the file or its name, else 1)")
      .range(1, 4096);
  command.add_flag("--skip-bad-rows", flags->request.skip_bad_rows,
                   "import the other rows where some are malformed, and say which were left out");
  command.add_flag(
      "--replace", flags->request.replace,
      "let the rows of an earlier import of the same file name, device and setting give way");
  add_verbosity(command, flags->verbosity);
  command.footer(
      "The table is made where it is absent. A file whose bytes were imported before for the same "
      "device and setting changes\n"
      "nothing; other bytes under the same file name are refused (exit 6) without --replace; files "
      "of other names add their\n"
      "rows. 'oplat export' gives the same bytes back; of a pickle, one that loads to an equal "
      "dict.\n"
      "Exit codes: 0 done; 2 usage; 3 the file is absent or holds malformed rows (the first ten "
      "are named, the others\n"
      "counted), a table is corrupt; 6 refused (other bytes of this name, locked, read-only); 8 "
      "could not write.\n"
      "Example: oplat import V100/conv_data.out.fp16 --format tinynas --device V100 --table "
      "v100.oplat");
  command.runs([flags] { return run_import(*flags); });
}

}  // namespace oplat::cli
