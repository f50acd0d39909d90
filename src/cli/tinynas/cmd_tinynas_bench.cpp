// SPDX-License-Identifier: Apache-2.0
/// oplat tinynas bench SAMPLES
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/units.hpp"
#include "cli/exit_code.hpp"
#include "cli/text_output.hpp"
#include "cli/tinynas/commands.hpp"
#include "cli/tinynas/conv_library.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::cli {
namespace {

namespace tinynas = compat::tinynas;

constexpr double kOtherBytes = 4096;  // of a model besides its weights, generously

struct TinynasBenchFlags {
  std::string samples;
  std::string folder;
  std::string precision = "FP32";
  bool quiet = false;
};

std::string list_of(const std::vector<tinynas::ListedConv>& samples) {
  std::string list;
  for (std::size_t i = 0; i < samples.size(); ++i)
    list += tinynas::iteration_text(i + 1, samples[i].conv) + "\n";
  return list;
}

/// What another call left in the folder: its log refuses to be gone on with, and without one its
/// list and script go before the first of its models is replaced, so that a call that ends early
/// leaves nothing that runs them under their old names.
Status clear_other(const std::filesystem::path& folder, const std::string& list,
                   const std::string& script) {
  const auto old_list = base::read_file(folder / "samples.txt");
  const auto old_script = base::read_file(folder / "run.sh");
  if (old_list && old_script && *old_list == list && *old_script == script) return {};
  std::error_code error;
  if (std::filesystem::exists(folder / "log.txt", error)) {
    return fail(Code::Refused,
                "{}: holds times of other samples or another precision; choose another --out, or "
                "remove the file",
                (folder / "log.txt").string());
  }
  for (const char* name : {"run.sh", "samples.txt"}) {
    if (!std::filesystem::remove(folder / name, error) && error) {
      return fail(Code::Write, "{}: {}", (folder / name).string(), error.message());
    }
  }
  return {};
}

std::filesystem::path model_path(const std::filesystem::path& folder, std::size_t number) {
  return folder / "models" / fmt::format("sample-{}.onnx", number);
}

/// Large spaces need more disk than there is, sooner than they need time. Models of an earlier call
/// are replaced.
Status check_room(const std::filesystem::path& folder,
                  const std::vector<tinynas::ListedConv>& samples) {
  double wanted = 0;
  std::error_code error;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double size = tinynas::sample_weight_bytes(samples[i].conv) + kOtherBytes;
    const auto standing = std::filesystem::file_size(model_path(folder, i + 1), error);
    wanted += error ? size : std::max(0.0, size - static_cast<double>(standing));
  }
  const auto space = std::filesystem::space(folder, error);
  if (!error && wanted > static_cast<double>(space.available)) {
    return fail(
        Code::Write,
        "{}: the models need {} more, but only {} are free; split the samples into several files",
        folder.string(), base::bytes_text(wanted),
        base::bytes_text(static_cast<double>(space.available)));
  }
  return {};
}

Status write_models(const TinynasBenchFlags& flags,
                    const std::vector<tinynas::ListedConv>& samples) {
  const std::filesystem::path folder(flags.folder);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto bytes = tinynas::sample_model(samples[i].conv);
    if (!bytes) return fail_in(fmt::format("{}:{}", flags.samples, samples[i].line), bytes.error());
    OPLAT_CHECK(base::write_file(model_path(folder, i + 1), *bytes));
  }
  return {};
}

Result<int> run_tinynas_bench(const TinynasBenchFlags& flags) {
  const auto precision_flags = tinynas::trtexec_flags(flags.precision);
  if (!precision_flags) {
    return fail(
        Code::Usage,
        "--precision {}: trtexec does not support it; expected FP32, FP16, FP16_DAMOYOLO or INT8",
        flags.precision);
  }
  OPLAT_TRY(source, base::Source::open(flags.samples));
  OPLAT_TRY(samples, tinynas::read_conv_list(source));
  if (samples.empty()) return fail(Code::Input, "{}: holds no samples", flags.samples);
  for (const tinynas::ListedConv& one : samples) {
    if (one.conv.group != 1) {
      return fail(
          Code::Input,
          "{}:{}: is a grouped convolution, for which a library has no column; remove the line",
          flags.samples, one.line);
    }
  }
  const std::filesystem::path folder(flags.folder);
  OPLAT_CHECK(make_folder((folder / "models").string()));
  OPLAT_TRY(precision, library_precision(flags.precision));
  const std::string list = list_of(samples);
  const std::string script_text =
      tinynas::bench_script(*precision_flags, library_file_name(precision));
  OPLAT_CHECK(check_room(folder, samples));
  OPLAT_CHECK(clear_other(folder, list, script_text));
  OPLAT_CHECK(write_models(flags, samples));
  OPLAT_CHECK(base::write_file(folder / "samples.txt", list));
  const std::filesystem::path script = folder / "run.sh";
  OPLAT_CHECK(base::write_file(script, script_text));
  // A failure does not matter: `sh run.sh` runs it all the same.
  (void)::chmod(script.c_str(), 0755);
  if (!flags.quiet) {
    fmt::print(
        stderr,
        "oplat: {} models in {}; copy the folder to the machine with the GPU and run: sh run.sh\n",
        samples.size(), (folder / "models").string());
  }
  return kDone;
}

}  // namespace

void add_tinynas_bench(const Command& group) {
  const Command command = group.add_subcommand(
      "bench", "write models and a script that measure samples with TensorRT's trtexec");
  const auto flags = std::make_shared<TinynasBenchFlags>();
  command
      .add_option("SAMPLES", flags->samples,
                  "samples, a library or a list of tuples; one convolution a line")
      .required();
  command.add_option("--out", flags->folder, "folder to write into").type_name("DIR").required();
  command
      .add_option("--precision", flags->precision,
                  "FP32 (--noTF32), FP16 (--fp16) or INT8 (--int8)")
      .capture_default_str();
  command.add_flag("--quiet", flags->quiet, "print no count on stderr");
  command.footer(
      R"(
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
         TRTEXEC=/usr/src/tensorrt/bin/trtexec sh bench/run.sh)");
  command.runs([flags] { return run_tinynas_bench(*flags); });
}

}  // namespace oplat::cli
