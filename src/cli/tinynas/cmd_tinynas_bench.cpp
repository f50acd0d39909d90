// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas bench SAMPLES
#include <memory>

#include "cli/exit_code.hpp"
#include "cli/terminal.hpp"
#include "cli/tinynas/commands.hpp"
#include "compat/tinynas/bench_folder.hpp"

namespace oplat::cli {
namespace {

struct TinynasBenchFlags {
  compat::tinynas::BenchRequest request;
  bool quiet = false;
};

Result<int> run_tinynas_bench(const TinynasBenchFlags& flags) {
  OPLAT_TRY(models, compat::tinynas::write_bench(flags.request));
  if (!flags.quiet) {
    print_message(fmt::format(
        "{} models in {}; copy the folder to the machine with the GPU and run: sh run.sh",
        models.count, models.folder.string()));
  }
  return kDone;
}

}  // namespace

void add_tinynas_bench(const Command& group) {
  const Command command = group.add_subcommand(
      "bench", "write models and a script that measure samples with TensorRT's trtexec");
  const auto flags = std::make_shared<TinynasBenchFlags>();
  command
      .add_option("SAMPLES", flags->request.samples,
                  "samples, a library or a list of tuples; one convolution a line")
      .required();
  command.add_option("--out", flags->request.folder, "folder to write into")
      .type_name("DIR")
      .required();
  command
      .add_option("--precision", flags->request.precision,
                  "FP32 (--noTF32), FP16 (--fp16) or INT8 (--int8)")
      .capture_default_str();
  command.add_flag("--quiet", flags->quiet, "print no count on stderr");
  command.footer({R"(
Writes DIR/models/sample-N.onnx (convolution, batch normalisation, ReLU; with the sum of a second
input where fused) and DIR/run.sh. The script runs $TRTEXEC (default: trtexec) with $TRTEXEC_FLAGS
on each model and appends to DIR/log.txt. Run again, it resumes where it stopped. It needs a POSIX
shell, awk and sed, but no oplat.
'oplat tinynas collect DIR/log.txt' makes the library. A time is the median of trtexec's GPU compute
time, or -1 if trtexec fails, prints none or takes longer than $TRTEXEC_TIMEOUT seconds (default
600; 0: no limit).
Exit codes: 0 done; 2 usage; 3 the samples are missing or malformed; 6 DIR holds times of other
samples or another precision; 8 could not write.
Example: oplat tinynas bench samples.txt --precision FP16 --out bench &&
         TRTEXEC=/usr/src/tensorrt/bin/trtexec sh bench/run.sh)"});
  command.runs([flags] { return run_tinynas_bench(*flags); });
}

}  // namespace oplat::cli
