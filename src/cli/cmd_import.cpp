// SPDX-License-Identifier: Apache-2.0
/// oplat import FILE --format F --device D --table T: another system's latency table as rows.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <unordered_set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "compat/registry.hpp"
#include "table/exchange.hpp"

namespace oplat::cli {
namespace {

/// A file of a few million rows; the largest library known has 100,000.
constexpr std::uint64_t kMaxBytes = std::uint64_t{128} << 20;

struct ImportFlags {
  std::string file;
  std::string format;
  std::string table;
  std::optional<std::string> device;
  std::string precision;
  std::string runtime;
  std::string runtime_version;
  std::optional<std::int64_t> threads;
  bool skip_bad_rows = false;
  bool replace = false;
  Verbosity verbosity;
};

void print_skipped(const std::string& file, const table::ForeignRead& read,
                   const Verbosity& verbosity) {
  if (read.skipped == 0) return;
  std::vector<std::string> warnings = {
      fmt::format("{}: {} malformed {} left out; an export gives {} back", file, read.skipped,
                  read.skipped == 1 ? "row was" : "rows were", read.skipped == 1 ? "it" : "them")};
  for (const std::string& note : read.notes) warnings.push_back(fmt::format("{}: {}", file, note));
  if (read.skipped > read.notes.size())
    warnings.push_back(fmt::format("{}: and {} more", file, read.skipped - read.notes.size()));
  print_warnings(warnings, verbosity);
}

/// The devices that rows name themselves, in order of first appearance.
std::vector<std::string> devices_of(const table::ForeignFile& file) {
  std::vector<std::string> devices;
  std::unordered_set<std::string_view> seen;
  for (const table::ForeignRow& row : file.rows) {
    if (!row.device.empty() && seen.insert(row.device).second) devices.push_back(row.device);
  }
  return devices;
}

/// The device of the file: `told` by flag or name; or what its rows say, of which the flag then can
/// only choose one.
Result<std::string> device_of(const ImportFlags& flags, const std::optional<std::string>& told,
                              const table::ForeignFile& file) {
  const std::vector<std::string> devices = devices_of(file);
  if (devices.empty() && told) return *told;
  if (devices.empty())
    return fail(Code::Usage,
                "{}: neither its name nor what stands in it tells the device; say --device",
                flags.file);
  if (!flags.device) return devices.front();
  if (std::find(devices.begin(), devices.end(), *flags.device) != devices.end())
    return *flags.device;
  return fail(Code::Usage, "--device {}: the rows of {} are of {}; leave the flag away",
              base::printable(*flags.device), flags.file,
              base::printable(base::join(devices, ", "), 400));
}

std::string devices_text(const table::ForeignFile& file, const std::string& device) {
  const std::vector<std::string> devices = devices_of(file);
  return base::printable(devices.empty() ? device : base::join(devices, ", "), 400);
}

Result<int> run_import(const ImportFlags& flags) {
  OPLAT_TRY(codec, compat::find_codec(flags.format));
  if (flags.device && flags.device->empty()) {
    return fail(Code::Usage,
                "--device: an empty name; name the device that the rows were measured on");
  }
  table::ImportRequest request;
  request.origin.format = codec->name();
  request.origin.name = std::filesystem::path(flags.file).filename().string();
  request.replace = flags.replace;
  const auto told = flags.device ? flags.device : codec->device_of_file(request.origin.name);
  if (!told && !codec->may_name_device()) {
    return fail(Code::Usage, "{}: its name and rows do not tell the device; say --device",
                flags.file);
  }
  OPLAT_TRY(setting, codec->setting(request.origin.name, flags.precision));

  OPLAT_TRY(bytes, base::read_file(flags.file, kMaxBytes));
  request.origin.hash = base::hash128(bytes);
  OPLAT_TRY(read, codec->read(bytes, {flags.file, setting.precision, flags.skip_bad_rows}));
  // What rows leave unsaid is of the precision that the others say.
  if (flags.precision.empty() && read.told.precision && *read.told.precision != setting.precision) {
    setting.precision = *read.told.precision;
    OPLAT_TRY(again, codec->read(bytes, {flags.file, setting.precision, flags.skip_bad_rows}));
    read = std::move(again);
  }
  OPLAT_TRY(device, device_of(flags, told ? told : read.told.device, read.file));
  request.device = device;
  if (!flags.runtime.empty()) setting.runtime = flags.runtime;
  setting.version = flags.runtime_version.empty() ? read.told.version : flags.runtime_version;
  if (const auto threads = flags.threads ? flags.threads : read.told.threads)
    setting.threads = *threads;
  for (const auto& [name, value] : read.told.options) setting.options[name] = value;
  request.setting = setting;
  OPLAT_TRY(table, table::Table::open(flags.table, table::Mode::Create, compat::codecs()));
  OPLAT_TRY(outcome, table::import_foreign(table, *codec, request, read.file));
  print_skipped(flags.file, read, flags.verbosity);
  for (const std::string& one : read.warnings)
    print_warnings(std::vector{fmt::format("{}: {}", flags.file, one)}, flags.verbosity);
  const std::string where =
      fmt::format("{} on device {}", table::describe(setting), devices_text(read.file, device));
  if (outcome == table::ImportOutcome::Unchanged) {
    fmt::print("{}: holds these very rows of {} already; nothing was changed\n", flags.table,
               where);
    return kDone;
  }
  std::size_t timed = 0;
  for (const table::ForeignRow& row : read.file.rows)
    timed += std::holds_alternative<table::Timing>(row.outcome) ? 1U : 0U;
  fmt::print(
      "{}: {} rows, {} with a time and {} failed, of {}{}\n", flags.table, read.file.rows.size(),
      timed, read.file.rows.size() - timed, where,
      outcome == table::ImportOutcome::Replaced ? "; earlier rows of this file gave way" : "");
  return kDone;
}

}  // namespace

void add_import(const Command& app) {
  const Command command =
      app.add_subcommand("import", "read another system's latency table into a table");
  const auto flags = std::make_shared<ImportFlags>();
  command.add_option("FILE", flags->file, "what to read").required();
  command
      .add_option("--format", flags->format,
                  fmt::format("its format: {}", table::codec_list(compat::codecs())))
      .required();
  add_table(command, flags->table);
  command.add_option("--device", flags->device,
                     "the device that it was measured on (lut: its rows say; paddle-evaluator, "
                     "paddle-lookup: their heads; "
                     "paddle-lite-profile: the log, where benchmark_bin ran on Android; "
                     "paddleslim: told from the file's name, RK3288 for "
                     "RK3288_threads_4_power_mode_0.pkl)");
  command.add_option(
      "--precision", flags->precision,
      "what it was computed in; tinynas: FP32, FP16, FP16_DAMOYOLO, INT8, INT4 (default: told from "
      "the file's name, "
      "conv_data.out for FP32, conv_data.out.fp16 for FP16, ...); paddleslim, paddle-*: fp32, "
      "fp16, int8 (default: what all rows say that say one, else fp32)");
  command.add_option("--runtime", flags->runtime,
                     "the runtime that it was measured with (default: the format's own, "
                     "caffe2-qnnpack for lut, paddle_lite for "
                     "paddleslim and paddle-*, tensorrt for tinynas)");
  command.add_option("--runtime-version", flags->runtime_version, "its version, if known");
  command
      .add_option("--threads", flags->threads,
                  "threads that it ran with (default: told from the file or its name, else 1)")
      .range(1, 4096);
  command.add_flag("--skip-bad-rows", flags->skip_bad_rows,
                   "import the other rows where some are malformed, and say which were left out");
  command.add_flag(
      "--replace", flags->replace,
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
