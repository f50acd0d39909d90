// SPDX-License-Identifier: Apache-2.0
/// Models, list and script, in an order in which each stop leaves something that can be run again.
#include "compat/tinynas/bench_folder.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/folders.hpp"
#include "base/units.hpp"
#include "compat/tinynas/library_files.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr double kOtherBytes = 4096;  // of a model besides its weights, generously

std::string list_of(const std::vector<ListedConv>& samples) {
  std::string list;
  for (std::size_t i = 0; i < samples.size(); ++i)
    list += iteration_text(i + 1, samples[i].conv) + "\n";
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
Status check_room(const std::filesystem::path& folder, const std::vector<ListedConv>& samples) {
  double wanted = 0;
  std::error_code error;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double size = sample_weight_bytes(samples[i].conv) + kOtherBytes;
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

Status write_models(const BenchRequest& request, const std::vector<ListedConv>& samples) {
  const std::filesystem::path folder(request.folder);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto bytes = sample_model(samples[i].conv);
    if (!bytes)
      return fail_in(fmt::format("{}:{}", request.samples, samples[i].line), bytes.error());
    OPLAT_CHECK(base::write_file(model_path(folder, i + 1), *bytes));
  }
  return {};
}

Result<std::vector<ListedConv>> bench_samples(const std::string& path) {
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(samples, read_conv_list(source));
  if (samples.empty()) return fail(Code::Input, "{}: holds no samples", path);
  for (const ListedConv& one : samples) {
    if (one.conv.group != 1) {
      return fail(
          Code::Input,
          "{}:{}: is a grouped convolution, for which a library has no column; remove the line",
          path, one.line);
    }
  }
  return samples;
}

}  // namespace

Result<BenchModels> write_bench(const BenchRequest& request) {
  const auto precision_flags = trtexec_flags(request.precision);
  if (!precision_flags) {
    return fail(
        Code::Usage,
        "--precision {}: trtexec does not support it; expected FP32, FP16, FP16_DAMOYOLO or INT8",
        request.precision);
  }
  OPLAT_TRY(samples, bench_samples(request.samples));
  const std::filesystem::path folder(request.folder);
  OPLAT_CHECK(base::make_folder((folder / "models").string()));
  OPLAT_TRY(precision, library_precision(request.precision));
  const std::string list = list_of(samples);
  const std::string script_text = bench_script(*precision_flags, library_file_name(precision));
  OPLAT_CHECK(check_room(folder, samples));
  OPLAT_CHECK(clear_other(folder, list, script_text));
  OPLAT_CHECK(write_models(request, samples));
  OPLAT_CHECK(base::write_file(folder / "samples.txt", list));
  const std::filesystem::path script = folder / "run.sh";
  OPLAT_CHECK(base::write_file(script, script_text));
  // A failure does not matter: `sh run.sh` runs it all the same.
  (void)::chmod(script.c_str(), 0755);
  return BenchModels{samples.size(), folder / "models"};
}

}  // namespace oplat::compat::tinynas
